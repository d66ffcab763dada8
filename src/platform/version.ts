import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** As package.json says it. */
export function programVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

const fileIn = (dataFolder: string) => path.join(dataFolder, 'version');

/** The version that has served last with this data folder; undefined: none has noted itself. */
export async function lastVersion(dataFolder: string): Promise<string | undefined> {
  try {
    const text = (await readFile(fileIn(dataFolder), 'utf8')).trim();
    return /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(text) ? text : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Notes the version that serves, so that `kontor upgrade --check` of a later one knows where an upgrade begins. */
export async function noteVersion(dataFolder: string): Promise<void> {
  const version = programVersion();
  if ((await lastVersion(dataFolder)) !== version) await writeFile(fileIn(dataFolder), `${version}\n`);
}

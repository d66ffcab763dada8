import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { oncePerRun } from './once-per-run.ts';
import { newFolder, startKontor } from './process.ts';

/**
 * A data folder as the first start leaves it, with the demo shop: a copy, because a first start makes the database and
 * the pictures of the demo shop, which takes four times as long as any other start.
 */
export async function newStartedFolder(): Promise<string> {
  const folder = await newFolder();
  const started = await oncePerRun('first-start', async (data) => {
    const service = await startKontor({ KONTOR_DATA: data });
    await service.stop();
  });
  // With the owners of the files, because PostgreSQL refuses a folder that is not its own.
  await promisify(execFile)('cp', ['-a', `${started}/.`, folder]);
  return folder;
}

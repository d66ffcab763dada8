import { BackupProblem, readChunks } from './file.ts';

export const FORMAT = 'kontor shop backup';
export const FORMAT_VERSION = 1;

/** What the first chunk of a backup says of the others. */
export interface Manifest {
  format: typeof FORMAT;
  version: typeof FORMAT_VERSION;
  /** The last migration of the installation that made it. */
  schema: string;
  /** The version of Kontor that made it. */
  kontor: string;
  shopId: string;
  createdAt: string;
  /** In the order in which their rows are in the file, and can be inserted. */
  tables: { name: string; columns: string[]; rows: number }[];
}

export interface CheckedBackup {
  path: string;
  manifest: Manifest;
  /** The size of the file. */
  bytes: number;
}

/** Reads a backup from its beginning to its end, so that nothing is begun with a file that is damaged. */
export async function checkBackup(path: string): Promise<CheckedBackup> {
  let manifest: Manifest | undefined;
  let bytes = 0;
  for await (const chunk of readChunks(path)) {
    manifest ??= parseManifest(path, chunk.content);
    bytes += chunk.bytes;
  }
  return { path, manifest: manifest!, bytes };
}

function parseManifest(path: string, content: Buffer): Manifest {
  const manifest = JSON.parse(content.toString()) as Manifest;
  if (manifest.format !== FORMAT) throw new BackupProblem(`${path} is no backup of a shop.`);
  if (manifest.version !== FORMAT_VERSION) {
    throw new BackupProblem(
      `${path} was made by Kontor ${manifest.kontor} in a format that this version does not know (${String(manifest.version)}). Update Kontor, then restore it.`,
    );
  }
  return manifest;
}

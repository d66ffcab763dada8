import { BackupProblem, readChunks, type Chunk } from './file.ts';

export const FORMAT = 'kontor shop backup';
export const FORMAT_VERSION = 1;

/** The first chunk of a backup, which describes the others. */
export interface BackupManifest {
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
  manifest: BackupManifest;
  /** The size of the file. */
  bytes: number;
}

/** Reads a backup from beginning to end, so that nothing is begun with a damaged file. */
export async function checkBackup(path: string): Promise<CheckedBackup> {
  let manifest: BackupManifest | undefined;
  let bytes = 0;
  for await (const chunk of readChunks(path)) {
    manifest ??= parseManifest(path, chunk);
    bytes += chunk.bytes;
  }
  return { path, manifest: manifest!, bytes };
}

/** More than the names of all tables and columns take. */
const MAX_MANIFEST_BYTES = 1_048_576;

function parseManifest(path: string, { head, content }: Chunk): BackupManifest {
  const manifest =
    head.part === 'manifest' && content.length <= MAX_MANIFEST_BYTES ? parseJson(content) : undefined;
  if (manifest?.format !== FORMAT) throw new BackupProblem(`${path} is no backup of a shop.`);
  if (manifest.version !== FORMAT_VERSION) {
    throw new BackupProblem(
      `${path} was made by Kontor ${manifest.kontor} in a format that this version does not know (${String(manifest.version)}). Update Kontor, then restore it.`,
    );
  }
  if (!isComplete(manifest)) throw new BackupProblem(`${path} is damaged: its manifest is not complete.`);
  return manifest;
}

function parseJson(content: Buffer): BackupManifest | undefined {
  try {
    return (JSON.parse(content.toString()) as BackupManifest | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** It becomes part of paths. */
const SHOP_ID = /^[A-Za-z0-9_-]{1,63}$/;

function isComplete({ schema, kontor, shopId, createdAt, tables }: BackupManifest): boolean {
  const isText = (value: unknown) => typeof value === 'string';
  return (
    [schema, kontor, createdAt].every(isText) &&
    isText(shopId) &&
    SHOP_ID.test(shopId) &&
    Array.isArray(tables) &&
    tables.every(
      (table: BackupManifest['tables'][number] | null) =>
        isText(table?.name) &&
        Array.isArray(table.columns) &&
        table.columns.every(isText) &&
        Number.isInteger(table.rows),
    )
  );
}

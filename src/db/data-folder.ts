import { access, chmod, constants, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** Marks a folder that is not empty as Kontor's own. */
const OWN_ENTRIES = ['postgres', 'secret.key'];

/**
 * Creates the data folder if needed, readable by its owner only, and returns its real path, so one folder has one
 * name. An older folder that others can enter is closed if it is Kontor's own.
 */
export async function openDataFolder(dataFolder: string): Promise<string> {
  const wanted = path.resolve(dataFolder);
  try {
    return await createOrClose(wanted);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    const hint = code === 'EACCES' ? 'start Kontor as the user it belongs to, or ' : '';
    throw new Error(
      `The data folder ${wanted} cannot be used (${code}): ${hint}choose another one with KONTOR_DATA.`,
      { cause: error },
    );
  }
}

async function createOrClose(wanted: string): Promise<string> {
  // The parents belong to the operator and get the usual mode.
  await mkdir(path.dirname(wanted), { recursive: true });
  await mkdir(wanted, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST' || !(await stat(wanted)).isDirectory()) throw error;
  });
  const folder = await realpath(wanted);
  await access(folder, constants.X_OK);
  await closeToOthers(folder);
  return folder;
}

/**
 * Only the owner may read the database, the emails and the key of the installation. A folder that also holds other
 * things (a home folder, /tmp) stays as it is.
 */
async function closeToOthers(folder: string): Promise<void> {
  const user = process.getuid?.();
  const { mode, uid, gid } = await stat(folder);
  const isShared = (mode & 0o1000) !== 0;
  if (user === undefined || uid !== user || isShared) return;
  // If this process is root, PostgreSQL runs as another user, whose group may pass.
  const passage = user === 0 && gid !== 0 ? mode & 0o010 : 0;
  const closed = 0o700 | passage;
  if ((mode & 0o777) === closed) return;
  const entries = await readdir(folder);
  if (entries.length > 0 && !OWN_ENTRIES.some((name) => entries.includes(name))) return;
  await chmod(folder, closed);
}

import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { CommandProblem } from './problem.ts';

/** Writes to the file of --output, else to stdout. */
export async function writeText(
  text: AsyncIterable<string>,
  file: string | boolean | undefined,
): Promise<void> {
  await (typeof file === 'string' ? toFile(text, file) : toStdout(text));
}

async function toStdout(text: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(text, process.stdout, { end: false });
  } catch (error) {
    // A reader that closed the pipe (`| head`) has seen enough.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}

/**
 * Refuses to overwrite a folder or a device. The file replaces anything of its name, so `--output /dev/null` would
 * leave a machine without its /dev/null.
 */
export async function refuseNoFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found && !found.isFile()) throw new CommandProblem(`${file} is there already, and is no file.`);
}

/** Readable by the owner only; complete or not there at all. */
async function toFile(text: AsyncIterable<string>, file: string): Promise<void> {
  await refuseNoFile(file);
  const draft = `${file}.draft`;
  try {
    await pipeline(text, createWriteStream(draft, { mode: 0o600 }));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** To the file that --output names, else to stdout. */
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
    // A reader that went away (`| head`) has seen enough.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}

/** For the owner's eyes only; complete or not there at all. */
async function toFile(text: AsyncIterable<string>, file: string): Promise<void> {
  const draft = `${file}.draft`;
  try {
    await pipeline(text, createWriteStream(draft, { mode: 0o600 }));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

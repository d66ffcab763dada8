import { createReadStream } from 'node:fs';
import { CommandProblem } from './problem.ts';

const MAX_BYTES = 16 * 1_048_576;

/**
 * The text of a file named by the user: a file, or a pipe such as /dev/stdin. It is read up to a limit, because the
 * name may lead to an endless file.
 */
export async function readText(path: string): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of createReadStream(path)) {
      pieces.push(piece as Buffer);
      bytes += (piece as Buffer).length;
      if (bytes > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES / 1_048_576} MB`);
    }
  } catch (error) {
    throw new CommandProblem(`Cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
  return Buffer.concat(pieces).toString('utf8');
}

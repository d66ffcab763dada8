import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** A problem with compressed rows, as the end of a sentence. */
export class UnpackProblem extends Error {
  override name = 'UnpackProblem';
}

/** More than any row has: the largest are the files of imports. */
const MAX_ROW_BYTES = 64 * 1_048_576;

/** Rows are inserted together up to this size. */
const BATCH_BYTES = 1_048_576;

const LINE_BREAK = 10;

/** How many more bytes the backup may unpack to; lowered by each unpacked piece. */
export interface UnpackLimits {
  bytesLeft: number;
}

/**
 * The lines of compressed rows, in batches. A few bytes can expand to many: they are unpacked piece by piece, and only
 * one batch is held in memory, or one row where a single one is larger.
 */
export async function* unpackRows(
  content: Buffer,
  expected: number,
  limits: UnpackLimits,
): AsyncGenerator<string[]> {
  const bytes = Readable.from([content]).pipe(createGunzip());
  let lines: string[] = [];
  let batchBytes = 0;
  let found = 0;
  /** The pieces of an unfinished row. */
  let open: Buffer[] = [];
  let openBytes = 0;
  try {
    for await (const piece of bytes as AsyncIterable<Buffer>) {
      limits.bytesLeft -= piece.length;
      if (limits.bytesLeft < 0) throw new UnpackProblem('its rows come to more than those of any shop');
      let from = 0;
      for (let end = piece.indexOf(LINE_BREAK); end !== -1; end = piece.indexOf(LINE_BREAK, from)) {
        const line = Buffer.concat([...open, piece.subarray(from, end)]);
        from = end + 1;
        open = [];
        openBytes = 0;
        lines.push(line.toString());
        batchBytes += line.length + 1;
        if (++found > expected) throw new UnpackProblem('there are more rows than it says');
        if (batchBytes < BATCH_BYTES) continue;
        yield lines;
        lines = [];
        batchBytes = 0;
      }
      if (from === piece.length) continue;
      open.push(piece.subarray(from));
      openBytes += piece.length - from;
      if (openBytes > MAX_ROW_BYTES) throw new UnpackProblem('a row is longer than any row of a shop');
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!code.startsWith('Z_')) throw error;
    throw new UnpackProblem('it cannot be unpacked', { cause: error });
  }
  if (openBytes > 0 || found < expected) throw new UnpackProblem('rows are missing');
  if (lines.length > 0) yield lines;
}

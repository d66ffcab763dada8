import { open } from 'node:fs/promises';
import { Refusal, invalid } from '../http/errors.ts';
import { MAX_FILE_NAME_LENGTH } from './schema.ts';

const ZIP = ['504b0304', '504b0506'];

/** How files of a kind begin, in hexadecimal digits, and their media type. All others are bytes that nobody opens by themselves. */
const KINDS: Readonly<Record<string, { type: string; begins: readonly string[] }>> = {
  pdf: { type: 'application/pdf', begins: ['25504446'] },
  epub: { type: 'application/epub+zip', begins: ZIP },
  zip: { type: 'application/zip', begins: ZIP },
  gz: { type: 'application/gzip', begins: ['1f8b'] },
  png: { type: 'image/png', begins: ['89504e47'] },
  jpg: { type: 'image/jpeg', begins: ['ffd8ff'] },
  jpeg: { type: 'image/jpeg', begins: ['ffd8ff'] },
  mp3: { type: 'audio/mpeg', begins: ['494433', 'fff'] },
  flac: { type: 'audio/flac', begins: ['664c6143'] },
  ogg: { type: 'audio/ogg', begins: ['4f676753'] },
};

const endingOf = (name: string) => /\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';

export const fileType = (name: string) => KINDS[endingOf(name)]?.type ?? 'application/octet-stream';

/** A line without a slash or a control character, and no hidden file. */
const NAME = /^[^\p{C}\s./\\][^\p{C}/\\]*$/u;

/** The name of an uploaded file; refused if no system could save it. */
export function downloadName(name: string): string {
  const trimmed = name.normalize('NFC').trim();
  if (trimmed.length > MAX_FILE_NAME_LENGTH || !NAME.test(trimmed)) throw invalid('WRONG_FORMAT', 'file');
  return trimmed;
}

/** Refuses an empty file, and one that is not of the kind that its name says: its buyers could not open it. */
export async function checkFile(path: string, name: string): Promise<void> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(8), 0, 8);
    if (bytesRead === 0) throw invalid('MISSING', 'file');
    const ending = endingOf(name);
    const begin = buffer.subarray(0, bytesRead).toString('hex');
    const kind = KINDS[ending];
    if (kind && !kind.begins.some((digits) => begin.startsWith(digits)))
      throw new Refusal('DOWNLOAD_OF_OTHER_KIND', { kind: ending });
  } finally {
    await file.close();
  }
}

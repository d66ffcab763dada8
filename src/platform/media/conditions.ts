import type { IncomingHttpHeaders } from 'node:http';
import type { ByteRange, StoredFile } from './storage.ts';

export type Decision =
  | { status: 200 }
  | { status: 206; range: ByteRange }
  /** The client has it, its condition does not hold, or the file lacks these bytes. */
  | { status: 304 | 412 | 416 };

/** For bytes that never change under their name, so it is strong. */
export function fileEtag({ size, modifiedAt }: StoredFile): string {
  return `"${size.toString(16)}-${modifiedAt.getTime().toString(16)}"`;
}

/** The answer to a request for a file, in the order of RFC 9110, section 13.2.2. */
export function decide(headers: IncomingHttpHeaders, file: StoredFile): Decision {
  const etag = fileEtag(file);
  const isNewerThan = (date: string) => toSeconds(file.modifiedAt.getTime()) > toSeconds(Date.parse(date));
  const {
    'if-match': ifMatch,
    'if-unmodified-since': unmodifiedSince,
    'if-none-match': ifNoneMatch,
    'if-modified-since': modifiedSince,
    'if-range': ifRange,
    range,
  } = headers;

  if (ifMatch !== undefined) {
    if (!hasTag(ifMatch, etag)) return { status: 412 };
  } else if (unmodifiedSince !== undefined && isNewerThan(unmodifiedSince)) {
    return { status: 412 };
  }
  if (ifNoneMatch !== undefined) {
    // A proxy that compressed the file has made the tag weak.
    if (hasTag(ifNoneMatch.replaceAll('W/"', '"'), etag)) return { status: 304 };
  } else if (modifiedSince !== undefined && isDate(modifiedSince) && !isNewerThan(modifiedSince)) {
    return { status: 304 };
  }
  if (range === undefined || (ifRange !== undefined && !isSame(String(ifRange), file)))
    return { status: 200 };
  return decideRange(range, file.size);
}

/** A part is useful only with the other parts of the same file. */
function isSame(ifRange: string, file: StoredFile): boolean {
  return (
    ifRange === fileEtag(file) || toSeconds(Date.parse(ifRange)) === toSeconds(file.modifiedAt.getTime())
  );
}

/** Several ranges at once, and invalid ones, are answered with the whole file, as the standard allows. */
function decideRange(range: string, size: number): Decision {
  const [, first = '', last = ''] = /^\s*bytes=\s*(\d*)-(\d*)\s*$/.exec(range) ?? [];
  if (first === '' && last === '') return { status: 200 };
  // -500 are the last 500 bytes.
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (start <= end) return { status: 206, range: { start, end } };
  const isBackwards = first !== '' && last !== '' && Number(last) < Number(first);
  return { status: isBackwards ? 200 : 416 };
}

function hasTag(list: string, etag: string): boolean {
  return list.split(',').some((tag) => tag.trim() === etag || tag.trim() === '*');
}

const isDate = (text: string) => !Number.isNaN(Date.parse(text));

/** A date in a header has no fractions. */
const toSeconds = (milliseconds: number) => Math.floor(milliseconds / 1_000);

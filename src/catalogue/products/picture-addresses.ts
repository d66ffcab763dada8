import path from 'node:path';
import { CellProblem, tooLong } from './row-problem.ts';

const MAX_PICTURES = 20;

/** The maximum length of a cell with pictures, or with their descriptions. */
export const MAX_PICTURES_LENGTH = 40_000;

/** The limit of an upload. */
export const MAX_PICTURE_BYTES = 10 * 1_048_576;

/**
 * A picture named in a product file: its address, or a file. For the command line that is one beside the product file;
 * in the admin it must have been sent in an archive, so that files of the machine cannot be read.
 */
export interface NamedPicture {
  place: string;
  isFile: boolean;
  /** The picture's name in the shop. */
  name: string;
}

/** The pictures in a cell, separated by bars; addresses may also be separated by blanks. */
export function readPictures(cell: string): NamedPicture[] {
  if (cell.length > MAX_PICTURES_LENGTH) throw tooLong(MAX_PICTURES_LENGTH);
  const places = cell
    .split('|')
    .map((part) => part.trim())
    .flatMap((part) => (part.split(/\s+/).every(isAddress) ? part.split(/\s+/) : [part]))
    .filter((part) => part !== '');
  if (places.length > MAX_PICTURES)
    throw new CellProblem('words', `names more than ${MAX_PICTURES} pictures`, { most: MAX_PICTURES });
  return places.map((place) => {
    const isFile = !isAddress(place);
    const name = isFile ? pictureName(path.basename(place)) : nameIn(place);
    if (name === undefined)
      throw new CellProblem(
        'address',
        `is ${place}, which is no address such as https://shop.example/lamp.jpg, nor a file such as lamp.jpg`,
      );
    return { place, isFile, name };
  });
}

/** The descriptions of a row's pictures, in order, separated by bars; a backslash escapes a bar inside a text. */
export function joinPictureTexts(texts: readonly string[]): string {
  if (texts.every((text) => text === '')) return '';
  return texts.map((text) => text.replaceAll(/[\\|]/g, '\\$&')).join(' | ');
}

export function readPictureTexts(cell: string): string[] {
  if (cell.length > MAX_PICTURES_LENGTH) throw tooLong(MAX_PICTURES_LENGTH);
  const parts = [...cell.matchAll(/((?:\\[^]|[^|\\]|\\$)*)(?:\||$)/g)].map(([, part]) => part!.trim());
  // At the end of the cell, an empty one is found after it.
  const texts = parts.slice(0, -1).map((part) => part.replaceAll(/\\([^])/g, '$1'));
  if (texts.length > MAX_PICTURES)
    throw new CellProblem('words', `has more than ${MAX_PICTURES} texts`, { most: MAX_PICTURES });
  return texts;
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/**
 * The address of a picture of ours, as an export names it. Where the file name differs from the picture's name, the
 * latter follows it, so that an import recognises the picture.
 */
export function namedAddress(address: string, name: string): string {
  return address.endsWith(`/${name}`) ? address : `${address}#${encodeURIComponent(name)}`;
}

/** The name after the address, else the last part of its path, if it is a picture name. */
function nameIn(address: string): string | undefined {
  if (!isAddress(address)) return undefined;
  const { pathname, hash } = new URL(address);
  const last = pathname.slice(pathname.lastIndexOf('/') + 1);
  return pictureName(decoded(hash.slice(1))) ?? pictureName(decoded(last));
}

function pictureName(name: string): string | undefined {
  return isPictureName(name) ? name : undefined;
}

export function isPictureName(name: string): boolean {
  // The length comes first: the pattern takes seconds for a name of 65,535 characters, which a ZIP may have. Names are
  // stored in lower case, and some letters become two.
  return (
    name.toLowerCase().length <= 120 &&
    /^[^/\\\p{Cc}]*[\p{L}\p{N}][^/\\\p{Cc}]*\.(?:png|jpe?g|gif)$/iu.test(name)
  );
}

/** Decodes percent-encoded blanks and accents; invalid percent signs stay literal. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

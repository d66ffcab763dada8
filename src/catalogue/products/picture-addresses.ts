import { CellProblem } from './row-problem.ts';

const MOST_PICTURES = 20;

/** The addresses of pictures in a cell, separated by blanks or bars, with the names that the pictures get. */
export function readAddresses(cell: string): { address: string; name: string }[] {
  const addresses = cell.split(/[\s|]+/).filter((part) => part !== '');
  if (addresses.length > MOST_PICTURES)
    throw new CellProblem('words', `names more than ${MOST_PICTURES} pictures`, { most: MOST_PICTURES });
  return addresses.map((address) => {
    const name = URL.canParse(address) ? nameIn(new URL(address)) : undefined;
    if (name === undefined)
      throw new CellProblem(
        'address',
        `is ${address}, which is no address such as https://shop.example/lamp.jpg`,
      );
    return { address, name };
  });
}

/** The last part of the path, if it is the name of a picture. */
function nameIn({ protocol, pathname }: URL): string | undefined {
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  const last = pathname.slice(pathname.lastIndexOf('/') + 1);
  // Blanks and accents are written with percent signs, which stand for themselves where they are wrong.
  const name = /%(?![0-9a-f]{2})/i.test(last) ? last : safeDecoded(last);
  return /^[^/\\\p{Cc}]*[\p{L}\p{N}][^/\\\p{Cc}]*\.(?:png|jpe?g|gif)$/iu.test(name) && name.length <= 120
    ? name
    : undefined;
}

function safeDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

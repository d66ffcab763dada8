import { readJson } from '../../kernel/json-file.ts';
import { loadSharp } from '../../platform/media/store-image.ts';

/** Letters as strokes, 6 high: a machine without fonts can draw them too. */
const LETTERS = readJson(new URL('./letter-shapes.json', import.meta.url)) as Readonly<
  Record<string, { width: number; path: string }>
>;

/** White is readable on all of them. */
const COLOURS = ['#0b5d66', '#1f4e8c', '#5b2a86', '#9b2c4a', '#7a3e1d', '#2f6b2f', '#3d4a5c', '#8a3b12'];

export interface DrawnLogo {
  /** The colour behind the letters, which suits the rest of the shop. */
  colour: string;
  svg: string;
}

const SIDE = 64;
/** The share of the square that the letters may take. */
const MAX_WIDTH = 38;
const MAX_HEIGHT = 30;
const GAP = 1.8;

/** The initials of a name, such as TT for Tea & Time, on a colour derived from the name. */
export function logoOf(name: string, shopId: string): DrawnLogo {
  const own = initialsOf(name);
  // An id has letters that can be drawn, whatever the script of the name.
  const letters = own.length > 0 ? own : initialsOf(shopId);
  const colour = COLOURS[Buffer.from(name).reduce((sum, byte) => sum + byte, 0) % COLOURS.length]!;
  const shapes = letters.map((letter) => LETTERS[letter]!);
  const width = shapes.reduce((sum, shape) => sum + shape.width, GAP * (shapes.length - 1));
  const scale = Math.min(MAX_WIDTH / Math.max(width, 1), MAX_HEIGHT / 6);
  let x = 0;
  const paths = shapes.map((shape) => {
    const moved = `<path transform="translate(${x.toFixed(2)} 0)" d="${shape.path}"/>`;
    x += shape.width + GAP;
    return moved;
  });
  const [left, top] = [(SIDE - width * scale) / 2, (SIDE - 6 * scale) / 2];
  return {
    colour,
    svg:
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIDE} ${SIDE}" width="512" height="512">` +
      `<rect width="${SIDE}" height="${SIDE}" rx="14" fill="${colour}"/>` +
      `<g transform="translate(${left.toFixed(2)} ${top.toFixed(2)}) scale(${scale.toFixed(3)})" fill="none" stroke="#fff"` +
      ` stroke-linecap="round" stroke-linejoin="round">${paths.join('')}</g></svg>`,
  };
}

/** The first letters of the first two words; an id such as MyShop has two words too. */
function initialsOf(name: string): string[] {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .split(/[^\p{L}\p{N}]+/u);
  return words
    .map((word) => word.slice(0, 1).toUpperCase())
    .filter((letter) => Object.hasOwn(LETTERS, letter))
    .slice(0, 2);
}

export async function toPng(svg: string): Promise<Buffer> {
  const sharp = await loadSharp();
  return sharp(Buffer.from(svg)).png({ palette: true }).toBuffer();
}

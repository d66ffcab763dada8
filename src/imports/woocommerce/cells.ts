import { readJson } from '../../kernel/json-file.ts';
import type { SourceFile } from '../source-files.ts';
import type { TableRow } from '../table.ts';
import type columnTitles from './columns.json';

/**
 * The columns of WooCommerce's product exporter, which writes their titles in the language of the shop's admin. A title
 * with # has the number of an attribute in its place.
 */
const TITLES = readJson(new URL('./columns.json', import.meta.url)) as typeof columnTitles;
export type WooCommerceColumn = keyof typeof TITLES;

export const cellOf = (row: TableRow, column: WooCommerceColumn): string => row.cell(...TITLES[column]);

export const hasColumn = (row: TableRow, column: WooCommerceColumn): boolean => TITLES[column].some(row.has);

/** Whether a file has these columns. */
export const isTableWith = ({ columns }: SourceFile, ...needed: readonly WooCommerceColumn[]): boolean =>
  needed.every((column) => TITLES[column].some((title) => columns.has(title.toLowerCase())));

const MAX_ATTRIBUTES = 100;

/** The attributes of a row with their values, in their order. */
export function wooCommerceAttributes(row: TableRow): Map<string, string[]> {
  const attributes = new Map<string, string[]>();
  for (let number = 1; number <= MAX_ATTRIBUTES; number++) {
    const titles = (column: WooCommerceColumn) =>
      TITLES[column].map((title) => title.replace('#', String(number)));
    const names = titles('attributeName');
    if (!names.some(row.has)) break;
    const name = wooCommerceText(row.cell(...names));
    if (name !== '') attributes.set(name, listOf(row.cell(...titles('attributeValues'))));
  }
  return attributes;
}

const GRAMS = { g: 1, kg: 1_000, lbs: 453.59237, oz: 28.349523125 } as const;

/** The weight in grams: the unit is in the title of the column. */
export function gramsOf(row: TableRow, decimal: (text: string) => string): string {
  for (const [unit, grams] of Object.entries(GRAMS)) {
    const weight = decimal(row.cell(...TITLES.weight.map((title) => `${title} (${unit})`)));
    if (weight !== '') return String(Math.round(Number(weight) * grams * 1_000) / 1_000);
  }
  return '';
}

/** Values between commas; a comma inside a value has a backslash before it. */
export const listOf = (text: string): string[] => [
  ...new Set(
    text
      .split(/(?<!\\),/)
      .map((one) => wooCommerceText(one.replaceAll(String.raw`\,`, ',')).trim())
      .filter((one) => one !== ''),
  ),
];

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** WordPress stores names as HTML. */
export const wooCommerceText = (html: string): string =>
  html.replaceAll(/&(?:#(\d{1,6})|(amp|lt|gt|quot|apos|nbsp));/g, (whole, code: string, name: string) => {
    if (name !== undefined) return ENTITIES[name]!;
    const point = Number(code);
    return point > 31 && point < 0xd800 ? String.fromCodePoint(point) : whole;
  });

const BLOCK = /^<(?:p|div|h[1-6]|ul|ol|li|dl|table|blockquote|figure|section|pre|hr|address)\b/i;

/**
 * A description as HTML. The exporter writes the ends of lines as \n, and WordPress makes paragraphs of lines when it
 * shows a text; comments are those of its editor.
 */
export function wooCommerceDescription(text: string): string {
  const lines = text
    .replaceAll(/\\{2,}n|\\n/g, (found) => (found.length > 2 ? String.raw`\n` : '\n'))
    .replaceAll(/<!--[^>]{0,2000}-->/g, '');
  return lines
    .split(/\r?\n[ \t]*\r?\n/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => (BLOCK.test(part) ? part : `<p>${part.replaceAll(/\r?\n/g, '<br>')}</p>`))
    .join('\n');
}

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

export type FontName = 'regular' | 'bold';

const FILES: Readonly<Record<FontName, string>> = {
  regular: 'DejaVuSansCondensed.ttf',
  bold: 'DejaVuSansCondensed-Bold.ttf',
};

let kept: Record<FontName, Buffer> | undefined;

/** Read with the first document, like everything that documents need. */
export function fontFiles(): Record<FontName, Buffer> {
  const { resolve } = createRequire(import.meta.url);
  const read = (name: FontName) => readFileSync(resolve(`dejavu-fonts-ttf/ttf/${FILES[name]}`));
  kept ??= { regular: read('regular'), bold: read('bold') };
  return kept;
}

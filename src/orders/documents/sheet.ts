import { newPauses } from '../../http/pauses.ts';
import { fontFiles, type FontName } from './fonts.ts';

/** Pages filled from top to bottom: wrapped lines, columns. Lengths in points. */

const MM = 72 / 25.4;
export const mm = (length: number) => length * MM;

export const PAPER = {
  width: mm(210),
  height: mm(297),
  left: mm(25),
  right: mm(190),
  /** Where the text of all pages except the first begins. */
  top: mm(25),
  /** Where the text of a page ends; the foot is below it. */
  bottom: mm(258),
} as const;

export const INK = { text: '#1f2933', soft: '#5f6b76', rule: '#d5dae0', strong: '#1f2933' };

export interface TextStyle {
  size?: number;
  font?: FontName;
  color?: string;
  align?: 'left' | 'right';
}

interface FontInside {
  font: {
    hasGlyphForCodePoint(code: number): boolean;
    /** The decoded tables of the file so far, by name. */
    _tables: Record<string, unknown>;
  };
  /** Writes the used letters into the file; pdfkit does it with all fonts at once when the file ends. */
  finalize(): void;
}

/** Internals of pdfkit: the font in use, and the used ones, by name. */
interface DocumentInside {
  _font: FontInside;
  _fontFamilies: Record<string, FontInside>;
}

/** Decoding the tables of a font takes longer than writing a document with it, so all documents share them. */
const fontTables: Partial<Record<FontName, Record<string, unknown>>> = {};

/** More letters than a line of the page can hold in the smallest size, and more accents than a letter can. */
const MAX_LINE_LENGTH = 300;
const TOO_MANY_ACCENTS = /(\p{M}{4})\p{M}+/gu;

export interface SheetOptions {
  title: string;
  /** Creation time and identity of the file: the same values give the same bytes. */
  createdAt: Date;
  id: string;
  language: string;
  /** Stands across each page; absent: nothing does. */
  watermark?: string | undefined;
}

/** PDF/A-3b: it contains everything needed to show it, and can carry the invoice as XML. */
export async function newSheet({ title, createdAt, id, language, watermark }: SheetOptions) {
  // Loaded with the first document: most processes never make one.
  const { default: PDFDocument } = await import('pdfkit');
  const files = fontFiles();
  const doc = new PDFDocument({
    size: 'A4',
    margin: 0,
    pdfVersion: '1.7',
    subset: 'PDF/A-3b',
    lang: language,
    displayTitle: true,
    bufferPages: true,
    // Text is only written in embedded fonts.
    font: '',
    // pdfkit puts these into XML as they are: they must not contain text of others.
    info: { Title: title, Creator: 'Kontor', Producer: 'Kontor', CreationDate: createdAt, Keywords: id },
  });
  doc.registerFont('regular', files.regular);
  doc.registerFont('bold', files.bold);
  const chunks: Buffer[] = [];
  doc.on('data', (chunk: Buffer) => chunks.push(chunk));
  // These members are private to pdfkit, which declares some of them otherwise; package.json names one version of it.
  const inside = doc as unknown as DocumentInside;
  doc.font('regular');
  if (!inside._font.font._tables || !inside._fontFamilies)
    throw new Error('This version of pdfkit is unknown');

  // A PDF takes up to some 100 ms of processor time: other requests are served in between.
  const pause = newPauses();
  for (const font of ['regular', 'bold'] as const) {
    doc.font(font);
    const opened = inside._font.font;
    opened._tables = fontTables[font] ??= opened._tables;
    doc.widthOfString('x');
    await pause();
  }

  const use = ({ size = 9, font = 'regular' }: TextStyle) => doc.font(font).fontSize(size);

  /** Characters missing in the font become question marks: an archive file has no meaningless signs. */
  const shown = (text: string) => {
    const { font } = inside._font;
    return Array.from(text.normalize('NFC').replaceAll(/\s+/g, ' ').replaceAll(TOO_MANY_ACCENTS, '$1'))
      .map((sign) => (font.hasGlyphForCodePoint(sign.codePointAt(0)!) ? sign : '?'))
      .join('')
      .trim();
  };

  const widthOf = (text: string, style: TextStyle) => use(style).widthOfString(shown(text));

  const fits = (text: string, width: number) =>
    text.length <= MAX_LINE_LENGTH && doc.widthOfString(text) <= width;

  /** The parts of a word that is wider than a line. Each letter is measured once. */
  const broken = (word: string, width: number): string[] => {
    const widths = new Map<string, number>();
    const widthOfSign = (sign: string) => {
      let known = widths.get(sign);
      if (known === undefined) widths.set(sign, (known = doc.widthOfString(sign)));
      return known;
    };
    const parts: string[] = [];
    let part = '';
    let filled = 0;
    for (const sign of word) {
      const wide = widthOfSign(sign);
      if (part !== '' && (filled + wide > width || part.length >= MAX_LINE_LENGTH)) {
        parts.push(part);
        part = '';
        filled = 0;
      }
      part += sign;
      filled += wide;
    }
    return [...parts, part];
  };

  /** The lines of a text of this width. A wider word is broken. */
  const wrapped = (text: string, width: number, style: TextStyle = {}): string[] => {
    use(style);
    return text.split(/\r\n?|\n/).flatMap((paragraph) => {
      const lines: string[] = [];
      let line = '';
      for (const word of shown(paragraph).split(' ')) {
        const longer = line === '' ? word : `${line} ${word}`;
        if (fits(longer, width)) {
          line = longer;
          continue;
        }
        if (line !== '') lines.push(line);
        const parts = fits(word, width) ? [word] : broken(word, width);
        lines.push(...parts.slice(0, -1));
        line = parts.at(-1)!;
      }
      return [...lines, line];
    });
  };

  const lineHeight = ({ size = 9 }: TextStyle = {}) => size * 1.38;

  /** One line at this position; with a width it can be right-aligned. */
  const write = (text: string, x: number, y: number, style: TextStyle & { width?: number } = {}) => {
    const { color = INK.text, align = 'left', width } = style;
    use(style).fillColor(color);
    const line = shown(text);
    if (line === '') return;
    const left = align === 'right' && width !== undefined ? x + width - doc.widthOfString(line) : x;
    doc.text(line, left, y, { lineBreak: false });
  };

  const rule = (y: number, { from = PAPER.left, to = PAPER.right, color = INK.rule, weight = 0.6 } = {}) => {
    doc.moveTo(from, y).lineTo(to, y).lineWidth(weight).strokeColor(color).stroke();
  };

  /** Across the page, light enough to read what is below it. */
  const mark = (text: string) => {
    const style: TextStyle = { size: 44, font: 'bold' };
    const [x, y] = [PAPER.width / 2, PAPER.height / 2];
    doc.save().rotate(-52, { origin: [x, y] });
    use(style).fillColor(INK.soft).fillOpacity(0.16);
    doc.text(shown(text), x - widthOf(text, style) / 2, y - 22, { lineBreak: false });
    doc.fillOpacity(1).restore();
  };

  /** The bytes; `finish` is called to complete every page, from 1. */
  const finished = async (finish: (page: number, pages: number) => void): Promise<Buffer> => {
    const { start, count } = doc.bufferedPageRange();
    for (let page = 0; page < count; page++) {
      doc.switchToPage(start + page);
      if (watermark !== undefined) mark(watermark);
      finish(page + 1, count);
      await pause();
    }
    for (const font of Object.values(inside._fontFamilies)) {
      font.finalize();
      await pause();
    }
    return new Promise((resolve, reject) => {
      doc.on('end', () => resolve(Buffer.concat(chunks)));
      doc.on('error', reject);
      doc.end();
    });
  };

  return { doc, widthOf, wrapped, write, rule, lineHeight, finished, pause };
}

export type Sheet = Awaited<ReturnType<typeof newSheet>>;

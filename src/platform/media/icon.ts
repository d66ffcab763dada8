/** One picture of an icon file: a PNG, or a bitmap without its file header. */
export interface IconEntry {
  width: number;
  height: number;
  bytes: Buffer;
  isPng: boolean;
}

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

const MAX_ENTRIES = 64;

/** The pictures of an .ico file; undefined when it is not one, or is cut off. */
export function iconEntries(file: Buffer): IconEntry[] | undefined {
  if (file.length < 6 || file.readUInt16LE(0) !== 0 || file.readUInt16LE(2) !== 1) return undefined;
  const count = file.readUInt16LE(4);
  if (count === 0 || count > MAX_ENTRIES || file.length < 6 + 16 * count) return undefined;
  const entries: IconEntry[] = [];
  for (let at = 6; at < 6 + 16 * count; at += 16) {
    const start = file.readUInt32LE(at + 12);
    const end = start + file.readUInt32LE(at + 8);
    if (start < 6 + 16 * count || end > file.length) return undefined;
    const bytes = file.subarray(start, end);
    const isPng = bytes.subarray(0, 8).equals(PNG_SIGNATURE);
    if (!isPng && !isBitmap(bytes)) return undefined;
    // 0 stands for 256.
    entries.push({ width: file[at]! || 256, height: file[at + 1]! || 256, bytes, isPng });
  }
  return entries;
}

/** A BITMAPINFOHEADER, its colours, the rows and the rows of the mask; the header counts both in its height. */
function isBitmap(bytes: Buffer): boolean {
  if (bytes.length < 40 || bytes.readUInt32LE(0) !== 40) return false;
  const width = bytes.readInt32LE(4);
  const height = bytes.readInt32LE(8) / 2;
  const bits = bytes.readUInt16LE(14);
  if (!isSide(width) || !isSide(height)) return false;
  if (![1, 4, 8, 16, 24, 32].includes(bits) || bytes.readUInt32LE(16) !== 0) return false;
  const colours = bits > 8 ? 0 : bytes.readUInt32LE(32) || 2 ** bits;
  const rowOf = (bitsPerPixel: number) => Math.ceil((width * bitsPerPixel) / 32) * 4;
  // With 32 bits the transparency is in the colours; some programs then omit the mask.
  const mask = bits === 32 ? 0 : rowOf(1) * height;
  return bytes.length >= 40 + 4 * colours + rowOf(bits) * height + mask;
}

function isSide(pixels: number): boolean {
  return Number.isInteger(pixels) && pixels >= 1 && pixels <= 256;
}

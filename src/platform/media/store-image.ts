import { open, readFile } from 'node:fs/promises';
import type { Sharp, SharpOptions } from 'sharp';
import { HttpError, Refusal } from '../../http/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { createFairQueue } from './fair-queue.ts';
import { iconEntries } from './icon.ts';
import { imageName, type ImageKind } from './image-name.ts';
import { CLASSES, CLASSIFIERS, type Classifier, type ImageFile, type ImageSizes } from './images.ts';
import type { MediaStorage } from './storage.ts';

export interface StoredImage {
  imageKey: string;
  sizes: ImageSizes;
}

type PictureKind = Exclude<ImageKind, 'ico'>;
type Picture = Dimensions & { bytes: Buffer };

interface Dimensions {
  width: number;
  height: number;
}

const MAX_PIXELS = 50_000_000;
/** Decoders keep and list the rows of an image: one that is a pixel wide and has millions of rows costs minutes. */
const MAX_SIDE = 16_384;
/** All pixels of a GIF and an interlaced PNG are in memory at once, with up to 16 bytes each. */
const MAX_WHOLE_PIXELS = 16_777_216;
const MAX_FRAMES = 1_000;
const MAX_ICON_PIXELS = 1_048_576;
const MAX_ICON_PIXELS_IN_ALL = 4 * MAX_ICON_PIXELS;
/** For each decoding of the image. No photo takes this long, even on a busy machine. */
const MAX_SECONDS = 60;

const SIGNATURES: Readonly<Record<ImageKind, readonly string[]>> = {
  png: ['89504e470d0a1a0a'],
  jpeg: ['ffd8ff'],
  gif: ['474946383761', '474946383961'],
  ico: ['00000100'],
};

/**
 * Makes the files of an image from its bytes, or the path of a file, and its original name. A file that is not an
 * image of its kind is refused with 400. Only the pixels of a photo are kept, so no place or owner that a camera noted
 * gets published. The files are orphans until a row names their key: the sweep removes them after an hour.
 */
export async function storeImage(
  media: MediaStorage,
  shopId: string,
  source: Buffer | string,
  name: string,
): Promise<StoredImage> {
  const { kind, fileOf } = imageName(name);
  await checkSignature(source, kind);
  const pictures = await inTurn(shopId, async () =>
    kind === 'ico' ? iconPictures(source) : scaledPictures(source, kind),
  );
  const imageKey = newId(new Date());
  const files = CLASSIFIERS.flatMap((classifier) => {
    const picture = pictures[classifier];
    return picture ? [{ classifier, ...picture, file: fileOf(CLASSES[classifier].suffix) }] : [];
  });
  try {
    await media.write(shopId, imageKey, files);
  } catch (error) {
    // Where that fails too, the sweep removes them.
    await media.removeFolders(shopId, [imageKey]).catch(() => {});
    throw error;
  }
  const sizes = Object.fromEntries(CLASSIFIERS.map((classifier) => [classifier, null])) as Record<
    Classifier,
    ImageFile | null
  >;
  for (const { classifier, file, width, height, bytes } of files) {
    sizes[classifier] = { file, width, height, bytes: bytes.length };
  }
  return { imageKey, sizes };
}

/** First of all, so nothing else (an SVG, a page) reaches a decoder under a false name. */
async function checkSignature(source: Buffer | string, kind: ImageKind): Promise<void> {
  const start = typeof source === 'string' ? await firstBytes(source) : source.subarray(0, 8);
  const hex = start.toString('hex');
  if (!SIGNATURES[kind].some((signature) => hex.startsWith(signature))) {
    throw new Refusal('IMAGE_OF_OTHER_KIND', { kind: kind.toUpperCase() });
  }
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/**
 * One picture at a time in the whole process: it takes a core and up to 200 MB, and the other core answers requests. A
 * waiting upload holds a connection and a file of at most 10 MB.
 */
const inTurn = createFairQueue({ atOnce: 1, waitingPerShop: 32, waitingInAll: 512 });

let loading: Promise<(source: Buffer | string, options?: SharpOptions) => Sharp> | undefined;

/** Loaded when the first image comes: libvips takes time and memory that most processes never need. */
export function loadSharp() {
  loading ??= import('sharp').then(({ default: sharp }) => {
    sharp.cache(false);
    sharp.concurrency(1);
    return sharp;
  });
  return loading;
}

async function scaledPictures(
  source: Buffer | string,
  kind: PictureKind,
): Promise<Record<Classifier, Picture>> {
  const sharp = await loadSharp();
  const opened = (animated: boolean) =>
    sharp(source, { animated, failOn: 'error', limitInputPixels: MAX_PIXELS })
      .timeout({ seconds: MAX_SECONDS })
      .autoOrient();
  try {
    const { autoOrient: original, pages = 1, isProgressive } = await opened(false).metadata();
    const pixels = original.width * original.height;
    if (pixels * pages > MAX_PIXELS) throw tooManyPixels();
    if (Math.max(original.width, original.height) > MAX_SIDE) throw tooLong();
    if (pages > MAX_FRAMES) throw tooManyFrames();
    const isDecodedWhole = kind === 'gif' || (kind === 'png' && isProgressive);
    if (isDecodedWhole && pixels > MAX_WHOLE_PIXELS) throw tooManyAtOnce();

    const encoded = async (picture: Sharp, size: Dimensions) => {
      // Finding a code table that fits the image requires all of it, which takes memory for a large one.
      const optimiseCoding = size.width * size.height < 1_000_000;
      const bytes = await picture
        .resize({ ...size, fit: 'fill' })
        .toFormat(kind, kind === 'jpeg' ? { quality: 85, optimiseCoding } : {})
        .toBuffer();
      return { ...size, bytes };
    };
    const largest = fitted(original, CLASSES.Large.box);
    const isWhole = kind === 'gif' && largest.width === original.width;
    // Encoding an animation again takes seconds, so one that fits stays as uploaded, once all frames were decoded.
    if (isWhole) await opened(true).resize({ width: 1, height: 1, fit: 'fill' }).raw().toBuffer();

    // The other sizes are made from these pixels, so the original is decoded twice and not seven times.
    const reduced = await opened(false)
      .resize({ ...fitted(original, CLASSES.MediumLarge.box), fit: 'fill' })
      .raw()
      .toBuffer({ resolveWithObject: true });
    const pictures = {
      Large: isWhole
        ? { ...largest, bytes: await bytesOf(source) }
        : await encoded(opened(kind === 'gif'), largest),
    } as Record<Classifier, Picture>;
    for (const classifier of CLASSIFIERS) {
      if (classifier === 'Large') continue;
      const pixels = sharp(reduced.data, { raw: reduced.info });
      pictures[classifier] = await encoded(pixels, fitted(original, CLASSES[classifier].box));
    }
    return pictures;
  } catch (error) {
    throw refusalOf(error);
  }
}

function bytesOf(source: Buffer | string): Promise<Buffer> | Buffer {
  return typeof source === 'string' ? readFile(source) : source;
}

/** An icon is served as uploaded: it contains its sizes already. */
async function iconPictures(source: Buffer | string): Promise<Partial<Record<Classifier, Picture>>> {
  const bytes = await bytesOf(source);
  const entries = iconEntries(bytes);
  if (!entries) throw damaged();
  const sharp = await loadSharp();
  try {
    let pixels = 0;
    for (const entry of entries) {
      if (!entry.isPng) continue;
      const picture = sharp(entry.bytes, { failOn: 'error', limitInputPixels: MAX_ICON_PIXELS });
      const { width, height } = await picture.metadata();
      pixels += width * height;
      // Sixty entries may name the same bytes.
      if (pixels > MAX_ICON_PIXELS_IN_ALL) throw damaged();
      await picture.stats();
    }
  } catch {
    throw damaged();
  }
  const { width, height } = entries.reduce((largest, entry) =>
    entry.width > largest.width ? entry : largest,
  );
  return { Large: { width, height, bytes } };
}

/** The size within a square; never larger than the original. */
export function fitted({ width, height }: Dimensions, box: number): Dimensions {
  const side = Math.max(width, height);
  if (side <= box) return { width, height };
  const scaled = (length: number) => Math.max(1, Math.round((length * box) / side));
  return { width: scaled(width), height: scaled(height) };
}

const damaged = () => new Refusal('IMAGE_DAMAGED');
const tooManyPixels = () => new Refusal('IMAGE_TOO_LARGE');
const tooLong = () => new Refusal('IMAGE_TOO_LONG', { limit: MAX_SIDE });
const tooManyFrames = () => new Refusal('IMAGE_WITH_TOO_MANY_FRAMES', { limit: MAX_FRAMES });
const tooManyAtOnce = () => new Refusal('IMAGE_TOO_LARGE_AT_ONCE');

/** Decoder errors are about the uploaded file. */
function refusalOf(error: unknown): Error {
  if (error instanceof HttpError) return error;
  return (error as Error).message.includes('pixel limit') ? tooManyPixels() : damaged();
}

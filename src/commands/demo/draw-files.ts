import { newId } from '../../kernel/ids.ts';
import { CLASSES, CLASSIFIERS, type Classifier, type ImageFile } from '../../platform/media/images.ts';
import { imageName } from '../../platform/media/image-name.ts';
import { OTHER_FILES, type MediaStorage } from '../../platform/media/storage.ts';
import { fitted, loadSharp, type StoredImage } from '../../platform/media/store-image.ts';
import { dataSheet } from './data-sheet.ts';
import { findDrawings, readDrawing, type DemoProduct } from './demo-data.ts';

/** The size of the drawings. */
const CANVAS = { width: 800, height: 600 };

/** Products whose pictures are drawn concurrently: 14 files each, and a store accepts only a limited number at once. */
const AT_ONCE = 8;

export type DrawnImage = StoredImage & { name: string };

/** The files of a demo shop besides its rows; addresses are without the host. */
export interface DemoFiles {
  /** By product number, in their order. */
  images: ReadonlyMap<string, readonly DrawnImage[]>;
  /** By alias of the category. */
  categoryImages: ReadonlyMap<string, StoredImage>;
  energyLabels: ReadonlyMap<string, string>;
  dataSheets: ReadonlyMap<string, string>;
  logo: string;
  /** The picture of the front page. */
  hero: string;
}

/**
 * Creates the files of a new demo shop. Every size is drawn from the SVG, which is faster and sharper than decoding
 * and scaling pictures.
 */
export async function drawFiles(
  media: MediaStorage,
  shopId: string,
  products: readonly DemoProduct[],
): Promise<DemoFiles> {
  const pictures = await findDrawings();
  const draw = (picture: string) => drawImage(media, shopId, picture);
  const images: [string, DrawnImage[]][] = [];
  for (let at = 0; at < products.length; at += AT_ONCE) {
    const drawn = products
      .slice(at, at + AT_ONCE)
      .map(async ({ number }): Promise<[string, DrawnImage[]]> => {
        const own = pictures.filter((picture) => picture.startsWith(`${number}_`));
        return [number, await Promise.all(own.map(draw))];
      });
    images.push(...(await Promise.all(drawn)));
  }
  const [coffee, others] = await Promise.all([draw('coffee'), otherFiles(products)]);
  // Existing files are overwritten: a folder that outlived its database has the same files under the same names.
  await media.write(shopId, OTHER_FILES, others);
  return {
    images: new Map(images),
    categoryImages: new Map([['coffee', coffee]]),
    ...otherAddresses(shopId, products),
  };
}

/** The addresses of the files that have the same names in every demo shop. */
export function otherAddresses(
  shopId: string,
  products: readonly DemoProduct[],
): Omit<DemoFiles, 'images' | 'categoryImages'> {
  const address = (file: string) => `/media/${shopId}/${OTHER_FILES}/${file}`;
  const addresses = (isMeant: (product: DemoProduct) => unknown, file: (number: string) => string) =>
    new Map(products.filter(isMeant).map(({ number }) => [number, address(file(number))]));
  return {
    energyLabels: addresses(
      ({ energy }) => energy,
      (number) => `${energyLabel(number)}.png`,
    ),
    dataSheets: addresses(({ hasDataSheet }) => hasDataSheet, dataSheetFile),
    logo: address('logo.png'),
    hero: address('hero.png'),
  };
}

export const dataSheetFile = (number: string) => `${number}-data-sheet.pdf`;
const energyLabel = (number: string) => `${number}-energy-label`;

async function drawImage(media: MediaStorage, shopId: string, picture: string): Promise<DrawnImage> {
  const name = `${picture}.png`;
  const drawing = await readDrawing(picture);
  const { fileOf } = imageName(name);
  const byWidth = new Map<number, Buffer>();
  const files = [];
  for (const classifier of CLASSIFIERS) {
    const size = fitted(CANVAS, CLASSES[classifier].box);
    const bytes = byWidth.get(size.width) ?? (await png(drawing, size));
    byWidth.set(size.width, bytes);
    files.push({ classifier, ...size, bytes, file: fileOf(CLASSES[classifier].suffix) });
  }
  const imageKey = newId(new Date());
  await media.write(shopId, imageKey, files);
  const sizes = Object.fromEntries(
    files.map(({ classifier, file, width, height, bytes }) => [
      classifier,
      { file, width, height, bytes: bytes.length },
    ]),
  ) as Record<Classifier, ImageFile>;
  return { name, imageKey, sizes };
}

/**
 * Draws at a size in pixels, set on the outer SVG. The drawings do not hide their overflow, because a thumbnail of 50
 * x 38 is a little higher than 4:3 and would get a line at its edge.
 */
async function png(drawing: string, { width, height }: { width: number; height: number }): Promise<Buffer> {
  const sharp = await loadSharp();
  const box = `0 0 ${CANVAS.width} ${CANVAS.height}`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${box}">${drawing}</svg>`;
  return sharp(Buffer.from(svg)).removeAlpha().png().toBuffer();
}

async function otherFiles(products: readonly DemoProduct[]): Promise<{ file: string; bytes: Buffer }[]> {
  const size = fitted(CANVAS, 400);
  const pictures = [
    'logo',
    ...products.filter(({ energy }) => energy).map(({ number }) => energyLabel(number)),
  ];
  const drawn = await Promise.all([
    ...pictures.map(async (picture) => ({
      file: `${picture}.png`,
      bytes: await png(await readDrawing(picture), size),
    })),
    (async () => ({ file: 'hero.png', bytes: await png(await readDrawing('hero'), CANVAS) }))(),
  ]);
  const sheets = products
    .filter(({ hasDataSheet }) => hasDataSheet)
    .map(({ number, details }) => ({ file: dataSheetFile(number), bytes: dataSheet(number, details!) }));
  return [...drawn, ...sheets];
}

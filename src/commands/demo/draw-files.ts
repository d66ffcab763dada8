import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import { newId } from '../../kernel/ids.ts';
import { CLASSES, CLASSIFIERS, type Classifier, type ImageFile } from '../../platform/media/images.ts';
import { imageName } from '../../platform/media/image-name.ts';
import { mediaPath, OTHER_FILES, writeFiles } from '../../platform/media/storage.ts';
import { fitted, loadSharp, type StoredImage } from '../../platform/media/store-image.ts';
import { dataSheet } from './data-sheet.ts';
import { demoProducts, type DemoProduct } from './catalogue.ts';
import { CANVAS, coffeePicture, demoPictures, energyLabel, logo, svgText } from './pictures.ts';

export type DrawnImage = StoredImage & { name: string };

/** What the demo shop has beside its rows; addresses are without the host. */
export interface DemoFiles {
  /** By product number, in their order. */
  images: ReadonlyMap<string, readonly DrawnImage[]>;
  /** By alias of the category. */
  categoryImages: ReadonlyMap<string, StoredImage>;
  energyLabels: ReadonlyMap<string, string>;
  dataSheets: ReadonlyMap<string, string>;
  logo: string;
}

/**
 * Makes the files of a new demo shop. Every size is drawn from the SVG, which is quicker than to decode and to reduce
 * pictures, and sharper.
 */
export async function drawFiles(config: Config, shopId: string): Promise<DemoFiles> {
  const draw = (name: string, drawing: string) => drawImage(config, shopId, name, drawing);
  const [images, coffee, others] = await Promise.all([
    Promise.all(
      Object.entries(demoPictures).map(async ([number, drawings]) => {
        const names = drawings.map((_, index) => `${number}_${index + 1}.png`);
        return [number, await Promise.all(names.map((name, index) => draw(name, drawings[index]!)))] as const;
      }),
    ),
    draw('coffee.png', coffeePicture),
    otherFiles(),
  ]);
  await writeOthers(config, shopId, others);
  const address = (file: string) => `/media/${shopId}/${OTHER_FILES}/${file}`;
  const addresses = (chosen: (product: DemoProduct) => unknown, file: (number: string) => string) =>
    new Map(demoProducts.filter(chosen).map(({ number }) => [number, address(file(number))]));
  return {
    images: new Map(images),
    categoryImages: new Map([['coffee', coffee]]),
    energyLabels: addresses(({ energy }) => energy, labelFile),
    dataSheets: addresses(({ hasDataSheet }) => hasDataSheet, dataSheetFile),
    logo: address('logo.png'),
  };
}

export const dataSheetFile = (number: string) => `${number}-data-sheet.pdf`;
const labelFile = (number: string) => `${number}-energy-label.png`;

async function drawImage(config: Config, shopId: string, name: string, drawing: string): Promise<DrawnImage> {
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
  await writeFiles(config, shopId, imageKey, files);
  const sizes = Object.fromEntries(
    files.map(({ classifier, file, width, height, bytes }) => [
      classifier,
      { file, width, height, bytes: bytes.length },
    ]),
  ) as Record<Classifier, ImageFile>;
  return { name, imageKey, sizes };
}

async function png(drawing: string, size: { width: number; height: number }): Promise<Buffer> {
  const sharp = await loadSharp();
  return sharp(Buffer.from(svgText(drawing, size)))
    .removeAlpha()
    .png()
    .toBuffer();
}

async function otherFiles(): Promise<{ file: string; bytes: Buffer }[]> {
  const size = fitted(CANVAS, 400);
  const drawings: [file: string, drawing: string][] = [
    ['logo.png', logo],
    ...demoProducts.flatMap(({ number, energy }): [string, string][] =>
      energy ? [[labelFile(number), energyLabel(energy[0])]] : [],
    ),
  ];
  const drawn = await Promise.all(
    drawings.map(async ([file, drawing]) => ({ file, bytes: await png(drawing, size) })),
  );
  const sheets = demoProducts
    .filter(({ hasDataSheet }) => hasDataSheet)
    .map(({ number, facts }) => ({ file: dataSheetFile(number), bytes: dataSheet(number, facts) }));
  return [...drawn, ...sheets];
}

/** Their names are fixed: a folder that outlived its database has them already, and they are the same. */
async function writeOthers(
  config: Config,
  shopId: string,
  files: readonly { file: string; bytes: Buffer }[],
): Promise<void> {
  for (const { file, bytes } of files) {
    const target = mediaPath(config, shopId, OTHER_FILES, file)!;
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, bytes, { flush: true });
  }
}

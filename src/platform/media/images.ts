/** The sizes of an image in the order of a slideshow: the suffix of the file's name, and the bounding square. */
export const CLASSES = {
  Thumbnail: { suffix: '_xs', box: 50 },
  Small: { suffix: '_s', box: 100 },
  HotDeal: { suffix: '_h', box: 149 },
  MediumSmall: { suffix: '_ms', box: 200 },
  Medium: { suffix: '_m', box: 500 },
  MediumLarge: { suffix: '_ml', box: 800 },
  Large: { suffix: '', box: 4000 },
} as const;

export type Classifier = keyof typeof CLASSES;
export const CLASSIFIERS = Object.keys(CLASSES) as Classifier[];

export interface ImageFile {
  file: string;
  width: number;
  height: number;
  bytes: number;
}

/** As the column `sizes` holds it; null: there is no such size. */
export type ImageSizes = Readonly<Record<Classifier, ImageFile | null>>;

/** File names contain only characters that need no escaping. */
export function imageUrl(origin: string, shopId: string, imageKey: string, file: string): string {
  return `${origin}/media/${shopId}/${imageKey.toUpperCase()}/${file}`;
}

/** The path alone: every host that shows a page of the shop serves its images too. */
export function imagePath(url: string): string {
  return url.slice(url.indexOf('/media/'));
}

/** The order in which products and categories show the sizes of their image. */
const SHOWN = ['HotDeal', 'Medium', 'Large', 'Small', 'Thumbnail'] as const;

/** The order for lines in carts and orders. */
export const SHOWN_IN_LINES = ['HotDeal', 'Large', 'Medium', 'Small', 'Thumbnail'] as const;

/** `images` of a product, a category or a line, without the sizes that do not exist. */
export function imagesOf(
  origin: string,
  shopId: string,
  imageKey: string,
  sizes: ImageSizes,
  { isZoomEnabled, order = SHOWN }: { isZoomEnabled: boolean; order?: readonly Classifier[] },
) {
  return order.flatMap((classifier) => {
    const size = sizes[classifier];
    if (!size) return [];
    const { file, width, height, bytes } = size;
    const url = imageUrl(origin, shopId, imageKey, file);
    return [{ url, classifier, isZoomEnabled, width, height, fileSize: bytes }];
  });
}

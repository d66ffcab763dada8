import type { Transaction } from '../../db/database.ts';
import { recordEvents } from '../../platform/events/log.ts';
import { CLASSIFIERS, type ImageSizes } from '../../platform/media/images.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { replacePageFiles } from './queries.ts';

const KEY_IN_ADDRESS = /\/media\/[^/"]+\/([\dA-Fa-f]{8}(?:-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12})\//g;

/** The keys of the uploaded pictures in all addresses and texts of a page. */
export function imageKeysOf(content: object): string[] {
  const found = JSON.stringify(content).matchAll(KEY_IN_ADDRESS);
  return [...new Set(Array.from(found, ([, key]) => key!.toUpperCase()))];
}

interface Picture {
  imageKey: string;
  sizes: ImageSizes;
}

/** A file of a picture in an address: `<key>/<file>`. */
const addressEnd = (imageKey: string, file: string) => `${imageKey.toUpperCase()}/${file}`;

/**
 * The end of the address of each file, and of the file that replaces it: the same size, or the next larger one, or the
 * largest that there is. One entry for each size; the entry of a size that did not exist changes nothing.
 */
export function replacedFiles(before: Picture, after: Picture): [from: string, to: string][] {
  return CLASSIFIERS.map((classifier, index) => {
    const file = before.sizes[classifier];
    const order = [...CLASSIFIERS.slice(index), ...CLASSIFIERS.slice(0, index).toReversed()];
    const other = order.map((one) => after.sizes[one]).find(Boolean);
    const folder = addressEnd(before.imageKey, '');
    if (!file || !other) return [folder, folder];
    return [addressEnd(before.imageKey, file.file), addressEnd(after.imageKey, other.file)];
  });
}

/** Shows another picture on all pages that show this one. What the pages were before is kept as a version of each. */
export async function replaceOnPages(
  tx: Transaction,
  shopId: string,
  before: Picture,
  after: Picture,
  author: string,
): Promise<void> {
  await moveSettingsVersion(tx, shopId);
  const pageIds = await replacePageFiles(tx, shopId, {
    before: before.imageKey,
    after: after.imageKey,
    files: replacedFiles(before, after),
    author,
  });
  if (pageIds.length === 0) return;
  recordEvents(tx, shopId, [
    {
      type: 'SETTINGS_CHANGED',
      resourceId: null,
      data: { changed: pageIds.map((pageId) => `pages/${pageId}`) },
    },
  ]);
}

import { buffer } from 'node:stream/consumers';
import { notFound } from '../../http/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { CLASSIFIERS } from './images.ts';
import type { MediaStorage } from './storage.ts';
import type { StoredImage } from './store-image.ts';

/**
 * Copies the files of an image into a folder of their own, so that the copy outlives the original. They are orphans
 * until a row names their key, as those of a new image are.
 */
export async function copyImage(
  media: MediaStorage,
  shopId: string,
  { imageKey, sizes }: StoredImage,
): Promise<StoredImage> {
  const files = await Promise.all(
    CLASSIFIERS.flatMap((classifier) => {
      const size = sizes[classifier];
      return size ? [readFile(media, shopId, imageKey, size.file)] : [];
    }),
  );
  const copied = { imageKey: newId(new Date()), sizes };
  try {
    await media.write(shopId, copied.imageKey, files);
  } catch (error) {
    await media.removeFolders(shopId, [copied.imageKey]).catch(() => {});
    throw error;
  }
  return copied;
}

async function readFile(media: MediaStorage, shopId: string, folder: string, file: string) {
  const content = await media.read({ shopId, folder, file });
  // The image has been deleted meanwhile.
  if (!content) throw notFound();
  return { file, bytes: await buffer(content) };
}

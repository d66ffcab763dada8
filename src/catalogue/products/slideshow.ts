import { isDeepStrictEqual } from 'node:util';
import { Type, type Static } from 'typebox';
import type { Config } from '../../config.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { hasScope, type Caller } from '../../http/callers.ts';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id } from '../../http/schemas.ts';
import type { Upload } from '../../http/upload.ts';
import { CLASSIFIERS, imageUrl, type ImageSizes } from '../../platform/media/images.ts';
import { addMedia, bytesOf, refuseFullMedia, takeMedia } from '../../platform/media/quota.ts';
import { ImageInfo } from '../../platform/media/schema.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import { storeImage, type StoredImage } from '../../platform/media/store-image.ts';
import { touchProducts } from './product-events.ts';

const params = Type.Object({ productId: Id });
const name = { description: 'Name of the uploaded file, case as sent.', examples: ['lamp.jpg'] };

const Slideshow = Type.Object(
  { items: Type.Array(ImageInfo, { description: 'In the order in which they are shown.' }) },
  { title: 'slideshow' },
);

const NewImage = Type.Object(
  {
    image: Type.Unsafe<Upload>({
      type: 'string',
      format: 'binary',
      description:
        'The file, with its name (.png, .jpg, .jpeg, .gif or .ico): at most 10 MB for the whole request and 50 megapixels.',
      examples: ['lamp.jpg'],
    }),
  },
  { title: 'image (upload)' },
);

const Sequence = Type.Array(Type.String(name), {
  title: 'slideshow sequence',
  description: 'The names of all images, in the order in which they are shown.',
});

const shared = { tag: 'products', labels: ['Base', 'Now'] } as const;
const nameTaken = () => new Refusal('IMAGE_NAME_TAKEN');

const getSlideshow = operation({
  ...shared,
  method: 'GET',
  path: '/products/:productId/slideshow',
  name: 'getSlideshow',
  summary: 'Get slideshow',
  access: 'products_read',
  params,
  answer: Slideshow,
});

export const addImage = operation({
  ...shared,
  method: 'POST',
  path: '/products/:productId/slideshow',
  name: 'addImage',
  summary: 'Add image',
  description:
    'The first image of a product becomes its main image. Images are never replaced. 400: the name is taken. 413: the body is larger than 10 MB, or the shop has no space left. 429: too many images of the shop wait to be scaled.',
  access: 'products_write',
  params,
  accepts: 'multipart',
  body: NewImage,
  status: 201,
  answer: ImageInfo,
  constraints: { product_image_pkey: nameTaken },
});

export const deleteImage = operation({
  ...shared,
  method: 'DELETE',
  path: '/products/:productId/slideshow/:imageName',
  name: 'deleteImage',
  summary: 'Delete image',
  description: 'If it was the main image, the next one becomes the main image.',
  access: 'products_write',
  params: Type.Object({ productId: Id, imageName: Type.String(name) }),
  status: 204,
});

const getSlideshowSequence = operation({
  ...shared,
  method: 'GET',
  path: '/products/:productId/slideshow/sequence',
  name: 'getSlideshowSequence',
  summary: 'Get slideshow sequence',
  access: 'products_read',
  params,
  answer: Sequence,
});

export const setSlideshowSequence = operation({
  ...shared,
  method: 'PUT',
  path: '/products/:productId/slideshow/sequence',
  name: 'setSlideshowSequence',
  summary: 'Set slideshow sequence',
  description: 'The body must name each image of the product once.',
  access: 'products_write',
  params,
  body: Sequence,
  answer: Sequence,
});

export function slideshow(api: Operations, media: MediaStorage): void {
  const { config } = api;

  api.read(getSlideshow, async ({ db, shopId, params, caller, origin }) => {
    const images = await seenImages(db, shopId, params.productId, caller);
    return { items: images.map((image) => toImageInfo(image, origin, shopId)) };
  });

  api.write(
    {
      ...addImage,
      prepare: async ({ db, shopId, params, body: { image }, isKeyed }) => {
        // Before the costly part; the transaction makes the final decision.
        if (!isKeyed) {
          await refuseEarly(db, shopId, params.productId, image.name);
          await refuseFullMedia(db, config, shopId);
        }
        const prepared = await storeImage(media, shopId, image.path, image.name);
        return { prepared, discard: () => media.removeFolders(shopId, [prepared.imageKey]) };
      },
    },
    async ({ tx, shopId, params, body: { image }, origin, prepared }) => {
      await attachImage(tx, config, shopId, params.productId, image.name, prepared);
      return toImageInfo({ name: image.name, ...prepared }, origin, shopId);
    },
  );

  api.write(deleteImage, async ({ tx, shopId, params, afterCommit }) => {
    await lockProduct(tx, shopId, params.productId);
    const deleted = await deleteImageRow(tx, shopId, params.productId, params.imageName);
    if (!deleted) throw notFound();
    await changeSlideshow(tx, shopId, params.productId);
    await addMedia(tx, shopId, -bytesOf([deleted]));
    afterCommit(() => media.removeFolders(shopId, [deleted.imageKey]));
  });

  api.read(getSlideshowSequence, async ({ db, shopId, params, caller }) => {
    const images = await seenImages(db, shopId, params.productId, caller);
    return images.map((image) => image.name);
  });

  api.write(setSlideshowSequence, async ({ tx, shopId, params, body }) => {
    await lockProduct(tx, shopId, params.productId);
    const product = await findImages(tx, shopId, params.productId);
    const names = product!.images.map((image) => image.name);
    checkSequence(body, new Set(names));
    if (isDeepStrictEqual(body, names)) return body;
    await updateSequence(tx, shopId, params.productId, body);
    await changeSlideshow(tx, shopId, params.productId);
    return body;
  });
}

/** Adds an image, whose files exist, after the others of the product. */
export async function attachImage(
  tx: Transaction,
  config: Config,
  shopId: string,
  productId: string,
  imageName: string,
  stored: StoredImage,
): Promise<void> {
  await lockProduct(tx, shopId, productId);
  await insertImage(tx, shopId, productId, imageName, stored);
  await changeSlideshow(tx, shopId, productId);
  await takeMedia(tx, config, shopId, bytesOf([stored]));
}

async function refuseEarly(db: Queries, shopId: string, productId: string, name: string): Promise<void> {
  const product = await findImages(db, shopId, productId);
  if (!product) throw notFound();
  if (product.images.some((image) => image.name === name)) throw nameTaken();
}

function checkSequence(names: readonly string[], open: Set<string>): void {
  for (const [index, name] of names.entries()) {
    if (!open.delete(name)) throw invalid('UNKNOWN_VALUE', String(index));
  }
  if (open.size > 0) throw invalid('MISSING', 'body');
}

/** Applies all consequences of a change of the images. If the main image is none of them, the first one becomes it. */
async function changeSlideshow(tx: Transaction, shopId: string, productId: string): Promise<void> {
  const isMainChanged = (await updateMainImage(tx, shopId, productId)) > 0;
  const changed = ['slideshow', ...(isMainChanged ? ['productImage'] : [])];
  await touchProducts(tx, shopId, [productId], changed);
}

interface ImageRow extends StoredImage {
  name: string;
}

function toImageInfo(image: ImageRow, origin: string, shopId: string): Static<typeof ImageInfo> {
  return {
    name: image.name,
    sizes: CLASSIFIERS.map((classifier) => {
      const size = image.sizes[classifier];
      return {
        url: size ? imageUrl(origin, shopId, image.imageKey, size.file) : null,
        classifier,
        isZoomEnabled: false,
      };
    }),
  };
}

/** Invisible products do not exist for shoppers. */
async function seenImages(db: Queries, shopId: string, productId: string, caller: Caller) {
  const product = await findImages(db, shopId, productId);
  if (!product || !(product.visible || hasScope(caller, 'products_write'))) throw notFound();
  return product.images;
}

function findImages(db: Queries, shopId: string, productId: string) {
  return db.one<{ visible: boolean; images: ImageRow[] }>(sql`
    select visible, (
      select coalesce(json_agg(json_build_object('name', name, 'imageKey', image_key, 'sizes', sizes)
        order by position, name), '[]')
      from product_image image
      where image.shop_id = ${shopId} and image.product_id = product.product_id
    ) as images
    from product where shop_id = ${shopId} and product_id = ${productId}`);
}

/** Serialises changes of images, so that positions and the main image are right. */
async function lockProduct(tx: Transaction, shopId: string, productId: string): Promise<void> {
  const row = await tx.one(
    sql`select 1 from product where shop_id = ${shopId} and product_id = ${productId} for update`,
  );
  if (!row) throw notFound();
}

async function insertImage(
  tx: Transaction,
  shopId: string,
  productId: string,
  name: string,
  { imageKey, sizes }: { imageKey: string; sizes: ImageSizes },
): Promise<void> {
  const last = await tx.one<{ position: number }>(sql`
    select coalesce(max(position), -1) as position from product_image
    where shop_id = ${shopId} and product_id = ${productId}`);
  await tx.run(sql`
    insert into product_image (shop_id, product_id, name, position, image_key, sizes, created_at)
    values (${shopId}, ${productId}, ${name}, ${last!.position + 1}, ${imageKey}, ${sizes}, ${tx.now})`);
}

function deleteImageRow(tx: Transaction, shopId: string, productId: string, name: string) {
  return tx.one<StoredImage>(sql`
    delete from product_image where shop_id = ${shopId} and product_id = ${productId} and name = ${name}
    returning image_key as "imageKey", sizes`);
}

function updateMainImage(tx: Transaction, shopId: string, productId: string) {
  return tx.run(sql`
    update product set main_image = (
      select name from product_image
      where shop_id = ${shopId} and product_id = ${productId} order by position, name limit 1
    )
    where shop_id = ${shopId} and product_id = ${productId} and not exists (
      select from product_image
      where shop_id = ${shopId} and product_id = ${productId} and name = product.main_image
    )`);
}

function updateSequence(tx: Transaction, shopId: string, productId: string, names: readonly string[]) {
  return tx.run(sql`
    update product_image set position = sequence.place
    from unnest(${names}::text[]) with ordinality as sequence (name, place)
    where shop_id = ${shopId} and product_id = ${productId} and product_image.name = sequence.name`);
}

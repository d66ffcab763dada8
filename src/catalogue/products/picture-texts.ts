import { isDeepStrictEqual } from 'node:util';
import { Type, type Static } from 'typebox';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { invalid, notFound } from '../../http/errors.ts';
import type { Localised } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id } from '../../http/schemas.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { touchProducts } from './product-events.ts';
import { lockProduct } from './queries.ts';
import { MAX_LENGTHS } from './request-fields.ts';
import { Text } from '../../http/request-fields.ts';

const PictureTexts = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          name: Text('Name of the image, as in the slideshow.', 'lamp.jpg', 255),
          locale: Text('A locale of the shop.', 'en_GB', 20),
          text: Text(
            'Description of the image; empty: none.',
            'A brass lamp on a desk',
            MAX_LENGTHS.pictureText,
          ),
        },
        { title: 'pictureText' },
      ),
      { maxItems: 2_000, description: 'In the order of the slideshow. What is missing has no text.' },
    ),
  },
  { title: 'pictureTexts' },
);
export type PictureTexts = Static<typeof PictureTexts>;

const shared = {
  path: '/products/:productId/picture-texts',
  under: 'manage',
  tag: 'products',
  labels: [],
  params: Type.Object({ productId: Id }),
  answer: PictureTexts,
} as const;

const getPictureTexts = operation({
  ...shared,
  method: 'GET',
  name: 'getPictureTexts',
  summary: 'Get picture texts',
  description: 'The alternative texts of the images of a product, in all locales.',
  access: 'products_write',
});

export const setPictureTexts = operation({
  ...shared,
  method: 'PUT',
  name: 'setPictureTexts',
  summary: 'Set picture texts',
  description:
    'Replaces the alternative texts of all images of a product. The storefront uses them instead of the name of the product.',
  access: 'products_write',
  body: PictureTexts,
});

/** The descriptions of a product's pictures, for people who do not see them. */
export function pictureTexts(api: Operations): void {
  api.read(getPictureTexts, async ({ db, shopId, params }) => {
    const pictures = await findTexts(db, shopId, params.productId);
    if (!pictures) throw notFound();
    return toAnswer(pictures);
  });

  api.write(setPictureTexts, async ({ tx, shopId, params: { productId }, body }) => {
    if (!(await lockProduct(tx, shopId, productId))) throw notFound();
    const before = (await findTexts(tx, shopId, productId))!;
    const after = describedPictures(before, body, await shopSettings(tx, shopId));
    await saveTexts(tx, shopId, productId, before, after);
    return toAnswer(after);
  });
}

/**
 * Sets the descriptions of some pictures of a product, in some locales; an empty text removes one, and the others
 * stay. Returns whether anything changed.
 */
export async function describePictures(
  tx: Transaction,
  shopId: string,
  productId: string,
  described: ReadonlyMap<string, Localised>,
): Promise<boolean> {
  if (!(await lockProduct(tx, shopId, productId))) return false;
  const before = (await findTexts(tx, shopId, productId))!;
  return saveTexts(tx, shopId, productId, before, withTexts(before, described));
}

/** Whether `describePictures` would change anything. */
export function hasOtherTexts(
  pictures: readonly DescribedPicture[],
  described: ReadonlyMap<string, Localised>,
): boolean {
  return !isDeepStrictEqual(withTexts(pictures, described), pictures);
}

function withTexts(
  pictures: readonly DescribedPicture[],
  described: ReadonlyMap<string, Localised>,
): DescribedPicture[] {
  return pictures.map(({ name, texts }) => ({
    name,
    texts: Object.fromEntries(
      Object.entries({ ...texts, ...described.get(name) }).filter(([, text]) => text !== ''),
    ),
  }));
}

async function saveTexts(
  tx: Transaction,
  shopId: string,
  productId: string,
  before: readonly DescribedPicture[],
  after: readonly DescribedPicture[],
): Promise<boolean> {
  if (isDeepStrictEqual(after, before)) return false;
  await updateTexts(tx, shopId, productId, after);
  await touchProducts(tx, shopId, [productId], ['slideshow']);
  return true;
}

export interface DescribedPicture {
  name: string;
  texts: Localised;
}

/** The pictures with exactly these texts. */
function describedPictures(
  pictures: readonly DescribedPicture[],
  { items }: PictureTexts,
  { locales }: Settings,
): DescribedPicture[] {
  const texts = new Map(pictures.map(({ name }) => [name, new Map<string, string>()]));
  for (const [index, { name, locale, text }] of items.entries()) {
    const ofPicture = texts.get(name);
    if (!ofPicture) throw invalid('UNKNOWN_VALUE', `items.${index}.name`);
    if (!locales.includes(locale)) throw invalid('UNKNOWN_VALUE', `items.${index}.locale`);
    if (text.trim() !== '') ofPicture.set(locale, text.trim());
  }
  return pictures.map(({ name }) => ({ name, texts: Object.fromEntries(texts.get(name)!) }));
}

const toAnswer = (pictures: readonly DescribedPicture[]): PictureTexts => ({
  items: pictures.flatMap(({ name, texts }) =>
    Object.entries(texts)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([locale, text]) => ({ name, locale, text })),
  ),
});

/** undefined: there is no such product. */
async function findTexts(
  db: Queries,
  shopId: string,
  productId: string,
): Promise<DescribedPicture[] | undefined> {
  const row = await db.one<{ pictures: DescribedPicture[] }>(sql`
    select (
      select coalesce(json_agg(json_build_object('name', name, 'texts', alt_texts) order by position, name), '[]')
      from product_image where shop_id = ${shopId} and product_id = ${productId}
    ) as pictures
    from product where shop_id = ${shopId} and product_id = ${productId}`);
  return row?.pictures;
}

function updateTexts(
  tx: Transaction,
  shopId: string,
  productId: string,
  pictures: readonly DescribedPicture[],
) {
  return tx.run(sql`
    update product_image set alt_texts = given.texts
    from jsonb_to_recordset(${JSON.stringify(pictures)}) as given (name text, texts jsonb)
    where shop_id = ${shopId} and product_id = ${productId} and product_image.name = given.name`);
}

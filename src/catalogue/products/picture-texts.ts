import { isDeepStrictEqual } from 'node:util';
import { Type, type Static } from 'typebox';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { invalid, notFound } from '../../http/errors.ts';
import type { Operations } from '../../http/operation.ts';
import { Id } from '../../http/schemas.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { touchProducts } from './product-events.ts';
import { lockProduct } from './queries.ts';
import { Text } from './request-fields.ts';

export const LONGEST_PICTURE_TEXT = 500;

const PictureTexts = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          name: Text('Name of the image, as in the slideshow.', 'lamp.jpg', 255),
          locale: Text('A locale of the shop.', 'en_GB', 20),
          text: Text(
            'What it shows; empty: nothing is said.',
            'A brass lamp on a desk',
            LONGEST_PICTURE_TEXT,
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

/** What the pictures of a product show, for people who do not see them. */
export function pictureTexts(api: Operations): void {
  api.read(
    {
      ...shared,
      method: 'GET',
      name: 'getPictureTexts',
      summary: 'Get picture texts',
      description: 'The alternative texts of the images of a product, in all locales.',
      access: 'products_write',
    },
    async ({ db, shopId, params }) => {
      const pictures = await findTexts(db, shopId, params.productId);
      if (!pictures) throw notFound();
      return toAnswer(pictures);
    },
  );

  api.write(
    {
      ...shared,
      method: 'PUT',
      name: 'setPictureTexts',
      summary: 'Set picture texts',
      description:
        'Replaces the alternative texts of all images of a product. The storefront says them instead of the name of the product.',
      access: 'products_write',
      body: PictureTexts,
    },
    async ({ tx, shopId, params: { productId }, body }) => {
      if (!(await lockProduct(tx, shopId, productId))) throw notFound();
      const before = (await findTexts(tx, shopId, productId))!;
      const after = describedPictures(before, body, await shopSettings(tx, shopId));
      if (!isDeepStrictEqual(after, before)) {
        await updateTexts(tx, shopId, productId, after);
        await touchProducts(tx, shopId, [productId], ['slideshow']);
      }
      return toAnswer(after);
    },
  );
}

interface DescribedPicture {
  name: string;
  texts: Readonly<Record<string, string>>;
}

/** The pictures with these texts, and without any others. */
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

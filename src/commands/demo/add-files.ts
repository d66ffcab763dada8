import type { Config } from '../../config.ts';
import type { Database, Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { ImageSizes } from '../../platform/media/images.ts';
import type { StoredImage } from '../../platform/media/store-image.ts';
import { openMediaStorage } from '../../platform/media/open-storage.ts';
import { addMedia, bytesOf } from '../../platform/media/quota.ts';
import type { ProductFacts } from '../../catalogue/products/facts.ts';
import type { Content, ContentLine } from '../../pricing/content.ts';
import { readCatalogue, type DemoProduct } from './demo-data.ts';
import { dataSheetFile, drawFiles, otherAddresses, type DemoFiles, type DrawnImage } from './draw-files.ts';

/**
 * Adds the pictures, energy labels, data sheet and logo of a new demo shop. Drawing them takes a second, during which
 * the shop is open without them; no row names a file before it exists. Changes made in the meantime stay.
 */
export async function addDemoFiles(db: Database, config: Config, shopId: string): Promise<void> {
  const { products } = await readCatalogue();
  const files = await drawFiles(openMediaStorage(config), shopId, products);
  await db.transaction((tx) => insertDemoFiles(tx, shopId, products, files));
}

/** The files that a demo shop has, for a shop that is created again in its place; undefined: they were not drawn yet. */
export async function findDemoFiles(
  db: Queries,
  shopId: string,
  products: readonly DemoProduct[],
): Promise<DemoFiles | undefined> {
  const rows = await db.many<DrawnImage & { number: string }>(sql`
    select product_number as number, image.name, upper(image.image_key::text) as "imageKey", image.sizes
    from product_image image
    join product on product.shop_id = ${shopId} and product.product_id = image.product_id
    where image.shop_id = ${shopId} order by product_number, position`);
  if (rows.length === 0) return undefined;
  const categories = await db.many<StoredImage & { alias: string }>(sql`
    select alias, upper(image_key::text) as "imageKey", image_sizes as sizes from category
    where shop_id = ${shopId} and image_key is not null`);
  const images = new Map<string, DrawnImage[]>();
  for (const { number, ...image } of rows) images.set(number, [...(images.get(number) ?? []), image]);
  return {
    images,
    categoryImages: new Map(categories.map(({ alias, ...image }) => [alias, image])),
    ...otherAddresses(shopId, products),
  };
}

/** Names these files in the rows of the shop. */
export async function insertDemoFiles(
  tx: Transaction,
  shopId: string,
  products: readonly DemoProduct[],
  files: DemoFiles,
): Promise<void> {
  await updateProducts(tx, shopId, products, files);
  await insertImages(tx, shopId, files);
  await updateCategories(tx, shopId, files);
  await updateOrders(tx, shopId);
  await updateSettings(tx, shopId, files);
}

/**
 * Citus refuses functions that build JSON in a `case` or `coalesce` of an update, so the current value is read first.
 */
async function updateSettings(tx: Transaction, shopId: string, { logo, hero }: DemoFiles): Promise<void> {
  const shop = await tx.one<{ logoUrl: string | null; home: { picture?: string | null } | null }>(sql`
    select settings ->> 'logoUrl' as "logoUrl", settings -> 'home' as home from shop
    where shop_id = ${shopId} for no key update`);
  const { logoUrl, home } = shop!;
  const added = {
    logoUrl: logoUrl ?? logo,
    ...(home && { home: { ...home, picture: home.picture ?? hero } }),
  };
  await tx.run(sql`
    update shop set settings_version = settings_version + 1, settings = settings || ${added}::jsonb
    where shop_id = ${shopId}`);
}

/** Keeps the times of the last change, because the merchant has changed nothing. */
function updateProducts(tx: Transaction, shopId: string, products: readonly DemoProduct[], files: DemoFiles) {
  const rows = products.map(({ number, energy }) => {
    const label = files.energyLabels.get(number);
    const dataSheet = files.dataSheets.get(number);
    const facts: ProductFacts = {
      ...(energy && label ? { energyLabel: { ...energy, file: label } } : {}),
      ...(dataSheet ? { dataSheet: { fileName: dataSheetFile(number), url: dataSheet } } : {}),
    };
    return { number, mainImage: files.images.get(number)?.[0]?.name ?? null, facts };
  });
  return tx.run(sql`
    update product set main_image = coalesce(product.main_image, row."mainImage"), facts = row.facts || product.facts,
      version = product.version + 1
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (number text, "mainImage" text, facts jsonb)
    where product.shop_id = ${shopId} and product.product_number = row.number`);
}

/** One size of the knife is missing, as with pictures that were uploaded long ago. */
const INCOMPLETE = { name: 'KN-100_2.png', missing: { MediumLarge: null } };

async function insertImages(tx: Transaction, shopId: string, { images }: DemoFiles): Promise<void> {
  const rows = [...images].flatMap(([number, drawn]) =>
    drawn.map(({ name, imageKey, sizes }, position) => ({
      number,
      name,
      position,
      imageKey,
      sizes: name === INCOMPLETE.name ? { ...sizes, ...INCOMPLETE.missing } : sizes,
    })),
  );
  const inserted = await tx.many<{ sizes: ImageSizes }>(sql`
    insert into product_image (shop_id, product_id, name, position, image_key, sizes, created_at)
    select ${shopId}, product.product_id, row.name, row.position, row."imageKey", row.sizes, ${tx.now}
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (number text, name text, position integer,
      "imageKey" uuid, sizes jsonb)
    join product on product.shop_id = ${shopId} and product.product_number = row.number
    on conflict (shop_id, product_id, name) do nothing
    returning sizes`);
  await addMedia(tx, shopId, bytesOf(inserted));
}

async function updateCategories(
  tx: Transaction,
  shopId: string,
  { categoryImages }: DemoFiles,
): Promise<void> {
  const rows = [...categoryImages].map(([alias, { imageKey, sizes }]) => ({ alias, imageKey, sizes }));
  const updated = await tx.many<{ sizes: ImageSizes }>(sql`
    update category set image_key = row."imageKey", image_sizes = row.sizes
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (alias text, "imageKey" uuid, sizes jsonb)
    where category.shop_id = ${shopId} and category.alias = row.alias
    returning row.sizes`);
  await addMedia(tx, shopId, bytesOf(updated));
}

/** Orders show the pictures that products had when they were bought; those of the demo are older than its pictures. */
async function updateOrders(tx: Transaction, shopId: string): Promise<void> {
  const orders = await tx.many<{ orderId: string; content: Content }>(sql`
    select order_id as "orderId", content from customer_order where shop_id = ${shopId} for no key update`);
  const pictures = await tx.many<{ productId: string; image: NonNullable<ContentLine['image']> }>(sql`
    select upper(product.product_id::text) as "productId",
      json_build_object('imageKey', image.image_key, 'sizes', image.sizes) as image
    from product
    left join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
    join product_image image on image.shop_id = ${shopId}
      and image.product_id = case when product.main_image is null then master.product_id else product.product_id end
      and image.name = coalesce(product.main_image, master.main_image)
    where product.shop_id = ${shopId}`);
  const imageOf = new Map(pictures.map(({ productId, image }) => [productId, image]));
  const rows = orders.map(({ orderId, content }) => ({
    orderId,
    content: {
      ...content,
      lines: content.lines.map((line) => ({
        ...line,
        image: line.image ?? imageOf.get(line.productId) ?? null,
      })),
    },
  }));
  await tx.run(sql`
    update customer_order set content = row.content
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row ("orderId" uuid, content jsonb)
    where customer_order.shop_id = ${shopId} and customer_order.order_id = row."orderId"`);
}

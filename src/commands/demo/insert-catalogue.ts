import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { ProductFacts } from '../../catalogue/products/facts.ts';
import { refreshListing } from '../../catalogue/products/listing.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { selectSettings, type Settings } from '../../shops/settings/settings.ts';
import type { DemoIds } from './demo-ids.ts';
import type { DemoCatalogue, DemoCategory, DemoProduct, DemoProductType } from './demo-data.ts';
import { takeNumber } from '../../platform/counters.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Days since the first product was added. The others follow an hour apart, so that their ids are in the same order. */
const OPENED = 400;

/** Inserts the categories, product types and products of a demo shop whose settings already exist. */
export async function insertCatalogue(
  tx: Transaction,
  shopId: string,
  catalogue: DemoCatalogue,
  ids: DemoIds,
): Promise<void> {
  await insertCategories(tx, shopId, catalogue.categories, ids);
  await insertProductTypes(tx, shopId, catalogue.productTypes, ids);
  const settings = (await selectSettings(tx, shopId))!;
  const products = productRows(catalogue.products, settings, tx.now, ids);
  await insertProducts(tx, shopId, products);
  await insertAssignments(tx, shopId, products);
  await insertPriceHistory(tx, shopId, products, tx.now);
  await insertCrossSelling(tx, shopId, catalogue.products);
  await insertWatchers(tx, shopId, catalogue.products);
  await refreshListing(
    tx,
    shopId,
    products.map(({ product_id }) => product_id),
  );
}

/** The root already exists and gets its names. The others follow level by level, because parents come first. */
async function insertCategories(
  tx: Transaction,
  shopId: string,
  [root, ...others]: readonly DemoCategory[],
  ids: DemoIds,
): Promise<void> {
  await tx.run(sql`
    update category set name = ${root!.name} where shop_id = ${shopId} and alias = ${root!.alias}`);
  const last = await takeNumber(tx, shopId, 'category', others.length);
  const rows = others.map((category, index) => ({
    ...category,
    categoryId: ids('category', category.alias),
    number: last - others.length + index + 1,
  }));
  const children = (parents: readonly { alias: string }[]) =>
    rows.filter(({ parent }) => parents.some(({ alias }) => alias === parent));
  for (let level = children([root!]); level.length > 0; level = children(level)) {
    await insertLevel(tx, shopId, level);
  }
}

function insertLevel(
  tx: Transaction,
  shopId: string,
  categories: readonly (DemoCategory & { categoryId: string; number: number })[],
) {
  const rows = categories.map((category) => ({
    ...category,
    description: category.description ?? {},
    visible: category.visible ?? true,
    visibleInNavigation: category.visibleInNavigation ?? true,
    specialOffer: category.specialOffer ?? false,
  }));
  return tx.run(sql`
    insert into category (shop_id, category_id, number, alias, parent_id, position, created_at, name, page_title,
      navigation_caption, description, visible, visible_in_navigation, special_offer, show_facets, facet_start_depth)
    select ${shopId}, row."categoryId", row.number, row.alias, parent.category_id, row.number, ${tx.now}, row.name,
      '{}', '{}', row.description, row.visible, row."visibleInNavigation", row."specialOffer", true, 3
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row ("categoryId" uuid, number bigint, alias text,
      parent text, name jsonb, description jsonb, visible boolean, "visibleInNavigation" boolean,
      "specialOffer" boolean)
    join category parent on parent.shop_id = ${shopId} and parent.alias = row.parent`);
}

async function insertProductTypes(
  tx: Transaction,
  shopId: string,
  types: readonly DemoProductType[],
  ids: DemoIds,
): Promise<void> {
  const count = types.flatMap(({ attributes }) => attributes).length;
  let number = (await takeNumber(tx, shopId, 'attribute', count)) - count;
  const rows = types.map(({ alias, name, attributes }, index) => ({
    product_type_id: ids('product type', alias),
    alias,
    name,
    // They are listed in this order, after the type that every shop has.
    created_at: new Date(tx.now.getTime() + index + 1),
    attributes: attributes.map(({ key, name, values }) => ({
      number: ++number,
      key,
      name,
      visible: true,
      preDefined: true,
      values,
    })),
  }));
  await tx.run(sql`
    insert into product_type (shop_id, product_type_id, alias, name, created_at, attributes)
    select ${shopId}, product_type_id, alias, name, created_at, attributes
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (product_type_id uuid, alias text, name jsonb,
      created_at timestamptz, attributes jsonb)`);
  await moveSettingsVersion(tx, shopId);
}

/** A row of `product`, and its source. */
interface ProductRow {
  product_id: string;
  product_number: string;
  kind: 'regular' | 'master' | 'variation';
  master_id: string | null;
  selection: Readonly<Record<string, string>> | null;
  created_at: Date;
  attributes_changed_at: Date | null;
  stock_changed_at: Date | null;
  visible: boolean;
  stock: number | null;
  min_stock: number | null;
  tax_class_id: string | null;
  product_type_id: string | null;
  prices: { EUR: number } | null;
  facts: ProductFacts;
  product: DemoProduct;
}

function productRows(
  products: readonly DemoProduct[],
  settings: Settings,
  now: Date,
  ids: DemoIds,
): ProductRow[] {
  const ago = (days: number | undefined) =>
    days === undefined ? null : new Date(now.getTime() - days * DAY);
  const created = products.map(({ number }, index) => {
    const at = new Date(now.getTime() - OPENED * DAY + index * HOUR);
    return [number, { at, productId: ids('product', number, { at }) }] as const;
  });
  const byNumber = new Map(created);
  const masters = new Set(products.map(({ master }) => master));
  return products.map((product) => {
    const { number, master, price, tax, type, stock = null, minStock = null, changed } = product;
    const { at, productId } = byNumber.get(number)!;
    return {
      product_id: productId,
      product_number: number,
      kind: master !== undefined ? 'variation' : masters.has(number) ? 'master' : 'regular',
      master_id: master === undefined ? null : byNumber.get(master)!.productId,
      selection: product.selection ?? null,
      created_at: at,
      attributes_changed_at: ago(changed?.attributes),
      stock_changed_at: ago(changed?.stock),
      visible: product.visible ?? true,
      stock,
      min_stock: minStock,
      tax_class_id: tax === undefined ? null : settings.taxClasses.find(({ key }) => key === tax)!.taxClassId,
      product_type_id:
        type === undefined ? null : settings.productTypes.find(({ alias }) => alias === type)!.productTypeId,
      prices: price === undefined ? null : { EUR: price },
      facts: toFacts(product, settings, now),
      product,
    };
  });
}

/** The file refers to customer groups and shipping methods by name, the database by id. */
function toFacts(product: DemoProduct, settings: Settings, now: Date): ProductFacts {
  const { weight, groups, shipping, newFor, formerPrices } = product;
  const reducedFrom = formerPrices?.at(-1)?.price ?? 0;
  return {
    ...product.details,
    ...(weight === undefined ? {} : { deliveryWeight: { amount: weight, unit: 'gram' } }),
    ...(newFor === undefined ? {} : { newUntil: new Date(now.getTime() + newFor * DAY).toISOString() }),
    ...(reducedFrom > (product.price ?? 0) ? { pricesBeforeReduction: { EUR: reducedFrom } } : {}),
    ...(groups === undefined
      ? {}
      : {
          groupPrices: groups.map(({ name, discount, tiers }) => ({
            customerGroupId: settings.customerGroups.find((group) => group.name === name)!.customerGroupId,
            tiers: tiers.map(({ quantity, price }) => ({ quantity, prices: { EUR: price }, discount })),
          })),
        }),
    ...(shipping === undefined
      ? {}
      : {
          shippingMethodIds: settings.shippingMethods
            .filter(({ key }) => shipping.includes(key))
            .map(({ shippingMethodId }) => shippingMethodId),
        }),
  };
}

function insertProducts(tx: Transaction, shopId: string, products: readonly ProductRow[]) {
  const rows = products.map(({ product: _product, ...row }) => row);
  return tx.run(sql`
    insert into product (shop_id, product_id, product_number, kind, master_id, selection, created_at, version,
      attributes_changed_at, stock_changed_at, visible, stock, min_stock, tax_class_id, product_type_id, prices, facts)
    select ${shopId}, product_id, product_number, kind, master_id, selection, created_at, 1, attributes_changed_at,
      stock_changed_at, visible, stock, min_stock, tax_class_id, product_type_id, prices, facts
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (product_id uuid, product_number text, kind text,
      master_id uuid, selection jsonb, created_at timestamptz, attributes_changed_at timestamptz,
      stock_changed_at timestamptz, visible boolean, stock numeric, min_stock numeric, tax_class_id uuid,
      product_type_id uuid, prices jsonb, facts jsonb)`);
}

function insertAssignments(tx: Transaction, shopId: string, products: readonly ProductRow[]) {
  const rows = products.flatMap(({ product_id, product: { categories = [] } }) =>
    categories.map((alias, position) => ({ product_id, alias, position })),
  );
  return tx.run(sql`
    insert into product_category (shop_id, product_id, category_id, position)
    select ${shopId}, row.product_id, category.category_id, row.position
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (product_id uuid, alias text, position integer)
    join category on category.shop_id = ${shopId} and category.alias = row.alias`);
}

/** Inserts every price with the day on which it became valid. */
function insertPriceHistory(tx: Transaction, shopId: string, products: readonly ProductRow[], now: Date) {
  const rows = products.flatMap(({ product_id, created_at, product: { price, formerPrices = [] } }) => {
    if (price === undefined) return [];
    const starts = [created_at, ...formerPrices.map(({ days }) => new Date(now.getTime() - days * DAY))];
    const prices = [...formerPrices.map((former) => former.price), price];
    return prices.map((amount, index) => ({ product_id, valid_from: starts[index], price: amount }));
  });
  return tx.run(sql`
    insert into price_history (shop_id, product_id, currency, valid_from, price)
    select ${shopId}, product_id, 'EUR', valid_from, price
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (product_id uuid, valid_from timestamptz, price bigint)`);
}

function insertCrossSelling(tx: Transaction, shopId: string, products: readonly DemoProduct[]) {
  const rows = products.flatMap(({ number, crossSelling = [] }) =>
    crossSelling.map((target, position) => ({ number, target, position })),
  );
  return tx.run(sql`
    insert into cross_selling (shop_id, product_id, target_id, position)
    select ${shopId}, product.product_id, target.product_id, row.position
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (number text, target text, position integer)
    join product on product.shop_id = ${shopId} and product.product_number = row.number
    join product target on target.shop_id = ${shopId} and target.product_number = row.target`);
}

function insertWatchers(tx: Transaction, shopId: string, products: readonly DemoProduct[]) {
  const rows = products.flatMap(({ number, watchers = 0 }) =>
    Array.from({ length: watchers }, (_, index) => ({
      number,
      email: `watcher${index + 1}@mail.example`,
      locale: index % 2 === 0 ? 'en_GB' : 'de_DE',
      created_at: new Date(tx.now.getTime() - (index + 1) * DAY),
    })),
  );
  return tx.run(sql`
    insert into watcher (shop_id, product_id, email, locale, created_at)
    select ${shopId}, product.product_id, row.email, row.locale, row.created_at
    from jsonb_to_recordset(${JSON.stringify(rows)}) as row (number text, email text, locale text,
      created_at timestamptz)
    join product on product.shop_id = ${shopId} and product.product_number = row.number`);
}

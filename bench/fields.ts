import type { Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { runDueRebuilds } from '../src/catalogue/products/listing-rebuild.ts';
import { generateProducts } from '../src/commands/demo/generate.ts';
import { requestListingRebuild } from '../src/shops/settings/writes.ts';
import { moveSettingsVersion } from '../src/shops/shop/queries.ts';
import { measureAgainst, type AgainstOptions, type Change } from './against.ts';
import type { Subject } from './load.ts';
import { createBareShop, fullestCategory } from './shop.ts';
import type { Call } from './targets.ts';

/**
 * What twenty custom fields cost that shoppers filter by: two shops with the same products in one service, one with and one
 * without fields, asked in alternating rounds.
 */
export interface FieldsOptions extends AgainstOptions {
  /** Only the calls whose name has this in it. */
  match: string;
}

/** A shop may have so many by which shoppers filter. */
const FIELDS = 20;

/** Clients of what takes long. */
const FEW = 4;

interface FieldShop {
  shopId: string;
  token: string;
  products: { id: string; number: string }[];
  category: string;
  categoryNumber: string;
}

export async function createFieldShops(db: Database, products: number) {
  const plain = await createFieldShop(db, 'Plain', products);
  const fielded = await createFieldShop(db, 'Fielded', products);
  await addFields(db, fielded.shopId);
  await runDueRebuilds(db);
  await db.pool.query('vacuum analyze');
  return { plain, fielded };
}

async function createFieldShop(db: Database, shopId: string, products: number): Promise<FieldShop> {
  const token = await createBareShop(db, shopId);
  await generateProducts(db, { shopId, products, seed: 1 }, () => {});
  const rows = await db.many<{ id: string; number: string }>(sql`
    select upper(product_id::text) as id, product_number as number from product
    where shop_id = ${shopId} and visible and kind = 'regular' order by product_number`);
  const category = await fullestCategory(db, shopId);
  const row = await db.one<{ number: number }>(sql`
    select number from category where shop_id = ${shopId} and alias = ${category}`);
  return { shopId, token, products: rows, category, categoryNumber: String(row!.number) };
}

/** A quarter each of choices, yes or no, numbers and texts; every product has a value of each. */
async function addFields(db: Database, shopId: string): Promise<void> {
  await db.run(sql`insert into custom_field_namespace (shop_id, namespace) values (${shopId}, 'bench')`);
  await db.run(sql`
    insert into custom_field (shop_id, field_id, resource, namespace, key, type, name, is_list, is_localised, readable_by,
      writable_by, is_filter, is_facet, choices, created_at)
    select shop.shop_id, gen_random_uuid(), 'product', 'bench', 'f' || number,
      (array['choice', 'boolean', 'number', 'text'])[number % 4 + 1],
      jsonb_build_object('en_GB', 'Field ' || number), false, false, 'public', 'merchant', false, true,
      case when number % 4 = 0 then (
        select jsonb_agg(jsonb_build_object('key', 'c' || choice, 'label', jsonb_build_object('en_GB', 'Choice ' || choice)))
        from generate_series(0, 7) as choice) end,
      ${db.now}
    from shop cross join generate_series(0, ${FIELDS - 1}::integer) as number where shop.shop_id = ${shopId}`);
  const fields = await db.many<{ fieldId: string }>(sql`
    select field_id as "fieldId" from custom_field where shop_id = ${shopId}`);
  for (const { fieldId } of fields) {
    await db.run(sql`
      insert into custom_field_value (shop_id, resource_id, field_id, locale, position, value, filter_key, product_id)
      select product.shop_id, product_id, field_id, '', 0, value, lower(value #>> '{}'), product_id
      from custom_field
      join product on product.shop_id = ${shopId} and product.kind <> 'variation'
      cross join lateral (select abs(hashtext(product_id::text || key)) as random) as dice
      cross join lateral (select case type
        when 'choice' then to_jsonb('c' || random % 8)
        when 'boolean' then to_jsonb(random % 2 = 0)
        when 'number' then to_jsonb((random % 20)::text)
        else to_jsonb('Value ' || random % 12) end as value) as given
      where custom_field.shop_id = ${shopId} and field_id = ${fieldId}`);
  }
  await db.transaction(async (tx) => {
    await moveSettingsVersion(tx, shopId);
    await requestListingRebuild(tx, shopId);
  });
}

export function measureFields(
  server: { origin: string; pid: number },
  db: Database,
  { plain, fielded }: Awaited<ReturnType<typeof createFieldShops>>,
  options: FieldsOptions,
  say: (line: string) => void,
): Promise<Change[]> {
  const contender = (shop: FieldShop, isFielded: boolean) => ({
    pid: server.pid,
    db,
    subjects: subjectsOf(server.origin, shop, isFielded).filter(({ name }) => name.includes(options.match)),
    settle: async () => {},
  });
  return measureAgainst(contender(fielded, true), contender(plain, false), options, say);
}

/** The same calls for both shops. `asksForFields`: also with the fields in the answer, beside an answer without. */
function subjectsOf(origin: string, shop: FieldShop, asksForFields: boolean): Subject[] {
  const { shopId, token, products, category, categoryNumber } = shop;
  const root = `/rs/shops/${shopId}`;
  const get = (path: string): Call => ({ method: 'GET', path });
  // Nobody has asked for this before, so that no answer is cached.
  let next = 0;
  const anew = (path: (price: number) => string) => [
    { name: 'list', call: () => get(path(1_000_000 + next++)) },
  ];
  const subject = (name: string, calls: Call[], more: Partial<Subject> = {}): Subject => ({
    name,
    origin,
    token,
    calls,
    ...more,
  });
  const included = asksForFields ? '?includeFields=true' : '';
  return [
    subject(
      'GET product',
      products.map(({ id }) => get(`${root}/products/${id}`)),
    ),
    subject(
      'GET product with its fields',
      products.map(({ id }) => get(`${root}/products/${id}${included}`)),
    ),
    subject(
      'product page',
      products.map(({ number }) => get(`/shop/${shopId}/Products/${encodeURIComponent(number)}`)),
    ),
    subject('search by the API with facets', [], {
      flow: [
        {
          name: 'search',
          call: () => ({
            method: 'POST',
            path: `${root}/search/products`,
            body: JSON.stringify({
              attributeFilters: [
                { fieldName: 'CategoryID', attributeValue: categoryNumber },
                { fieldName: 'ListPrice', attributeRange: { min: 0, max: 1_000_000 + next++ } },
              ],
            }),
          }),
        },
      ],
      connections: FEW,
    }),
    subject('filters of a category', [], {
      flow: anew((price) => `/shop/${shopId}/Categories/${encodeURIComponent(category)}?max=${price}`),
      connections: FEW,
    }),
    subject('new price of a product', [], {
      flow: [
        {
          name: 'price',
          call: () => ({
            method: 'PATCH',
            path: `${root}/products/${products[next++ % products.length]!.id}`,
            headers: { 'content-type': 'application/json-patch+json' },
            body: JSON.stringify([
              { op: 'add', path: '/priceInfo/price/amount', value: 10 + (next % 5_000) / 100 },
            ]),
          }),
        },
      ],
      connections: FEW,
    }),
  ];
}

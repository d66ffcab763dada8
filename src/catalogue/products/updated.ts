import { Type } from 'typebox';
import type { Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import { parseMoment, toSeconds } from '../../http/dates.ts';
import { notFound } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { CurrencyParameter, LocaleParameter, Paged, Timestamp } from '../../http/schemas.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { productValues } from './product-cache.ts';
import { versionColumns, type FoundVersion } from './queries.ts';
import { Product } from './schema.ts';
import { renderOptions } from './render-options.ts';

const WEEK = 7 * 24 * 3_600_000;

/** The properties that can change, and the column with the time of the change. */
const PROPERTIES: Readonly<Record<string, Sql>> = {
  attributes: sql`product.attributes_changed_at`,
  stocklevel: sql`product.stock_changed_at`,
};

const UpdatedProduct = Type.Object(
  {
    item: { ...Product, description: 'The product.' },
    lastUpdated: { ...Timestamp, description: 'When it changed last.' },
  },
  { title: 'updatedProduct' },
);

const { parameters, pageOf } = paging();

const listUpdatedProducts = operation({
  tag: 'products',
  labels: ['Base', 'Now'],
  method: 'GET',
  path: '/products/updated/:productProperty',
  name: 'listUpdatedProducts',
  summary: 'List updated products',
  description:
    'Products, variations among them, whose stock (`stocklevel`) or anything else (`attributes`) was changed after the given time; the latest change first. New products are not included.',
  access: 'products_write',
  params: Type.Object({
    productProperty: Type.String({ description: 'attributes or stocklevel.', examples: ['stocklevel'] }),
  }),
  query: Type.Object({
    locale: LocaleParameter,
    currency: CurrencyParameter,
    changedAfter: Type.Optional(
      Type.String({
        description: 'ISO 8601; absent: the last 7 days.',
        examples: ['2026-11-08T10:53:49'],
      }),
    ),
    ...parameters,
  }),
  answer: Paged(UpdatedProduct, 'updated product list'),
  keepsKeyOrder: true,
});

export function updatedProducts(api: Operations): void {
  api.read(listUpdatedProducts, async (call) => {
    const { db, shopId, params, query } = call;
    const changedAt = Object.hasOwn(PROPERTIES, params.productProperty)
      ? PROPERTIES[params.productProperty]!
      : undefined;
    if (!changedAt) throw notFound();
    const since =
      query.changedAfter === undefined
        ? new Date(db.now.getTime() - WEEK)
        : parseMoment(query.changedAfter, 'changedAfter');
    const page = pageOf(query);
    const [settings, results, refs] = await Promise.all([
      shopSettings(db, shopId),
      countChanged(db, shopId, changedAt, since),
      findChanged(db, shopId, changedAt, since, page.resultsPerPage, page.offset),
    ]);
    const changes = new Map(refs.map(({ productId, changedAt }) => [productId, toSeconds(changedAt)]));
    const products = await productValues(db, settings, refs, renderOptions(call, settings, query, 'list'));
    return paged(
      page,
      results,
      products.map((item) => ({ item, lastUpdated: changes.get(item.productId)! })),
    );
  });
}

/** The range has an end, so that PostgreSQL estimates it as narrow and uses its index. */
function isChanged(shopId: string, changedAt: Sql, since: Date): Sql {
  return sql`product.shop_id = ${shopId} and ${changedAt} > ${since} and ${changedAt} < 'infinity'`;
}

async function countChanged(db: Queries, shopId: string, changedAt: Sql, since: Date): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from product where ${isChanged(shopId, changedAt, since)}`);
  return row!.count;
}

function findChanged(
  db: Queries,
  shopId: string,
  changedAt: Sql,
  since: Date,
  limit: number,
  offset: number,
) {
  return db.many<FoundVersion & { changedAt: Date }>(sql`
    select ${versionColumns}, ${changedAt} as "changedAt"
    from product
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    where ${isChanged(shopId, changedAt, since)}
    order by ${changedAt} desc, product.product_id desc limit ${limit} offset ${offset}`);
}

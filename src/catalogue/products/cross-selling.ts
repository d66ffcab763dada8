import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { notFound, Refusal } from '../../http/errors.ts';
import { JsonPatch, patchOf } from '../../http/json-patch.ts';
import { readingLocale } from '../../http/locale.ts';
import { operation, type Call } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged } from '../../http/paging.ts';
import { joinRawJson, type RawJson } from '../../http/raw-json.ts';
import { CurrencyParameter, Id, Links, LocaleParameter } from '../../http/schemas.ts';
import { isId } from '../../kernel/ids.ts';
import { recordEvents } from '../../platform/events/log.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { crossSellingTitle } from './cross-selling-title.ts';
import { productJson } from './product-cache.ts';
import { findVersion, versionColumns, type FoundVersion } from './queries.ts';
import { ProductList } from './schema.ts';
import {
  IncludeInvisible,
  canWriteProducts,
  renderOptions,
  type LocaleAndCurrency,
} from './render-options.ts';

/** More than any shop shows next to a product. */
const MAX_PRODUCTS = 100;

const CrossSelling = Type.Object(
  {
    manualCrossSellingTitle: Type.String({ description: 'Headline.', examples: ['Goes well with'] }),
    embedded: { ...ProductList, description: 'The assigned products.' },
    links: Links,
  },
  { title: 'cross-selling' },
);

const patch = patchOf({
  // The contract lists two operations for this path, and calls any other an error.
  '/': { ops: ['add', 'remove'], value: Type.String({ maxLength: 100 }), isStrict: true },
});

const shared = {
  tag: 'products',
  labels: ['Now'],
  path: '/products/:productId/crossselling',
  params: Type.Object({ productId: Id }),
  answer: CrossSelling,
} as const;

const getCrossSelling = operation({
  ...shared,
  method: 'GET',
  name: 'getCrossSelling',
  summary: 'Get cross-selling products',
  access: 'products_read',
  query: Type.Object({
    locale: LocaleParameter,
    currency: CurrencyParameter,
    includeInvisible: IncludeInvisible,
  }),
});

const replaceCrossSelling = operation({
  ...shared,
  method: 'PUT',
  name: 'replaceCrossSelling',
  summary: 'Replace cross-selling products',
  description: 'Unknown ids are left out. The answer shows invisible products too.',
  access: 'products_write',
  body: Type.Array(Type.String({ description: 'A product.', maxLength: 100 }), {
    maxItems: MAX_PRODUCTS,
    description: 'Ids of products, in the order they are shown.',
  }),
});

export const updateCrossSelling = operation({
  ...shared,
  method: 'PATCH',
  name: 'updateCrossSelling',
  summary: 'Update cross-selling products',
  description:
    'Path `/`: add or remove the product of this id. Unknown ids are left out; removing an unassigned product is no error. The answer shows invisible products too.',
  access: 'products_write',
  body: JsonPatch,
});

export function crossSelling(api: Operations): void {
  api.read(getCrossSelling, async (call) => {
    const { db, shopId, params, query } = call;
    const product = await findVersion(db, shopId, params.productId);
    if (!product || !(product.visible || canWriteProducts(call))) throw notFound();
    const includeInvisible = query.includeInvisible === true && canWriteProducts(call);
    return answer(call, db, await shopSettings(db, shopId), query, includeInvisible);
  });

  api.write(replaceCrossSelling, async (call) => {
    const { tx, shopId, params, body } = call;
    const assigned = await lockAssignments(tx, shopId, params.productId);
    await replaceAssignments(tx, shopId, params.productId, { before: assigned, after: body });
    return answer(call, tx, await shopSettings(tx, shopId), {}, true);
  });

  api.write(updateCrossSelling, async (call) => {
    const { tx, shopId, params, body } = call;
    const changes = patch(body);
    const before = await lockAssignments(tx, shopId, params.productId);
    const assigned = new Set(before);
    for (const { op, value } of changes) {
      const target = String(value).toUpperCase();
      if (op === 'remove') assigned.delete(target);
      else assigned.add(target);
    }
    if (assigned.size > MAX_PRODUCTS) throw new Refusal('TOO_MANY_CROSS_SELLINGS', { limit: MAX_PRODUCTS });
    await replaceAssignments(tx, shopId, params.productId, { before, after: [...assigned] });
    return answer(call, tx, await shopSettings(tx, shopId), {}, true);
  });
}

async function answer(
  call: Pick<
    Call<{ productId: string }, unknown, unknown>,
    'caller' | 'origin' | 'params' | 'link' | 'shopId'
  >,
  db: Queries,
  settings: Settings,
  shown: LocaleAndCurrency,
  includeInvisible: boolean,
): Promise<RawJson> {
  const { shopId, link } = call;
  const { productId } = call.params;
  const refs = await findAssigned(db, shopId, productId);
  const shownRefs = refs.filter(({ visible }) => visible || includeInvisible);
  const items = await productJson(db, settings, shownRefs, renderOptions(call, settings, shown, 'full'));
  return joinRawJson({
    manualCrossSellingTitle: crossSellingTitle(settings, readingLocale(shown.locale, settings)),
    embedded: joinRawJson(paged({ page: 1, resultsPerPage: MAX_PRODUCTS, offset: 0 }, items.length, items)),
    links: [
      { rel: 'self', href: link(`/products/${productId}/crossselling/`) },
      { rel: 'product', href: link(`/products/${productId}`) },
    ],
  });
}

function findAssigned(db: Queries, shopId: string, productId: string) {
  return db.many<FoundVersion>(sql`
    select ${versionColumns}
    from cross_selling
    join product on product.shop_id = cross_selling.shop_id and product.product_id = cross_selling.target_id
    left join product master on master.shop_id = product.shop_id and master.product_id = product.master_id
    where cross_selling.shop_id = ${shopId} and cross_selling.product_id = ${productId}
    order by cross_selling.position, cross_selling.target_id`);
}

/** The currently assigned ids, in order; unknown product: 404. */
async function lockAssignments(tx: Transaction, shopId: string, productId: string): Promise<string[]> {
  const product = await tx.one(sql`
    select 1 from product where shop_id = ${shopId} and product_id = ${productId} for no key update`);
  if (!product) throw notFound();
  const rows = await tx.many<{ targetId: string }>(sql`
    select upper(target_id::text) as "targetId" from cross_selling
    where shop_id = ${shopId} and product_id = ${productId} order by position, target_id`);
  return rows.map(({ targetId }) => targetId);
}

/** A product is never offered along with itself. */
async function replaceAssignments(
  tx: Transaction,
  shopId: string,
  productId: string,
  { before, after }: { before: readonly string[]; after: readonly string[] },
): Promise<void> {
  const ids = after.filter((id) => isId(id) && id.toUpperCase() !== productId);
  await tx.run(sql`delete from cross_selling where shop_id = ${shopId} and product_id = ${productId}`);
  const inserted = await tx.many<{ targetId: string; position: number }>(sql`
    insert into cross_selling (shop_id, product_id, target_id, position)
    select product.shop_id, ${productId}::uuid, product.product_id, min(place)
    from unnest(${ids}::uuid[]) with ordinality as requested (target_id, place)
    join product on product.shop_id = ${shopId} and product.product_id = requested.target_id
    group by product.shop_id, product.product_id
    returning upper(target_id::text) as "targetId", position`);
  const assigned = inserted
    .toSorted((one, other) => one.position - other.position)
    .map(({ targetId }) => targetId);
  if (isDeepStrictEqual(assigned, before)) return;
  // The cached product does not show them, and it has no separate change time.
  recordEvents(tx, shopId, [
    { type: 'PRODUCT_UPDATE', resourceId: productId, data: { changed: ['crossselling'] } },
  ]);
}

import { Type } from 'typebox';
import { notFound } from '../../http/errors.ts';
import { readingCurrency, readingLocale } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Price } from '../../http/price.ts';
import { CurrencyParameter, Id, Links, LocaleParameter } from '../../http/schemas.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { inheritedFacts, type Prices, type ProductFacts } from './facts.ts';
import { priceIn, priceRange } from './prices.ts';
import { findProductRows } from './queries.ts';
import { ORDER_UNIT } from './orderable.ts';
import { renderPrice, tierPrices } from './render.ts';
import { BulkPriceInfo, CustomerSpecificPriceInfo, Quantity } from './schema.ts';
import { unitSign } from './units.ts';
import { canWriteProducts } from './render-options.ts';

const LowestPrice = Type.Object(
  {
    priceInfo: Type.Object(
      {
        price: { ...Price, description: 'The lowest price.' },
        quantity: { ...Quantity, description: 'The quantity that the price is for.' },
      },
      { title: 'simplePriceInfo', description: 'The lowest price of the variations.' },
    ),
    bulkPriceInfo: Type.Array(BulkPriceInfo, { description: 'Tiers of the cheapest variation.' }),
    customerSpecificPriceInfo: Type.Array(CustomerSpecificPriceInfo, {
      description: 'Group prices of the cheapest variation.',
    }),
    links: Links,
  },
  { title: 'lowestPrice' },
);

export const getLowestPrice = operation({
  tag: 'products',
  labels: ['Base'],
  method: 'GET',
  path: '/products/:productId/lowest-price',
  name: 'getLowestPrice',
  summary: 'Get lowest price',
  description:
    "The lowest price of a master with a visible variation whose price differs from the master's; 404 otherwise, " +
    'and if the shop shows no "from" prices.',
  access: 'products_read',
  params: Type.Object({ productId: Id }),
  query: Type.Object({ locale: LocaleParameter, currency: CurrencyParameter }),
  answer: LowestPrice,
});

export function lowestPrice(api: Operations): void {
  api.read(getLowestPrice, async (call) => {
    const { db, shopId, params, query, link } = call;
    const [settings, [master]] = await Promise.all([
      shopSettings(db, shopId),
      findProductRows(db, shopId, [params.productId]),
    ]);
    if (!master?.offers || !settings.showFromPrices) throw notFound();
    if (!master.visible && !canWriteProducts(call)) throw notFound();
    const currency = readingCurrency(query.currency, settings);
    const range = priceRange(master.offers, master, currency, settings);
    if (!range) throw notFound();

    const offers = await findOffers(db, shopId, master.productId);
    const cheapest = offers.find(
      ({ prices }) => priceIn(prices ?? master.prices, currency, settings) === range.lowest,
    );
    if (!cheapest) throw notFound();
    const facts = inheritedFacts(cheapest.facts, master.facts);
    const { orderUnit = ORDER_UNIT } = facts;
    const format = { locale: readingLocale(query.locale, settings), currency };
    return {
      priceInfo: {
        price: renderPrice(range.lowest, settings, format)!,
        quantity: {
          amount: orderUnit.priceQuantity,
          unit: unitSign(orderUnit.unit, format.locale, settings),
        },
      },
      ...tierPrices(facts, settings, format),
      links: [{ rel: 'product', href: link(`/products/${cheapest.productId}`) }],
    };
  });
}

function findOffers(db: Queries, shopId: string, masterId: string) {
  return db.many<{ productId: string; prices: Prices | null; facts: ProductFacts }>(sql`
    select upper(product_id::text) as "productId", prices, facts from product
    where shop_id = ${shopId} and master_id = ${masterId} and visible order by product_id`);
}

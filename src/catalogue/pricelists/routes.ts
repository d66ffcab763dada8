import { Type } from 'typebox';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { Decimal, Given } from '../../http/request-fields.ts';
import { Id, Nullable, Paged } from '../../http/schemas.ts';
import { toDecimal } from '../../kernel/money.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { MAX_STEPS } from './prices.ts';
import { countListPrices, findListedPrices, type ListedPrices } from './queries.ts';
import { clearPrices, savePrices } from './save.ts';

const MAX_PRICES = 1_000;
const MAX_NUMBER_LENGTH = 100;

const { parameters, pageOf } = paging({ standard: 100, maximum: 500 });

const shared = { under: 'manage', tag: 'price-lists', labels: [] } as const;
const params = Type.Object({ priceListId: Id });

const moment = (description: string, example: string) =>
  Nullable(Type.String({ description, examples: [example] }));

const PriceListAnswer = Type.Object(
  {
    priceListId: Id,
    key: Type.String({ description: 'Its name in the settings file.', examples: ['partners-spring'] }),
    name: Type.String({
      description: 'Its name for the people of the shop.',
      examples: ['Partners, spring 2027'],
    }),
    active: Type.Boolean({ description: 'It may apply.', examples: [true] }),
    customerGroups: Type.Array(Type.String({ examples: ['Cafes'] }), {
      description: 'The groups whose prices it has.',
    }),
    from: moment('When it begins; null: at once.', '2027-03-01T00:00:00Z'),
    to: moment('When it ends; null: never.', '2027-06-01T00:00:00Z'),
    products: Type.Integer({ description: 'How many products have prices in it.', examples: [120] }),
  },
  { title: 'price list' },
);

const Quantity = { description: 'From this quantity on; 0: any quantity.', examples: ['10'] };
const Currency = { description: 'ISO 4217 code.', examples: ['EUR'] };

const ListedProduct = Type.Object(
  {
    productId: Id,
    productNumber: Type.String({ description: 'Number of the product.', examples: ['KN-100'] }),
    prices: Type.Array(
      Type.Object({
        currency: Type.String(Currency),
        quantity: Type.String(Quantity),
        price: Type.Number({
          description: 'In the tax model of the shop, for as many units as the price of the product.',
          examples: [17.5],
        }),
      }),
      { description: 'By quantity.' },
    ),
  },
  { title: 'listed product' },
);

const PricesBody = Type.Object(
  {
    prices: Type.Array(
      Type.Object({
        productNumber: Type.String({
          minLength: 1,
          maxLength: MAX_NUMBER_LENGTH,
          description:
            'Number of a product, or of a variation, whose prices come before those of its product.',
          examples: ['KN-100'],
        }),
        currency: Given(
          Type.String({
            maxLength: 3,
            description: 'One of the shop; absent: its default.',
            examples: ['EUR'],
          }),
        ),
        quantity: Given(Decimal('From this quantity on; absent: 0, which is any quantity.', 10)),
        price: Nullable(
          Decimal(
            'In the tax model of the shop, for as many units as the price of the product; null takes it away.',
            17.5,
          ),
        ),
      }),
      { minItems: 1, maxItems: MAX_PRICES, description: `At most ${MAX_PRICES} prices.` },
    ),
  },
  { title: 'listed prices (request)' },
);

export const listPriceLists = operation({
  ...shared,
  method: 'GET',
  path: '/price-lists',
  name: 'listPriceLists',
  summary: 'List price lists',
  description:
    'Prices of customer groups for a time. The lists themselves are settings; their prices belong to the products.',
  access: 'products_read',
  answer: Type.Object(
    { items: Type.Array(PriceListAnswer, { description: 'In the order of the settings.' }) },
    { title: 'price lists' },
  ),
});

export const listPricesOfList = operation({
  ...shared,
  method: 'GET',
  path: '/price-lists/:priceListId/prices',
  name: 'listPricesOfList',
  summary: 'List prices of a price list',
  description: 'The products of a list with their prices, by number.',
  access: 'products_write',
  params,
  query: Type.Object(parameters),
  answer: Paged(ListedProduct, 'listed products'),
});

export const changePricesOfList = operation({
  ...shared,
  method: 'PATCH',
  path: '/price-lists/:priceListId/prices',
  name: 'changePricesOfList',
  summary: 'Change prices of a price list',
  description: `Sets prices, or takes them away; all others stay. All or none of them: the first one that can't be is named. A product has at most ${MAX_STEPS} quantities in a list.`,
  access: 'products_write',
  params,
  body: PricesBody,
  answer: Type.Object(
    {
      changed: Type.Integer({ description: 'Products with other prices than before.', examples: [3] }),
    },
    { title: 'changed prices' },
  ),
});

export const clearPricesOfList = operation({
  ...shared,
  method: 'DELETE',
  path: '/price-lists/:priceListId/prices',
  name: 'clearPricesOfList',
  summary: 'Clear prices of a price list',
  description: 'Takes all prices out of a list.',
  access: 'products_write',
  params,
  status: 204,
});

export function priceLists(api: Operations): void {
  api.read(listPriceLists, async ({ db, shopId }) => {
    const [{ priceLists: lists }, counts] = await Promise.all([
      shopSettings(db, shopId),
      countListPrices(db, shopId),
    ]);
    const countOf = (id: string) => counts.find(({ priceListId }) => priceListId === id)?.count ?? 0;
    return { items: lists.map((list) => ({ ...list, products: countOf(list.priceListId) })) };
  });

  api.read(listPricesOfList, async ({ db, shopId, params: { priceListId }, query }) => {
    const page = pageOf(query);
    const settings = await shopSettings(db, shopId);
    const list = requirePriceList(settings, priceListId);
    const [counts, rows] = await Promise.all([
      countListPrices(db, shopId),
      findListedPrices(db, shopId, list.priceListId, {
        after: '',
        limit: page.resultsPerPage,
        offset: page.offset,
      }),
    ]);
    const results = counts.find((one) => one.priceListId === list.priceListId)?.count ?? 0;
    return paged(page, results, rows.map(toListedProduct));
  });

  api.write(changePricesOfList, async ({ tx, shopId, params: { priceListId }, body }) => {
    const settings = await shopSettings(tx, shopId);
    const list = requirePriceList(settings, priceListId);
    const given = body.prices.map(({ productNumber, currency, quantity, price }) => ({
      productNumber,
      currency: currency ?? '',
      quantity: String(quantity ?? ''),
      price: price === null ? null : String(price),
    }));
    const { changed, problems } = await savePrices(tx, settings, list.priceListId, given);
    const [first] = [...problems].toSorted(([left], [right]) => left - right);
    if (!first) return { changed };
    const [place, problem] = first;
    const at = `prices[${place}]`;
    if (problem === 'steps') throw new Refusal('PRICE_LIST_STEPS', { limit: MAX_STEPS });
    const isUnknown = problem === 'productNumber' || problem === 'currency';
    throw invalid(isUnknown ? 'UNKNOWN_VALUE' : 'OUT_OF_RANGE', `${at}.${problem}`);
  });

  api.write(clearPricesOfList, async ({ tx, shopId, params: { priceListId } }) => {
    const settings = await shopSettings(tx, shopId);
    const list = requirePriceList(settings, priceListId);
    await clearPrices(tx, shopId, list.priceListId);
  });
}

/** The list of this id; ids are compared ignoring case. */
export function requirePriceList({ priceLists: lists }: Settings, priceListId: string) {
  const found = lists.find((list) => list.priceListId === priceListId.toUpperCase());
  if (!found) throw notFound();
  return found;
}

const toListedProduct = ({ productId, productNumber, tiers }: ListedPrices) => ({
  productId,
  productNumber,
  prices: tiers.flatMap(({ quantity, prices }) =>
    Object.entries(prices).map(([currency, price]) => ({
      currency,
      quantity,
      price: toDecimal(price, currency),
    })),
  ),
});

import { Type, type Static } from 'typebox';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { parseMoment, toSeconds } from '../../http/dates.ts';
import { invalid, notFound, Refusal, ValidationError } from '../../http/errors.ts';
import { JsonPatch } from '../../http/json-patch.ts';
import { writingCurrency, writingLocale } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { CurrencyParameter, Id } from '../../http/schemas.ts';
import { newId } from '../../kernel/ids.ts';
import { requireRoom } from '../../platform/plans/limits.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { setCategories } from '../categories/assignments.ts';
import { refreshStockOfBundles } from './bundle-stock.ts';
import { MAX_PART_QUANTITY, MAX_PARTS, requestedParts } from './bundles.ts';
import { isDay, MAX_BACKORDER_LIMIT } from './backorders.ts';
import { setFact, type BackorderTerms, type BundlePart } from './facts.ts';
import { LEGAL_REQUEST_FIELDS, setLegalFacts } from './legal-facts.ts';
import { insertNumbered, numberTaken } from './insert-numbered.ts';
import { refreshListing } from './listing.ts';
import { namesImage, patchedProduct } from './patch.ts';
import { recordPrices } from './price-history.ts';
import { withPrice } from './prices.ts';
import { recordCreatedProducts } from './product-events.ts';
import { findImageNames, lockProduct, storedColumns, type StoredProduct } from './queries.ts';
import { renderStored } from './render-stored.ts';
import { MAX_LENGTHS } from './request-fields.ts';
import { renderOptions } from './render-options.ts';
import { saveProduct } from './save-product.ts';
import { Product } from './schema.ts';
import { amountOf, Decimal, decimalOf, Given, Text } from '../../http/request-fields.ts';

const shared = { under: 'manage', tag: 'products', labels: [], keepsKeyOrder: true } as const;
const params = Type.Object({ productId: Id });

const moment = (description: string) =>
  Given(Text(`${description} null: takes it away.`, '2027-01-31T00:00:00Z', 40));

export const ProductExtras = Type.Object(
  {
    specialOffer: Type.Optional(Type.Boolean({ description: 'Special offer.', examples: [true] })),
    isProductNumberVisible: Type.Optional(
      Type.Boolean({ description: 'Number shown in the shop.', examples: [true] }),
    ),
    ecoParticipationPrice: Given(Decimal('Recycling fee in the currency of the query; null: none.', 0.5)),
    shippingSurcharge: Given(
      Decimal(
        'Added to the cost of the delivery for each unit, for bulky goods, in the currency of the query; null: none.',
        25,
      ),
    ),
    energyLabel: Given(
      Type.Object(
        {
          classes: Type.String({
            description: 'One class, or the best and the worst.',
            pattern: '^[A-G][+]{0,3}(,[A-G][+]{0,3})?$',
            examples: ['B,D'],
          }),
          best: Type.String({
            description: 'Best class of the scale; empty: not stated.',
            pattern: '^([A-G][+]{0,3})?$',
            examples: ['A'],
          }),
          file: Type.String({
            description: 'Address of the label.',
            pattern: '^(https?://|/)[^\\s]+$',
            maxLength: MAX_LENGTHS.line,
            examples: ['https://shop.example/labels/AP-110.png'],
          }),
        },
        { title: 'energyLabel', description: 'Energy label; null: none.' },
      ),
    ),
    ...LEGAL_REQUEST_FIELDS,
    giftCard: Given(
      Type.Object(
        {
          minimum: Decimal('The least value that customers may choose.', 10),
          maximum: Decimal('The highest value.', 500),
        },
        {
          title: 'gift card bounds',
          description:
            'Makes the product a gift card, whose value customers choose within these bounds, in the currency of the query; its price is proposed. It is sold without tax and without discounts, and sent by email when it is paid. null: it is none.',
        },
      ),
    ),
    parts: Given(
      Type.Array(
        Type.Object(
          {
            productId: { ...Id, description: 'The part; of a master, the customer chooses a variation.' },
            quantity: Type.Integer({
              description: 'How many of it one bundle holds.',
              minimum: 1,
              maximum: MAX_PART_QUANTITY,
              examples: [2],
            }),
          },
          { title: 'bundle part' },
        ),
        {
          maxItems: MAX_PARTS,
          description:
            'What it consists of, which makes it a bundle: its stock follows from its parts. Empty or null: it is no bundle.',
        },
      ),
    ),
    partsDiscount: Given(
      Decimal(
        'The price of the bundle is the sum of its parts less so many per cent; null: it has a price of its own.',
        10,
      ),
    ),
    backorder: Given(
      Type.Object(
        {
          kind: Type.Enum(['backorder', 'preorder'], {
            description: 'It is sold beyond its stock, or before it exists.',
            examples: ['preorder'],
          }),
          limit: Type.Integer({
            description: 'How many more than the stock may be promised to orders that wait.',
            minimum: 1,
            maximum: MAX_BACKORDER_LIMIT,
            examples: [50],
          }),
          expectedOn: Given(
            Type.String({
              description:
                'When it is expected; a pre-order must say it. After that day nothing more is promised. null: it is not known.',
              pattern: '^20[0-9]{2}-[01][0-9]-[0-3][0-9]$',
              examples: ['2027-03-01'],
            }),
          ),
        },
        {
          title: 'backorder request',
          description:
            'How it is sold beyond its counted stock; the variations of a master have the same, each with a limit of its own. Customers who wait learn of another date by email. A bundle follows its parts: 409. null: it is not.',
        },
      ),
    ),
    forSaleFrom: moment('From when on it is for sale.'),
    forSaleUntil: moment('Until when it is for sale.'),
    patches: Given(
      Type.Array(
        Type.Object(
          {
            locale: Text('Texts are written in it.', 'de_DE', 20),
            currency: Text('Prices are written in it.', 'EUR', 3),
            operations: JsonPatch,
          },
          { title: 'product patch' },
        ),
        {
          maxItems: 200,
          description: 'Changes as in updateProduct, in several languages and currencies at once.',
        },
      ),
    ),
    categoryIds: Given(
      Type.Array(Id, {
        maxItems: 1_000,
        description: 'All categories that it is in; absent: they stay.',
      }),
    ),
  },
  { title: 'product extras', description: 'Absent fields stay unchanged.' },
);

/** The maximum number of variations copied along with their master. */
const MAX_COPIED = 500;

export const updateProductExtras = operation({
  ...shared,
  method: 'PATCH',
  path: '/products/:productId',
  name: 'updateProductExtras',
  summary: 'Update product extras',
  description:
    'Changes fields that updateProduct cannot change, together with those that it can. All or nothing.',
  access: 'products_write',
  params,
  query: Type.Object({ currency: CurrencyParameter }),
  body: ProductExtras,
  answer: Product,
  constraints: { product_number: numberTaken },
});

export const copyProduct = operation({
  ...shared,
  method: 'POST',
  path: '/products/:productId/copies',
  name: 'copyProduct',
  summary: 'Copy product',
  description: `A new product with the same texts, prices, attributes, categories and variations, and the next free number. It is not visible and has no images; a tracked stock starts at 0. At most ${MAX_COPIED} variations.`,
  access: 'products_write',
  params,
  status: 201,
  answer: Product,
});

/** Problems name the patch that they are in: several may change the same path, in other languages and currencies. */
function withPlaceOfPatch<Result>(index: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new ValidationError(
      error.problems.map(({ code, field }) => ({ code, field: `patches[${index}].operations${field}` })),
    );
  }
}

/** Operations for merchants beyond the contract. */
export function productManagement(api: Operations): void {
  api.write(updateProductExtras, async (call) => {
    const { tx, shopId, params, query, body } = call;
    const settings = await shopSettings(tx, shopId);
    // First, because categories are always locked before products.
    if (body.categoryIds) await setCategories(tx, shopId, params.productId, body.categoryIds);
    const product = await lockProduct(tx, shopId, params.productId);
    if (!product) throw notFound();
    const patches = body.patches ?? [];
    const imageNames = patches.some(({ operations }) => namesImage(operations))
      ? await findImageNames(tx, shopId, product.productId)
      : new Set<string>();
    const patched = patches.reduce(
      (next, { locale, currency, operations }, index) =>
        withPlaceOfPatch(index, () =>
          patchedProduct(next, operations, {
            settings,
            locale: writingLocale(locale, settings),
            currency: writingCurrency(currency, settings),
            imageNames,
          }),
        ),
      product,
    );
    const currency = writingCurrency(query.currency, settings);
    const parts = body.parts?.length ? await requestedParts(tx, shopId, patched, body.parts) : body.parts;
    const changed = changedBundle(changedProduct(patched, body, currency), parts, body.partsDiscount);
    if (body.backorder && changed.facts.parts) throw new Refusal('BUNDLE_ON_BACKORDER');
    if (changed.facts.giftCard && changed.facts.parts) throw new Refusal('BUNDLE_OF_GIFT_CARDS');
    await saveProduct(tx, shopId, product, changed);
    return renderStored(tx, settings, product.productId, renderOptions(call, settings, query, 'full'));
  });

  api.write(copyProduct, async (call) => {
    const { tx, shopId, params } = call;
    const settings = await shopSettings(tx, shopId);
    const product = await lockProduct(tx, shopId, params.productId);
    if (!product) throw notFound();
    if (product.kind === 'variation') throw new Refusal('VARIATION_NOT_COPIED');
    const variations = await findVariations(tx, shopId, product.productId);
    if (variations.length > MAX_COPIED) throw new Refusal('TOO_MANY_COPIED', { limit: MAX_COPIED });
    await requireRoom({ db: tx, config: api.config }, shopId, 'products');
    const copy = copyOf(product, { productId: newId(tx.now), productNumber: '', masterId: null });
    const productNumber = await insertNumbered(tx, shopId, copy);
    const copies = [copy];
    // Ids of one moment are unordered; sorted, they keep the order of the variations.
    const ids = variations.map(() => newId(tx.now)).toSorted();
    for (const [index, variation] of variations.entries()) {
      const own = { productId: ids[index]!, masterId: copy.productId };
      const next = copyOf(variation, { ...own, productNumber: `${productNumber}-${index + 1}` });
      await insertNumbered(tx, shopId, next);
      copies.push(next);
    }
    await copyAssignments(tx, shopId, product.productId, copy.productId);
    await recordPrices(
      tx,
      shopId,
      copies.map(({ productId, prices }) => ({
        productId,
        before: null,
        after: prices,
        beforeReduction: undefined,
      })),
    );
    await refreshListing(tx, shopId, [copy.productId]);
    if (copy.facts.parts) await refreshStockOfBundles(tx, shopId, [copy.productId]);
    recordCreatedProducts(
      tx,
      shopId,
      copies.map(({ productId }) => productId),
    );
    call.created({ productId: copy.productId });
    return renderStored(tx, settings, copy.productId, renderOptions(call, settings, {}, 'full'));
  });
}

function changedProduct(
  product: StoredProduct,
  extras: Static<typeof ProductExtras>,
  currency: string,
): StoredProduct {
  const next = { ...product };
  const { specialOffer, isProductNumberVisible, energyLabel } = extras;
  const { ecoParticipationPrice: eco, shippingSurcharge: surcharge } = extras;
  if (specialOffer !== undefined) setFact(next, 'specialOffer', specialOffer);
  if (isProductNumberVisible !== undefined) setFact(next, 'isProductNumberVisible', isProductNumberVisible);
  if (eco !== undefined) {
    const minor = eco === null ? null : amountOf(eco, currency, 'ecoParticipationPrice');
    setFact(next, 'ecoParticipationPrices', withPrice(next.facts.ecoParticipationPrices, currency, minor));
  }
  if (surcharge !== undefined) {
    const minor = surcharge === null ? null : amountOf(surcharge, currency, 'shippingSurcharge');
    setFact(next, 'shippingSurcharge', withPrice(next.facts.shippingSurcharge, currency, minor));
  }
  if (energyLabel !== undefined) setFact(next, 'energyLabel', energyLabel ?? undefined);
  setLegalFacts(next, extras);
  if (extras.giftCard !== undefined) setGiftCard(next, extras.giftCard, currency);
  if (extras.backorder !== undefined) setFact(next, 'backorder', requestedBackorder(extras.backorder));
  for (const key of ['forSaleFrom', 'forSaleUntil'] as const) {
    const value = extras[key];
    if (value === undefined) continue;
    setFact(next, key, value === null ? undefined : toSeconds(parseMoment(value, key)));
  }
  return next;
}

/** A gift card is neither a variation's choice of its own kind nor sold by measure. */
function setGiftCard(
  product: StoredProduct,
  given: NonNullable<Static<typeof ProductExtras>['giftCard']> | null,
  currency: string,
): void {
  if (given === null) return setFact(product, 'giftCard', undefined);
  const minimum = amountOf(given.minimum, currency, 'giftCard.minimum', { min: 1 });
  const maximum = amountOf(given.maximum, currency, 'giftCard.maximum', { min: minimum });
  const { giftCard } = product.facts;
  setFact(product, 'giftCard', {
    minimum: withPrice(giftCard?.minimum, currency, minimum)!,
    maximum: withPrice(giftCard?.maximum, currency, maximum)!,
  });
}

function requestedBackorder(
  given: NonNullable<Static<typeof ProductExtras>['backorder']> | null,
): BackorderTerms | undefined {
  if (given === null) return undefined;
  const { kind, limit, expectedOn } = given;
  if (kind === 'preorder' && !expectedOn) throw invalid('MISSING', 'backorder.expectedOn');
  if (!expectedOn) return { kind, limit };
  if (!isDay(expectedOn)) throw invalid('WRONG_FORMAT', 'backorder.expectedOn');
  return { kind, limit, expectedOn };
}

/** undefined: as it was. */
function changedBundle(
  product: StoredProduct,
  parts: readonly BundlePart[] | null | undefined,
  discount: number | string | null | undefined,
): StoredProduct {
  const next = { ...product };
  if (parts !== undefined) setFact(next, 'parts', parts?.length ? [...parts] : undefined);
  if (discount !== undefined) {
    const percent = discount === null ? null : decimalOf(discount, 'partsDiscount', { min: 0, max: 100 });
    setFact(next, 'partsDiscount', percent === null ? undefined : Math.round(percent * 100));
  }
  // Without parts there is no sum of them.
  if (!next.facts.parts) setFact(next, 'partsDiscount', undefined);
  return next;
}

/** Prices before a reduction are history, which a copy does not have. */
function copyOf(
  product: StoredProduct,
  own: Pick<StoredProduct, 'productId' | 'productNumber' | 'masterId'>,
): StoredProduct {
  const { pricesBeforeReduction: _before, ...facts } = product.facts;
  return {
    ...product,
    ...own,
    visible: product.kind === 'variation' && product.visible,
    stock: product.stock === null ? null : 0,
    mainImage: null,
    facts,
  };
}

function findVariations(tx: Transaction, shopId: string, masterId: string) {
  return tx.many<StoredProduct>(sql`
    select ${storedColumns} from product where product.shop_id = ${shopId} and product.master_id = ${masterId}
    order by product.product_id limit ${MAX_COPIED + 1}`);
}

/** Its categories, and its cross-selling products. */
async function copyAssignments(tx: Transaction, shopId: string, productId: string, copyId: string) {
  await tx.run(sql`
    insert into product_category (shop_id, product_id, category_id, position)
    select shop_id, ${copyId}::uuid, category_id, position from product_category
    where shop_id = ${shopId} and product_id = ${productId}`);
  await tx.run(sql`
    insert into cross_selling (shop_id, product_id, target_id, position)
    select shop_id, ${copyId}::uuid, target_id, position from cross_selling
    where shop_id = ${shopId} and product_id = ${productId}`);
}

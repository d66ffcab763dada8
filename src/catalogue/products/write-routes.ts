import { Type, type Static } from 'typebox';
import { invalid, notFound } from '../../http/errors.ts';
import { JsonPatch } from '../../http/json-patch.ts';
import { writingCurrency, writingLocale } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { CurrencyParameter, Id, LocaleParameter } from '../../http/schemas.ts';
import { newId } from '../../kernel/ids.ts';
import { recordEvents } from '../../platform/events/log.ts';
import { requireRoom } from '../../platform/plans/limits.ts';
import { addMedia, bytesOf } from '../../platform/media/quota.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { endWaiting } from './backorder-queue.ts';
import { factsOf } from './facts.ts';
import { insertNumbered, numberTaken } from './insert-numbered.ts';
import { refreshListing, removeFromListing } from './listing.ts';
import { namesImage, PATHS, patchedProduct } from './patch.ts';
import { recordPrices } from './price-history.ts';
import { recordCreatedProducts } from './product-events.ts';
import {
  deleteProductRow,
  findImageNames,
  findImages,
  lockProduct,
  lockVariations,
  moveVersions,
  type StoredProduct,
} from './queries.ts';
import { renderStored } from './render-stored.ts';
import {
  Keywords,
  keywordsOf,
  MAX_LENGTHS,
  STOCK,
  taxClassIdOf,
  requestedWeight,
  WeightRequest,
} from './request-fields.ts';
import { Product } from './schema.ts';
import { renderOptions } from './render-options.ts';
import { refreshBundlesOf, saveProduct } from './save-product.ts';
import { amountOf, Decimal, decimalOf, Given, Text } from '../../http/request-fields.ts';

const shared = { tag: 'products', labels: ['Base', 'Now'], keepsKeyOrder: true } as const;
const EXAMPLE_ID = '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E';

const NewProduct = Type.Object(
  {
    productNumber: Given(Text('Unique; absent: the next free one.', 'AP-100', 100)),
    name: Given(Text('Name.', 'Beacon Kettle 1.7 l', MAX_LENGTHS.name)),
    shortDescription: Given(Text('A few words.', 'Boils in three minutes.', MAX_LENGTHS.text)),
    description: Given(Text('Text.', '<p>Steel, with a lid that opens by itself.</p>', MAX_LENGTHS.text)),
    manufacturer: Given(Text('Manufacturer.', 'Beacon', MAX_LENGTHS.line)),
    price: Given(Decimal('Price in the currency of the query.', 49.9)),
    essentialFeatures: Given(Text('Lines of text.', '1.7 litres', MAX_LENGTHS.features)),
    upc: Given(Text('UPC.', '012345678905', MAX_LENGTHS.line)),
    ean: Given(Text('EAN.', '4012345678901', MAX_LENGTHS.line)),
    deliveryPeriod: Given(Text('Days.', '3-5', MAX_LENGTHS.line)),
    searchKeywords: Given(Keywords),
    visible: Given(Type.Boolean({ description: 'Shown in the shop; absent: not.', examples: [true] })),
    taxClassId: Given(Text('Absent: the default tax class.', EXAMPLE_ID, 100)),
    stocklevel: Given(Decimal('Stock; absent: not tracked.', 22)),
    depositPrice: Given(Decimal('Deposit.', 0.25)),
    manufacturerPrice: Given(Decimal('Strike-through price.', 59.9)),
    deliveryWeight: Given({ ...WeightRequest, description: 'Weight of the parcel.' }),
  },
  { title: 'product (create request)', description: 'At least a name or a number.' },
);

export const createProduct = operation({
  ...shared,
  method: 'POST',
  path: '/products',
  name: 'createProduct',
  summary: 'Create product',
  description:
    'Texts are written in the locale, prices in the currency of the query. New products are invisible.',
  access: 'products_write',
  query: Type.Object({ locale: LocaleParameter, currency: CurrencyParameter }),
  body: NewProduct,
  status: 201,
  answer: Product,
});

export const updateProduct = operation({
  ...shared,
  method: 'PATCH',
  path: '/products/:productId',
  name: 'updateProduct',
  summary: 'Update product',
  description:
    'Texts are written in the locale, prices in the currency of the query. `/stocklevel` with add changes the ' +
    `stock by the value, with replace it sets it. All or nothing. Paths: ${PATHS.join(', ')}.`,
  access: 'products_write',
  params: Type.Object({ productId: Id }),
  query: Type.Object({ locale: LocaleParameter, currency: CurrencyParameter }),
  body: JsonPatch,
  answer: Product,
  constraints: { product_number: numberTaken },
});

export const deleteProduct = operation({
  ...shared,
  method: 'DELETE',
  path: '/products/:productId',
  name: 'deleteProduct',
  summary: 'Delete product',
  description: 'Deletes a master with its variations, and a product with its images.',
  access: 'products_write',
  params: Type.Object({ productId: Id }),
  status: 204,
});

/** The operations that change products. */
export function productWrites(api: Operations, media: MediaStorage): void {
  api.write(createProduct, async (call) => {
    const { tx, shopId, query, body } = call;
    const settings = await shopSettings(tx, shopId);
    const locale = writingLocale(query.locale, settings);
    const currency = writingCurrency(query.currency, settings);
    const product = newProduct(newId(tx.now), body, { settings, locale, currency });
    await requireRoom({ db: tx, config: api.config }, shopId, 'products');
    await insertNumbered(tx, shopId, product);
    call.created({ productId: product.productId });
    await recordPrices(tx, shopId, [
      { productId: product.productId, before: null, after: product.prices, beforeReduction: undefined },
    ]);
    await refreshListing(tx, shopId, [product.productId]);
    recordCreatedProducts(tx, shopId, [product.productId]);
    return renderStored(tx, settings, product.productId, renderOptions(call, settings, query, 'full'));
  });

  api.write(updateProduct, async (call) => {
    const { tx, shopId, params, query, body } = call;
    const settings = await shopSettings(tx, shopId);
    const product = await lockProduct(tx, shopId, params.productId);
    if (!product) throw notFound();
    const next = patchedProduct(product, body, {
      settings,
      locale: writingLocale(query.locale, settings),
      currency: writingCurrency(query.currency, settings),
      imageNames: namesImage(body) ? await findImageNames(tx, shopId, product.productId) : new Set(),
    });
    await saveProduct(tx, shopId, product, next);
    return renderStored(tx, settings, next.productId, renderOptions(call, settings, query, 'full'));
  });

  api.write(deleteProduct, async ({ tx, shopId, params, afterCommit }) => {
    const product = await lockProduct(tx, shopId, params.productId);
    if (!product) throw notFound();
    // Locked, so that no image is added to a variation after the count.
    const variationIds = await lockVariations(tx, shopId, product.productId);
    const images = await findImages(tx, shopId, product.productId);
    await removeFromListing(tx, shopId, [product.productId]);
    await endWaiting(tx, shopId, product.productId);
    await deleteProductRow(tx, shopId, product.productId);
    const formerIds = [product.productId, ...(product.masterId === null ? [] : [product.masterId])];
    await refreshBundlesOf(tx, shopId, formerIds, { stock: true, attributes: true });
    if (product.masterId !== null) {
      await moveVersions(tx, shopId, [product.masterId]);
      await refreshListing(tx, shopId, [product.masterId]);
    }
    await addMedia(tx, shopId, -bytesOf(images));
    recordEvents(
      tx,
      shopId,
      [...variationIds, product.productId].map((resourceId) => ({ type: 'PRODUCT_DELETE', resourceId })),
    );
    const imageKeys = images.map(({ imageKey }) => imageKey);
    afterCommit(() => media.removeFolders(shopId, imageKeys));
  });
}

type Writing = { settings: Settings; locale: string; currency: string };

/** Nulls and empty texts mean "not given". */
function newProduct(
  productId: string,
  body: Static<typeof NewProduct>,
  { settings, locale, currency }: Writing,
): StoredProduct {
  if (!body.name && !body.productNumber) throw invalid('MISSING', 'name');
  const amount = (value: number | string | null | undefined, field: string) =>
    value === null || value === undefined ? undefined : { [currency]: amountOf(value, currency, field) };
  const text = (value: string | null | undefined) => (value ? { [locale]: value } : undefined);
  const keywords = keywordsOf(body.searchKeywords ?? []);
  const facts = factsOf({
    name: text(body.name),
    shortDescription: text(body.shortDescription),
    description: text(body.description),
    essentialFeatures: text(body.essentialFeatures),
    searchKeywords: keywords.length > 0 ? { [locale]: keywords } : undefined,
    manufacturer: body.manufacturer || undefined,
    upc: body.upc || undefined,
    ean: body.ean || undefined,
    deliveryPeriod: body.deliveryPeriod || undefined,
    depositPrices: amount(body.depositPrice, 'depositPrice'),
    manufacturerPrices: amount(body.manufacturerPrice, 'manufacturerPrice'),
    deliveryWeight: body.deliveryWeight
      ? requestedWeight(body.deliveryWeight, settings, 'deliveryWeight')
      : undefined,
  });
  return {
    productId,
    productNumber: body.productNumber ?? '',
    kind: 'regular',
    masterId: null,
    selection: null,
    visible: body.visible ?? false,
    stock:
      body.stocklevel === null || body.stocklevel === undefined
        ? null
        : decimalOf(body.stocklevel, 'stocklevel', STOCK),
    minStock: null,
    taxClassId: taxClassIdOf(body.taxClassId, settings, 'taxClassId'),
    productTypeId: null,
    prices: amount(body.price, 'price') ?? null,
    mainImage: null,
    facts,
  };
}

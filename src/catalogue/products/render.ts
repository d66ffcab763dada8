import type { Audience } from '../../fields/access.ts';
import { readableFields } from '../../fields/values.ts';
import { shownFields } from '../../fields/value.ts';
import { toSeconds } from '../../http/dates.ts';
import { storefrontUrl } from '../../http/links.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { priceOf, type Price, type TaxType } from '../../http/price.ts';
import type { Link } from '../../http/schemas.ts';
import { imagesOf } from '../../platform/media/images.ts';
import { formatMoney } from '../../kernel/money.ts';
import type { ProductType, Settings, TaxClass } from '../../shops/settings/settings.ts';
import { availabilityOf, availabilityText } from './availability-text.ts';
import { dayAt, endOfDay, openBackorder } from './backorders.ts';
import { headlineTexts } from './custom-text.ts';
import { safetyOf } from './safety.ts';
import { legalInfoOf } from './legal-facts.ts';
import { inheritedFacts, type Prices, type ProductFacts } from './facts.ts';
import { isForSale, maxOrderOf, ORDER_UNIT } from './orderable.ts';
import { rowInView, type PriceView } from './price-view.ts';
import { priceIn, pricedTiers, priceRange, referencePrice, type PricedTier } from './prices.ts';
import type { ProductRow } from './queries.ts';
import { LOWEST_BASE_PRICE, type Product } from './schema.ts';
import { unitNames, unitSign } from './units.ts';

/** How a product is rendered. Requests with the same options get the same bytes. */
export interface RenderOptions extends PriceView {
  locale: string;
  currency: string;
  origin: string;
  /** Whether the caller may see the warning level of the stock. */
  canWrite: boolean;
  /** full: the product itself; list: without the fields of its own page only; search: without tiers as well. */
  variant: 'full' | 'list' | 'search';
  /** For whom custom fields are beside the product; absent: there are none. */
  fields?: Audience;
}

/** A product, and until when it is valid without a change; null: forever. */
export interface RenderedProduct {
  product: Product;
  until: Date | null;
}

/** The whole response, computed from the row, the shop's settings and the options; keys in schema order. */
export function renderProduct(
  stored: ProductRow,
  settings: Settings,
  options: RenderOptions,
  now: Date,
): RenderedProduct {
  const { locale, taxType, customerGroupId } = options;
  const row =
    taxType === undefined && customerGroupId === undefined
      ? stored
      : rowInView(stored, settings, options, rateInPrice(stored, settings));
  const facts = inheritedFacts(row.facts, row.master?.facts ?? null);
  const text = (texts: Localised | undefined) =>
    texts ? textIn(texts, locale, settings.defaultLocale) : null;
  const name = nameOf(row, settings, locale);
  const moments = [facts.newUntil, facts.forSaleFrom, facts.forSaleUntil].flatMap((moment) =>
    moment === undefined ? [] : [new Date(moment)],
  );
  const { expectedOn } = facts.backorder ?? {};
  if (expectedOn !== undefined) moments.push(endOfDay(expectedOn, settings.deliveryTimes.timeZone));
  const { reference = { amount: 1, unit: 'piece', content: 1 }, orderUnit = ORDER_UNIT } = facts;
  const maxOrder = maxOrderOf(facts, settings);
  const prices = priceInfoOf(row, facts, settings, options);
  const textPrice = renderPrice(
    priceIn(facts.customisation?.prices, options.currency, settings),
    settings,
    options,
  );
  const tiers = options.variant === 'search' ? {} : tierPrices(facts, settings, options);
  const { timeZone } = settings.deliveryTimes;
  const stock = stockFields(row, facts, { locale, today: dayAt(now, timeZone) });
  const legalInfo = legalInfoOf(facts, locale, settings);
  const product: Product = {
    productId: row.productId,
    name,
    visible: row.visible,
    productVariationType: row.kind,
    productVariationMasterName: row.master ? masterName(row, settings, locale) : null,
    productVariationMasterId: row.masterId,
    manufacturerProductNumber: facts.manufacturerProductNumber ?? null,
    productLength: facts.length ?? null,
    productWidth: facts.width ?? null,
    productHeight: facts.height ?? null,
    productVariationSelection: selectionOf(row, settings, locale),
    shortDescription: text(facts.shortDescription),
    deliveryPeriod: facts.deliveryPeriod ?? null,
    description: text(facts.description),
    title: text(facts.title) ?? `${name} - ${text(settings.name) ?? settings.shopId}`,
    productImage: row.mainImage ?? row.master?.mainImage ?? null,
    images: row.image
      ? imagesOf(options.origin, settings.shopId, row.image.imageKey, row.image.sizes, {
          isZoomEnabled: true,
        })
      : [],
    priceInfo: prices,
    ...tiers,
    forSale: isForSale(row, facts, prices.price?.amount ?? null, now),
    specialOffer: facts.specialOffer ?? false,
    deliveryWeight: facts.deliveryWeight
      ? { amount: facts.deliveryWeight.amount, unit: unitSign(facts.deliveryWeight.unit, locale, settings) }
      : null,
    ...(options.variant === 'full'
      ? { shippingMethodsRestrictedTo: restrictionOf(facts, settings, options) }
      : {}),
    availabilityText: stock.availabilityText,
    availability: stock.availability,
    energyLabelsString: facts.energyLabel?.classes ?? null,
    energyLabelsMaxEfficiencyString: facts.energyLabel?.best ?? null,
    energyLabelSourceFile: absolute(facts.energyLabel?.file, options.origin),
    productDataSheet: absolute(facts.dataSheet?.url, options.origin),
    sfUrl: `${storefrontUrl(options.origin, settings)}/Products/${encodeURIComponent(row.productNumber)}`,
    productNumber: row.productNumber,
    isProductNumberVisible: facts.isProductNumberVisible ?? true,
    isNew: (facts.isNew ?? false) && !(facts.newUntil && new Date(facts.newUntil) <= now),
    isManufacturerPriceRRP: facts.isManufacturerPriceRrp ?? false,
    isShippingLinkVisible: facts.isShippingLinkVisible ?? true,
    isCustomizable: facts.customisation !== undefined,
    customizableTextLength: facts.customisation?.textLength ?? 0,
    customizableHeadlineText:
      (facts.customisation && text(headlineTexts(facts.customisation, settings.defaultLocale))) ?? '',
    ...(facts.customisation?.isRequired && { isCustomizableTextRequired: true }),
    ...(facts.customisation?.isWithdrawable && { isCustomizableTextWithdrawable: true }),
    ...(textPrice && { customizablePrice: textPrice }),
    newnessDate: facts.newUntil ? toSeconds(new Date(facts.newUntil)) : null,
    refAmount: reference.amount,
    refUnit: reference.unit,
    refContentAmount: reference.content,
    priceQuantity: orderUnit.priceQuantity,
    orderUnit: unitNames(orderUnit.unit, locale, settings).long,
    minOrder: orderUnit.minimum,
    intervalOrder: orderUnit.interval,
    ...(maxOrder === null ? {} : { maxOrder }),
    ...(facts.withdrawalExcluded && { withdrawalExcluded: facts.withdrawalExcluded }),
    ...(options.variant === 'full' && safetyInfo(facts, settings, text)),
    ...(facts.giftCard && { giftCard: giftCardValues(facts.giftCard, settings, options) }),
    ...(facts.backorder && {
      backorder: {
        kind: facts.backorder.kind,
        expectedOn: expectedOn ?? null,
        isOpen: stock.isOpen,
        ...(options.canWrite && !facts.parts && { limit: facts.backorder.limit, promised: row.promised }),
      },
    }),
    ...(legalInfo && { legalInfo }),
    productCode: facts.productCode ?? null,
    manufacturer: facts.manufacturer ?? null,
    upc: facts.upc ?? null,
    ean: facts.ean ?? null,
    essentialFeatures: text(facts.essentialFeatures),
    searchKeywords: [
      ...(facts.searchKeywords?.[locale] ?? facts.searchKeywords?.[settings.defaultLocale] ?? []),
    ],
    stocklevel: stock.stocklevel,
    ...(options.canWrite ? { minStocklevel: row.kind === 'master' ? null : row.minStock } : {}),
    isInWishlist: false,
    videos: facts.videos ?? [],
    links: linksOf(row, settings, options, prices.lowestPrice !== null),
    ...(options.fields !== undefined && { fields: customFieldsOf(row, settings, options.fields, locale) }),
  };
  const ahead = moments.filter((moment) => moment > now).toSorted((a, b) => a.getTime() - b.getTime());
  return { product, until: ahead[0] ?? null };
}

function customFieldsOf(row: ProductRow, settings: Settings, audience: Audience, locale: string) {
  const resource = row.kind === 'variation' ? 'variation' : 'product';
  const { defaultLocale } = settings;
  return shownFields(readableFields(settings, resource, audience), row.fields ?? [], {
    locale,
    defaultLocale,
  });
}

function safetyInfo(
  facts: ProductFacts,
  settings: Settings,
  text: (texts: Localised | undefined) => string | null,
): Pick<Product, 'safetyInfo'> {
  const safety = safetyOf(facts, settings);
  if (!safety) return {};
  const { text: texts, ...parties } = safety;
  const shown = text(texts);
  return { safetyInfo: { ...parties, ...(shown !== null && { text: shown }) } };
}

/** A master has no stock: only its variations do. */
function stockFields(
  { kind, minStock, stock, promised }: ProductRow,
  facts: ProductFacts,
  { locale, today }: { locale: string; today: string },
): Pick<Product, 'availabilityText' | 'availability' | 'stocklevel'> & { isOpen: boolean } {
  const stocklevel = kind === 'master' ? null : stock;
  const availability = availabilityOf(stocklevel, minStock);
  const backorder = openBackorder({ facts, stock: stocklevel, promised }, today);
  return {
    availabilityText: availabilityText(availability, facts.deliveryPeriod ?? null, locale, backorder),
    availability,
    stocklevel,
    isOpen: backorder !== undefined,
  };
}

type Named = Pick<ProductRow, 'facts' | 'productNumber' | 'master'>;

/** In this locale, else in the default one, else in any; of a variation, its own or its master's. */
export function nameOf(row: Named, settings: Pick<Settings, 'defaultLocale'>, locale: string): string {
  const own = anyText(row.facts.name, locale, settings.defaultLocale);
  return own ?? (row.master ? masterName(row, settings, locale) : row.productNumber);
}

function masterName(row: Named, { defaultLocale }: Pick<Settings, 'defaultLocale'>, locale: string): string {
  return anyText(row.master!.facts.name, locale, defaultLocale) ?? row.master!.productNumber;
}

export function anyText(texts: Localised | undefined, locale: string, defaultLocale: string): string | null {
  if (!texts) return null;
  return textIn(texts, locale, defaultLocale) ?? Object.values(texts)[0] ?? null;
}

export function typeOf(row: Pick<ProductRow, 'productTypeId' | 'master'>, settings: Settings): ProductType {
  const productTypeId = row.master?.productTypeId ?? row.productTypeId;
  return (
    settings.productTypes.find((type) => type.productTypeId === productTypeId) ??
    settings.productTypes.find((type) => type.alias === 'Default')!
  );
}

/** The label of a value, and of its attribute; a value unknown to the type is its own label. */
export function selectionOf(
  row: Pick<ProductRow, 'selection' | 'productTypeId' | 'master'>,
  settings: Settings,
  locale: string,
): Product['productVariationSelection'] {
  const { selection } = row;
  if (!selection) return null;
  const type = typeOf(row, settings);
  const order = row.master?.facts.variationAttributes?.map(({ key }) => key) ?? [];
  const keys = Object.keys(selection).toSorted((left, right) => order.indexOf(left) - order.indexOf(right));
  return keys.map((key) => {
    const attribute = type.attributes.find((one) => one.key === key);
    const value = attribute?.values.find((one) => one.value === selection[key]);
    return {
      name: key,
      displayName: (attribute && textIn(attribute.name, locale, settings.defaultLocale)) ?? key,
      value: selection[key]!,
      displayValue: (value && textIn(value.name, locale, settings.defaultLocale)) ?? selection[key]!,
    };
  });
}

/** How prices are shown: in the tax model of the shop, unless a cart has its own terms. */
export type PriceFormat = Pick<RenderOptions, 'locale' | 'currency'> & { taxType?: TaxType };

/** A variation without its own prices has its master's, including the former ones. */
export function pricesOf(row: Pick<ProductRow, 'prices' | 'facts' | 'master'>): {
  prices: Prices | null;
  before: Prices | undefined;
} {
  const owner = row.prices || !row.master ? row : row.master;
  return { prices: owner.prices, before: owner.facts.pricesBeforeReduction };
}

function priceInfoOf(
  row: ProductRow,
  facts: ProductFacts,
  settings: Settings,
  options: PriceFormat,
): Product['priceInfo'] {
  const { locale, currency } = options;
  const { orderUnit = ORDER_UNIT } = facts;
  const { prices, before } = pricesOf(row);
  const show = (minor: number | null) => renderPrice(minor, settings, options);
  const price = priceIn(prices, currency, settings);
  const deposit = priceIn(facts.depositPrices, currency, settings);
  const eco = priceIn(facts.ecoParticipationPrices, currency, settings);
  const range = row.offers ? priceRange(row.offers, row, currency, settings) : null;
  const lowest = range && (range.reference ?? { price: range.lowest, amount: 1, unit: orderUnit.unit });
  return {
    quantity: { amount: orderUnit.priceQuantity, unit: unitSign(orderUnit.unit, locale, settings) },
    taxClass: renderTaxClass(row, settings, locale),
    price: show(price),
    depositPrice: show(deposit),
    ecoParticipationPrice: show(eco),
    priceWithDeposits: show(price === null ? null : price + (deposit ?? 0) + (eco ?? 0)),
    lowestPrice: show(range?.lowest ?? null),
    lowestRefPriceFormatted: lowest ? referenceText(lowest, settings, options) : null,
    ...(lowest && {
      [LOWEST_BASE_PRICE]: {
        refQuantity: { amount: lowest.amount, unit: unitSign(lowest.unit, locale, settings) },
        refPrice: show(lowest.price)!,
      },
    }),
    highestPrice: show(range?.highest ?? null),
    manufacturerPrice: show(priceIn(facts.manufacturerPrices, currency, settings)),
    basePrice: price === null ? null : basePriceOf(price, facts, settings, options),
    lowestPrice30Days: show(price === null ? null : priceIn(before, currency, settings)),
  };
}

export function renderPrice(
  minor: number | null,
  settings: Pick<Settings, 'taxModel'>,
  { locale, currency, taxType = settings.taxModel }: PriceFormat,
): Price | null {
  return minor === null ? null : priceOf(minor, currency, taxType, locale);
}

/** The rate at home that is in the price, or comes on top of it. */
function rateInPrice(row: ProductRow, settings: Settings): number {
  const isGiftCard = inheritedFacts(row.facts, row.master?.facts ?? null).giftCard !== undefined;
  return isGiftCard ? 0 : (taxClassOf(row, settings).rates[settings.country] ?? 0);
}

/** A gift card has no tax, so its value is the same in every view. */
function giftCardValues(
  { minimum, maximum }: NonNullable<ProductFacts['giftCard']>,
  settings: Settings,
  options: PriceFormat,
): NonNullable<Product['giftCard']> {
  const value = (prices: Prices) =>
    renderPrice(priceIn(prices, options.currency, settings) ?? 0, settings, options)!;
  return { minimum: value(minimum), maximum: value(maximum) };
}

function referenceText(
  { price, amount, unit }: { price: number; amount: number; unit: Parameters<typeof unitSign>[0] },
  settings: Settings,
  { locale, currency }: PriceFormat,
): string {
  return `${amount} ${unitSign(unit, locale, settings)} = ${formatMoney(price, currency, locale)}`;
}

function basePriceOf(
  price: number,
  { reference }: Pick<ProductFacts, 'reference'>,
  settings: Settings,
  options: PriceFormat,
): Product['priceInfo']['basePrice'] {
  if (!reference) return null;
  const unit = unitSign(reference.unit, options.locale, settings);
  const refPrice = referencePrice(price, reference);
  return {
    refQuantity: { amount: reference.amount, unit },
    refPrice: renderPrice(refPrice, settings, options)!,
    formatted: referenceText(
      { price: refPrice, amount: reference.amount, unit: reference.unit },
      settings,
      options,
    ),
    quantity: { amount: reference.content, unit },
  };
}

/** The class of the product, else the shop's default one. */
function taxClassOf(row: Pick<ProductRow, 'taxClassId' | 'master'>, { taxClasses }: Settings): TaxClass {
  const ownId = row.taxClassId ?? row.master?.taxClassId;
  return (
    taxClasses.find(({ taxClassId }) => taxClassId === ownId) ??
    taxClasses.find(({ isDefault }) => isDefault)!
  );
}

/** With the rate in the shop's own country. */
function renderTaxClass(
  row: Pick<ProductRow, 'taxClassId' | 'master'>,
  settings: Settings,
  locale: string,
): Product['priceInfo']['taxClass'] {
  const taxClass = taxClassOf(row, settings);
  return {
    taxClassId: taxClass.taxClassId,
    name: textIn(taxClass.name, locale, settings.defaultLocale) ?? taxClass.key,
    percentage: (taxClass.rates[settings.country] ?? 0) / 100,
  };
}

/** Tiers and group prices, ascending. */
export function tierPrices(
  facts: ProductFacts,
  settings: Settings,
  options: PriceFormat,
): Required<Pick<Product, 'bulkPriceInfo' | 'customerSpecificPriceInfo'>> {
  const { currency } = options;
  const entry = (tier: PricedTier) => tierPrice(tier, facts, settings, options);
  return {
    bulkPriceInfo: pricedTiers(facts.bulkPrices ?? [], currency, settings).map(entry),
    customerSpecificPriceInfo: (facts.groupPrices ?? []).flatMap(({ customerGroupId, tiers }) => {
      const group = settings.customerGroups.find((one) => one.customerGroupId === customerGroupId);
      if (!group) return [];
      return [
        {
          customerGroup: group.name,
          customerGroupId,
          priceInfo: pricedTiers(tiers, currency, settings).map(entry),
        },
      ];
    }),
  };
}

export function tierPrice(
  { quantity, price, regularPrice, discount }: PricedTier,
  facts: Pick<ProductFacts, 'reference' | 'orderUnit'>,
  settings: Settings,
  options: PriceFormat,
): NonNullable<Product['bulkPriceInfo']>[number] {
  const { orderUnit = ORDER_UNIT } = facts;
  return {
    quantity: { amount: quantity, unit: unitSign(orderUnit.unit, options.locale, settings) },
    price: renderPrice(price, settings, options)!,
    basePrice: basePriceOf(price, facts, settings, options),
    priceSavings: {
      percent: { percentage: discount / 100, formatted: `${discount / 100} %` },
      regularBulkPrice: renderPrice(regularPrice, settings, options)!,
    },
  };
}

/** Methods that the shop has dropped no longer restrict anything. */
function restrictionOf(
  { shippingMethodIds }: ProductFacts,
  settings: Settings,
  { origin }: RenderOptions,
): Link[] | null {
  const methods = settings.shippingMethods.filter(({ shippingMethodId }) =>
    shippingMethodIds?.includes(shippingMethodId),
  );
  if (methods.length === 0) return null;
  return methods.map(({ shippingMethodId }) => ({
    rel: 'related',
    href: `${origin}/rs/shops/${settings.shopId}/shipping-methods/${shippingMethodId}`,
  }));
}

/** The address of a file of our own is stored without the host it is served from. */
export function absolute(url: string | undefined, origin: string): string | null {
  if (url === undefined) return null;
  return url.startsWith('/') ? origin + url : url;
}

function linksOf(
  row: ProductRow,
  settings: Settings,
  { origin, locale, variant }: RenderOptions,
  hasRange: boolean,
) {
  const base = `${origin}/rs/shops/${settings.shopId}`;
  const self = `${base}/products/${row.productId}`;
  const masterId = row.kind === 'master' ? row.productId : row.masterId;
  const category = variant === 'full' ? row.mainCategory : null;
  const links: (Link | false)[] = [
    { rel: 'self', href: self },
    variant === 'full' && { rel: 'custom-attributes', href: `${self}/custom-attributes` },
    variant === 'full' && { rel: 'slideshow', href: `${self}/slideshow` },
    { rel: 'categories', href: `${base}/categories/?productId=${row.masterId ?? row.productId}` },
    category !== null && {
      rel: 'main-category',
      href: `${base}/categories/${category.categoryId}`,
      title: anyText(category.name, locale, settings.defaultLocale) ?? category.alias,
    },
    { rel: 'producttype', href: `${base}/producttypes/${typeOf(row, settings).productTypeId}` },
    masterId !== null && { rel: 'variations', href: `${base}/products/${masterId}/variations` },
    row.masterId !== null && { rel: 'master', href: `${base}/products/${row.masterId}` },
    hasRange && settings.showFromPrices && { rel: 'lowest-price', href: `${self}/lowest-price` },
  ];
  return links.filter((link) => link !== false);
}

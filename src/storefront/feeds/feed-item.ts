import { shownAttributes } from '../../catalogue/products/attributes.ts';
import { dayAt, openBackorder } from '../../catalogue/products/backorders.ts';
import { inheritedFacts, type ProductFacts } from '../../catalogue/products/facts.ts';
import { gtinOf } from '../../catalogue/products/gtin.ts';
import { askedPrice, inTaxType, priceIn } from '../../catalogue/products/prices.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { isForSale, ORDER_UNIT } from '../../catalogue/products/orderable.ts';
import { nameOf, pricesOf, selectionOf, typeOf } from '../../catalogue/products/render.ts';
import { formatNumber } from '../../http/amount-text.ts';
import { plainText } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { sellsToEuConsumers } from '../../shops/legal/guarantee-notice.ts';
import type { FeedAttribute } from '../../shops/settings/settings.ts';
import { currencyDigits, toDecimal } from '../../kernel/money.ts';
import type { UnitKey } from '../../kernel/units.ts';
import { hasZones } from '../../pricing/delivery-offers.ts';
import { deliverySpan, parseDays, type WorkingDays } from '../../pricing/delivery-span.ts';
import { taxClassFor } from '../../pricing/tax.ts';
import { priceOfQuantity } from '../../pricing/quantity.ts';
import { CLASSIFIERS, imageUrl } from '../../platform/media/images.ts';
import { deliveryPlaces, smallestOrder } from '../product/delivery-places.ts';
import { productDeliveryDays } from '../product/delivery-span.ts';
import { absoluteUrl, productPath, type Visit } from '../visit.ts';
import type { FeedRow } from './queries.ts';

/** The context of an item besides its product. */
export interface FeedContext {
  visit: Pick<Visit, 'shopId' | 'settings' | 'locale' | 'home'>;
  currency: string;
  /** The names of a category and its ancestors, from the top. */
  categoryPath: (categoryId: string) => readonly string[];
  now: Date;
}

/** What custom fields say of a product, by the name of Google's attribute. */
export type FeedFields = Partial<Record<FeedAttribute, string>>;

/** A product with the data that channels such as Google or ChatGPT require, whatever their field names. */
export interface FeedItem {
  id: string;
  title: string;
  description: string;
  link: string;
  /** The main one first; there is always one, because no channel accepts a product without. */
  pictures: readonly string[];
  availability: 'in_stock' | 'out_of_stock' | 'backorder' | 'preorder';
  /** `2026-11-20`, for a product that is ordered for the customer. */
  availableFrom: string | undefined;
  /** Working days until it is dispatched; undefined: unknown. */
  handling: WorkingDays | undefined;
  /** The countries that the shop delivers it to, where zones decide the price; undefined: every country has the same. */
  shipping: readonly FeedShipping[] | undefined;
  /** `24.50 EUR`: the price without any reduction. */
  price: string;
  salePrice: string | undefined;
  /** The end of its sale, as ISO 8601. */
  forSaleUntil: string | undefined;
  brand: string | undefined;
  gtin: string | undefined;
  mpn: string | undefined;
  /** `Kitchen > Kettles` */
  category: string | undefined;
  /** The data that variations share; undefined for a product without variations. */
  group: { id: string; title: string } | undefined;
  /** The options that distinguish a variation from the others. */
  options: readonly NamedValue[];
  /** Colour, size and similar attributes that channels have a field for. */
  features: Partial<Record<FeatureName, string>>;
  /** What only custom fields say, by the name of Google's attribute. */
  labels: readonly NamedValue[];
  /** Its essential features, one each. */
  highlights: readonly string[];
  /** All other attributes that the product page lists. */
  details: readonly NamedValue[];
  /** `260 g`, of the parcel. */
  weight: string | undefined;
  /** In millimetres. */
  size: { length: number; width: number; height: number } | undefined;
  /** `250 g`, and the amount that the base price refers to: `100 g`. */
  measure: { content: string; base: string } | undefined;
  energy: { label: string; best: string } | undefined;
  /** The number in the European registry of energy labels. */
  eprelNumber: string | undefined;
  condition: Condition;
  isDigital: boolean;
  /** False: the product has no right of withdrawal. */
  isReturnable: boolean;
}

export interface FeedShipping {
  country: string;
  /** The name of the shipping method. */
  method: string;
  /** `14.90 EUR` */
  price: string;
  /** Working days on the way; undefined: unknown. */
  transit: WorkingDays | undefined;
}

const CONDITIONS = ['new', 'refurbished', 'used'] as const;
type Condition = (typeof CONDITIONS)[number];

interface NamedValue {
  name: string;
  value: string;
}

const MAX_ID_LENGTH = 50;
const MAX_TITLE_LENGTH = 150;
const MAX_DESCRIPTION_LENGTH = 5_000;
const MAX_CATEGORY_LENGTH = 750;
const MAX_VALUE_LENGTH = 100;
const MAX_DETAILS = 50;
const MAX_HIGHLIGHTS = 10;
const MAX_HIGHLIGHT_LENGTH = 150;

/** Returns undefined for products that no channel accepts: not for sale, or without a picture. */
export function feedItem(
  { row, pictures }: FeedRow,
  fields: FeedFields,
  context: FeedContext,
): FeedItem | undefined {
  const { visit, currency, now } = context;
  const { settings, locale, shopId } = visit;
  const facts = inheritedFacts(row.facts, row.master?.facts ?? null);
  const { orderUnit = ORDER_UNIT } = facts;
  // Channels show the price of the smallest order.
  const quantity = orderUnit.minimum || orderUnit.interval || 1;
  const offer = offerOf(row, facts, quantity, context);
  const files = pictureUrls(pictures, shopId, visit.home);
  if (!offer || !isForSale(row, facts, offer.amount, now) || files.length === 0) return undefined;
  const title = titleOf(row, settings, locale);
  const description = feedDescription(facts, visit);
  const isDigital = taxClassFor(row.taxClassId ?? row.master?.taxClassId ?? null, settings).digital;
  const query = currency === settings.defaultCurrency ? {} : { currency };
  const { length, width, height } = facts;
  const { color, size, material, pattern, ...labels } = fields;
  const attributes = withLegalDetails(feedAttributes(row, context), facts, context);
  return {
    id: feedId(row),
    title: cut(title, MAX_TITLE_LENGTH),
    description: cut(description ?? title, MAX_DESCRIPTION_LENGTH),
    link: absoluteUrl(visit, productPath(row.productNumber), query),
    pictures: files,
    ...feedAvailability(row, facts, quantity, context),
    // Items that are out of stock have a date of their own.
    handling: productDeliveryDays({ facts, isInStock: true, isDigital }, settings)?.handling,
    shipping: hasZones(settings) ? shippingOf(row, facts, isDigital, context) : undefined,
    price: offer.price,
    salePrice: offer.salePrice,
    forSaleUntil: facts.forSaleUntil && new Date(facts.forSaleUntil).toISOString(),
    brand: shortText(facts.manufacturer, 70),
    gtin: gtinOf(facts),
    mpn: shortText(facts.manufacturerProductNumber, 70),
    category: feedCategory(row, context),
    group: row.master
      ? {
          id: feedId({ productId: row.masterId!, productNumber: row.master.productNumber }),
          title: cut(nameOf({ ...row.master, master: null }, settings, locale), MAX_TITLE_LENGTH),
        }
      : undefined,
    options: optionsOf(row, context),
    ...attributes,
    // A field that names its attribute is surer than an attribute that is known by its key.
    features: { ...attributes.features, ...present({ color, size, material, pattern }) },
    highlights: highlightsOf(facts, visit),
    labels: Object.entries(labels).map(([name, value]) => ({ name, value })),
    weight: weightOf(facts),
    size: length && width && height ? { length, width, height } : undefined,
    measure: measureOf(facts, quantity),
    energy: energyOf(facts),
    eprelNumber: facts.eprelNumber,
    isDigital,
    isReturnable: facts.withdrawalExcluded === undefined,
  };
}

/** The long description, or else the short one; undefined: it has none in this language nor in the default one. */
export function feedDescription(
  { description, shortDescription }: ProductFacts,
  { settings, locale }: Pick<Visit, 'settings' | 'locale'>,
): string | undefined {
  return [description, shortDescription]
    .flatMap((text) => (text && textIn(text, locale, settings.defaultLocale)) || [])
    .map((text) => plainText(text, MAX_DESCRIPTION_LENGTH))
    .find((text) => text !== '');
}

/** A line of the essential features each. One that is too long is left out, because half a sentence says nothing. */
function highlightsOf(
  { essentialFeatures }: ProductFacts,
  { settings, locale }: FeedContext['visit'],
): string[] {
  const text = (essentialFeatures && textIn(essentialFeatures, locale, settings.defaultLocale)) ?? '';
  return text
    .split(/\r?\n/)
    .map((line) => cut(line, MAX_HIGHLIGHT_LENGTH + 1))
    .filter((line) => line !== '' && line.length <= MAX_HIGHLIGHT_LENGTH)
    .slice(0, MAX_HIGHLIGHTS);
}

function present<Values extends object>(
  values: Values,
): {
  [Name in keyof Values]?: NonNullable<Values[Name]>;
} {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}

/** The merchant's product number; the id of a product whose number is too long for channels. */
function feedId({ productId, productNumber }: Pick<ProductRow, 'productId' | 'productNumber'>): string {
  const text = clean(productNumber).trim();
  return text === productNumber && text.length <= MAX_ID_LENGTH ? text : productId;
}

/** A variation without its own name is distinguished by its options: `Lantern Point Lamp, Brass, Small`. */
function titleOf(row: ProductRow, settings: Visit['settings'], locale: string): string {
  const name = nameOf(row, settings, locale);
  if (row.facts.name) return name;
  const chosen = selectionOf(row, settings, locale) ?? [];
  return [name, ...chosen.map(({ displayValue }) => displayValue)].join(', ');
}

/** Tax is left out where prices are shown without it; elsewhere consumers see the price they pay. */
const COUNTRIES_WITHOUT_TAX = ['US', 'CA'];

const feedTaxType = ({ country }: Pick<Visit['settings'], 'country'>) =>
  COUNTRIES_WITHOUT_TAX.includes(country) ? 'NET' : 'GROSS';

const priceText = (minor: number, currency: string) =>
  `${toDecimal(minor, currency).toFixed(currencyDigits(currency))} ${currency}`;

/** Undefined: it has no price in this currency. */
export function offerOf(row: ProductRow, facts: ProductFacts, quantity: number, context: FeedContext) {
  const { currency, visit } = context;
  const { settings } = visit;
  const { prices, before } = pricesOf(row);
  const { orderUnit = ORDER_UNIT } = facts;
  const taxClassId = row.taxClassId ?? row.master?.taxClassId ?? null;
  const rate = taxClassFor(taxClassId, settings).rates[settings.country] ?? 0;
  const taxType = feedTaxType(settings);
  const amountOf = (price: number | null) =>
    price === null
      ? null
      : inTaxType(
          priceOfQuantity(price, quantity, orderUnit.priceQuantity),
          rate,
          settings.taxModel,
          taxType,
        );
  const product = { ...facts, productId: row.productId, masterId: row.masterId, prices, taxClassId };
  const amount = amountOf(askedPrice(product, String(quantity), currency, null, settings));
  if (amount === null) return undefined;
  // A recommended price was never charged here, so it does not count as a former price.
  const formerPrices = [before, facts.isManufacturerPriceRrp ? undefined : facts.manufacturerPrices];
  const former = formerPrices
    .map((one) => amountOf(priceIn(one, currency, settings)))
    .find((one) => one !== null && one > amount);
  return {
    amount,
    price: priceText(former ?? amount, currency),
    salePrice: former === undefined ? undefined : priceText(amount, currency),
  };
}

/** Taxed like the prices of products, with the rate of the shop's own country. */
function shippingOf(
  row: ProductRow,
  facts: ProductFacts,
  isDigital: boolean,
  { currency, visit: { settings, locale } }: FeedContext,
): FeedShipping[] {
  const goods = isDigital ? undefined : smallestOrder(row, currency, settings);
  if (!goods) return [];
  const rate = taxClassFor(null, settings).rates[settings.country] ?? 0;
  return deliveryPlaces(goods, { facts, isInStock: true }, settings)
    .filter(({ postcodes }) => postcodes.length === 0)
    .map(({ country, method, price, days }) => ({
      country,
      method: textIn(method.name, locale, settings.defaultLocale) ?? method.key,
      price: priceText(inTaxType(price, rate, settings.taxModel, feedTaxType(settings)), currency),
      transit: days?.transit,
    }));
}

/** Orders beyond the stock are accepted if the product or the shop allows them; channels require the latest delivery date. */
export function feedAvailability(
  row: ProductRow,
  facts: ProductFacts,
  quantity: number,
  { visit: { settings }, now }: FeedContext,
): Pick<FeedItem, 'availability' | 'availableFrom'> {
  if (row.stock === null || row.stock >= quantity)
    return { availability: 'in_stock', availableFrom: undefined };
  if (facts.backorder) {
    const terms = openBackorder({ ...row, facts }, dayAt(now, settings.deliveryTimes.timeZone));
    const isEnough = terms && Math.max(0, row.stock) + terms.left >= quantity;
    // Channels do not take either without its day.
    return isEnough && terms.expectedOn !== undefined
      ? { availability: terms.kind, availableFrom: terms.expectedOn }
      : { availability: 'out_of_stock', availableFrom: undefined };
  }
  const days = settings.sellBeyondStock && parseDays(facts.deliveryPeriod ?? '');
  if (!days) return { availability: 'out_of_stock', availableFrom: undefined };
  const { to } = deliverySpan(now, settings.deliveryTimes, days, { from: 0, to: 0 });
  return { availability: 'backorder', availableFrom: to };
}

export function pictureUrls(pictures: FeedRow['pictures'], shopId: string, home: string): string[] {
  const { origin } = new URL(home);
  return pictures.flatMap(({ imageKey, sizes }) => {
    const largest = CLASSIFIERS.findLast((classifier) => sizes[classifier] !== null);
    return largest === undefined ? [] : [imageUrl(origin, shopId, imageKey, sizes[largest]!.file)];
  });
}

export function feedCategory(
  { mainCategory }: ProductRow,
  { categoryPath }: FeedContext,
): string | undefined {
  if (!mainCategory) return undefined;
  const names = categoryPath(mainCategory.categoryId).map((name) => clean(name).replaceAll('>', ' ').trim());
  const path = names.filter((name) => name !== '').join(' > ');
  return path === '' ? undefined : cut(path, MAX_CATEGORY_LENGTH);
}

function optionsOf(row: ProductRow, { visit: { settings, locale } }: FeedContext): NamedValue[] {
  return (selectionOf(row, settings, locale) ?? []).map(({ displayName, displayValue }) => ({
    name: cut(displayName, MAX_VALUE_LENGTH),
    value: cut(displayValue, MAX_VALUE_LENGTH),
  }));
}

/** The channel fields that an attribute may fill, and the keys that merchants use for them. */
const FEATURES = {
  color: ['color', 'colour', 'farbe', 'couleur'],
  size: ['size', 'größe', 'groesse', 'taille'],
  material: ['material', 'matériau', 'matière'],
  pattern: ['pattern', 'muster', 'motif'],
} as const;
export type FeatureName = keyof typeof FEATURES;

/** Goods are new by default, unless an attribute says otherwise. */
const CONDITION_KEYS = ['condition', 'zustand', 'état'];

/** Values of other types, such as moments, are not meant for people. */
const READABLE: readonly string[] = ['string', 'number'];

/** The attributes in the table of the product page. */
export function feedAttributes(
  row: ProductRow,
  { visit: { settings, locale } }: { visit: Pick<Visit, 'settings' | 'locale'> },
): Pick<FeedItem, 'features' | 'details' | 'condition'> {
  const hidden = typeOf(row, settings).attributes.flatMap(({ key, visible }) => (visible ? [] : [key]));
  const features: FeedItem['features'] = {};
  const details: NamedValue[] = [];
  let condition: Condition = 'new';
  for (const { key, displayKey, type, values } of shownAttributes(row, settings, locale).items) {
    const value = values.flatMap((one) => (one.value === null ? [] : [one.displayValue])).join('/');
    if (value === '' || hidden.includes(key)) continue;
    const named =
      CONDITION_KEYS.includes(key.toLowerCase()) && CONDITIONS.find((one) => one === values[0]!.value);
    if (named) {
      condition = named;
      continue;
    }
    const feature = featureOf(key);
    if (feature && features[feature] === undefined) features[feature] = cut(value, MAX_VALUE_LENGTH);
    else if (READABLE.includes(type) && details.length < MAX_DETAILS)
      details.push({ name: cut(displayKey, MAX_VALUE_LENGTH), value: cut(value, MAX_VALUE_LENGTH) });
  }
  return { features, details, condition };
}

/** The producer's guarantee and the repairability come first, because channels cut long lists. */
function withLegalDetails(
  attributes: ReturnType<typeof feedAttributes>,
  { durabilityGuarantee: guarantee, repairability }: ProductFacts,
  { visit: { settings, locale } }: FeedContext,
): ReturnType<typeof feedAttributes> {
  const { label, years } = messagesIn(locale).guarantee;
  const details: NamedValue[] = [];
  if (guarantee && sellsToEuConsumers(settings)) {
    const value = `${years({ amount: formatNumber(guarantee.years, locale) })}, ${guarantee.brand} ${guarantee.model}`;
    details.push({ name: label, value: cut(value, MAX_VALUE_LENGTH) });
  }
  if (repairability !== undefined)
    details.push({ name: messagesIn(locale).storefront.product.repairability, value: repairability });
  return { ...attributes, details: [...details, ...attributes.details].slice(0, MAX_DETAILS) };
}

/** Undefined: channels have no field for an attribute with this key. */
export function featureOf(key: string): FeatureName | undefined {
  const wanted = key.toLowerCase();
  const [name] = Object.entries(FEATURES).find(([, keys]) => keys.some((one) => one === wanted)) ?? [];
  return name as FeatureName | undefined;
}

/** The units of weights and base prices that channels know. */
const UNIT_SIGNS: Partial<Record<UnitKey, string>> = {
  gram: 'g',
  kilogram: 'kg',
  milligram: 'mg',
  ounce: 'oz',
  pound: 'lb',
  litre: 'l',
  millilitre: 'ml',
  cubicmetre: 'cbm',
  fluidounce: 'floz',
  gallon: 'gal',
  quart: 'qt',
  metre: 'm',
  centimetre: 'cm',
  foot: 'ft',
  inch: 'in',
  yard: 'yd',
  squaremetre: 'sqm',
  squarefoot: 'sqft',
  piece: 'ct',
  sheet: 'sheet',
};
const WEIGHT_UNITS: readonly UnitKey[] = ['gram', 'kilogram', 'ounce', 'pound'];

function weightOf({ deliveryWeight }: ProductFacts): string | undefined {
  if (!deliveryWeight || deliveryWeight.amount <= 0 || !WEIGHT_UNITS.includes(deliveryWeight.unit))
    return undefined;
  return `${deliveryWeight.amount} ${UNIT_SIGNS[deliveryWeight.unit]!}`;
}

/** The amounts of a unit that base prices refer to, besides the bottle of wine and the sack of coal. */
const BASE_AMOUNTS = [1, 2, 4, 8, 10, 100];
const OTHER_BASES = ['750 ml', '50 kg', '1000 kg'];

/** The content of the smallest order. Goods that are sold by the metre or the kilogram have it in their order unit. */
function measureOf(
  { reference, orderUnit = ORDER_UNIT }: ProductFacts,
  quantity: number,
): FeedItem['measure'] {
  const { priceQuantity, unit } = orderUnit;
  const shown =
    reference ?? (unit === 'piece' ? undefined : { amount: priceQuantity, unit, content: priceQuantity });
  const sign = shown && UNIT_SIGNS[shown.unit];
  if (!shown || sign === undefined) return undefined;
  const base = `${shown.amount} ${sign}`;
  const content = Number(((shown.content * quantity) / priceQuantity).toFixed(6));
  const isKnown = BASE_AMOUNTS.includes(shown.amount) || OTHER_BASES.includes(base);
  return isKnown && content > 0 ? { content: `${content} ${sign}`, base } : undefined;
}

/** A product with a range of classes has no single one to name. */
export function energyOf({ energyLabel }: ProductFacts): FeedItem['energy'] {
  const isClass = (text: string) => /^(?:A\+{0,3}|[B-G])$/.test(text);
  if (!energyLabel || !isClass(energyLabel.classes) || !isClass(energyLabel.best)) return undefined;
  return { label: energyLabel.classes, best: energyLabel.best };
}

function shortText(text: string | undefined, maxLength: number): string | undefined {
  const short = text === undefined ? '' : cut(text, maxLength);
  return short === '' ? undefined : short;
}

/** The first characters of a single-line text, without half of a surrogate pair. */
export function cut(text: string, maxLength: number): string {
  return clean(text)
    .trim()
    .slice(0, maxLength)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd();
}

/** XML cannot represent other characters, and no text needs them. */
function clean(text: string): string {
  return text.replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
}

import { inheritedFacts, type ProductFacts } from '../../catalogue/products/facts.ts';
import { gtinOf } from '../../catalogue/products/gtin.ts';
import { shownDimension } from '../../catalogue/products/dimensions.ts';
import { selectedValue } from '../../catalogue/products/combinations.ts';
import { inTaxType, priceIn } from '../../catalogue/products/prices.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { nameOf, typeOf } from '../../catalogue/products/render.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import type { Markup } from '../../http/html.ts';
import type { Price } from '../../http/price.ts';
import { currencyDigits, toDecimal } from '../../kernel/money.ts';
import { UNITS } from '../../kernel/units.ts';
import { hasZones } from '../../pricing/delivery-offers.ts';
import type { DeliveryDays, WorkingDays } from '../../pricing/delivery-span.ts';
import { taxClassFor } from '../../pricing/tax.ts';
import { feedAttributes, energyOf, featureOf } from '../feeds/feed-item.ts';
import { jsonScript } from '../page.ts';
import { absoluteUrl, legalNames, productPath, shopName, type Visit } from '../visit.ts';
import type { ProductReviews } from '../reviews/review-view.ts';
import type { DeliveryPlace } from './delivery-places.ts';
import { shownTaxType } from './product-card.ts';
import type { PageVariation } from './queries.ts';

interface StructuredModel {
  row: ProductRow;
  product: Product;
  /** The product that the page puts into the cart. */
  offer: Product;
  offerRow: ProductRow;
  variations: readonly PageVariation[];
  /** The variation that is the offer. */
  chosen: PageVariation | undefined;
  images: readonly string[];
  description: string;
  places: readonly DeliveryPlace[];
  reviews: ProductReviews | undefined;
}

/** Search engines read no more variations of a product, and a page stays small. */
const MAX_VARIATIONS = 100;

/**
 * The product as structured data for search engines (schema.org): by itself, or as a group with its variations, of which
 * the one that the page offers has all its data.
 */
export function structuredProduct(visit: Visit, model: StructuredModel): Markup {
  const { row, product, chosen, description } = model;
  const { manufacturer } = product;
  const common = {
    ...(description !== '' && { description }),
    ...(manufacturer !== null && { brand: { '@type': 'Brand', name: manufacturer } }),
    ...(model.reviews && reviewData(model.reviews)),
  };
  const offered = { ...offeredProduct(visit, model), ...common };
  if (!chosen) return ldScript('page.product', offered);
  const { masterId, master, productNumber } = row;
  const groupNumber = master?.productNumber ?? productNumber;
  const dimensions = dimensionsOf(visit, row);
  const features = dimensions.flatMap(({ name }) => featureOf(name) ?? []);
  const others = model.variations.filter((one) => one !== chosen).slice(0, MAX_VARIATIONS - 1);
  return ldScript('page.product', {
    '@type': 'ProductGroup',
    name: masterId === null ? product.name : masterName(visit, row),
    productGroupID: groupNumber,
    sku: groupNumber,
    url: absoluteUrl(visit, productPath(groupNumber)),
    ...common,
    ...(features.length > 0 && { variesBy: features.map((name) => `https://schema.org/${name}`) }),
    hasVariant: [
      { ...offered, ...selectionData(dimensions, chosen) },
      ...others.map((variation) => otherVariation(visit, model, dimensions, variation)),
    ],
  });
}

/** Only of what the page shows: published reviews of people who have bought the product here. */
function reviewData({ rating, newest }: ProductReviews) {
  return {
    aggregateRating: {
      '@type': 'AggregateRating',
      ratingValue: rating.average,
      reviewCount: rating.count,
      bestRating: 5,
      worstRating: 1,
    },
    review: newest.map(({ stars, title, text, name, createdAt }) => ({
      '@type': 'Review',
      author: { '@type': 'Person', name },
      datePublished: createdAt.toISOString().slice(0, 10),
      reviewRating: { '@type': 'Rating', ratingValue: stars, bestRating: 5, worstRating: 1 },
      ...(title !== '' && { name: title }),
      ...(text !== '' && { reviewBody: text }),
    })),
  };
}

/** A script element with data of schema.org. */
export function ldScript(id: string, data: object): Markup {
  return jsonScript(id, { '@context': 'https://schema.org', ...data }, 'application/ld+json');
}

function offeredProduct(visit: Visit, model: StructuredModel) {
  const { offer, offerRow, images } = model;
  const facts = inheritedFacts(offerRow.facts, offerRow.master?.facts ?? null);
  const { features, condition } = feedAttributes(offerRow, { visit });
  const gtin = gtinOf(facts);
  const { manufacturerProductNumber } = offer;
  return {
    '@type': 'Product',
    name: offer.name,
    sku: offer.productNumber,
    url: absoluteUrl(visit, productPath(offer.productNumber)),
    ...(images.length > 0 && { image: images }),
    ...(gtin !== undefined && { gtin }),
    ...(manufacturerProductNumber && { mpn: manufacturerProductNumber }),
    ...features,
    ...energyData(facts),
    ...offerData(visit, model, facts, condition),
  };
}

type Dimensions = ReturnType<typeof dimensionsOf>;

function dimensionsOf({ settings, locale }: Visit, row: ProductRow) {
  const facts = row.master?.facts ?? row.facts;
  return (facts.variationAttributes ?? []).map((dimension) =>
    shownDimension(dimension, typeOf(row, settings), settings, locale),
  );
}

/** What makes it this variation: colour, size and their like in fields of their own. */
function selectionData(dimensions: Dimensions, { selection }: PageVariation) {
  const chosen = dimensions.flatMap(({ name, displayName, values }) => {
    const value = values.find((one) => one.value === selectedValue(selection, name))?.displayValue;
    return value === undefined ? [] : [{ feature: featureOf(name), name: displayName, value }];
  });
  const properties = chosen.filter(({ feature }) => feature === undefined);
  return {
    ...Object.fromEntries(chosen.flatMap(({ feature, value }) => (feature ? [[feature, value]] : []))),
    ...(properties.length > 0 && {
      additionalProperty: properties.map(({ name, value }) => ({ '@type': 'PropertyValue', name, value })),
    }),
  };
}

/** One that has a page of its own, which says the rest. */
function otherVariation(
  visit: Visit,
  model: StructuredModel,
  dimensions: Dimensions,
  variation: PageVariation,
) {
  const { settings, currency } = visit;
  const { row, product } = model;
  const { productNumber, prices, isOnSale, hasStock } = variation;
  const url = absoluteUrl(visit, productPath(productNumber));
  const gtin = gtinOf(variation);
  const data = selectionData(dimensions, variation);
  const { rates } = taxClassFor(row.taxClassId ?? row.master?.taxClassId ?? null, settings);
  const minor = priceIn(prices, currency, settings) ?? 0;
  const shown = inTaxType(minor, rates[settings.country] ?? 0, settings.taxModel, shownTaxType(visit));
  const name = row.masterId === null ? product.name : masterName(visit, row);
  return {
    '@type': 'Product',
    name,
    sku: productNumber,
    url,
    ...(gtin !== undefined && { gtin }),
    ...data,
    ...(minor > 0 &&
      isOnSale && {
        offers: {
          '@type': 'Offer',
          url,
          price: toDecimal(shown, currency).toFixed(currencyDigits(currency)),
          priceCurrency: currency,
          ...(hasStock ? { availability: 'https://schema.org/InStock' } : beyondStock(visit, variation)),
        },
      }),
  };
}

function masterName({ settings, locale }: Visit, row: ProductRow): string {
  return nameOf({ ...row.master!, master: null }, settings, locale);
}

/** The class on the label, and the entry in the European registry. */
function energyData(facts: ProductFacts) {
  const energy = energyOf(facts);
  const category = (text: string) =>
    `https://schema.org/EUEnergyEfficiencyCategory${text.replace(/\++$/, (plus) => `${plus.length}Plus`)}`;
  return {
    ...(energy && {
      hasEnergyConsumptionDetails: {
        '@type': 'EnergyConsumptionDetails',
        hasEnergyEfficiencyCategory: category(energy.label),
        energyEfficiencyScaleMax: category(energy.best),
        // The scale from A to G has its best class on the label; older scales end elsewhere.
        ...(energy.best === 'A' && { energyEfficiencyScaleMin: category('G') }),
      },
    }),
    ...(facts.eprelNumber !== undefined && {
      hasCertification: {
        '@type': 'Certification',
        issuedBy: { '@type': 'Organization', name: 'European Commission' },
        name: 'EPREL',
        certificationIdentification: facts.eprelNumber,
      },
    }),
  };
}

function offerData(
  visit: Visit,
  { offer, places }: StructuredModel,
  facts: ProductFacts,
  condition: keyof typeof CONDITIONS,
) {
  const { price } = offer.priceInfo;
  if (!price || !offer.forSale) return {};
  return {
    offers: {
      '@type': 'Offer',
      url: absoluteUrl(visit, productPath(offer.productNumber)),
      price: decimal(price),
      priceCurrency: price.currency,
      ...availabilityOf(visit, offer),
      itemCondition: `https://schema.org/${CONDITIONS[condition]}`,
      ...(facts.forSaleUntil !== undefined && { priceValidUntil: facts.forSaleUntil.slice(0, 10) }),
      ...priceSpecification(offer, facts, price),
      seller: { '@type': 'Organization', name: shopName(visit) },
      ...shippingOf(visit, price.currency, places),
      ...(!taxClassFor(offer.priceInfo.taxClass.taxClassId, visit.settings).digital && {
        hasMerchantReturnPolicy: returnPolicy(visit, facts.withdrawalExcluded === undefined),
      }),
    },
  };
}

const CONDITIONS = { new: 'NewCondition', refurbished: 'RefurbishedCondition', used: 'UsedCondition' };

/** The price per litre or kilogram, and the price before a reduction. A recommended one was never asked here. */
function priceSpecification(
  { priceInfo, isManufacturerPriceRRP }: Product,
  facts: ProductFacts,
  price: Price,
) {
  const { lowestPrice30Days, manufacturerPrice } = priceInfo;
  const { reference } = facts;
  const former = [lowestPrice30Days, isManufacturerPriceRRP ? null : manufacturerPrice].find(
    (one) => one && one.amount > price.amount,
  );
  if (!reference && !former) return {};
  const quantity = (value: number) => ({
    '@type': 'QuantitativeValue',
    value,
    unitCode: UNITS[reference!.unit].code,
  });
  const current = {
    '@type': 'UnitPriceSpecification',
    price: decimal(price),
    priceCurrency: price.currency,
    ...(reference && {
      referenceQuantity: {
        ...quantity(reference.content),
        valueReference: quantity(reference.amount),
      },
    }),
  };
  const before = former && {
    '@type': 'UnitPriceSpecification',
    priceType: 'https://schema.org/StrikethroughPrice',
    price: decimal(former),
    priceCurrency: price.currency,
  };
  return { priceSpecification: before ? [current, before] : current };
}

/** Google takes no more countries of a policy. */
const MAX_COUNTRIES = 50;

/** What the shop grants to those who send goods back: the law's right of withdrawal, or more. */
export function returnPolicy(visit: Visit, isReturnable: boolean) {
  const { withdrawal, orderPage, defaultCountry, countries, country } = visit.settings;
  const days = Math.max(withdrawal.days, orderPage.returnDays);
  const isGranted = isReturnable && days > 0;
  const hasText = legalNames(visit)['rights-of-withdrawal'] !== undefined;
  return {
    '@type': 'MerchantReturnPolicy',
    applicableCountry: [...new Set([defaultCountry, ...countries])].slice(0, MAX_COUNTRIES),
    returnPolicyCountry: country,
    returnPolicyCategory: `https://schema.org/${isGranted ? 'MerchantReturnFiniteReturnWindow' : 'MerchantReturnNotPermitted'}`,
    ...(isGranted && { merchantReturnDays: days, returnMethod: 'https://schema.org/ReturnByMail' }),
    ...(hasText && { merchantReturnLink: absoluteUrl(visit, '/legal/rights-of-withdrawal') }),
  };
}

/** A shop with zones says what the delivery costs to each place; another one only to its own country. */
function shippingOf({ settings }: Visit, currency: string, places: readonly DeliveryPlace[]) {
  const isZoned = hasZones(settings);
  const shown = isZoned ? places : places.filter(({ country }) => country === settings.defaultCountry);
  if (shown.length === 0) return {};
  const details = groupedPlaces(shown).map((one) => placeDetails(one, currency));
  return { shippingDetails: isZoned ? details : details[0] };
}

/** Search engines read no more than a few; the first are the shop's own country and its neighbours in the settings. */
const MAX_DETAILS = 20;

/** The places that have the same price and the same days. */
function groupedPlaces(places: readonly DeliveryPlace[]): DeliveryPlace[][] {
  const groups = new Map<string, DeliveryPlace[]>();
  for (const place of places) {
    const key = JSON.stringify([place.price, place.days]);
    const group = groups.get(key);
    if (group) group.push(place);
    else groups.set(key, [place]);
  }
  return [...groups.values()].slice(0, MAX_DETAILS);
}

function placeDetails(places: readonly DeliveryPlace[], currency: string) {
  const [{ price, days }] = places as [DeliveryPlace];
  return {
    '@type': 'OfferShippingDetails',
    shippingRate: {
      '@type': 'MonetaryAmount',
      value: toDecimal(price, currency).toFixed(currencyDigits(currency)),
      currency,
    },
    shippingDestination: places.length === 1 ? regionOf(places[0]!) : places.map(regionOf),
    ...(days && { deliveryTime: deliveryTime(days) }),
  };
}

function regionOf({ country, postcodes }: DeliveryPlace) {
  const ranges = postcodes.filter((text) => text.includes('-')).map((text) => text.split('-'));
  const beginnings = postcodes.filter((text) => !text.includes('-')).map((text) => text.replace('*', ''));
  return {
    '@type': 'DefinedRegion',
    addressCountry: country,
    ...(ranges.length > 0 && {
      postalCodeRange: ranges.map(([postalCodeBegin, postalCodeEnd]) => ({
        '@type': 'PostalCodeRangeSpecification',
        postalCodeBegin,
        postalCodeEnd,
      })),
    }),
    ...(beginnings.length > 0 && { postalCodePrefix: beginnings }),
  };
}

/** The working days from which the page computes the day of delivery. */
function deliveryTime({ handling, transit }: DeliveryDays) {
  const days = ({ from, to }: WorkingDays) => ({
    '@type': 'QuantitativeValue',
    minValue: from,
    maxValue: to,
    unitCode: 'DAY',
  });
  return { '@type': 'ShippingDeliveryTime', handlingTime: days(handling), transitTime: days(transit) };
}

function decimal({ amount, currency }: Price): string {
  return amount.toFixed(currencyDigits(currency));
}

function availabilityOf(visit: Visit, { availability, backorder }: Product): OfferedStock {
  if (availability === 'OutStock')
    return beyondStock(visit, {
      backorder: backorder?.isOpen ? backorder : null,
      hasTerms: backorder !== undefined,
    });
  return {
    availability: `https://schema.org/${availability === 'WarnStock' ? 'LimitedAvailability' : 'InStock'}`,
  };
}

interface OfferedStock {
  availability: string;
  availabilityStarts?: string;
}

/** Of a product without stock. */
function beyondStock(
  { settings }: Pick<Visit, 'settings'>,
  {
    backorder,
    hasTerms,
  }: {
    backorder: { kind: 'backorder' | 'preorder'; expectedOn?: string | null } | null;
    hasTerms: boolean;
  },
): OfferedStock {
  if (hasTerms ? !backorder : !settings.sellBeyondStock)
    return { availability: 'https://schema.org/OutOfStock' };
  return {
    availability: `https://schema.org/${backorder?.kind === 'preorder' ? 'PreOrder' : 'BackOrder'}`,
    ...(backorder?.expectedOn && { availabilityStarts: backorder.expectedOn }),
  };
}

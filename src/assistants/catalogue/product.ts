import { isAvailable } from '../../storefront/product/product-card.ts';
import { absoluteUrl, productPath } from '../../storefront/visit.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { plainText, webAddress } from '../../http/html.ts';
import type { Price } from '../../http/price.ts';
import { divideRounded, toMinor } from '../../kernel/money.ts';
import type { AssistantContext } from '../context.ts';
import { measureOf, priceUnit, quantityUnit, steps, type Measure, type QuantityUnit } from '../units.ts';

/** Products as assistants see them: what visitors see, without the stock and the prices of groups. */

export interface Money {
  /** In minor units. */
  amount: number;
  currency: string;
}

export interface ShownVariant {
  id: string;
  sku: string;
  title: string;
  description: { plain: string };
  url: string;
  price: Money;
  list_price?: Money;
  quantity_unit?: QuantityUnit;
  unit_price?: Money & { measure: Measure; reference: Measure };
  availability: { available: boolean; status?: string };
  barcodes?: { type: string; value: string }[];
  options?: { name: string; id: string; label: string }[];
  media?: Media[];
  inputs?: { id: string; match: 'exact' | 'featured' }[];
}

interface Media {
  type: 'image';
  url: string;
  alt_text: string;
  width: number;
  height: number;
}

export interface ShownProduct {
  id: string;
  title: string;
  description: { plain: string };
  url: string;
  categories?: { value: string; taxonomy: 'merchant' }[];
  price_range: { min: Money; max: Money };
  media?: Media[];
  variants: ShownVariant[];
}

/** A product with the variations of it that are shown; one without variations is its own only variant. */
export interface OfferedProduct {
  product: Product;
  /** The best one first. */
  variants: readonly Product[];
  /** The names of its categories. */
  categories: readonly string[];
}

const MAX_DESCRIPTION = 5_000;

export const moneyOf = ({ amount, currency }: Price): Money => ({
  amount: toMinor(amount, currency)!,
  currency,
});

/** undefined: it has no price, so it can't be shown. */
export function shownProduct(
  { product, variants, categories }: OfferedProduct,
  context: AssistantContext,
): ShownProduct | undefined {
  const shown = variants.flatMap((one) => shownVariant(one, product, context) ?? []);
  const [first] = shown;
  if (!first) return undefined;
  const { lowestPrice, highestPrice } = product.priceInfo;
  const range =
    lowestPrice && highestPrice
      ? { min: moneyOf(lowestPrice), max: moneyOf(highestPrice) }
      : priceRange(shown.map(({ price }) => price));
  const media = mediaOf(product);
  return {
    id: product.productId,
    title: product.name,
    description: descriptionOf(product),
    url: addressOf(product, context),
    ...(categories.length > 0 && {
      categories: categories.map((value) => ({ value, taxonomy: 'merchant' as const })),
    }),
    price_range: range,
    ...(media.length > 0 && { media }),
    variants: shown,
  };
}

function priceRange(prices: readonly Money[]): { min: Money; max: Money } {
  const sorted = prices.toSorted((one, other) => one.amount - other.amount);
  return { min: sorted[0]!, max: sorted.at(-1)! };
}

function shownVariant(
  variant: Product,
  product: Product,
  context: AssistantContext,
): ShownVariant | undefined {
  const { price, manufacturerPrice, quantity } = variant.priceInfo;
  if (!price) return undefined;
  // The shop says prices of 100 grams, the protocol those of a gram.
  const perUnit = (one: Price): Money => {
    const { amount, currency } = moneyOf(one);
    const { units, scale } = steps(quantity.amount);
    return { amount: Number(divideRounded(BigInt(amount) * 10n ** BigInt(scale), BigInt(units))), currency };
  };
  const current = perUnit(price);
  const before = manufacturerPrice ? perUnit(manufacturerPrice) : undefined;
  const unit = quantityUnit(variant, context);
  const unitPrice = unitPriceOf(variant, current, context);
  const isVariation = variant.productId !== product.productId;
  const media = isVariation ? mediaOf(variant) : [];
  const barcodes = [
    ...(variant.ean ? [{ type: 'EAN', value: variant.ean }] : []),
    ...(variant.upc ? [{ type: 'UPC', value: variant.upc }] : []),
  ];
  const selection = variant.productVariationSelection ?? [];
  return {
    id: variant.productId,
    sku: variant.productNumber,
    title: isVariation && selection.length > 0 ? selectionTitle(selection) : variant.name,
    description: descriptionOf(variant),
    url: addressOf(variant, context),
    price: current,
    ...(before && before.amount > current.amount && { list_price: before }),
    ...(unit && { quantity_unit: unit }),
    ...(unitPrice && { unit_price: unitPrice }),
    availability: availabilityOf(variant, context),
    ...(barcodes.length > 0 && { barcodes }),
    ...(selection.length > 0 && { options: selection.map(toOption) }),
    ...(media.length > 0 && { media }),
  };
}

type Selection = NonNullable<Product['productVariationSelection']>;

const selectionTitle = (selection: Selection) => selection.map(({ displayValue }) => displayValue).join(', ');

/** The id of a value is its key; its label is in the language of the answer. */
export const toOption = ({ displayName, value, displayValue }: Selection[number]) => ({
  name: displayName,
  id: value,
  label: displayValue,
});

/** The price per litre or kilogram; one that is sold by them has it as its price. */
function unitPriceOf(
  variant: Product,
  price: Money,
  context: AssistantContext,
): ShownVariant['unit_price'] | undefined {
  const { basePrice, quantity } = variant.priceInfo;
  const { refAmount, refContentAmount, refUnit } = variant;
  const isSoldByPiece = priceUnit(variant, context) === 'piece' && quantity.amount === 1;
  if (!basePrice || !isSoldByPiece || refContentAmount <= 0 || refAmount <= 0) return undefined;
  const measure = measureOf(refContentAmount, refUnit as Parameters<typeof measureOf>[1], context);
  const reference = measureOf(refAmount, refUnit as Parameters<typeof measureOf>[1], context);
  const scaleOf = ({ scale = 0 }: Measure) => 10n ** BigInt(scale);
  const amount = divideRounded(
    BigInt(price.amount) * BigInt(reference.value) * scaleOf(measure),
    BigInt(measure.value) * scaleOf(reference),
  );
  return { amount: Number(amount), currency: price.currency, measure, reference };
}

/** Never how many there are. */
function availabilityOf(variant: Product, context: AssistantContext): ShownVariant['availability'] {
  const available = isAvailable(context, variant);
  if (!variant.forSale) return { available: false };
  if (variant.availability !== 'OutStock') return { available, status: 'in_stock' };
  const { kind = 'backorder' } = variant.backorder ?? {};
  return { available, status: available ? kind : 'out_of_stock' };
}

function descriptionOf({ shortDescription, description, name }: Product): { plain: string } {
  const texts = [shortDescription, description].map((text) => plainText(text ?? '', MAX_DESCRIPTION).trim());
  const plain = texts.filter((text) => text !== '').join('\n\n');
  // Not half of a pair of characters at the end.
  return { plain: plain.slice(0, MAX_DESCRIPTION).replace(/[\ud800-\udbff]$/, '') || name };
}

const addressOf = ({ productNumber }: Product, context: AssistantContext) =>
  absoluteUrl(context, productPath(productNumber));

function mediaOf({ images, name }: Product): Media[] {
  const largest = images.toSorted((one, other) => other.width - one.width)[0];
  const url = webAddress(largest?.url);
  if (!largest || url === undefined) return [];
  return [{ type: 'image', url, alt_text: name, width: largest.width, height: largest.height }];
}

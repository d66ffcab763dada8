import type { CartProduct } from './cart-product.ts';
import type { Content, ContentBundle, ContentLine, PricedContent } from './content.ts';
import { sum } from './shares.ts';
import { KILOGRAM, priceOfQuantity, weightOf } from './quantity.ts';
import { messagesIn } from '../kernel/messages.ts';

/** The lines of a cart or an order as people read them: a bundle is one line. */

type Lines = Pick<Content, 'lines' | 'bundles'>;

/** The lines as a customer reads them, and as answers show them: a bundle has the sums of its parts. */
export function shownLines({ lines, bundles = [] }: Lines): ContentLine[] {
  if (bundles.length === 0) return lines;
  const shown = new Set<string>();
  return lines.flatMap((line) => {
    const { bundleId } = line;
    if (bundleId === undefined) return [line];
    if (shown.has(bundleId)) return [];
    shown.add(bundleId);
    const bundle = bundles.find(({ lineItemId }) => lineItemId === bundleId)!;
    return [bundleLine(bundle, partsOfLine({ lines, bundles }, bundleId))];
  });
}

/** The lines of a bundle's parts, by the id of its line; none of any other line. */
export function partsOfLine({ lines, bundles }: Lines, lineItemId: string): ContentLine[] {
  return bundles ? lines.filter(({ bundleId }) => bundleId === lineItemId) : [];
}

/** A line as a customer reads it, with its product. */
export interface SoldUnit {
  line: ContentLine;
  product: CartProduct;
  /** The lines of a bundle's parts with their products; of any other product its own. */
  goods: readonly { line: ContentLine; product: CartProduct }[];
}

export function soldUnits({ content, products, soldProducts }: PricedContent): readonly SoldUnit[] {
  const goods = content.lines.map((line, index) => ({ line, product: products[index]! }));
  if (!content.bundles) return goods.map((one) => ({ ...one, goods: [one] }));
  return shownLines(content).map((line, index) => ({
    line,
    product: soldProducts[index]!,
    goods: goods.filter(({ line: own }) => (own.bundleId ?? own.lineItemId) === line.lineItemId),
  }));
}

/** How much of a part one bundle holds. */
export function quantityInBundle(
  part: Pick<ContentLine, 'orderUnit'>,
  bundle: Pick<ContentLine, 'orderUnit'>,
): number {
  return part.orderUnit.priceQuantity / bundle.orderUnit.priceQuantity;
}

interface NamedLine {
  lineItemId: string;
  quantity: number | string;
}

/** Shipments, returns and invoices hold goods: a named bundle stands for all of its parts. */
export function goodsNamed(content: Lines, named: readonly NamedLine[]): NamedLine[] {
  const { bundles = [] } = content;
  return named.flatMap((one): NamedLine[] => {
    const bundle = bundles.find(({ lineItemId }) => lineItemId === one.lineItemId.toUpperCase());
    if (!bundle) return [one];
    return partsOfLine(content, bundle.lineItemId).map((part) => ({
      lineItemId: part.lineItemId,
      quantity: Number((Number(one.quantity) * quantityInBundle(part, bundle)).toFixed(6)),
    }));
  });
}

function bundleLine(bundle: ContentBundle, parts: readonly ContentLine[]): ContentLine {
  const sumOf = (amountOf: (part: ContentLine) => number) => sum(parts.map(amountOf));
  const inBundle = (part: ContentLine) => quantityInBundle(part, bundle);
  const [first] = parts;
  const quantityPrice = sumOf((part) => part.quantityPrice);
  // Where only one tax can be named, it is that of the dearest part.
  const main = parts.reduce((dearest, part) => (part.amount > dearest.amount ? part : dearest));
  return {
    ...bundle,
    variation: null,
    quantity: String(Number((Number(first!.quantity) / inBundle(first!)).toFixed(6))),
    unitPrice: priceOfQuantity(quantityPrice, 1, bundle.orderUnit.priceQuantity),
    quantityPrice,
    amount: sumOf(({ amount }) => amount),
    unitDeposit: sumOf((part) => priceOfQuantity(part.unitDeposit, inBundle(part), 1)),
    unitEcoParticipation: sumOf((part) => priceOfQuantity(part.unitEcoParticipation, inBundle(part), 1)),
    deposit: sumOf(({ deposit }) => deposit),
    ecoParticipation: sumOf(({ ecoParticipation }) => ecoParticipation),
    discountShare: sumOf(({ discountShare }) => discountShare),
    couponShare: sumOf(({ couponShare }) => couponShare),
    taxClass: main.taxClass,
    weight: weightOfParts(parts, inBundle),
    tiers: [],
    reference: null,
    energyLabel: null,
    dataSheet: null,
    ...(first!.priceAppId !== undefined && { priceAppId: first!.priceAppId }),
    // A customer may withdraw from the parts that have the right.
    ...(parts.every(({ withdrawalExcluded }) => withdrawalExcluded) && {
      withdrawalExcluded: first!.withdrawalExcluded!,
    }),
  };
}

/** Of one bundle; null: a part has no weight. */
function weightOfParts(
  parts: readonly ContentLine[],
  inBundle: (part: ContentLine) => number,
): ContentLine['weight'] {
  if (parts.some(({ weight }) => !weight)) return null;
  const weight = weightOf(
    parts.map((part) => ({ quantity: String(inBundle(part)), product: { deliveryWeight: part.weight! } })),
  );
  return { amount: Number((weight * 1_000_000n) / KILOGRAM) / 1_000_000, unit: 'kilogram' };
}

const UNTAXED = ['intraCommunity', 'reverseCharge', 'export', 'smallBusiness', 'voucher'] as const;

/** Why no tax is charged, in a line for each reason; none for an order whose taxes are all charged. */
export function untaxedReasons(
  { taxes, taxType }: Pick<Content, 'taxes' | 'taxType'>,
  locale: string,
): string[] {
  if (taxType === 'NONE') return [];
  const messages = messagesIn(locale).untaxed;
  return UNTAXED.filter((reason) =>
    taxes.some(({ treatment, amount }) => treatment === reason && amount !== 0),
  ).map((reason) => messages[reason]);
}

import type { PartLine } from '../manage-queries.ts';
import { serviceParts, type Content, type ContentLine } from '../../pricing/content.ts';
import { groupByTax, sum } from '../../pricing/shares.ts';
import { taxOn } from '../../pricing/tax.ts';
import type { TaxTreatment } from '../../shops/taxes/treatments.ts';
import { divideRounded, parseDecimal } from '../../kernel/money.ts';

/** A part of an order, for a document over some of its lines. */

/** A document that contains a part of the whole already, or credits it. */
export interface Held {
  content: Content;
  /** Includes the cost of delivery and payment. */
  hasServices: boolean;
  sign: 1 | -1;
}

const DIGITS = 10;

/** A quantity in a unit so small that all quantities are whole. */
export function unitsOf(quantity: string): bigint {
  const { units, scale } = parseDecimal(quantity)!;
  return units * 10n ** BigInt(DIGITS - scale);
}

export function quantityOf(units: bigint): string {
  const digits = units.toString().padStart(DIGITS + 1, '0');
  return `${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`.replace(/\.?0+$/, '');
}

/** Units by line. */
export function unitsByLine(lines: readonly PartLine[]): Map<string, bigint> {
  const units = new Map<string, bigint>();
  for (const { lineItemId, quantity } of lines) {
    units.set(lineItemId, (units.get(lineItemId) ?? 0n) + unitsOf(quantity));
  }
  return units;
}

export function unitsHeld(held: readonly Held[]): Map<string, bigint> {
  const units = new Map<string, bigint>();
  for (const { content, sign } of held) {
    for (const [lineItemId, some] of unitsByLine(content.lines)) {
      units.set(lineItemId, (units.get(lineItemId) ?? 0n) + BigInt(sign) * some);
    }
  }
  return units;
}

export function servicesHeld(held: readonly Held[]): boolean {
  return sum(held.map(({ hasServices, sign }) => (hasServices ? sign : 0))) > 0;
}

/**
 * The content of these lines. It is the total of everything up to and including them, less the total of earlier
 * documents, so the parts of a whole always sum to it, to the cent, however it is split and whatever was credited in
 * between. `services`: includes the cost of delivery and payment. All parts share a discount for the payment, so none
 * of them falls below zero.
 */
export function partOf(
  content: Content,
  lines: readonly PartLine[],
  held: readonly Held[],
  { services }: { services: boolean },
): Content {
  const taken = unitsByLine(lines);
  const reached = unitsHeld(held);
  for (const [lineItemId, units] of taken) reached.set(lineItemId, (reached.get(lineItemId) ?? 0n) + units);
  const end = sumsUpTo(content, reached, servicesHeld(held) || services);
  const start = sumsHeld(held, content, end);
  const ofPart = content.lines.flatMap((line, index): ContentLine[] => {
    const units = taken.get(line.lineItemId) ?? 0n;
    if (units === 0n) return [];
    return [{ ...line, quantity: quantityOf(units), ...difference(end.lines[index]!, start.lines[index]!) }];
  });
  const taxes = end.taxes
    .map(({ rate, treatment, amount, tax }, index) => ({
      rate,
      ...(treatment && { treatment }),
      amount: amount - start.taxes[index]!.amount,
      tax: tax - start.taxes[index]!.tax,
    }))
    .filter(
      (taxed) =>
        taxed.amount !== 0 || taxed.tax !== 0 || ofPart.some(({ taxClass }) => isTaxedAlike(taxClass, taxed)),
    );
  const payment = end.payment - start.payment;
  const totalTax = sum(taxes.map(({ tax }) => tax));
  const total = sum(taxes.map(({ amount }) => amount));
  const isGross = content.taxType === 'GROSS';
  const { promotions, ...whole } = content;
  const basketDiscount = 0 - sum(ofPart.map(({ discountShare }) => discountShare));
  return {
    ...whole,
    lines: ofPart,
    subTotal: sum(ofPart.map(({ amount }) => amount)),
    basketDiscount,
    coupon: content.coupon && {
      ...content.coupon,
      amount: 0 - sum(ofPart.map(({ couponShare }) => couponShare)),
    },
    shippingPrice: services ? content.shippingPrice : 0,
    shipping: services ? content.shipping : null,
    payment: content.payment && {
      ...content.payment,
      price: payment,
      taxes: payment === content.payment.price ? content.payment.taxes : [],
    },
    taxes,
    totalTax,
    totalBeforeTax: isGross ? total - totalTax : total,
    grandTotal: isGross ? total : total + totalTax,
    // Promotions are for the goods of the whole order: a part that bears another discount names it as a whole.
    ...(promotions && basketDiscount === content.basketDiscount && { promotions }),
  };
}

/** The grand total of these units, as their documents come to it together. */
export function totalUpTo(
  content: Content,
  units: ReadonlyMap<string, bigint>,
  { services }: { services: boolean },
): number {
  const { taxes } = sumsUpTo(content, units, services);
  const total = sum(taxes.map(({ amount }) => amount));
  return content.taxType === 'GROSS' ? total : total + sum(taxes.map(({ tax }) => tax));
}

type LineShare = Pick<
  ContentLine,
  'amount' | 'deposit' | 'ecoParticipation' | 'discountShare' | 'couponShare'
>;

interface Sums {
  lines: LineShare[];
  taxes: { rate: number; treatment: TaxTreatment | undefined; amount: number; tax: number }[];
  payment: number;
}

interface TaxKey {
  rate: number;
  treatment?: TaxTreatment | undefined;
}

const isTaxedAlike = (one: TaxKey, other: TaxKey) =>
  one.rate === other.rate && one.treatment === other.treatment;

/** The sums of these documents, by line, rate and treatment as in `end`. */
function sumsHeld(held: readonly Held[], { lines }: Content, end: Sums): Sums {
  const total = (amountOf: (content: Content) => number) =>
    sum(held.map(({ content, sign }) => sign * amountOf(content)));
  const ofLine = (lineItemId: string, key: keyof LineShare) =>
    total((content) => content.lines.find((line) => line.lineItemId === lineItemId)?.[key] ?? 0);
  const taxedAs = (taxed: TaxKey, key: 'amount' | 'tax') =>
    total((content) => content.taxes.find((one) => isTaxedAlike(one, taxed))?.[key] ?? 0);
  return {
    lines: lines.map(({ lineItemId }) => ({
      amount: ofLine(lineItemId, 'amount'),
      deposit: ofLine(lineItemId, 'deposit'),
      ecoParticipation: ofLine(lineItemId, 'ecoParticipation'),
      discountShare: ofLine(lineItemId, 'discountShare'),
      couponShare: ofLine(lineItemId, 'couponShare'),
    })),
    taxes: end.taxes.map(({ rate, treatment }) => ({
      rate,
      treatment,
      amount: taxedAs({ rate, treatment }, 'amount'),
      tax: taxedAs({ rate, treatment }, 'tax'),
    })),
    payment: total((content) => content.payment?.price ?? 0),
  };
}

function sumsUpTo(content: Content, units: ReadonlyMap<string, bigint>, hasServices: boolean): Sums {
  const lines = content.lines.map((line) => lineShare(line, units.get(line.lineItemId) ?? 0n));
  const wholes = content.lines.map((line) => lineShare(line, unitsOf(line.quantity)));
  const surcharge = Math.max(content.payment?.price ?? 0, 0);
  const services = serviceParts(content);
  const amountAt = (taxed: TaxKey, shares: readonly LineShare[], withServices: boolean) => {
    const ofLines = shares.filter((_, index) => isTaxedAlike(content.lines[index]!.taxClass, taxed));
    const ofServices = withServices ? services.filter(({ taxClass }) => isTaxedAlike(taxClass, taxed)) : [];
    return sum(ofLines.map(valueOf)) + sum(ofServices.map(({ shipping, payment }) => shipping + payment));
  };

  const groups = groupByTax(
    [...services, ...content.lines].map(({ taxClass: { rate, treatment } }) => ({
      taxRate: rate,
      treatment,
      amount: 0,
    })),
  );
  let payment = hasServices ? surcharge : 0;
  const taxes = groups.map(({ taxRate: rate, treatment }) => {
    const taxed = { rate, treatment };
    const whole = amountAt(taxed, wholes, true);
    const known = content.taxes.find((one) => isTaxedAlike(one, taxed)) ?? { amount: 0, tax: 0 };
    const reached = amountAt(taxed, lines, hasServices);
    // The difference of the whole at this rate is its share of a discount for the payment.
    const discount = whole === 0 ? 0 : shareOf(whole - known.amount, BigInt(reached), BigInt(whole));
    payment -= discount;
    const amount = reached - discount;
    // The tax of a partial part may be a cent off: the last one evens it out.
    const correction = amount === known.amount ? known.tax - taxOn(amount, rate, content.taxType) : 0;
    return { rate, treatment, amount, tax: taxOn(amount, rate, content.taxType) + correction };
  });
  return { lines, taxes, payment };
}

/** The rest of a line after its discounts never falls as its quantity grows, so no part is negative. */
function lineShare(line: ContentLine, units: bigint): LineShare {
  const whole = unitsOf(line.quantity);
  // Most lines are taken as a whole or not at all, which needs no division.
  const share = (minor: number) =>
    units === 0n ? 0 : units === whole ? minor : shareOf(minor, units, whole);
  const amount = share(line.amount);
  const discounted = share(line.amount - line.discountShare);
  const left = share(line.amount - line.discountShare - line.couponShare);
  return {
    amount,
    deposit: share(line.deposit),
    ecoParticipation: share(line.ecoParticipation),
    discountShare: amount - discounted,
    couponShare: discounted - left,
  };
}

const valueOf = (share: LineShare) =>
  share.amount - share.discountShare - share.couponShare + share.deposit + share.ecoParticipation;

function shareOf(minor: number, part: bigint, whole: bigint): number {
  return Number(divideRounded(BigInt(minor) * part, whole));
}

function difference<Amounts extends Record<keyof Amounts, number>>(end: Amounts, start: Amounts): Amounts {
  return Object.fromEntries(
    Object.entries<number>(end).map(([key, value]) => [key, value - start[key as keyof Amounts]]),
  ) as Amounts;
}

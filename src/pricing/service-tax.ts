import { divideRounded } from '../kernel/money.ts';
import type { TaxType } from '../http/price.ts';
import type { TaxClass } from '../shops/settings/settings.ts';
import type { ShopRules } from './input.ts';
import { groupByTax, sum, type TaxedPart } from './shares.ts';
import {
  priceType,
  taxOn,
  toShopPrice,
  toShownPrice,
  type AppliedTax,
  type Model,
  type Rates,
} from './tax.ts';
import type { TaxTreatment } from '../shops/taxes/treatments.ts';

/**
 * The tax of delivery and payment costs. They belong to what is sold, so depending on the shop they are taxed at the
 * standard rate, at the rates of the lines in proportion to their amounts, or at the highest of these rates. The
 * delivery belongs to the goods that are delivered, the payment to everything.
 */

/** The tax of one amount by itself: information only, because the total is rounded once per rate over everything. */
export interface ServiceTax {
  taxClass: TaxClass;
  rate: number;
  treatment: TaxTreatment | undefined;
  /** The part of the price that is taxed so. */
  amount: number;
  tax: number;
}

export interface ServiceTaxing {
  /** The tax of all the costs, unless they are shared. */
  tax: AppliedTax;
  /** A price of the shop, as the cart shows it. */
  toShown: (minor: number) => number;
  /** A price that the cart shows, in the tax model of the shop. */
  toShop: (minor: number) => number;
  /** The parts of a price that the cart shows, with their taxes. */
  split: (price: number) => ServiceTax[];
}

type TaxedLine = AppliedTax & { shopAmount: number };

/**
 * The lines that the delivery belongs to. A download or a service in the same cart is not delivered, so it has no share
 * in the costs. Without any goods, all lines have.
 */
export function deliveredLines<Line>(
  lines: readonly Line[],
  isGoods: (line: Line) => boolean,
): readonly Line[] {
  const goods = lines.filter(isGoods);
  return goods.length > 0 ? goods : lines;
}

export const isGoodsClass = ({ digital, supply }: Pick<TaxClass, 'digital' | 'supply'>) =>
  !digital && supply === 'goods';

export function serviceTaxing(
  lines: readonly TaxedLine[],
  standard: AppliedTax,
  taxType: TaxType,
  shop: Pick<ShopRules, 'deliveryTax' | 'taxModel'>,
): ServiceTaxing {
  // Goods that cost nothing have no proportion.
  const paid = shop.deliveryTax === 'shares' ? lines.filter(({ shopAmount }) => shopAmount > 0) : [];
  if (paid.length > 0) {
    const { weights, shown, ofShop } = exactWeights(paid, shop.taxModel, taxType);
    const groups = groupByTax(paid.map(({ taxRate, treatment }) => ({ taxRate, treatment, amount: 0 })));
    const isIn = (group: TaxedPart, line: TaxedLine) =>
      line.taxRate === group.taxRate && line.treatment === group.treatment;
    const parts = groups.map((group) => ({
      taxClass: paid.filter((line) => isIn(group, line)).toSorted(byClassId)[0]!.taxClass,
      rate: group.taxRate,
      treatment: group.treatment,
      weight: sumExact(weights.filter((_, index) => isIn(group, paid[index]!))),
    }));
    const shares = parts.map(({ weight }) => weight);
    return {
      tax: standard,
      toShown: (minor) => Number(divideRounded(BigInt(minor) * shown, ofShop)),
      toShop: (minor) => Number(divideRounded(BigInt(minor) * ofShop, shown)),
      split: (price) => {
        const amounts = allocateExact(price, shares);
        return parts.map(({ taxClass, rate, treatment }, index) => ({
          taxClass,
          rate,
          treatment,
          amount: amounts[index]!,
          tax: taxOn(amounts[index]!, rate, taxType),
        }));
      },
    };
  }
  return oneTax(shop.deliveryTax === 'highest' ? highestTax(lines, standard) : standard, taxType, shop);
}

/** All of the costs have this tax. */
export function oneTax(tax: AppliedTax, taxType: TaxType, shop: Pick<ShopRules, 'taxModel'>): ServiceTaxing {
  const { taxClass, taxRate, treatment } = tax;
  return {
    tax,
    toShown: (minor) => toShownPrice(minor, tax, shop.taxModel, taxType),
    toShop: (minor) => toShopPrice(minor, tax, taxType, shop.taxModel),
    split: (price) => [
      { taxClass, rate: taxRate, treatment, amount: price, tax: taxOn(price, taxRate, taxType) },
    ],
  };
}

/**
 * The amounts of lines as a cart shows them, without any rounding, and their sum beside that of the shop's amounts in
 * the same unit. Cheap goods with a dear delivery would magnify the rounding of their amounts.
 */
export function exactWeights(
  lines: readonly (Rates & { shopAmount: number })[],
  model: Model,
  taxType: TaxType,
): { weights: bigint[]; shown: bigint; ofShop: bigint } {
  const factors = lines.map((line) => {
    const type = priceType(line, taxType);
    if (model === type || type === 'NONE') return { over: 1, under: 1 };
    const withTax = 10_000 + line.priceRate;
    return model === 'GROSS' ? { over: 10_000, under: withTax } : { over: withTax, under: 10_000 };
  });
  const unit = [...new Set(factors.map(({ under }) => under))].reduce(
    (product, under) => product * BigInt(under),
    1n,
  );
  const weights = lines.map(({ shopAmount }, index) => {
    const { over, under } = factors[index]!;
    return BigInt(shopAmount) * BigInt(over) * (unit / BigInt(under));
  });
  const ofShop = BigInt(sum(lines.map(({ shopAmount }) => shopAmount))) * unit;
  return { weights, shown: sumExact(weights), ofShop };
}

const sumExact = (weights: readonly bigint[]) => weights.reduce((total, weight) => total + weight, 0n);

/** As `allocate`, the odd units to the largest remainders, with weights of any size. */
function allocateExact(amount: number, weights: readonly bigint[]): number[] {
  const total = sumExact(weights);
  const shares = weights.map((weight) => {
    const product = BigInt(amount) * weight;
    return { quotient: Number(product / total), remainder: product % total };
  });
  let rest = amount - sum(shares.map(({ quotient }) => quotient));
  for (const share of shares.toSorted((left, right) =>
    left.remainder < right.remainder ? 1 : left.remainder > right.remainder ? -1 : 0,
  )) {
    if (rest === 0) break;
    share.quotient += 1;
    rest -= 1;
  }
  return shares.map(({ quotient }) => quotient);
}

/** Of several classes that are taxed alike, the one with the first id names the tax, whatever the order of the lines. */
const byClassId = (left: AppliedTax, right: AppliedTax) =>
  left.taxClass.taxClassId < right.taxClass.taxClassId ? -1 : 1;

/** By the rate in the shop's prices, so that a business abroad pays the same net price as one at home. */
function highestTax(lines: readonly TaxedLine[], standard: AppliedTax): AppliedTax {
  const [highest] = lines.toSorted(
    (left, right) =>
      right.priceRate - left.priceRate || right.taxRate - left.taxRate || byClassId(left, right),
  );
  if (!highest) return standard;
  const { taxClass, taxRate, priceRate, treatment } = highest;
  return { taxClass, taxRate, priceRate, treatment };
}

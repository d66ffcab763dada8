import { FileProblem } from '../../catalogue/products/file-problem.ts';
import type { CouponRecord, SourcePlace, Read } from '../records.ts';
import type { TableRow } from '../table.ts';
import { decimalIn } from '../values.ts';
import { rowsIn, type ShopwareFiles } from './names.ts';

/** Codes are in memory until their promotion is complete. */
const MAX_CODES = 500_000;

interface Discount {
  scope: string;
  type: string;
  value: string;
  hasRules: boolean;
}

interface Promotion {
  place: SourcePlace;
  name: string;
  codes: string[];
  used: number;
  /** The file says which of its codes are used. */
  knowsUses: boolean;
}

/** The codes of promotions, each of which can be used once, with what their promotions take off. */
export async function* shopwareCoupons(files: ShopwareFiles): AsyncGenerator<Read<CouponRecord>> {
  const discounts = new Map<string, Discount[]>();
  for await (const { row } of rowsIn(files.discounts)) {
    const id = row.cell('promotion_id');
    discounts.set(id, [...(discounts.get(id) ?? []), discountOf(row)]);
  }
  const promotions = new Map<string, Promotion>();
  let count = 0;
  for await (const { row, place } of rowsIn(files.codes)) {
    const [id, code] = [row.cell('promotion_id'), row.cell('code')];
    if (id === '' || code === '') {
      yield { kind: 'problem', of: 'coupon', place, text: 'lacks a code or its promotion' };
      continue;
    }
    if (++count > MAX_CODES) throw new FileProblem(`The export has more than ${MAX_CODES} codes`);
    const promotion = promotions.get(id) ?? {
      place,
      name: row.cell('promotion_name'),
      codes: [],
      used: 0,
      knowsUses: row.has('payload'),
    };
    // The order that has used a code is written into it.
    if (row.cell('payload') === '') promotion.codes.push(code);
    else promotion.used++;
    promotions.set(id, promotion);
  }
  for (const [id, promotion] of promotions) {
    const { place } = promotion;
    const text = problemOf(promotion, discounts.get(id) ?? []);
    if (text === undefined) yield toCoupon(id, promotion, discounts.get(id)!);
    else yield { kind: 'problem', of: 'coupon', place, text };
  }
}

const discountOf = (row: TableRow): Discount => ({
  scope: row.cell('scope'),
  type: row.cell('type'),
  value: decimalIn(row.cell('value')),
  hasRules:
    row.cell('consider_advanced_rules') === '1' ||
    row.cell('discount_rules') !== '' ||
    Number(decimalIn(row.cell('max_value'))) > 0,
});

const isShippingFree = ({ scope, type, value }: Discount) =>
  scope === 'delivery' && type === 'percentage' && Number(value) === 100;

/** Without its conditions a promotion would be worth more than was promised, so it is refused. */
function problemOf({ name, codes }: Promotion, discounts: readonly Discount[]): string | undefined {
  const what = `the promotion ${name}`.trim();
  const reductions = discounts.filter((one) => !isShippingFree(one));
  if (codes.length === 0) return `${what} has no code that is left`;
  if (discounts.length === 0) return `${what} has no discount in the export`;
  if (discounts.some(({ hasRules }) => hasRules)) return `${what} has conditions, which no coupon has here`;
  if (reductions.length > 1) return `${what} has several discounts`;
  const [reduction] = reductions;
  if (reduction && (reduction.scope !== 'cart' || !['percentage', 'absolute'].includes(reduction.type)))
    return `${what} takes off ${reduction.type} from ${reduction.scope}, which no coupon does here`;
  return undefined;
}

function toCoupon(id: string, promotion: Promotion, discounts: readonly Discount[]): CouponRecord {
  const { codes, name, place, knowsUses } = promotion;
  const reduction = discounts.find((one) => !isShippingFree(one));
  return {
    kind: 'coupon',
    sourceId: id,
    place,
    formerAddresses: [],
    codes,
    name: name || codes[0]!,
    type: reduction ? (reduction.type === 'percentage' ? 'PERCENT' : 'FIX') : 'SHIPPING',
    amount: reduction?.value ?? '',
    currency: '',
    isShippingFree: discounts.some(isShippingFree),
    minimum: '',
    usesPerCode: '1',
    uses: '',
    validFrom: undefined,
    validTo: undefined,
    products: undefined,
    remarks: [
      'its dates are not in the export',
      ...(knowsUses
        ? []
        : ['the export does not say which of its codes are used, so all of them count again']),
    ],
  };
}

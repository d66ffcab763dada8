import type { ProductFile } from '../../catalogue/products/csv-file.ts';
import type { CouponRecord, Read } from '../records.ts';
import { tableRows, type TableRow } from '../table.ts';
import { decimalIn, isYes, momentIn } from '../values.ts';

/** The discounts of an export. What they are limited to is not always in it, and such ones are refused. */
export async function* shopifyCoupons(file: ProductFile): AsyncGenerator<Read<CouponRecord>> {
  for await (const row of tableRows(file)) {
    const place = { file: file.name, line: row.line };
    const problem = couponProblem(row);
    if (problem === undefined) yield toCoupon(row, place);
    else yield { kind: 'problem', of: 'coupon', place, text: problem };
  }
}

const valueTypeOf = (row: TableRow) =>
  row
    .cell('Value Type')
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
const isShipping = (row: TableRow) =>
  /shipping/i.test(`${row.cell('Discount Class')} ${row.cell('Type')} ${row.cell('Value Type')}`);

function couponProblem(row: TableRow): string | undefined {
  const code = row.cell('Name', 'Code');
  if (code === '') return 'has no code';
  if (/^(?:expired|disabled)$/i.test(row.cell('Status'))) return `${code} has ended`;
  const type = row.cell('Type');
  if (/buy|bxgy|automatic/i.test(`${type} ${row.cell('Method')}`))
    return `${code} is of the type ${type}, which this shop does not have`;
  if (!isShipping(row) && !['percentage', 'fixed_amount'].includes(valueTypeOf(row)))
    return `${code} is of the type ${valueTypeOf(row)}, which this shop does not have`;
  if (/^product/i.test(row.cell('Discount Class')))
    return `${code} holds for some products only, and the file does not say for which`;
  const buyers = row.cell('Customer Selection', 'Customer Eligibility');
  if (buyers !== '' && !/^(?:all|everyone)/i.test(buyers)) return `${code} is for some customers only`;
  const minimum = minimumOf(row);
  if (minimum !== '' && decimalIn(minimum) === '') return `${code} has the condition ${minimum}`;
  if (usesLeft(row) === 0) return `${code} is used up`;
  return undefined;
}

const minimumOf = (row: TableRow) => {
  const text = row.cell('Minimum Purchase Requirements', 'Minimum Requirement', 'Minimum Purchase Amount');
  return /^(?:none|no minimum.*)$/i.test(text) ? '' : text;
};

function usesLeft(row: TableRow): number | undefined {
  const limit = Number(decimalIn(row.cell('Usage Limit Per Code')));
  const used = Number(decimalIn(row.cell('Times Used In Total')));
  return limit > 0 ? Math.max(0, limit - used) : undefined;
}

function toCoupon(row: TableRow, place: CouponRecord['place']): CouponRecord {
  const code = row.cell('Name', 'Code');
  const left = usesLeft(row);
  return {
    kind: 'coupon',
    sourceId: code.toLowerCase().slice(0, 300),
    place,
    formerAddresses: [],
    codes: [code],
    name: code,
    type: isShipping(row) ? 'SHIPPING' : valueTypeOf(row) === 'percentage' ? 'PERCENT' : 'FIX',
    // Values are negative, as they are taken off.
    amount: isShipping(row) ? '' : decimalIn(row.cell('Value')).replace(/^-/, ''),
    currency: '',
    isShippingFree: isShipping(row),
    minimum: decimalIn(minimumOf(row)),
    usesPerCode: left === undefined ? '' : String(left),
    uses: '',
    validFrom: momentIn(row.cell('Start')),
    validTo: momentIn(row.cell('End')),
    products: undefined,
    remarks: isYes(row.cell('Applies Once Per Customer'))
      ? ['its limit of once per customer is left out']
      : [],
  };
}

import type { ProductFile } from '../../catalogue/products/csv-file.ts';
import { readJson } from '../../kernel/json-file.ts';
import { decimal, importedTaxes } from '../order-taxes.ts';
import type { OrderLineRecord, OrderRecord, Read } from '../records.ts';
import type { SourceFile } from '../source-files.ts';
import { groupedRows, tableRows, type TableRow } from '../table.ts';
import { decimalIn, momentIn } from '../values.ts';
import { wooCommerceText } from './cells.ts';
import type columnTitles from './order-columns.json';
import { wooCommerceAddress } from './people.ts';

/** The columns of the extensions that export orders, which WooCommerce itself does not. */
const TITLES = readJson(new URL('./order-columns.json', import.meta.url)) as typeof columnTitles;
type Column = keyof typeof TITLES;

const cellOf = (row: TableRow, column: Column): string => row.cell(...TITLES[column]);
const amountOf = (row: TableRow, column: Column): number => Number(decimalIn(cellOf(row, column)));
const has = ({ columns }: SourceFile, column: Column) =>
  TITLES[column].some((title) => columns.has(title.toLowerCase()));

export const isOrderTable = (file: SourceFile): boolean => has(file, 'number') && has(file, 'total');

/** Columns `line_item_1`, `line_item_2` and so on, or rows of one order. */
const MAX_LINES = 1_000;

/** A row for each order with its lines in some cells, or a row for each line. */
export async function* wooCommerceOrders(
  file: ProductFile,
  currency: string,
): AsyncGenerator<Read<OrderRecord>> {
  const keyOf = (row: TableRow) => cellOf(row, 'id') || cellOf(row, 'number');
  for await (const rows of groupedRows(tableRows(file), keyOf, MAX_LINES)) {
    const first = rows[0]!;
    const place = { file: file.name, line: first.line };
    const number = cellOf(first, 'number').replace(/^#/, '');
    const createdAt = momentIn(cellOf(first, 'date'));
    const total = decimalIn(cellOf(first, 'total'));
    const problem = (text: string) => ({ kind: 'problem', of: 'order', place, text }) as const;
    const missing = [number === '' && 'a number', !createdAt && 'a date', total === '' && 'a total'].filter(
      (one) => one !== false,
    );
    const status = statusOf(first);
    if (rows.length > MAX_LINES) yield problem(`has more than ${MAX_LINES} rows`);
    else if (missing.length > 0 || !createdAt) yield problem(`lacks ${missing.join(', ')}`);
    else if (NO_ORDER.has(status)) yield problem(`has the status ${status}, so it is no order`);
    else yield toOrder(rows, { place, number, createdAt, total, currency });
  }
}

const NO_ORDER = new Set(['trash', 'auto-draft', 'checkout-draft', 'draft']);
const PAID = new Set(['processing', 'completed', 'refunded']);
const statusOf = (row: TableRow) => cellOf(row, 'status').toLowerCase().replace(/^wc-/, '');

/** A line as it was charged, without tax. */
interface Item {
  number: string;
  name: string;
  quantity: number;
  /** Before discounts. */
  subtotal: number;
  total: number;
  /** undefined: the file does not say. */
  tax: number | undefined;
}

function toOrder(
  rows: readonly TableRow[],
  {
    place,
    number,
    createdAt,
    total,
    currency,
  }: Pick<OrderRecord, 'place' | 'number' | 'createdAt' | 'total' | 'currency'>,
): OrderRecord {
  const first = rows[0]!;
  const items = itemsOf(rows);
  const tax = amountOf(first, 'tax');
  // Without the tax of each line, the lines stay net as the file has them.
  const isTaxIncluded = tax === 0 || items.some((item) => item.tax !== undefined);
  const taxOf = (amount: number) => (isTaxIncluded ? amount : 0);
  const fees = amountOf(first, 'fees') + taxOf(amountOf(first, 'feesTax'));
  const lines = items.map((item) => toLine(item, isTaxIncluded));
  if (fees !== 0) lines.push(feeOf(fees));
  const priced = lines.map(({ line, price }) => ({ price, rate: Number(line.taxRate || 0) }));
  const status = statusOf(first);
  const refunds = amountOf(first, 'refunded') || refundsIn(cellOf(first, 'refundItems'));
  const refunded = status === 'refunded' && refunds === 0 ? total : decimal(refunds);
  const isPaid = PAID.has(status);
  const billing = wooCommerceAddress(first, 'billing');
  const shippingAddress = wooCommerceAddress(first, 'shipping');
  return {
    kind: 'order',
    sourceId: cellOf(first, 'id') || number,
    place,
    formerAddresses: [],
    number,
    createdAt,
    currency: cellOf(first, 'currency').toUpperCase() || currency,
    isTaxIncluded,
    lines: lines.map(({ line }) => line),
    discount: '0',
    shipping: {
      name: wooCommerceText(cellOf(first, 'shippingMethod') || namedIn(cellOf(first, 'shippingItems'))),
      price: decimal(amountOf(first, 'shipping') + taxOf(amountOf(first, 'shippingTax'))),
    },
    payment: { name: wooCommerceText(cellOf(first, 'paymentMethod')), price: '0' },
    taxes: importedTaxes(priced, tax, isTaxIncluded),
    total,
    paidAmount: isPaid ? total : '0',
    refundedAmount: refunded,
    paidAt: isPaid ? (momentIn(cellOf(first, 'paidAt')) ?? createdAt) : undefined,
    dispatchedAt: status === 'completed' ? (momentIn(cellOf(first, 'completedAt')) ?? createdAt) : undefined,
    cancelledAt: status === 'cancelled' || status === 'failed' ? createdAt : undefined,
    billingAddress: { ...billing, emailAddress: cellOf(first, 'email') || null },
    shippingAddress:
      !shippingAddress.lastName || isSame(billing, shippingAddress) ? undefined : shippingAddress,
    comment: cellOf(first, 'comment'),
    note: '',
  };
}

/** The phone number of an address belongs to the customer, and may be in one of them only. */
const isSame = ({ phoneNumber: _one, ...address }: object & { phoneNumber?: unknown }, other: object) =>
  JSON.stringify(address) === JSON.stringify({ ...other, phoneNumber: undefined });

interface PricedLine {
  line: OrderLineRecord;
  /** The amount charged for it, with tax where the order includes it. */
  price: number;
}

function toLine(item: Item, isTaxIncluded: boolean): PricedLine {
  const { number, name, quantity, subtotal, total, tax = 0 } = item;
  const share = total === 0 ? 0 : tax / total;
  const factor = isTaxIncluded ? 1 + share : 1;
  const price = Math.round((isTaxIncluded ? total + tax : total) * 100) / 100;
  const unit = Math.round(((subtotal * factor) / quantity) * 100) / 100;
  return {
    line: {
      number,
      name,
      quantity: String(quantity),
      unitPrice: decimal(unit),
      discount: decimal(unit * quantity - price),
      taxRate: tax === 0 ? '' : rateIn(share),
    },
    price,
  };
}

const feeOf = (price: number): PricedLine => ({
  line: {
    number: '',
    name: 'Fee',
    quantity: '1',
    unitPrice: decimal(price),
    discount: '0',
    taxRate: '',
  },
  price,
});

/** Taxes are rounded to cents, so a rate that is computed from them is one of whole or half percents. */
const rateIn = (share: number): string => String(Math.round(share * 200) / 2);

function itemsOf(rows: readonly TableRow[]): Item[] {
  const first = rows[0]!;
  const cells: string[] = [];
  for (let count = 1; count <= MAX_LINES && first.has(`line_item_${count}`); count++) {
    cells.push(first.cell(`line_item_${count}`));
  }
  const listed = cellOf(first, 'lineItems');
  const parts = listed.startsWith('[') ? jsonItems(listed) : listed.split(';');
  const written = [...cells, ...parts].filter((cell) => cell !== '');
  if (written.length > 0) return written.map(itemIn);
  return rows
    .filter((row) => cellOf(row, 'itemName') !== '')
    .map((row) => {
      const quantity = positive(cellOf(row, 'itemQuantity'));
      const price = decimalIn(cellOf(row, 'itemPrice'));
      const total = decimalIn(cellOf(row, 'itemTotal')) || decimal(Number(price) * quantity);
      const tax = decimalIn(cellOf(row, 'itemTax'));
      return {
        number: cellOf(row, 'itemNumber'),
        name: wooCommerceText(cellOf(row, 'itemName')),
        quantity,
        subtotal: Number(decimalIn(cellOf(row, 'itemSubtotal')) || total),
        total: Number(total),
        tax: tax === '' ? undefined : Number(tax),
      };
    });
}

const positive = (text: string): number => {
  const number = Number(decimalIn(text));
  return number > 0 ? number : 1;
};

/** Some extensions write the lines as JSON: each of them becomes what the others write. */
function jsonItems(text: string): string[] {
  try {
    const items = JSON.parse(text) as Record<string, unknown>[];
    return items.map((item) =>
      Object.entries(item)
        .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
        .map(([key, value]) => `${key}:${String(value).replaceAll('|', ' ')}`)
        .join('|'),
    );
  } catch {
    // Text that is no JSON is read as the other way to write lines.
    return text.split(';');
  }
}

/** `name:Deck chair|sku:DECK-B|quantity:2|total:100.00|sub_total:110.00|tax:19.00` */
function itemIn(cell: string): Item {
  const fields = fieldsIn(cell);
  const field = (...names: string[]) => names.map((name) => fields.get(name)).find((value) => value) ?? '';
  const quantity = positive(field('quantity', 'qty'));
  const total = decimalIn(field('total')) || '0';
  const tax = decimalIn(field('tax', 'total_tax'));
  return {
    number: field('sku'),
    name: wooCommerceText(field('name')),
    quantity,
    subtotal: Number(decimalIn(field('sub_total', 'subtotal')) || total),
    total: Number(total),
    // A line without tax has no such field in some files.
    tax: Number(tax || 0),
  };
}

const fieldsIn = (cell: string): Map<string, string> =>
  new Map(
    cell.split('|').flatMap((part) => {
      const colon = part.indexOf(':');
      return colon === -1 ? [] : [[part.slice(0, colon).trim(), part.slice(colon + 1).trim()] as const];
    }),
  );

/** `amount:9.50|reason:Broken|date:2025-11-02 08:00:00;amount:…` */
const refundsIn = (cell: string): number =>
  cell.split(';').reduce((sum, part) => sum + Number(decimalIn(fieldsIn(part).get('amount') ?? '')), 0);

const namedIn = (cell: string): string => {
  const fields = fieldsIn(cell.split(';')[0] ?? '');
  return fields.get('method_title') ?? fields.get('name') ?? '';
};

import type { ProductFile } from '../../catalogue/products/csv-file.ts';
import type { Address } from '../../shops/countries/address.ts';
import type { CustomerRecord, OrderLineRecord, OrderRecord, Read, RedirectRecord } from '../records.ts';
import { groupedRows, tableRows, type TableRow } from '../table.ts';
import { decimalIn, isYes, listIn, momentIn, namesIn } from '../values.ts';

/** Shopify puts an apostrophe before postcodes and numbers, for spreadsheets. */
const plain = (text: string) => text.replace(/^'/, '') || null;

/** The customers of an export. It does not say since when somebody accepts emails. */
export async function* shopifyCustomers(file: ProductFile): AsyncGenerator<Read<CustomerRecord>> {
  for await (const row of tableRows(file)) {
    const place = { file: file.name, line: row.line };
    const email = row.cell('Email');
    const sourceId = row.cell('Customer ID').replace(/^'/, '') || email.toLowerCase();
    if (sourceId === '') {
      yield { kind: 'problem', of: 'customer', place, text: 'has neither an id nor an email address' };
      continue;
    }
    const part = (...names: string[]) =>
      plain(row.cell(...names.flatMap((name) => [`Default Address ${name}`, name])));
    yield {
      kind: 'customer',
      sourceId,
      place,
      formerAddresses: [],
      number: '',
      createdAt: undefined,
      address: {
        firstName: plain(row.cell('First Name')),
        lastName: plain(row.cell('Last Name')),
        emailAddress: email || null,
        company: part('Company'),
        street: part('Address1'),
        streetDetails: part('Address2'),
        city: part('City'),
        state: part('Province Code'),
        country: part('Country Code'),
        zipCode: part('Zip'),
        phoneNumber: part('Phone'),
      },
      tags: listIn(row.cell('Tags')),
      group: '',
      note: row.cell('Note'),
      newsletter: isYes(row.cell('Accepts Email Marketing', 'Accepts Marketing'))
        ? { since: undefined }
        : undefined,
    };
  }
}

/** Rows of one order: no order has more lines. */
const MAX_ROWS = 1_000;

/** The orders of an export: a row for each line of an order, of which the first has what is about the whole order. */
export async function* shopifyOrders(file: ProductFile): AsyncGenerator<Read<OrderRecord>> {
  for await (const rows of groupedRows(tableRows(file), (row) => row.cell('Name'), MAX_ROWS)) {
    const first = rows[0]!;
    const place = { file: file.name, line: first.line };
    if (rows.length > MAX_ROWS) {
      yield { kind: 'problem', of: 'order', place, text: `has more than ${MAX_ROWS} rows` };
      continue;
    }
    const createdAt = momentIn(first.cell('Created at'));
    const total = decimalIn(first.cell('Total'));
    const number = first.cell('Name').replace(/^#/, '');
    const missing = [number === '' && 'a number', !createdAt && 'a date', total === '' && 'a total'].filter(
      (one) => one !== false,
    );
    if (missing.length > 0 || !createdAt) {
      yield { kind: 'problem', of: 'order', place, text: `lacks ${missing.join(', ')}` };
      continue;
    }
    yield toOrder(rows, { place, createdAt, total, number });
  }
}

function toOrder(
  rows: readonly TableRow[],
  { place, createdAt, total, number }: Pick<OrderRecord, 'place' | 'createdAt' | 'total' | 'number'>,
): OrderRecord {
  const first = rows[0]!;
  const amount = (...names: string[]) => decimalIn(first.cell(...names)) || '0';
  const lines = rows.filter((row) => row.cell('Lineitem name') !== '').map(toLine);
  const [subTotal, shipping, taxes] = [amount('Subtotal'), amount('Shipping'), amount('Taxes')];
  const lineDiscounts = lines.reduce((sum, { discount }) => sum + Number(discount), 0);
  const beyondLines = Math.max(0, Number(amount('Discount Amount')) - lineDiscounts);
  const refunded = amount('Refunded Amount');
  const paidAt = momentIn(first.cell('Paid at'));
  const status = first.cell('Financial Status').toLowerCase();
  const isPaid = ['paid', 'partially_refunded', 'refunded'].includes(status);
  const billing = addressOf(first, 'Billing');
  const shippingAddress = addressOf(first, 'Shipping');
  return {
    kind: 'order',
    sourceId: first.cell('Id') || first.cell('Name'),
    place,
    formerAddresses: [],
    number,
    createdAt,
    currency: first.cell('Currency').toUpperCase(),
    isTaxIncluded:
      Math.abs(Number(subTotal) + Number(shipping) - Number(total)) < 0.011 || Number(taxes) === 0,
    lines,
    discount: beyondLines.toFixed(2),
    shipping: { name: first.cell('Shipping Method'), price: shipping },
    payment: { name: first.cell('Payment Method'), price: '0' },
    taxes: taxesOf(first, taxes),
    total,
    paidAmount: isPaid
      ? total
      : (Number(total) - Number(first.cell('Outstanding Balance') || total)).toFixed(2),
    refundedAmount: refunded,
    paidAt: isPaid ? (paidAt ?? createdAt) : undefined,
    dispatchedAt: momentIn(first.cell('Fulfilled at')),
    cancelledAt: momentIn(first.cell('Cancelled at')),
    billingAddress: { ...billing, emailAddress: first.cell('Email') || null },
    shippingAddress:
      isSame(billing, shippingAddress) || !shippingAddress.lastName ? undefined : shippingAddress,
    comment: first.cell('Notes'),
    note: '',
  };
}

const toLine = (row: TableRow): OrderLineRecord => ({
  number: row.cell('Lineitem sku').replace(/^'/, ''),
  name: row.cell('Lineitem name'),
  quantity: decimalIn(row.cell('Lineitem quantity')) || '1',
  unitPrice: decimalIn(row.cell('Lineitem price')) || '0',
  discount: decimalIn(row.cell('Lineitem discount')) || '0',
  taxRate: '',
});

/** `VAT 19%` with its amount; without names, the taxes of the order in one sum. */
function taxesOf(row: TableRow, taxes: string): OrderRecord['taxes'] {
  const named = [1, 2, 3, 4, 5].flatMap((number) => {
    const [, rate] = /([\d.,]+) ?%/.exec(row.cell(`Tax ${number} Name`)) ?? [];
    const tax = decimalIn(row.cell(`Tax ${number} Value`));
    return rate === undefined || tax === '' ? [] : [{ rate: decimalIn(rate), tax }];
  });
  if (named.length > 0) return named;
  return Number(taxes) > 0 ? [{ rate: '', tax: taxes }] : [];
}

function addressOf(row: TableRow, kind: 'Billing' | 'Shipping'): Partial<Address> {
  const part = (name: string) => plain(row.cell(`${kind} ${name}`));
  return {
    ...namesIn(part('Name') ?? ''),
    company: part('Company'),
    street: part('Address1') ?? part('Street'),
    streetDetails: part('Address2'),
    city: part('City'),
    zipCode: part('Zip'),
    state: part('Province'),
    country: part('Country'),
    phoneNumber: part('Phone'),
  };
}

const isSame = (one: Partial<Address>, other: Partial<Address>) =>
  JSON.stringify(one) === JSON.stringify(other);

/** The redirects that the shop had already. Their targets are addresses of Shopify, which the writer knows. */
export async function* shopifyRedirects(file: ProductFile): AsyncGenerator<Read<RedirectRecord>> {
  for await (const row of tableRows(file)) {
    const place = { file: file.name, line: row.line };
    const [source, target] = [row.cell('Redirect from', 'Path'), row.cell('Redirect to', 'Target')];
    if (source === '' || target === '')
      yield { kind: 'problem', of: 'redirect', place, text: 'is incomplete' };
    else
      yield { kind: 'redirect', sourceId: source.slice(0, 300), place, formerAddresses: [], source, target };
  }
}

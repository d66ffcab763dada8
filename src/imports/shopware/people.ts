import type { ProductFile } from '../../catalogue/products/csv-file.ts';
import type { Address } from '../../shops/countries/address.ts';
import { decimal } from '../order-taxes.ts';
import type { CustomerRecord, OrderLineRecord, OrderRecord, Read } from '../records.ts';
import { tableRows, type TableRow } from '../table.ts';
import { decimalIn, momentIn } from '../values.ts';
import { idsIn, type ShopwareIndex, type SoldProduct } from './names.ts';

export async function* shopwareCustomers(file: ProductFile): AsyncGenerator<Read<CustomerRecord>> {
  for await (const row of tableRows(file)) {
    const place = { file: file.name, line: row.line };
    const email = row.cell('email');
    const sourceId = row.cell('id') || row.cell('customer_number') || email.toLowerCase();
    if (sourceId === '') {
      yield { kind: 'problem', of: 'customer', place, text: 'has neither an id nor an email address' };
      continue;
    }
    const group = row.cell('customer_group');
    yield {
      kind: 'customer',
      sourceId,
      place,
      formerAddresses: [],
      number: row.cell('customer_number'),
      createdAt: momentIn(row.cell('created_at', 'first_login')),
      address: {
        firstName: row.cell('billing_first_name', 'first_name') || null,
        lastName: row.cell('billing_last_name', 'last_name') || null,
        company: row.cell('billing_company', 'company') || null,
        street: row.cell('billing_street') || null,
        streetDetails: row.cell('billing_additional_address_line1') || null,
        zipCode: row.cell('billing_zipcode') || null,
        city: row.cell('billing_city') || null,
        country: countryIn(row.cell('billing_country')),
        phoneNumber: row.cell('billing_phone_number') || null,
        emailAddress: email || null,
      },
      tags: [],
      // Everybody is in the group of this name who is in no other.
      group: /standard/i.test(group) ? '' : group,
      note: '',
      newsletter: undefined,
    };
  }
}

/** Some columns have the id of a country, which says nothing here. */
const countryIn = (text: string): string | null => (/^[A-Za-z]{2}$/.test(text) ? text.toUpperCase() : null);

/**
 * The orders of the default profile have their total and the numbers of pieces. Further fields that a shop adds to its
 * profile are read by the names in the documentation; what is missing is reported, and never guessed.
 */
export async function* shopwareOrders(
  file: ProductFile,
  index: ShopwareIndex,
  currency: string,
): AsyncGenerator<Read<OrderRecord>> {
  const products = await index.products();
  for await (const row of tableRows(file)) {
    const place = { file: file.name, line: row.line };
    const number = row.cell('order_number');
    const createdAt = momentIn(row.cell('order_date_time', 'order_date'));
    const total = decimalIn(row.cell('amount_total'));
    const missing = [number === '' && 'a number', !createdAt && 'a date', total === '' && 'a total'].filter(
      (one) => one !== false,
    );
    if (missing.length > 0 || !createdAt)
      yield { kind: 'problem', of: 'order', place, text: `lacks ${missing.join(', ')}` };
    else yield toOrder(row, { place, number, createdAt, total, currency, products });
  }
}

const PAID = new Set(['paid', 'refunded', 'refunded_partially', 'chargeback']);

function toOrder(
  row: TableRow,
  {
    place,
    number,
    createdAt,
    total,
    currency,
    products,
  }: Pick<OrderRecord, 'place' | 'number' | 'createdAt' | 'total' | 'currency'> & {
    products: ReadonlyMap<string, SoldProduct>;
  },
): OrderRecord {
  const net = decimalIn(row.cell('amount_net'));
  const isTaxIncluded = row.cell('tax_status') !== 'net';
  const shipping = Number(decimalIn(row.cell('shipping_total')));
  const tax = net === '' ? 0 : Number(total) - Number(net);
  const lines = linesOf(row.cell('line_items'), products);
  const goods = (isTaxIncluded ? Number(total) : Number(total) - tax) - shipping;
  const [only] = lines;
  const hasPrices = lines.length === 1;
  if (hasPrices) only!.unitPrice = decimal(goods / Number(only!.quantity));
  const state = row.cell('order_state');
  const paid = row.cell('payment_state');
  const delivery = row.cell('delivery_state');
  const isPaid = PAID.has(paid);
  const billing = addressOf(row, 'billing');
  const shippingAddress = addressOf(row, 'shipping');
  const isElsewhere = shippingAddress.street && JSON.stringify(shippingAddress) !== JSON.stringify(billing);
  const names = {
    firstName: row.cell('customer_firstname') || null,
    lastName: row.cell('customer_lastname') || null,
  };
  return {
    kind: 'order',
    sourceId: row.cell('id') || number,
    place,
    formerAddresses: [],
    number,
    createdAt,
    currency: row.cell('currency').toUpperCase() || currency,
    isTaxIncluded,
    lines,
    discount: '0',
    shipping: { name: row.cell('shipping_method'), price: decimal(shipping) },
    payment: { name: row.cell('payment_method'), price: '0' },
    taxes: tax > 0 ? [{ rate: '', tax: decimal(tax) }] : [],
    total,
    paidAmount: isPaid ? total : '0',
    refundedAmount: paid === 'refunded' ? total : '0',
    paidAt: isPaid ? createdAt : undefined,
    dispatchedAt: /^shipped$/.test(delivery) || state === 'completed' ? createdAt : undefined,
    cancelledAt: state === 'cancelled' ? createdAt : undefined,
    billingAddress: { ...names, ...billing, emailAddress: row.cell('customer_email') || null },
    shippingAddress: isElsewhere ? { ...names, ...shippingAddress } : undefined,
    comment: row.cell('customer_comment'),
    note: '',
    remarks: [
      ...(hasPrices ? [] : ['the export has no prices of its lines']),
      ...(row.has('amount_net') ? [] : ['the export has no taxes']),
      ...(row.has('payment_state') ? [] : ['the export does not say whether it is paid']),
    ],
  };
}

/** `2x ID|1x ID`; a line without a product is a discount or a surcharge. */
function linesOf(text: string, products: ReadonlyMap<string, SoldProduct>): OrderLineRecord[] {
  return idsIn(text).flatMap((part) => {
    const [, quantity, id = ''] = /^(\d+)x ?(.*)$/.exec(part) ?? [];
    if (quantity === undefined || Number(quantity) === 0) return [];
    const product = products.get(id);
    return [
      {
        number: product?.number ?? '',
        name: product?.name || product?.number || id || '-',
        quantity,
        unitPrice: '0',
        discount: '0',
        taxRate: '',
      },
    ];
  });
}

function addressOf(row: TableRow, kind: 'billing' | 'shipping'): Partial<Address> {
  const part = (name: string) => row.cell(`${kind}_address_${name}`) || null;
  return {
    company: part('company'),
    street: part('street'),
    streetDetails: part('department'),
    zipCode: part('zipcode'),
    city: part('city'),
    country: countryIn(row.cell(`${kind}_address_country`, `${kind}_address_country_iso`)),
  };
}

import { randomBytes } from 'node:crypto';
import type { Transaction } from '../../db/database.ts';
import { newId } from '../../kernel/ids.ts';
import { allocate, isCurrency, toMinor } from '../../kernel/money.ts';
import { ORDER_UNIT } from '../../catalogue/products/orderable.ts';
import { insertPastOrders, type PastOrder } from '../../orders/past-orders.ts';
import { insertNumberedCustomer } from '../../people/customers/queries.ts';
import { raiseCounter } from '../../platform/counters.ts';
import type { Content, ContentLine, ContentTaxClass } from '../../pricing/content.ts';
import type { Address } from '../../shops/countries/address.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { matchCustomers, matchProducts, findRecords, saveRecords } from '../queries.ts';
import type { OrderRecord, Read } from '../records.ts';
import { batches, hashOf, type ImportRun } from '../run.ts';
import { readableAddress } from './customers.ts';

const BATCH = { records: 200, characters: 2_000_000 };
const MAX_NUMBER = 64;
/** Numbers that a counter may continue. */
const MAX_COUNTED = 1e12;

/** Orders as history: they take no stock, send no email and get no invoice. */
export async function writeOrders(run: ImportRun, records: AsyncIterable<Read<OrderRecord>>): Promise<void> {
  const { db, shopId, source, report } = run;
  let last = 0;
  for await (const batch of batches(run, records, BATCH)) {
    const settings = await shopSettings(db, shopId);
    const sourceIds = batch.map(({ sourceId }) => sourceId);
    const stored = await findRecords(db, shopId, { source, kind: 'order', sourceIds });
    const fresh = batch.filter((record) => {
      const known = stored.get(record.sourceId);
      if (!known) return true;
      const isSame = known.sourceHash === hashOf(record);
      report.count('order', isSame ? 'unchanged' : 'kept');
      const { kind, place, number: name } = record;
      if (!isSame)
        report.add({ kind, place, name, text: 'has changed in the other shop since it was imported' });
      return false;
    });
    const products = await matchProducts(db, shopId, {
      ids: [],
      numbers: fresh.flatMap(({ lines }) => lines.map(({ number }) => number)),
    });
    const productIds = new Map(products.map(({ productNumber, productId }) => [productNumber, productId]));
    const readable = fresh.flatMap((record) => {
      const content = contentOf(record, settings, productIds);
      if (typeof content !== 'string') return [{ record, content }];
      report.refuse({ kind: 'order', place: record.place, name: record.number, text: content });
      return [];
    });
    last = Math.max(last, ...readable.map(({ record }) => trailingNumber(record.number)));
    if (run.isCheck) report.count('order', 'created', readable.length);
    else if (readable.length > 0) {
      await db.transaction((tx) => writeBatch(run, tx, settings, readable));
    }
  }
  // A later order must not get the number of an imported one.
  if (!run.isCheck && last > 0) await db.transaction((tx) => raiseCounter(tx, shopId, 'order', last));
}

function trailingNumber(number: string): number {
  const [digits = '0'] = /\d+$/.exec(number) ?? [];
  return Number(digits) < MAX_COUNTED ? Number(digits) : 0;
}

interface ReadableOrder {
  record: OrderRecord;
  content: Content;
}

async function writeBatch(
  { shopId, source, report }: ImportRun,
  tx: Transaction,
  settings: Settings,
  orders: readonly ReadableOrder[],
): Promise<void> {
  const addressed = orders.map((order) => ({
    ...order,
    billing: readableAddress(order.record.billingAddress).address,
    shipping: order.record.shippingAddress && readableAddress(order.record.shippingAddress).address,
  }));
  const buyers = await findBuyers(
    tx,
    shopId,
    addressed.map(({ billing }) => billing),
  );
  const past = addressed.map(({ record, content, billing, shipping }, index) =>
    pastOrder(tx, settings, {
      record,
      content,
      billing,
      shipping: shipping ?? null,
      buyerId: buyers[index]!,
    }),
  );
  const written = await insertPastOrders(tx, shopId, past);
  const records = past.flatMap(({ orderId }, index) => {
    const { record } = addressed[index]!;
    const { kind, place, number, sourceId } = record;
    if (!written.has(orderId)) {
      report.refuse({ kind, place, name: number, text: 'there is an order with this number already' });
      return [];
    }
    report.count('order', 'created');
    for (const text of record.remarks ?? []) report.add({ kind, place, name: number, text });
    return [
      { sourceId, targetId: orderId, sourceHash: hashOf(record), targetHash: null, importedAt: tx.now },
    ];
  });
  await saveRecords(tx, shopId, { source, kind: 'order', records });
}

/** The customers of the addresses, by email; those who are not known yet become customers. */
async function findBuyers(tx: Transaction, shopId: string, addresses: readonly Address[]): Promise<string[]> {
  const keyOf = ({ emailAddress }: Address) => emailAddress?.toLowerCase() ?? '';
  const found = await matchCustomers(tx, shopId, { ids: [], emails: addresses.map(keyOf) });
  const byEmail = new Map<string, string>();
  for (const { email, customerId } of found) {
    if (email !== null && !byEmail.has(email)) byEmail.set(email, customerId);
  }
  const buyers: string[] = [];
  for (const address of addresses) {
    const key = keyOf(address);
    let buyer = key === '' ? undefined : byEmail.get(key);
    if (buyer === undefined) {
      const row = { customerId: newId(tx.now), billingAddress: address, internalNote: null };
      buyer = (await insertNumberedCustomer(tx, shopId, row)).customerId;
      if (key !== '') byEmail.set(key, buyer);
    }
    buyers.push(buyer);
  }
  return buyers;
}

function pastOrder(
  tx: Transaction,
  { defaultLocale }: Settings,
  {
    record,
    content,
    billing,
    shipping,
    buyerId,
  }: ReadableOrder & { billing: Address; shipping: Address | null; buyerId: string },
): PastOrder {
  const { currency } = content;
  const paid = Math.max(0, toMinor(record.paidAmount || '0', currency) ?? 0);
  const refunded = Math.max(0, toMinor(record.refundedAmount || '0', currency) ?? 0);
  return {
    orderId: newId(tx.now),
    createdAt: record.createdAt,
    numberPrefix: '',
    orderNumber: record.number,
    cartId: newId(tx.now),
    cartVersion: 1,
    cartTokenHash: randomBytes(32),
    locale: defaultLocale,
    taxModel: record.isTaxIncluded ? 'GROSS' : 'NET',
    billingAddress: billing,
    shippingAddress: shipping,
    buyer: null,
    content,
    email: billing.emailAddress ?? '',
    customerId: buyerId,
    newCustomerId: buyerId,
    buyerId,
    appId: null,
    assistantSessionId: null,
    couponCodeKey: null,
    giftCards: [],
    beyondStock: true,
    lowStockLevel: null,
    releaseAt: null,
    paymentWait: null,
    hasCartFields: false,
    paidOn: record.paidAt ?? null,
    dispatchedOn: record.dispatchedAt ?? null,
    cancelledAt: record.cancelledAt ?? null,
    paidAmount: Math.max(paid, refunded),
    refundedAmount: refunded,
    customerComment: record.comment || null,
    internalNote: record.note || null,
  };
}

/** The order with its amounts as they were; a text says why it can't be read. */
function contentOf(
  record: OrderRecord,
  settings: Settings,
  productIds: ReadonlyMap<string, string>,
): Content | string {
  const { currency, isTaxIncluded, number } = record;
  if (number.length > MAX_NUMBER) return `has a number of more than ${MAX_NUMBER} characters`;
  if (!isCurrency(currency)) return `has the currency ${JSON.stringify(currency)}`;
  const minor = (text: string) => toMinor(text || '0', currency);
  const grandTotal = minor(record.total);
  if (grandTotal === undefined || grandTotal < 0) return `has the total ${JSON.stringify(record.total)}`;
  const taxType = isTaxIncluded ? 'GROSS' : 'NET';
  const taxes = taxesOf(record, grandTotal, minor);
  const totalTax = taxes.reduce((sum, { tax }) => sum + tax, 0);
  if (totalTax > grandTotal) return 'has more tax than its total';
  const standard = settings.taxClasses.find(({ isDefault }) => isDefault) ?? settings.taxClasses[0]!;
  const taxClass = (rate: number): ContentTaxClass => ({
    taxClassId: standard.taxClassId,
    name: standard.name,
    rate,
  });
  const mainRate = taxes.toSorted((one, other) => other.amount - one.amount)[0]?.rate ?? 0;
  const text = (value: string) => ({ [settings.defaultLocale]: value });
  const lines: ContentLine[] = [];
  for (const { number: productNumber, name, quantity, unitPrice, discount, taxRate } of record.lines) {
    const [unit, off] = [minor(unitPrice), minor(discount)];
    if (unit === undefined || off === undefined || !(Number(quantity) > 0))
      return `has a line that is not readable: ${name}`;
    const amount = Math.round(unit * Number(quantity)) - off;
    lines.push({
      lineItemId: newId(record.createdAt),
      productId: productIds.get(productNumber) ?? newId(record.createdAt),
      masterId: null,
      productNumber: productNumber || '-',
      name: text(name || productNumber),
      variation: null,
      essentialFeatures: null,
      quantity,
      orderUnit: ORDER_UNIT,
      unitPrice: unit,
      quantityPrice: unit,
      amount,
      unitDeposit: 0,
      unitEcoParticipation: 0,
      deposit: 0,
      ecoParticipation: 0,
      discountShare: 0,
      couponShare: 0,
      taxClass: taxClass(taxRate === '' ? mainRate : Math.round(Number(taxRate) * 100)),
      weight: null,
      tiers: [],
      reference: null,
      image: null,
      energyLabel: null,
      dataSheet: null,
    });
  }
  const basketDiscount = minor(record.discount) ?? 0;
  // Lines that cost nothing, or whose prices are unknown, can bear no share.
  const weights = lines.map(({ amount }) => Math.max(0, amount));
  const shares = weights.some((weight) => weight > 0) ? allocate(basketDiscount, weights) : [];
  for (const [index, line] of lines.entries()) line.discountShare = shares[index] ?? 0;
  const [shippingPrice, paymentPrice] = [minor(record.shipping.price) ?? 0, minor(record.payment.price) ?? 0];
  return {
    currency,
    taxType,
    lines,
    subTotal: lines.reduce((sum, { amount }) => sum + amount, 0),
    basketDiscount,
    coupon: null,
    shippingPrice,
    shipping:
      record.shipping.name === '' && shippingPrice === 0
        ? null
        : {
            shippingMethodId: newId(record.createdAt),
            name: text(record.shipping.name || '-'),
            price: shippingPrice,
            taxes: [],
          },
    payment:
      record.payment.name === '' && paymentPrice === 0
        ? null
        : {
            method: null,
            name: record.payment.name || '-',
            transactionId: null,
            status: null,
            price: paymentPrice,
            taxes: [],
          },
    serviceTaxClass: taxClass(mainRate),
    offers: [],
    taxes,
    totalTax,
    totalBeforeTax: grandTotal - totalTax,
    grandTotal,
  };
}

/** The taxes as they were charged. What they were charged of follows from their rates; the last one gets the rest. */
function taxesOf(
  { taxes, isTaxIncluded }: OrderRecord,
  grandTotal: number,
  minor: (text: string) => number | undefined,
): Content['taxes'] {
  const known = taxes.flatMap(({ rate, tax }) => {
    const amount = minor(tax);
    return amount === undefined || amount < 0 ? [] : [{ rate, tax: amount }];
  });
  const totalTax = known.reduce((sum, { tax }) => sum + tax, 0);
  const totalNet = grandTotal - totalTax;
  if (known.length === 0) return [{ rate: 0, amount: grandTotal, tax: 0 }];
  let left = totalNet;
  return known.map(({ rate, tax }, index) => {
    const isLast = index === known.length - 1;
    const percent = rate === '' ? (totalNet > 0 ? (tax / totalNet) * 100 : 0) : Number(rate);
    // A rate that is computed from amounts is one of whole or half percents.
    const basisPoints = rate === '' ? Math.round(percent * 2) * 50 : Math.round(percent * 100);
    const net = isLast || basisPoints === 0 ? left : Math.min(left, Math.round((tax * 10_000) / basisPoints));
    left -= net;
    return { rate: basisPoints, amount: isTaxIncluded ? net + tax : net, tax };
  });
}

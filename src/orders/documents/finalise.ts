import { moneyText } from '../../http/price-text.ts';
import type { Content } from '../../pricing/content.ts';
import type { Address } from '../../shops/countries/address.ts';
import type { Transaction } from '../../db/database.ts';
import { dayOf, parseMoment } from '../../http/dates.ts';
import { invalid, notFound, Refusal } from '../../http/errors.ts';
import { textIn } from '../../http/locale.ts';
import { newId } from '../../kernel/ids.ts';
import { queueEmails, type Email } from '../../platform/email/queue.ts';
import { recordEvents } from '../../platform/events/log.ts';
import { type OrderChanges, changeOrder, lockOrder } from '../change.ts';
import { recordHistory } from '../history.ts';
import type { ManagedOrder } from '../queries.ts';
import { recordReturnRefund } from '../manage-returns.ts';
import { refunded } from '../refund.ts';
import { includesServices } from '../refund-due.ts';
import { unitSign } from '../../catalogue/products/units.ts';
import { sum } from '../../pricing/shares.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { documentEmail, type DocumentFinalised } from './document-email.ts';
import { findTransport, requestDelivery } from '../transport/queries.ts';
import { electronicChoice } from './electronic-choice.ts';
import { isForNetwork } from './electronic-format.ts';
import type { DocumentKind, DocumentTerms, Seller } from './facts.ts';
import { partOf, quantityOf, servicesHeld, unitsByLine, unitsHeld, unitsOf, type Held } from './part.ts';
import { findFinalised, insertDocument, toDocumentFacts, type DocumentRow } from './queries.ts';
import { refuseIncompleteSeller } from './seller-incomplete.ts';
import { takeNumber } from '../../platform/counters.ts';
import { decimalOf } from '../../http/request-fields.ts';
import {
  findOrderActivity,
  findRefundableCards,
  updateDueAmount,
  type PartLine,
  type Return,
} from '../manage-queries.ts';

export interface DocumentRequest {
  kind: DocumentKind;
  /** Absent: everything that remains. */
  lines?: readonly { lineItemId: string; quantity: number | string }[] | null | undefined;
  issueDate?: string | null | undefined;
  note?: string | null | undefined;
  /** Whether it includes the cost of delivery and payment; absent: the first invoice does, and a full credit. */
  shipping?: boolean | null | undefined;
  /** The credited invoice; absent: the only one. */
  invoiceNumber?: string | null | undefined;
  /** The return whose items are credited. */
  returnId?: string | null | undefined;
  /** Whether the amount of a credit note is refunded with it. */
  refund?: boolean | null | undefined;
}

const QUANTITY_BOUNDS = { min: 0.000_001, max: 1_000_000 };
const DAY = 86_400_000;

/** Creates an invoice or a credit note of an order, which is never changed again. `appId` is the calling app. */
export async function finaliseDocument(
  tx: Transaction,
  shopId: string,
  orderId: string,
  request: DocumentRequest,
  appId: string | null,
): Promise<DocumentRow> {
  const { kind } = request;
  const issuedAt = issueDateOf(request, tx.now);
  const order = await lockOrder(tx, shopId, orderId);
  if (!order) throw notFound();
  if (order.editingSince) throw new Refusal('ORDER_EDITING_OPEN');
  if (kind === 'Invoice' && order.cancelledAt) throw new Refusal('ORDER_CANCELLED_UNINVOICED');
  if (kind === 'Invoice' && order.erasedAt) throw new Refusal('ORDER_CUSTOMER_ERASED');

  const settings = await shopSettings(tx, shopId);
  refuseIncompleteSeller(settings);
  const finalised = await findFinalised(tx, shopId, orderId);
  const whole = wholeOf(order, finalised, request);
  const left = linesLeft(whole);
  const returned = await findCredited(tx, shopId, { order, settings }, request);
  const requested = returned?.lines ?? request.lines;
  const lines = requested ? chosenLines(requested, left, whole) : left;
  if (lines.length === 0) throw whole.refusals.nothingLeft();
  const isRest = takesAll(lines, left);
  const shipping = request.shipping ?? (returned && returned.hasServices && !servicesHeld(whole.held));
  const hasServices = carriesServices({ ...request, shipping }, whole, isRest);
  const content = partOf(whole.content, lines, whole.held, { services: hasServices });

  const giftCards =
    kind === 'Invoice'
      ? cardShare(content, await findRefundableCards(tx, shopId, order.orderId), finalised)
      : 0;
  const documentId = newId(tx.now);
  const draft: DocumentRow = {
    documentId,
    orderId: order.orderId,
    kind,
    number: 0,
    issuedAt,
    createdAt: tx.now,
    address: whole.invoice?.address ?? JSON.stringify(order.billingAddress),
    terms: {
      ...termsOf(order, settings, request, { issuedAt, content, whole, giftCards }),
      hasServices,
      electronic: false,
      ...(settings.sandbox && { sandbox: true as const }),
    },
    content,
  };
  const choice = electronicChoice(toDocumentFacts(draft), settings.invoicing);
  if (choice.missing.length > 0) {
    throw new Refusal('ELECTRONIC_SELLER_INCOMPLETE', { missing: choice.missing.join(', ') });
  }
  const transport = isForNetwork(choice.terms?.format) ? await findTransport(tx, shopId) : undefined;
  const facts = choice.terms
    ? {
        ...draft,
        terms: { ...draft.terms, electronic: true, ...choice.terms, ...(transport && { transport }) },
      }
    : draft;

  const reached = stateOf(order, kind, isRest, tx.now);
  const changed = await changeOrder(tx, shopId, order, reached, { moves: true, also: ['documents'] });
  if (returned) await updateDueAmount(tx, shopId, orderId, returned.returnId, content.grandTotal);
  if (request.refund) {
    const amount = amountToRefund(changed, content);
    const note = request.note ?? null;
    const open = { order: changed, appId };
    if (returned) {
      const refund = { amount, note, reference: null, goodwill: null };
      const next = { ...returned, state: 'refunded' as const, dueAmount: content.grandTotal };
      await recordReturnRefund({ tx, shopId }, open, next, refund);
    } else {
      const refund = { paymentId: newId(tx.now), reference: null, note, returnId: null };
      await refunded({ tx, shopId }, open, amount, refund);
    }
  }
  // The number is taken last, because others who finalise in this shop wait for it; nothing is refused after it.
  const number = await takeNumber(tx, shopId, kind);
  const document = { ...facts, number };
  await insertDocument(tx, shopId, document);
  if (transport) await requestDelivery(tx, shopId, documentId, transport);
  recordEvents(tx, shopId, [
    { type: 'DOCUMENT_ISSUED', resourceId: order.orderId, data: { documentId, kind, number } },
  ]);
  await recordHistory(tx, shopId, order.orderId, {
    appId,
    kind: 'document finalised',
    details: { documentId, documentType: kind, documentNumber: String(number) },
  });
  if (!order.erasedAt) await queueEmails(tx, shopId, documentEmail, emailsOf(document));
  return document;
}

/**
 * The return whose items are credited, before it is refunded: its refund becomes the amount of the credit note.
 * null: the credit note belongs to none.
 */
async function findCredited(
  tx: Transaction,
  shopId: string,
  { order, settings }: { order: ManagedOrder; settings: Settings },
  { returnId, lines }: DocumentRequest,
): Promise<(Return & { hasServices: boolean }) | null> {
  if (returnId === null || returnId === undefined) return null;
  if (lines) throw new Refusal('RETURN_CREDITED_BY_LINES');
  const activity = await findOrderActivity(tx, shopId, order.orderId);
  const returned = activity.returns.find((one) => one.returnId === returnId.toUpperCase());
  if (!returned) throw invalid('UNKNOWN_VALUE', 'returnId');
  if (returned.state !== 'received' && returned.state !== 'refundFailed') {
    throw new Refusal('RETURN_NOT_CREDITABLE', { state: returned.state });
  }
  return { ...returned, hasServices: includesServices({ order, activity, settings }, returned) };
}

/** What gift cards have paid of a new invoice: what earlier ones that still stand have not taken up. */
function cardShare(
  { grandTotal }: Content,
  cards: readonly { left: number }[],
  finalised: readonly DocumentRow[],
): number {
  const taken = finalised
    .filter((invoice) => invoice.kind === 'Invoice' && linesToCredit(invoice, finalised).length > 0)
    .map(({ terms }) => terms.giftCards ?? 0);
  return Math.max(0, Math.min(grandTotal, sum(cards.map(({ left }) => left)) - sum(taken)));
}

/** The amount of a credit note, as far as it was paid and not refunded before. */
function amountToRefund({ paidAmount, refundedAmount }: ManagedOrder, { grandTotal }: Content): number {
  const left = paidAmount - refundedAmount;
  if (left <= 0) throw new Refusal('NOTHING_TO_REFUND');
  return Math.min(grandTotal, left);
}

/** To the payer; not sent when the address was erased. */
export function emailsOf({
  orderId,
  documentId,
  kind,
  number,
  address,
  terms,
  content,
}: DocumentRow): Email<DocumentFinalised>[] {
  const to = (JSON.parse(address) as Address).emailAddress;
  if (to === null) return [];
  const facts = {
    orderId,
    orderNumber: terms.orderNumber,
    documentId,
    documentType: kind,
    documentNumber: String(number),
    grandTotal: moneyText(content.grandTotal, content.currency, terms.locale),
  };
  return [{ to, locale: terms.locale, facts }];
}

function issueDateOf({ issueDate }: DocumentRequest, now: Date): Date {
  if (issueDate === null || issueDate === undefined) return now;
  const date = parseMoment(issueDate, 'issueDate');
  if (Math.abs(date.getTime() - now.getTime()) > 366 * DAY) throw invalid('OUT_OF_RANGE', 'issueDate');
  return date;
}

/** The possible content of a document, and the parts in earlier documents. */
interface Whole {
  content: Content;
  /** Parts that were invoiced and not credited; for a credit note, the credited parts of its invoice. */
  held: Held[];
  /** The credited invoice. */
  invoice: DocumentRow | null;
  /** The invoice that was credited as a whole, and that a new one replaces. */
  corrected: DocumentRow | null;
  refusals: typeof INVOICE_REFUSALS;
}

/** The refusal of a document that asks for more than is left for it. */
const INVOICE_REFUSALS = {
  nothingLeft: (): Refusal => new Refusal('NOTHING_TO_INVOICE'),
  tooMuch: (left: readonly string[]): Refusal => new Refusal('TOO_MUCH_INVOICED', { left }),
  shippingTaken: (): Refusal => new Refusal('SHIPPING_INVOICED'),
};

function creditRefusals(invoice: number): typeof INVOICE_REFUSALS {
  return {
    nothingLeft: () => new Refusal('NOTHING_TO_CREDIT', { invoice }),
    tooMuch: (left) => new Refusal('TOO_MUCH_CREDITED', { invoice, left }),
    shippingTaken: () => new Refusal('SHIPPING_CREDITED', { invoice }),
  };
}

function wholeOf(order: ManagedOrder, finalised: readonly DocumentRow[], request: DocumentRequest): Whole {
  const invoices = finalised.filter(({ kind }) => kind === 'Invoice');
  if (request.kind === 'Invoice') {
    return {
      content: order.content,
      held: heldBy(finalised),
      invoice: null,
      corrected: correctedInvoice(invoices, finalised),
      refusals: INVOICE_REFUSALS,
    };
  }
  const invoice = creditedInvoice(invoices, request.invoiceNumber);
  return {
    ...creditable(invoice, finalised),
    invoice,
    corrected: null,
    refusals: creditRefusals(invoice.number),
  };
}

/** The last invoice that was credited as a whole and was not replaced yet. */
function correctedInvoice(
  invoices: readonly DocumentRow[],
  finalised: readonly DocumentRow[],
): DocumentRow | null {
  const replaced = new Set(invoices.map(({ terms }) => terms.corrects?.number));
  return (
    invoices.findLast(
      (invoice) => !replaced.has(invoice.number) && linesToCredit(invoice, finalised).length === 0,
    ) ?? null
  );
}

function creditable(
  invoice: DocumentRow,
  finalised: readonly DocumentRow[],
): Pick<Whole, 'content' | 'held'> {
  const credits = finalised.filter(({ terms }) => terms.invoice?.number === invoice.number);
  return { content: invoice.content, held: heldBy(credits).map((credit) => ({ ...credit, sign: 1 })) };
}

/** The creditable rest of an invoice. `finalised` are the documents of its order. */
export function linesToCredit(invoice: DocumentRow, finalised: readonly DocumentRow[]): PartLine[] {
  return linesLeft(creditable(invoice, finalised));
}

function creditedInvoice(
  invoices: readonly DocumentRow[],
  invoiceNumber: string | null | undefined,
): DocumentRow {
  const [first, ...others] = invoices;
  if (!first) throw new Refusal('NO_INVOICE');
  if (invoiceNumber === null || invoiceNumber === undefined) {
    if (others.length === 0) return first;
    const numbers = invoices.map(({ number }) => number).join(', ');
    throw new Refusal('SEVERAL_INVOICES', { invoices: numbers });
  }
  const invoice = invoices.find(({ number }) => String(number) === invoiceNumber);
  if (!invoice) throw invalid('UNKNOWN_VALUE', 'invoiceNumber');
  return invoice;
}

function heldBy(documents: readonly DocumentRow[]): Held[] {
  return documents.map(({ kind, content, terms: { hasServices } }) => ({
    content,
    hasServices,
    sign: kind === 'Invoice' ? 1 : -1,
  }));
}

function takesAll(lines: readonly PartLine[], left: readonly PartLine[]): boolean {
  const taken = unitsByLine(lines);
  return left.every(({ lineItemId, quantity }) => taken.get(lineItemId) === unitsOf(quantity));
}

function linesLeft({ content, held }: Pick<Whole, 'content' | 'held'>): PartLine[] {
  const unitsOfLines = unitsHeld(held);
  return content.lines.flatMap(({ lineItemId, quantity }) => {
    const units = unitsOf(quantity) - (unitsOfLines.get(lineItemId) ?? 0n);
    return units > 0n ? [{ lineItemId, quantity: quantityOf(units) }] : [];
  });
}

function chosenLines(
  chosen: NonNullable<DocumentRequest['lines']>,
  left: readonly PartLine[],
  { content, refusals }: Whole,
): PartLine[] {
  const requested = chosen.map(({ lineItemId, quantity }, index) => {
    const id = lineItemId.toUpperCase();
    if (!content.lines.some((line) => line.lineItemId === id))
      throw invalid('UNKNOWN_VALUE', `lines.${index}.lineItemId`);
    return {
      lineItemId: id,
      quantity: String(decimalOf(quantity, `lines.${index}.quantity`, QUANTITY_BOUNDS)),
    };
  });
  const available = unitsByLine(left);
  const units = unitsByLine(requested);
  const short = content.lines.filter(
    ({ lineItemId }) => (units.get(lineItemId) ?? 0n) > (available.get(lineItemId) ?? 0n),
  );
  if (short.length > 0) {
    const rest = short.map(
      ({ lineItemId, productNumber }) =>
        `${quantityOf(available.get(lineItemId) ?? 0n)} of ${productNumber} (line ${lineItemId})`,
    );
    throw refusals.tooMuch(rest);
  }
  return [...units].map(([lineItemId, count]) => ({ lineItemId, quantity: quantityOf(count) }));
}

function carriesServices(
  { kind, shipping }: DocumentRequest,
  { content, held, refusals }: Whole,
  isRest: boolean,
): boolean {
  const isHeld = servicesHeld(held);
  if (shipping && isHeld) throw refusals.shippingTaken();
  if (isHeld) return false;
  if (kind === 'CreditNote') return shipping ?? isRest;
  const cost = content.shippingPrice + Math.max(content.payment?.price ?? 0, 0);
  // The cost can't be invoiced alone, because a document needs a line.
  if (shipping === false && isRest && cost !== 0) {
    throw new Refusal('SHIPPING_NOT_INVOICED');
  }
  return shipping ?? true;
}

function stateOf(order: ManagedOrder, kind: DocumentKind, isRest: boolean, now: Date): OrderChanges {
  if (kind === 'CreditNote') return {};
  return isRest
    ? { invoicedOn: order.invoicedOn ?? now }
    : { partiallyInvoicedOn: order.partiallyInvoicedOn ?? now };
}

function termsOf(
  order: ManagedOrder,
  settings: Settings,
  { kind, note }: DocumentRequest,
  {
    issuedAt,
    content,
    whole,
    giftCards,
  }: { issuedAt: Date; content: Content; whole: Whole; giftCards: number },
): Omit<DocumentTerms, 'hasServices' | 'electronic'> {
  const { invoice, corrected } = whole;
  const { locale } = order;
  const { invoicing, defaultLocale } = settings;
  const delivery = order.shippingAddress;
  const isPickup = settings.shippingMethods.some(
    ({ kind: method, shippingMethodId }) =>
      method === 'pickup' && shippingMethodId === order.content.shipping?.shippingMethodId,
  );
  const { country } = delivery ?? order.billingAddress;
  const isInvoice = kind === 'Invoice';
  const due =
    isInvoice && invoicing.paymentDays !== undefined
      ? new Date(issuedAt.getTime() + invoicing.paymentDays * DAY)
      : null;
  return {
    orderNumber: order.orderNumber,
    orderedOn: dayOf(order.createdAt),
    customerNumber: order.customerNumber,
    locale,
    defaultLocale,
    seller: sellerOf(settings, locale),
    delivery: invoice ? invoice.terms.delivery : delivery,
    deliveryCountry:
      invoice?.terms.deliveryCountry ?? (isPickup ? settings.country : (country ?? settings.country)),
    suppliedOn: invoice?.terms.suppliedOn ?? suppliedOn(order),
    isPaid:
      isInvoice &&
      (order.paidOn !== null ||
        order.paidAmount - order.refundedAmount >= order.content.grandTotal ||
        (giftCards > 0 && giftCards >= content.grandTotal)),
    ...(giftCards > 0 && { giftCards }),
    dueOn: due && dayOf(due),
    notes: invoicing.notes ? textIn(invoicing.notes, locale, defaultLocale) : null,
    noTaxesMessage: settings.noTaxesMessage,
    note: note ?? null,
    invoice: invoice && referenceTo(invoice),
    ...(corrected && { corrects: referenceTo(corrected) }),
    ...buyerTerms(order, invoice),
    units: Object.fromEntries(
      content.lines.map(({ orderUnit: { unit } }) => [unit, unitSign(unit, locale, settings)]),
    ),
  };
}

const referenceTo = ({ number, issuedAt }: DocumentRow) => ({ number, issuedOn: dayOf(issuedAt) });

/** The buyer's own data; a credit note repeats them, because the order may have been erased since. */
function buyerTerms(
  { buyer }: Pick<ManagedOrder, 'buyer'>,
  invoice: DocumentRow | null,
): Pick<DocumentTerms, 'buyer'> {
  if (invoice) return invoice.terms.buyer ? { buyer: invoice.terms.buyer } : {};
  if (!buyer) return {};
  const { vatCheck, buyerReference, purchaseOrderNumber } = buyer;
  const facts = {
    ...(vatCheck?.result === 'valid' && { vatNumber: vatCheck.vatNumber }),
    ...(buyerReference !== undefined && { buyerReference }),
    ...(purchaseOrderNumber !== undefined && { purchaseOrderNumber }),
  };
  return Object.keys(facts).length > 0 ? { buyer: facts } : {};
}

/** The day on which the first goods were sent. An order that was not shipped has none, even if one is planned. */
function suppliedOn({ dispatchedOn, deliveredOn, partiallyDispatchedOn }: ManagedOrder): string | null {
  const date = dispatchedOn ?? deliveredOn ?? partiallyDispatchedOn;
  return date && dayOf(date);
}

function sellerOf(
  { invoicing, name, email, country, shopId, defaultLocale }: Settings,
  locale: string,
): Seller {
  const {
    company,
    notes: _notes,
    paymentDays: _days,
    electronic: _electronic,
    electronicFormat: _format,
    ...facts
  } = invoicing;
  return {
    ...facts,
    name: company ?? textIn(name, locale, defaultLocale) ?? shopId,
    country,
    email: invoicing.email ?? email,
  };
}

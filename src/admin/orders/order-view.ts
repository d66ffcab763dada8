import { findAssistantOf } from '../../assistants/queries.ts';
import { getManagedOrder, listOrderHistory } from '../../orders/manage.ts';
import type { Static } from 'typebox';
import { type Markup, html } from '../../http/html.ts';
import { moneyText, priceText } from '../../http/price-text.ts';
import { isId } from '../../kernel/ids.ts';
import { notFound } from '../../http/errors.ts';
import { type DocumentRow, findDocuments } from '../../orders/documents/queries.ts';
import type { HistoryEntry, ManagedOrderAnswer } from '../../orders/manage-schema.ts';
import {
  type DocumentTransport,
  findDocumentTransports,
  findTransport,
} from '../../orders/transport/queries.ts';
import { emailProblemNotice } from '../components/email-problem.ts';
import { imagePath } from '../../platform/media/images.ts';
import type { ShopVisit } from '../visit.ts';
import { findUserEmails } from './queries.ts';
import { markSeen } from '../../orders/queries.ts';
import { formatsOf } from '../../http/formats.ts';
import { type Content, taxesByRate } from '../../pricing/content.ts';
import { untaxedReasons } from '../../pricing/shown-lines.ts';

export type OrderLine = ManagedOrderAnswer['lineItemContainer']['productLineItems'][number];
export type OrderReturn = ManagedOrderAnswer['management']['returns'][number];
export type OrderHistoryEntry = Static<typeof HistoryEntry>;

/** The data of an order's page. */
export interface OrderView {
  visit: ShopVisit;
  order: ManagedOrderAnswer;
  /** Newest first. */
  documents: DocumentRow[];
  /** The ways of documents through the Peppol network. */
  deliveries: DocumentTransport[];
  /** Documents can be sent through the network. */
  hasTransport: boolean;
  /** Oldest first. */
  history: OrderHistoryEntry[];
  /** The email addresses of the users who changed it, by id. */
  emails: ReadonlyMap<string, string>;
  /** Says that the last email to the customer did not arrive. */
  emailProblem: Markup | false;
  /** The host of the assistant that has prepared it; undefined: none has. */
  assistant: string | undefined;
}

/** An order has few of either; older ones beyond these are left out. */
const MAX_DOCUMENTS = 50;
const MAX_ENTRIES = 100;

export function readManagedOrder(visit: ShopVisit, orderId: string): Promise<ManagedOrderAnswer> {
  if (!isId(orderId)) throw notFound();
  return visit.call(getManagedOrder, { params: { orderId }, query: { locale: visit.locale } });
}

/** Opening an order marks it as seen. */
export async function loadView(visit: ShopVisit, orderId: string): Promise<OrderView> {
  const { db, shopId } = visit;
  const order = await readManagedOrder(visit, orderId);
  const [{ items: history }, documents] = await Promise.all([
    visit.call(listOrderHistory, { params: { orderId }, query: { resultsPerPage: MAX_ENTRIES } }),
    findDocuments(db, shopId, orderId, { limit: MAX_DOCUMENTS, offset: 0, withPdf: false }),
    markSeen(db, shopId, orderId),
  ]);
  const nameless = history.flatMap(({ appId, appName }) =>
    appId !== null && appName === null ? [appId] : [],
  );
  const editor = order.management.editing?.appId;
  const userIds = [...new Set([...nameless, ...(editor === undefined ? [] : [editor])])];
  const documentIds = documents.map(({ documentId }) => documentId);
  const [emails, emailProblem, deliveries, transport, profile] = await Promise.all([
    findUserEmails(db, userIds),
    emailProblemNotice(visit, order.billingAddress.emailAddress),
    documents.length > 0 ? findDocumentTransports(db, shopId, documentIds) : [],
    documents.length > 0 ? findTransport(db, shopId) : undefined,
    findAssistantOf(db, shopId, orderId),
  ]);
  const hasTransport = transport !== undefined;
  const assistant = profile && new URL(profile).host;
  return { visit, order, documents, deliveries, hasTransport, history, emails, emailProblem, assistant };
}

export type OrderAmount = Pick<ManagedOrderAnswer['management']['paidAmount'], 'amount' | 'currency'>;

/** An amount in the format of the reader's language. */
export const moneyIn =
  ({ language }: Pick<ShopVisit, 'language'>) =>
  (price: OrderAmount) =>
    priceText(price, language);

export const linesOf = ({ lineItemContainer }: ManagedOrderAnswer): OrderLine[] =>
  lineItemContainer.productLineItems;

/** The amount that the customer still has to pay: refunds are not charged again. */
export function payableAmount({ management, lineItemContainer }: ManagedOrderAnswer): OrderAmount {
  const { cancelledOn, paidAmount } = management;
  const { amount, currency } = lineItemContainer.grandTotal;
  const rest = cancelledOn === null ? Math.max(0, amount - paidAmount.amount) : 0;
  return { amount: Number(rest.toFixed(4)), currency };
}

/** `Harbour Tea (Size: small)` */
/** What is packed, sent and comes back. */
export interface OrderedGoods extends Pick<
  OrderLine,
  'lineItemId' | 'productId' | 'sku' | 'name' | 'variationString'
> {
  amount: number;
}

/** The parts of a bundle; none of any other line. */
export function bundlePartsOf({ management }: ManagedOrderAnswer, lineItemId: string): OrderedGoods[] {
  const bundle = management.bundles?.find((one) => one.lineItemId === lineItemId);
  return (bundle?.parts ?? []).map(({ quantity, amount: _price, taxRate: _rate, ...part }) => ({
    ...part,
    amount: quantity,
  }));
}

/** The lines, and instead of bundles their parts. */
export function goodsOf(order: ManagedOrderAnswer): OrderedGoods[] {
  return linesOf(order).flatMap((line) => {
    const parts = bundlePartsOf(order, line.lineItemId);
    return parts.length > 0 ? parts : [{ ...line, amount: line.quantity.amount }];
  });
}

export function lineName({ name, variationString }: Pick<OrderLine, 'name' | 'variationString'>): string {
  return variationString ? `${name} (${variationString})` : name;
}

/** A small picture; it adds nothing to the name beside it. */
export function linePicture({ images }: Pick<OrderLine, 'images'>): Markup {
  const image = images.find(({ classifier }) => classifier === 'Small') ?? images[0];
  return html`<span class="picture"
    >${image && html`<img src="${imagePath(image.url)}" alt="" width="48" height="48" loading="lazy" />`}</span
  >`;
}

type TaxedContent = Pick<Content, 'taxes' | 'taxType' | 'currency'>;

/** The taxes of an order by rate, and the reasons why parts of it have none. An order always has one line at least. */
export function taxLines(
  { language, messages }: Pick<ShopVisit, 'language' | 'messages'>,
  { taxes, taxType, currency }: TaxedContent,
): { name: string; amount: string }[] {
  const { addedTax, includedTax } = messages.orders.totals;
  const lineOf = ({ rate, tax }: { rate: number; tax: number }) => {
    const percent = formatsOf(language).percent.format(rate / 10_000);
    return {
      name: taxType === 'NET' ? addedTax({ rate: percent }) : includedTax({ rate: percent }),
      amount: moneyText(tax, currency, language),
    };
  };
  const reasons = untaxedReasons({ taxes, taxType }, language);
  const lines = [
    ...taxesByRate(taxes)
      .filter(({ tax }) => tax !== 0)
      .map(lineOf),
    ...reasons.map((name) => ({ name, amount: moneyText(0, currency, language) })),
  ];
  return lines.length > 0 ? lines : [lineOf({ rate: 0, tax: 0 })];
}

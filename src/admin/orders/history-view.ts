import { html, type Markup } from '../../http/html.ts';
import { momentText } from '../components/format.ts';
import { goodsOf, lineName, linesOf, moneyIn, type OrderHistoryEntry, type OrderView } from './order-view.ts';

/** The changes of the order with their authors, newest first. */
export function historyCard(view: OrderView): Markup {
  const { visit, history, emails } = view;
  const messages = visit.messages.orders.history;
  const whoIs = ({ appId, appName }: OrderHistoryEntry) =>
    appName ?? (appId === null ? undefined : (emails.get(appId.toUpperCase()) ?? messages.unknown));
  // The start and end of editing add nothing to the changes themselves.
  const shown = history
    .filter(({ kind }) => kind !== 'editing started' && kind !== 'editing ended')
    .toReversed();
  return html`<section class="card">
    <h2>${messages.title}</h2>
    <ol class="timeline">
      ${shown.map((entry) => {
        const detail = detailText(entry, view);
        const who = whoIs(entry);
        return html`<li>
          <strong>${messages.kinds[entry.kind]}</strong>
          ${detail !== '' && html`<span>${detail}</span>`}
          <span class="quiet"
            >${momentText(new Date(entry.date), visit.language)}${who !== undefined && ` · ${who}`}</span
          >
        </li>`;
      })}
    </ol>
  </section>`;
}

interface Change {
  from: number | string | null;
  to: number | string | null;
}

type Details = Readonly<Record<string, unknown>>;
type DetailText = (details: Details, view: OrderView) => string;

/** The details of an entry, as the operations have recorded them. */
function detailText({ kind, details }: OrderHistoryEntry, view: OrderView): string {
  return DETAIL_TEXTS[kind]?.(details as Details, view) ?? '';
}

const DETAIL_TEXTS: Partial<Record<OrderHistoryEntry['kind'], DetailText>> = {
  'payment recorded': amountText,
  'payment reported': reportText,
  'payment failed': amountText,
  'refund requested': amountText,
  refunded: amountText,
  'refund failed': amountText,
  'line added': lineText,
  'line changed': lineText,
  'line removed': lineText,
  shipped: partsText,
  'shipment undone': partsText,
  returned: partsText,
  cancelled: ({ reason }) => (typeof reason === 'string' ? reason : ''),
  'document finalised': documentText,
  'email sent': documentText,
  patched: ({ paths }, { visit }) => {
    const messages: Readonly<Record<string, string>> = visit.messages.orders.history.fields;
    return ((paths ?? []) as string[])
      .map((path) => path.slice(1))
      .map((field) => messages[field] ?? field)
      .join(', ');
  },
};

/** Amounts are in the currency of the order. */
function moneyOf({ visit, order }: OrderView, amount: unknown): string {
  return moneyIn(visit)({ amount: Number(amount), currency: order.currencyId });
}

function amountText({ amount }: Details, view: OrderView): string {
  return amount === undefined ? '' : moneyOf(view, amount);
}

/** The state and the amount, and what the app said for the merchant. */
function reportText(details: Details, view: OrderView): string {
  const states: Readonly<Record<string, string>> = view.visit.messages.orders.payment.attempts;
  const { state, reason } = details as { state: string; reason?: string };
  return [states[state] ?? state, amountText(details, view), reason].filter(Boolean).join(', ');
}

function nameOfLine({ order }: OrderView, lineItemId: unknown): string | undefined {
  const line = [...linesOf(order), ...goodsOf(order)].find((one) => one.lineItemId === lineItemId);
  return line && lineName(line);
}

function lineText({ lineItemId, quantity, price }: Details, view: OrderView): string {
  const changed = (change: unknown, text: (value: Change['from']) => string) => {
    const { from, to } = (change ?? { from: 0, to: 0 }) as Change;
    return from !== to && from !== 0 && to !== 0 && `${text(from)} → ${text(to)}`;
  };
  return [
    nameOfLine(view, lineItemId),
    changed(quantity, String),
    changed(price, (amount) => moneyOf(view, amount)),
  ]
    .filter((text) => typeof text === 'string')
    .join(', ');
}

function partsText({ lines }: Details, view: OrderView): string {
  return ((lines ?? []) as { lineItemId: string; quantity: number }[])
    .map(({ lineItemId, quantity }) => `${quantity} × ${nameOfLine(view, lineItemId) ?? '?'}`)
    .join(', ');
}

function documentText({ documentType, documentNumber }: Details, { visit }: OrderView): string {
  const { kinds } = visit.messages.orders.documents;
  if (documentType !== 'Invoice' && documentType !== 'CreditNote') {
    return visit.messages.orders.email.confirmation;
  }
  return `${kinds[documentType]} ${documentNumber as string}`;
}

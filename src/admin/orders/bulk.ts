import { Type } from 'typebox';
import { finaliseInvoice } from '../../orders/documents/routes.ts';
import { UNDO_MINUTES, createShipment } from '../../orders/manage-shipments.ts';
import { badRequest, HttpError } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { checkedRows } from '../components/list-table.ts';
import { problemOf } from '../components/form.ts';
import { amountText } from '../components/format.ts';
import { refusalText } from '../components/validation.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { sellerNotice } from './seller-notice.ts';
import { carrierChoices, isConfirmed, parcelsOf, SHIPMENT, unpaidField } from './shipment-actions.ts';
import { pastedCodes, type PastedCode } from './pasted-codes.ts';
import { findOrdersByNumberSuffix, findListedOrders } from './queries.ts';
import type { FormRequest, PageRequest } from '../../http/page-kit.ts';

/** The maximum number of orders at once. A page of the list has 50. */
export const MAX_AT_ONCE = 100;

/** One order per line, with room for empty lines. */
const CODES = declareForm(
  { body: Type.Object({ codes: Type.String() }) },
  ({ orders: { bulk: messages } }) => ({
    codes: {
      kind: 'long text',
      label: messages.paste,
      hint: messages.pasteHint,
      rows: 12,
      isCode: true,
      maxLength: { characters: 200 * MAX_AT_ONCE, lines: 2 * MAX_AT_ONCE },
    },
  }),
);

export const chosenIds = (ids: readonly string[]) =>
  [...new Set(ids.filter(isId).map((id) => id.toUpperCase()))].slice(0, MAX_AT_ONCE);

/** Actions on many orders at once: invoices, and tracking codes. */
export function bulkOrders(pages: ShopPages): void {
  pages.post('/orders/invoices', 'orders_write', async (visit, form) => {
    const orders = await findListedOrders(visit.db, visit.shopId, chosenIds(checkedRows(form)));
    const refusals: Refused[] = [];
    const done: string[] = [];
    // The oldest order gets the first number.
    for (const { orderId, orderNumber } of orders.toReversed()) {
      const problem = await problemWith(visit, () =>
        visit.call(finaliseInvoice, { params: { orderId }, body: {} }),
      );
      if (problem === undefined) done.push(orderId);
      else refusals.push({ orderNumber, problem });
    }
    return invoicedPage(visit, { done, refusals, all: orders.map(({ orderId }) => orderId) });
  });

  pages.form(
    '/orders/ship',
    { read: 'orders_read', write: 'orders_write' },
    {
      show: async (visit, request, draft) => shipPage(visit, await chosenNumbers(visit, request), draft),
      save: async (visit, form) => shipped(visit, form),
    },
    optionsOf(CODES, SHIPMENT),
  );
}

interface Refused {
  orderNumber: string;
  problem: string;
  /** It was left out because it is unpaid: the user may send it again. */
  isUnpaid?: boolean;
}

/** The refusal of a call; undefined: it succeeded. */
async function problemWith(visit: ShopVisit, call: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return refusalText(visit, error);
  }
}

const breadcrumbsOf = (visit: ShopVisit) => [
  { href: adminPath(visit, '/orders'), text: visit.messages.layout.menuEntries.orders },
];

function invoicedPage(
  visit: ShopVisit,
  { done, refusals, all }: { done: readonly string[]; refusals: readonly Refused[]; all: readonly string[] },
): AdminPage {
  const messages = visit.messages.orders.bulk;
  const href = adminPath(visit, '/orders/files/invoices.pdf', { id: all });
  return {
    title: messages.invoice,
    menu: 'orders',
    breadcrumbs: breadcrumbsOf(visit),
    main:
      all.length === 0
        ? html`<p class="empty">${messages.none}</p>`
        : html`<div class="card">
            <p>${messages.invoiced({ count: done.length })}</p>
            ${refusals.length > 0 && refusalList(visit, refusals)} ${sellerNotice(visit)}
            <p>
              <a class="button main" href="${href}" target="_blank" rel="noopener"
                >${messages.printInvoices}</a
              >
            </p>
          </div>`,
  };
}

function refusalList({ messages }: ShopVisit, refusals: readonly Refused[]): Markup {
  return html`<div role="alert">
    <p>${messages.orders.bulk.refused}</p>
    <ul class="plain">
      ${refusals.map(({ orderNumber, problem }) => html`<li><strong>${orderNumber}</strong> ${problem}</li>`)}
    </ul>
  </div>`;
}

/** A line for each order chosen in the list, so that only the codes need to be typed. */
async function chosenNumbers({ db, shopId }: ShopVisit, { queryList }: PageRequest): Promise<string> {
  const orders = await findListedOrders(db, shopId, chosenIds(queryList('id')));
  return orders.map(({ orderNumber }) => `${orderNumber}\t`).join('\n');
}

function shipPage(
  visit: ShopVisit,
  codes: string,
  draft?: Draft,
  result?: { markup: Markup; hasUnpaid: boolean },
): AdminPage {
  const messages = visit.messages.orders;
  const shown = { draft, isDisabled: !visit.may('orders_write') };
  return {
    title: messages.bulk.shipMany,
    menu: 'orders',
    breadcrumbs: breadcrumbsOf(visit),
    main: html`${result?.markup}
      <form method="post" class="card">
        ${draft?.problem !== '' && problemOf(draft)}
        ${showFields(CODES, visit, { values: { codes }, ...shown })('codes')}
        ${showFields(SHIPMENT, visit, shown)('carrier', { choices: carrierChoices(visit) })}
        ${result?.hasUnpaid && unpaidField(visit, messages.bulk.unpaid, undefined)}
        <p class="hint">${messages.shipping.tellsCustomer({ minutes: UNDO_MINUTES })}</p>
        ${visit.may('orders_write') && html`<button class="main">${messages.submit.ship}</button>`}
      </form>`,
  };
}

/** Failed lines stay in the field, so that they can be fixed and sent again. */
async function shipped(visit: ShopVisit, form: FormRequest): Promise<AdminPage> {
  const messages = visit.messages.orders;
  const codes = pastedCodes(readFields(CODES, form, visit).codes);
  if (codes.length === 0) throw badRequest(messages.bulk.none);
  if (codes.length > MAX_AT_ONCE) throw badRequest(messages.bulk.tooMany({ most: MAX_AT_ONCE }));
  const { carrier } = readFields(SHIPMENT, form, visit);
  const choices = { carrier: carrier || null, isUnpaidShipped: isConfirmed(visit, form) };
  const refusals: (Refused & { text: string })[] = [];
  for (const code of codes) {
    const refusal = await shipOne(visit, code, choices);
    if (refusal) refusals.push({ orderNumber: code.number, text: code.text, ...refusal });
  }
  const rest = refusals.map(({ text }) => text).join('\n');
  const draft: Draft = {
    field: (name) => (name === 'codes' ? rest : form.field(name)),
    fieldList: form.fieldList,
    problem: '',
  };
  const count = codes.length - refusals.length;
  const result = html`${count > 0 && html`<p class="notice" role="status">${messages.bulk.shipped({ count })}</p>`}
  ${
    refusals.length > 0 &&
    html`<div class="card">
      <p>${messages.bulk.shipRefused({ count: refusals.length })}</p>
      ${refusalList(visit, refusals)}
    </div>`
  }`;
  return shipPage(visit, '', draft, {
    markup: result,
    hasUnpaid: refusals.some(({ isUnpaid }) => isUnpaid),
  });
}

/** Orders that wait for their payment are left out, unless the user has said otherwise. */
async function shipOne(
  visit: ShopVisit,
  { number, trackingCodes }: PastedCode,
  { carrier, isUnpaidShipped }: { carrier: string | null; isUnpaidShipped: boolean },
): Promise<Omit<Refused, 'orderNumber'> | undefined> {
  const messages = visit.messages.orders;
  const [order, another] = await findOrdersByNumberSuffix(visit.db, visit.shopId, number);
  if (!order) return { problem: messages.bulk.unknownNumber };
  if (another) return { problem: messages.bulk.severalOrders };
  const { orderId, unpaid, currency } = order;
  if (unpaid !== null && !isUnpaidShipped) {
    const amount = amountText(unpaid, visit, currency);
    return { problem: messages.shipping.unpaid({ amount }), isUnpaid: true };
  }
  const problem = await problemWith(visit, async () => {
    const body = parcelsOf(visit, { carrier, trackingCodes });
    await visit.call(createShipment, { params: { orderId }, body });
  });
  return problem === undefined ? undefined : { problem };
}

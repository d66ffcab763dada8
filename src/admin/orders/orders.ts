import { html } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { filterFields, wantedValues, type WantedValue } from '../../fields/filter.ts';
import { addresseeName } from '../../orders/documents/address-lines.ts';
import { findManagedOrders, type ListedManagedOrder } from '../../orders/list.ts';
import { orderState } from '../../orders/order-state.ts';
import { findOrderTags, findTagsOfOrders } from '../../orders/tags.ts';
import { dayText } from '../components/format.ts';
import { orderActionsOfApps } from '../apps/frames.ts';
import { listView } from '../components/list.ts';
import { listState, type Column, type ListState } from '../components/list-state.ts';
import { fieldColumns } from '../fields/field-columns.ts';
import { fieldFilters } from '../fields/list-filters.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { filterOf, fromTheEnd, orderPartOf } from './list-request.ts';
import {
  countWaiting,
  findListedOrders,
  findNewOrders,
  findOrdersWithReturns,
  findWaitingOrders,
  MAX_FOUND,
  searchOrders,
} from './queries.ts';
import { chipsView, goodsChips, LIST_PARTS, paymentChips, type OrderPart } from './states.ts';

export function orderListPages(pages: ShopPages): void {
  pages.get('/orders', 'orders_read', async (visit, request) => {
    const { db, shopId } = visit;
    const messages = visit.messages.orders;
    const tags = await findOrderTags(db, shopId, MAX_TAGS);
    const columns = orderColumns(visit);
    const fields = filterFields(visit.settings, 'order');
    const asked = listState(request, columns);
    const lastPage = isPagedByDate(asked, wantedOf(visit, asked)) ? LAST_PAGE : undefined;
    const state = listState(request, columns, lastPage);
    const [{ rows, results, isMore }, waiting] = await Promise.all([
      findOrderPage(visit, state),
      countWaiting(db, shopId),
    ]);
    const tagsOf = tags.length === 0 ? undefined : await tagsOfRows(visit, rows);
    const counts: Readonly<Record<string, number>> = { ...waiting };
    const part = orderPartOf(state);
    const mayWrite = visit.may('orders_write');
    return {
      title: visit.messages.layout.menuEntries.orders,
      menu: 'orders',
      actions: html`<a class="button" href="${adminPath(visit, '/orders/accounting')}"
          >${visit.messages.accounting.title}</a
        >
        ${
          mayWrite &&
          html`<a class="button" href="${adminPath(visit, '/orders/bank')}">${visit.messages.bank.title}</a>
            <a class="button" href="${adminPath(visit, '/orders/ship')}">${messages.bulk.shipMany}</a> ${
              visit.may('carts_price_write') &&
              html`<a class="button main" href="${adminPath(visit, '/orders/new')}"
                >${messages.byHand.title}</a
              >`
            }`
        }`,
      main: await listView(visit, request, {
        path: '/orders',
        caption: visit.messages.layout.menuEntries.orders,
        columns: [
          ...columns,
          ...(tagsOf ? [tagColumn(visit, tagsOf)] : []),
          ...(await fieldColumns(visit, request, 'order', rows, ({ orderId }) => orderId)),
        ],
        filters: [
          { kind: 'search', name: 'q', label: messages.search },
          { kind: 'date', name: 'from', label: messages.from },
          { kind: 'date', name: 'to', label: messages.to },
          ...(tags.length > 0
            ? [
                {
                  kind: 'choice' as const,
                  name: 'tag',
                  label: visit.messages.automation.orderTags.title,
                  choices: tags.map((tag) => ({ value: tag.toLowerCase(), text: tag })),
                },
              ]
            : []),
          ...fieldFilters(visit, fields),
        ],
        tabs: {
          name: 'state',
          current: part,
          tabs: LIST_PARTS.map((value) => ({ value, text: messages.parts[value], count: counts[value] })),
        },
        rows,
        results,
        isMore,
        ...(lastPage && { lastPage }),
        unread: { text: messages.new, is: ({ isNew }) => isNew },
        href: ({ orderId }) => adminPath(visit, `/orders/${orderId}`),
        idOf: ({ orderId }) => orderId,
        bulk: [
          ...(mayWrite ? [{ action: '/orders/invoices', text: messages.bulk.invoice }] : []),
          { action: '/orders/packing-slips', text: messages.bulk.packingSlips, method: 'get' as const },
          { action: '/orders/pick-list', text: messages.bulk.pickList, method: 'get' as const },
          ...(mayWrite ? [{ action: '/orders/ship', text: messages.bulk.ship, method: 'get' as const }] : []),
          ...orderActionsOfApps(visit)
            .filter(({ maxOrders }) => maxOrders > 1)
            .map(({ text, path }) => ({ action: path, text, method: 'get' as const })),
        ],
        exportPath: '/orders/files/orders.csv',
        empty: part === 'todo' ? messages.nothingToDo : messages.empty,
      }),
    };
  });
}

/** Of lists by date. */
const LAST_PAGE = 1_000_000;

/** Parts whose orders are few, and are found without the sums of days. */
const FOUND_PARTS: readonly OrderPart[] = ['new', 'waitingForPayment', 'paymentFailed', 'returns'];

function isPagedByDate(state: ListState, wanted: readonly WantedValue[]): boolean {
  const isByDate = state.sort === undefined || state.sort.endsWith('date');
  return (
    isByDate &&
    wanted.length === 0 &&
    tagOf(state) === '' &&
    state.filter('q').trim() === '' &&
    !FOUND_PARTS.includes(orderPartOf(state))
  );
}

/** Tags that the filter offers. */
const MAX_TAGS = 200;
const MAX_TAG_LENGTH = 40;

const tagOf = ({ filter }: Pick<ListState, 'filter'>) =>
  filter('tag').trim().slice(0, MAX_TAG_LENGTH).toLowerCase();

const tagsOfRows = ({ db, shopId }: ShopVisit, rows: readonly ListedManagedOrder[]) =>
  findTagsOfOrders(
    db,
    shopId,
    rows.map(({ orderId }) => orderId),
  );

const tagColumn = (
  { messages }: ShopVisit,
  tags: ReadonlyMap<string, readonly string[]>,
): Column<ListedManagedOrder> => ({
  name: 'tags',
  title: messages.automation.orderTags.title,
  cell: ({ orderId }) => tags.get(orderId)?.join(', '),
});

/** The custom fields by which the list is filtered. */
const wantedOf = ({ settings }: ShopVisit, { filter }: ListState) =>
  wantedValues(filterFields(settings, 'order'), filter);

export interface FoundOrders {
  rows: ListedManagedOrder[];
  results: number;
  /** There are more matches than a search reads. */
  isMore: boolean;
}

/** The orders of a page. Pages by date are found from the sums of days, so the last costs as much as the first. */
export async function findOrderPage(visit: ShopVisit, state: ListState): Promise<FoundOrders> {
  const { db, shopId } = visit;
  const wanted = wantedOf(visit, state);
  const { limit, offset, sort } = state;
  const { isNew, paymentWait, ...filter } = filterOf(state);
  const text = state.filter('q').trim();
  const isOfReturns = orderPartOf(state) === 'returns';
  const tag = tagOf(state);
  if (text !== '' || wanted.length > 0 || tag !== '') {
    const { orderIds, isMore } = await searchOrders(
      db,
      shopId,
      text,
      { ...filter, isNew, paymentWait },
      { wanted, tag },
    );
    const returned = isOfReturns ? new Set(await findOrdersWithReturns(db, shopId)) : undefined;
    const found = returned ? orderIds.filter((orderId) => returned.has(orderId)) : orderIds;
    const rows = await findListedOrders(db, shopId, found.slice(offset, offset + limit));
    return { rows, results: found.length, isMore };
  }
  if (isNew || paymentWait || isOfReturns) {
    const orderIds = await (isNew
      ? findNewOrders(db, shopId, filter)
      : paymentWait
        ? findWaitingOrders(db, shopId, paymentWait, filter)
        : findOrdersWithReturns(db, shopId));
    const rows = await findListedOrders(db, shopId, orderIds.slice(offset, offset + limit));
    return { rows, results: orderIds.length, isMore: orderIds.length === MAX_FOUND };
  }
  const isByChange = sort === 'changed' || sort === '-changed';
  const find = (range: { limit: number; offset: number }) =>
    findManagedOrders(
      db,
      shopId,
      { ...filter, currency: null, customerId: null, productId: null, updatedFrom: null },
      { by: isByChange ? 'touched' : 'created', isOldestFirst: sort === 'changed', ...range },
    );
  if (sort === 'date') {
    const { results } = await find({ limit: 1, offset: 0 });
    const { orders } = await find(fromTheEnd(state, results));
    return { rows: orders.toReversed(), results, isMore: false };
  }
  const { orders, results } = await find({ limit, offset });
  return { rows: orders, results, isMore: false };
}

function orderColumns(visit: ShopVisit): Column<ListedManagedOrder>[] {
  const { messages, language } = visit;
  const titles = messages.orders.columns;
  const chipped = (order: ListedManagedOrder) => ({
    ...order,
    state: orderState(order),
    paid: order.paidAmount,
    refunded: order.refundedAmount,
  });
  return [
    { name: 'number', title: titles.number, cell: ({ orderNumber }) => orderNumber },
    {
      name: 'date',
      title: titles.date,
      cell: ({ createdAt }) => dayText(createdAt, language),
      isSortable: true,
    },
    { name: 'customer', title: titles.customer, cell: ({ billingAddress }) => addresseeName(billingAddress) },
    {
      name: 'payment',
      title: titles.payment,
      cell: (order) => chipsView(paymentChips(chipped(order)), messages),
    },
    { name: 'goods', title: titles.goods, cell: (order) => chipsView(goodsChips(chipped(order)), messages) },
    {
      name: 'total',
      title: titles.total,
      cell: ({ content, currency }) => moneyText(content.grandTotal, currency, language),
      isNumeric: true,
    },
    {
      name: 'email',
      title: titles.email,
      cell: ({ billingAddress }) => billingAddress.emailAddress,
      isExtra: true,
    },
    {
      name: 'country',
      title: titles.country,
      cell: ({ shippingAddress, billingAddress }) => (shippingAddress ?? billingAddress).country,
      isExtra: true,
    },
    {
      name: 'changed',
      title: titles.changed,
      cell: ({ updatedAt }) => updatedAt && dayText(updatedAt, language),
      isSortable: true,
      isExtra: true,
    },
    {
      name: 'note',
      title: titles.note,
      cell: ({ internalNote }) => internalNote?.slice(0, 100),
      isExtra: true,
    },
  ];
}

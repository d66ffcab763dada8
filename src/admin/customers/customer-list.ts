import { Readable } from 'node:stream';
import { csvLine, escapeFormula } from '../../catalogue/products/csv-cells.ts';
import { html } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { isId } from '../../kernel/ids.ts';
import { toDecimal } from '../../kernel/money.ts';
import { dayText } from '../components/format.ts';
import { listView } from '../components/list.ts';
import { listState, type Column, type ListState } from '../components/list-state.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { personName } from './names.ts';
import {
  countListedCustomers,
  findCustomersAfter,
  findListedCustomers,
  type CustomerFilter,
  type ListedCustomer,
  type OrderSum,
} from './queries.ts';

export function customerList(pages: ShopPages): void {
  pages.get('/customers', 'customers_read', async (visit, request) => {
    const { db, shopId, settings, messages } = visit;
    const columns = customerColumns(visit);
    const state = listState(request, columns);
    const filter = filterOf(state);
    const [rows, counted] = await Promise.all([
      findListedCustomers(db, shopId, filter, { ...state, isOldestFirst: state.sort === 'since' }),
      countListedCustomers(db, shopId, filter),
    ]);
    const groups = settings.customerGroups.map(({ customerGroupId, name }) => ({
      value: customerGroupId,
      text: name,
    }));
    return {
      title: messages.layout.menuEntries.customers,
      menu: 'customers',
      actions: visit.may('customers_write')
        ? html`<a class="button main" href="${adminPath(visit, '/customers/new')}"
            >${messages.customers.new}</a
          >`
        : undefined,
      main: await listView(visit, request, {
        path: '/customers',
        caption: messages.layout.menuEntries.customers,
        columns,
        filters: [
          { kind: 'search', name: 'q', label: messages.customers.search },
          ...(groups.length > 0
            ? [{ kind: 'choice', name: 'group', label: messages.customers.group, choices: groups } as const]
            : []),
        ],
        rows,
        ...counted,
        href: ({ customerId }) => adminPath(visit, `/customers/${customerId}`),
        exportPath: '/customers/export.csv',
        empty: messages.customers.empty,
      }),
    };
  });

  pages.file('/customers/export.csv', 'customers_read', async (visit, request) => {
    const { db, messages } = visit;
    const filter = filterOf(listState(request, []));
    await db.transaction((tx) => recordAction(tx, visit, '/customers/export.csv', {}, 'GET'));
    return {
      type: 'text/csv; charset=utf-8',
      fileName: `${messages.customers.fileName}.csv`,
      content: Readable.from(customerFile(visit, filter), { objectMode: false, highWaterMark: 65_536 }),
    };
  });
}

function filterOf(state: ListState): CustomerFilter {
  const group = state.filter('group');
  return { text: state.filter('q').trim(), customerGroupId: isId(group) ? group : '' };
}

function customerColumns({ messages, language, locale, settings }: ShopVisit): Column<ListedCustomer>[] {
  const titles = messages.customers;
  return [
    { name: 'name', title: titles.name, cell: (row) => personName(row) || row.email || row.customerNumber },
    { name: 'email', title: titles.email, cell: ({ email }) => email },
    { name: 'number', title: titles.number, cell: ({ customerNumber }) => customerNumber },
    {
      name: 'orders',
      title: titles.orders,
      isNumeric: true,
      cell: ({ sums }) => sums.reduce((count, { orders }) => count + orders, 0),
    },
    {
      name: 'value',
      title: titles.value,
      isNumeric: true,
      cell: ({ sums }) => valueText(sums, settings.defaultCurrency, locale),
    },
    {
      name: 'last',
      title: titles.lastOrder,
      cell: ({ sums }) => {
        const last = lastOf(sums);
        return last ? dayText(last, language) : html`<span class="quiet">${titles.never}</span>`;
      },
    },
    {
      name: 'since',
      title: titles.since,
      isSortable: true,
      isExtra: true,
      cell: ({ createdAt }) => dayText(createdAt, language),
    },
    { name: 'company', title: titles.company, cell: ({ company }) => company, isExtra: true },
    { name: 'city', title: titles.city, cell: ({ city }) => city, isExtra: true },
    { name: 'group', title: titles.group, cell: ({ customerGroup }) => customerGroup, isExtra: true },
  ];
}

/** `€120.00`; one amount per currency. */
export function valueText(sums: readonly OrderSum[], defaultCurrency: string, locale: string): string {
  if (sums.length === 0) return moneyText(0, defaultCurrency, locale);
  return sums.map(({ gross, currency }) => moneyText(gross, currency, locale)).join(' + ');
}

export function lastOf(sums: readonly OrderSum[]): Date | undefined {
  const last = sums.map(({ lastAt }) => Date.parse(lastAt));
  return last.length === 0 ? undefined : new Date(Math.max(...last));
}

const AT_ONCE = 500;
const EXPORTED = [
  'company',
  'salutation',
  'firstName',
  'lastName',
  'street',
  'streetDetails',
  'zipCode',
  'city',
  'country',
  'emailAddress',
  'phoneNumber',
  'vatId',
] as const;

/** Streamed in parts. */
export async function* customerFile(
  { db, shopId, messages, settings }: Pick<ShopVisit, 'db' | 'shopId' | 'messages' | 'settings'>,
  filter: CustomerFilter,
): AsyncGenerator<string> {
  const titles = messages.customers;
  // Spreadsheets read UTF-8 only if the file says so.
  yield `\u{feff}${csvLine([
    titles.number,
    ...EXPORTED.map((field) => titles.fields[field]),
    titles.group,
    titles.since,
    titles.orders,
    `${titles.value} (${settings.defaultCurrency})`,
    titles.lastOrder,
  ])}`;
  let after = { createdAt: new Date(0), customerId: '00000000-0000-0000-0000-000000000000' };
  for (;;) {
    const rows = await findCustomersAfter(db, shopId, filter, { after, limit: AT_ONCE });
    yield rows
      .map(({ customerNumber, billingAddress, customerGroup, createdAt, sums }) => {
        const own = sums.find(({ currency }) => currency === settings.defaultCurrency);
        return csvLine(
          [
            customerNumber,
            ...EXPORTED.map((field) => billingAddress?.[field] ?? ''),
            customerGroup ?? '',
            createdAt.toISOString().slice(0, 10),
            String(sums.reduce((count, { orders }) => count + orders, 0)),
            String(toDecimal(own?.gross ?? 0, settings.defaultCurrency)),
            lastOf(sums)?.toISOString().slice(0, 10) ?? '',
          ].map(escapeFormula),
        );
      })
      .join('');
    const last = rows.at(-1);
    if (!last || rows.length < AT_ONCE) return;
    after = last;
  }
}

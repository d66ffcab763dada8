import { dayOf } from '../../http/dates.ts';
import { findSegments } from '../../people/customers/segments.ts';
import { Readable } from 'node:stream';
import { csvLine, escapeFormula } from '../../catalogue/products/csv-cells.ts';
import { filterFields, wantedValues, type WantedValue } from '../../fields/filter.ts';
import { html } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { toDecimal } from '../../kernel/money.ts';
import { findShopTags } from '../../people/customers/tags.ts';
import { countryChoices } from '../components/country-choices.ts';
import { chip, dayText } from '../components/format.ts';
import { listView } from '../components/list.ts';
import { listState, type Column, type Filter } from '../components/list-state.ts';
import { columnFields, fieldColumns, fieldTexts } from '../fields/field-columns.ts';
import { customFieldName } from '../fields/field-inputs.ts';
import { fieldFilters } from '../fields/list-filters.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { toFilter } from '../../people/customers/customer-filter.ts';
import { givenValues, languageText } from './customer-filter.ts';
import type { CustomerFilter } from '../../people/customers/find-people.ts';
import { personName } from './names.ts';
import {
  findCustomerPage,
  findCustomersAfter,
  findExportedCustomers,
  type ListedCustomer,
  type OrderSum,
} from './queries.ts';
import { countingNotice, saveSegmentForm, segmentLinks } from './segments.ts';

export function customerList(pages: ShopPages): void {
  pages.get('/customers', 'customers_read', async (visit, request) => {
    const { db, shopId, messages } = visit;
    const columns = customerColumns(visit);
    const state = listState(request, columns);
    const filter = toFilter(state.filter, visit.settings);
    const current = givenValues(state.filter);
    const fields = filterFields(visit.settings, 'customer');
    const wanted = wantedValues(fields, state.filter);
    const [{ rows, results, isMore }, segments, tags] = await Promise.all([
      findCustomerPage(db, shopId, filter, { ...state, isOldestFirst: state.sort === 'since' }, wanted),
      findSegments(db, shopId),
      findShopTags(db, shopId, MAX_OFFERED_TAGS),
    ]);
    const mayWrite = visit.may('customers_write');
    return {
      title: messages.layout.menuEntries.customers,
      menu: 'customers',
      actions: html`${
        visit.settings.visibility.shop === 'groups' &&
        html`<a class="button" href="${adminPath(visit, '/access-requests')}"
          >${messages.accessRequests.title}</a
        >`
      }
      ${
        mayWrite &&
        html`<a class="button main" href="${adminPath(visit, '/customers/new')}"
          >${messages.customers.new}</a
        >`
      }`,
      main: html`${segmentLinks(visit, segments, current)}
      ${await listView(visit, request, {
        path: '/customers',
        caption: messages.layout.menuEntries.customers,
        columns: [
          ...columns,
          ...(await fieldColumns(visit, request, 'customer', rows, ({ customerId }) => customerId)),
        ],
        filters: [...filtersOf(visit, tags), ...fieldFilters(visit, fields)],
        rows,
        results,
        isMore,
        above: html`${usesTotals(filter) && (await countingNotice(visit))}
        ${wanted.length === 0 && saveSegmentForm(visit, segments, current)}`,
        href: ({ customerId }) => adminPath(visit, `/customers/${customerId}`),
        idOf: ({ customerId }) => customerId,
        bulk: mayWrite
          ? [{ action: '/customers/tags', text: messages.customers.editTags, method: 'get' }]
          : [],
        exportPath: '/customers/export.csv',
        empty: messages.customers.empty,
      })}`,
    };
  });

  pages.file('/customers/export.csv', 'customers_read', async (visit, request) => {
    const { db, messages } = visit;
    const state = listState(request, []);
    const filter = toFilter(state.filter, visit.settings);
    const wanted = wantedValues(filterFields(visit.settings, 'customer'), state.filter);
    await db.transaction((tx) => recordAction(tx, visit, '/customers/export.csv', {}, 'GET'));
    return {
      type: 'text/csv; charset=utf-8',
      fileName: `${messages.customers.fileName}.csv`,
      content: Readable.from(customerFile(visit, filter, wanted), {
        objectMode: false,
        highWaterMark: 65_536,
      }),
    };
  });
}

const MAX_OFFERED_TAGS = 200;

function filtersOf({ messages, language, settings }: ShopVisit, tags: readonly string[]): Filter[] {
  const words = messages.customers;
  const groups = settings.customerGroups.map(({ customerGroupId, name }) => ({
    value: customerGroupId,
    text: name,
  }));
  const languages = [...new Set(settings.locales.map((locale) => locale.slice(0, 2)))];
  const currencies = settings.currencies.map((value) => ({ value, text: value }));
  const more = { isMore: true } as const;
  return [
    { kind: 'search', name: 'q', label: words.search },
    ...(groups.length > 0
      ? [{ kind: 'choice', name: 'group', label: words.group, choices: groups } as const]
      : []),
    { kind: 'text', name: 'tags', label: words.filters.tags, offered: tags },
    {
      ...more,
      kind: 'choice',
      name: 'country',
      label: words.filters.country,
      choices: countryChoices(language),
    },
    {
      ...more,
      kind: 'choice',
      name: 'language',
      label: words.filters.language,
      choices: languages.map((value) => ({ value, text: languageText(value, language) })),
    },
    {
      ...more,
      kind: 'choice',
      name: 'newsletter',
      label: words.filters.newsletter,
      choices: [
        { value: 'yes', text: words.subscribed },
        { value: 'no', text: words.notSubscribed },
      ],
    },
    { ...more, kind: 'number', name: 'minOrders', label: words.filters.minOrders },
    { ...more, kind: 'number', name: 'maxOrders', label: words.filters.maxOrders },
    { ...more, kind: 'number', name: 'minValue', label: words.filters.minValue },
    { ...more, kind: 'number', name: 'maxValue', label: words.filters.maxValue },
    ...(currencies.length > 1
      ? [
          {
            ...more,
            kind: 'choice',
            name: 'currency',
            label: words.filters.currency,
            choices: currencies,
          } as const,
        ]
      : []),
    { ...more, kind: 'date', name: 'after', label: words.filters.after },
    { ...more, kind: 'date', name: 'before', label: words.filters.before },
  ];
}

/** Whether the filter asks for what is counted from orders. */
function usesTotals(filter: CustomerFilter): boolean {
  const { language, minOrders, maxOrders, minWorth, maxWorth, lastOrderFrom, lastOrderBefore } = filter;
  const values = [minOrders, maxOrders, minWorth, maxWorth, lastOrderFrom, lastOrderBefore];
  return language !== '' || values.some((value) => value !== undefined);
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
    { name: 'tags', title: titles.tags, cell: ({ tags }) => tagChips(tags), isExtra: true },
  ];
}

/** The tags of a customer. */
export const tagChips = (tags: readonly string[]) =>
  html`<span class="chips">${tags.map((tag) => chip(tag))}</span>`;

/** `€120.00`; one amount per currency. */
export function valueText(sums: readonly OrderSum[], defaultCurrency: string, locale: string): string {
  if (sums.length === 0) return moneyText(0, defaultCurrency, locale);
  return sums.map(({ worth, currency }) => moneyText(worth, currency, locale)).join(' + ');
}

export function firstOf(sums: readonly OrderSum[]): Date | undefined {
  const first = sums.map(({ firstAt }) => Date.parse(firstAt));
  return first.length === 0 ? undefined : new Date(Math.min(...first));
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
  visit: Pick<ShopVisit, 'db' | 'shopId' | 'locale' | 'language' | 'messages' | 'settings'>,
  filter: CustomerFilter,
  wanted: readonly WantedValue[] = [],
): AsyncGenerator<string> {
  const { db, shopId, messages, settings } = visit;
  const titles = messages.customers;
  const fields = columnFields(settings, 'customer');
  // Spreadsheets read UTF-8 only if the file says so.
  yield `\u{feff}${csvLine([
    titles.number,
    ...EXPORTED.map((field) => titles.fields[field]),
    titles.group,
    titles.tags,
    titles.language,
    titles.since,
    titles.orders,
    `${titles.value} (${settings.defaultCurrency})`,
    titles.lastOrder,
    ...fields.map((field) => escapeFormula(customFieldName(field, visit))),
  ])}`;
  let after = { createdAt: new Date(0), customerId: '00000000-0000-0000-0000-000000000000' };
  for (;;) {
    const walked = await findCustomersAfter(db, shopId, { after, limit: AT_ONCE });
    const ids = walked.map(({ customerId }) => customerId);
    const rows = await findExportedCustomers(db, shopId, filter, ids, wanted);
    const textOf = await fieldTexts(
      visit,
      fields,
      rows.map(({ customerId }) => customerId),
    );
    yield rows
      .map(
        ({ customerId, customerNumber, billingAddress, customerGroup, tags, language, createdAt, sums }) => {
          const own = sums.find(({ currency }) => currency === settings.defaultCurrency);
          return csvLine(
            [
              customerNumber,
              ...EXPORTED.map((field) => billingAddress?.[field] ?? ''),
              customerGroup ?? '',
              tags.join(', '),
              language ?? '',
              dayOf(createdAt),
              String(sums.reduce((count, { orders }) => count + orders, 0)),
              String(toDecimal(own?.worth ?? 0, settings.defaultCurrency)),
              lastOf(sums)?.toISOString().slice(0, 10) ?? '',
              ...fields.map((field) => textOf(field, customerId)),
            ].map(escapeFormula),
          );
        },
      )
      .join('');
    const last = walked.at(-1);
    if (!last || walked.length < AT_ONCE) return;
    after = last;
  }
}

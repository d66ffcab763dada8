import { html, type Markup, type Part } from '../../http/html.ts';
import type { PageRequest } from '../pages.ts';
import { findViews, type SavedView } from '../views/queries.ts';
import { to, type ShopVisit } from '../visit.ts';
import type { Choice } from './form.ts';

export interface Column<Row> {
  /** Stands in the address when columns are chosen. */
  name: string;
  title: string;
  cell: (row: Row) => Part;
  /** Numbers and amounts stand to the right. */
  isNumeric?: boolean;
  /** The list can be sorted by it: `sort=name` or `sort=-name`. */
  isSortable?: boolean;
  /** Is shown only to who chooses it. */
  isExtra?: boolean;
}

export type Filter =
  | { kind: 'search'; name: string; label: string }
  | { kind: 'choice'; name: string; label: string; choices: readonly Choice[] }
  | { kind: 'date'; name: string; label: string };

/** Parts of a list that are always offered, in place of "all": a parameter of the address, and its values. */
export interface Tabs {
  name: string;
  /** The first one is shown when the address names none. */
  tabs: readonly { value: string; text: string; count?: number | undefined }[];
  current: string;
}

export interface BulkAction {
  /** The form with the field `id` of every chosen row is sent here. */
  action: string;
  text: string;
  kind?: 'danger';
  /** Opens a page with a form of its own instead: the ids are in its address. */
  method?: 'get' | 'post';
}

/** What the address says about a list. */
export interface ListState {
  /** Begins with 1. */
  page: number;
  limit: number;
  offset: number;
  /** A column, with a minus before it for descending; undefined: the order that the list has by itself. */
  sort: string | undefined;
  filter: (name: string) => string;
}

export interface List<Row> {
  /** Of the page below the shop: `/customers`. */
  path: string;
  /** For screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  filters: readonly Filter[];
  tabs?: Tabs;
  rows: readonly Row[];
  /** How many rows there are on all pages together. */
  results: number;
  /** There are more, or there may be: not all were looked at. */
  isMore?: boolean;
  /** For a list that finds any page as fast as the first one. */
  lastPage?: number;
  /** Nobody has opened it yet, so it stands out. */
  isUnread?: (row: Row) => boolean;
  href: (row: Row) => string;
  /** What actions on several rows name a row by. */
  idOf?: (row: Row) => string;
  bulk?: readonly BulkAction[];
  /** A file with all rows that the filters leave. */
  exportPath?: string;
  /** What is said when there is nothing at all. */
  empty: Part;
}

const PER_PAGE = 50;
/** Nobody leafs further, and the database would read all rows before it. */
const LAST_PAGE = 200;

export function listState(
  request: PageRequest,
  columns: readonly Column<never>[],
  lastPage = LAST_PAGE,
): ListState {
  const number = Number(request.query('page') ?? 1);
  const page = Number.isInteger(number) && number > 0 ? Math.min(number, lastPage) : 1;
  const sort = request.query('sort');
  const isKnown = columns.some(({ name, isSortable }) => isSortable && name === sort?.replace(/^-/, ''));
  return {
    page,
    limit: PER_PAGE,
    offset: (page - 1) * PER_PAGE,
    sort: isKnown ? sort : undefined,
    filter: (name) => request.query(name)?.slice(0, 200) ?? '',
  };
}

/** Filters, views, table and pages of a list. All of its state is in the address, so that it can be shared and kept. */
export async function listView<Row>(
  visit: ShopVisit,
  request: PageRequest,
  list: List<Row>,
): Promise<Markup> {
  const views = await findViews(visit.db, visit.shopId, visit.user.userId, list.path);
  const state = listState(request, list.columns, list.lastPage);
  const query = currentQuery(request, list, state);
  const columns = shownColumns(request, list.columns);
  const isFiltered = list.filters.some(({ name }) => state.filter(name) !== '');
  return html`${viewTabs(visit, list, views, request.search, query)} ${filterForm(visit, list, state, query)}
    <div id="list" class="list">
      ${
        list.rows.length === 0
          ? html`<div class="empty">
              ${isFiltered ? visit.words.list.nothingFound : list.empty}
              ${list.isMore && visit.words.list.tooMuch}
            </div>`
          : html`${table(visit, list, columns, state, query)} ${pageLinks(visit, list, state, query)}`
      }
    </div>`;
}

type Query = Record<string, string | undefined>;

function currentQuery<Row>(request: PageRequest, { filters, tabs }: List<Row>, { sort }: ListState): Query {
  const names = [...filters.map(({ name }) => name), ...(tabs ? [tabs.name] : [])];
  const filtered = names.map((name): [string, string | undefined] => [name, request.query(name)]);
  return { ...Object.fromEntries(filtered), sort, columns: request.query('columns') };
}

function shownColumns<Row>(request: PageRequest, columns: readonly Column<Row>[]): readonly Column<Row>[] {
  const chosen = request.query('columns')?.split(',');
  const shown = columns.filter(({ name, isExtra }) => (chosen ? chosen.includes(name) : !isExtra));
  return shown.length === 0 ? columns.filter(({ isExtra }) => !isExtra) : shown;
}

function viewTabs<Row>(
  visit: ShopVisit,
  { path, tabs }: List<Row>,
  views: readonly SavedView[],
  search: string,
  query: Query,
): Markup {
  const words = visit.words.list;
  const href = (query: string) => to(visit, path) + (query === '' ? '' : `?${query}`);
  const isTab = tabs !== undefined && (search === '' || search === `${tabs.name}=${tabs.current}`);
  const isView = views.some((view) => view.query === search);
  const isSaved = search === '' || isTab || isView;
  return html`<nav class="views" aria-label="${words.views}">
    ${
      tabs
        ? tabs.tabs.map(
            ({ value, text, count }, index) =>
              html`<a
                href="${to(visit, path, { ...query, [tabs.name]: index === 0 ? undefined : value })}"
                ${value === tabs.current && !isView && html`aria-current="page"`}
                >${text}${count !== undefined && html` <span class="count">${count.toLocaleString(visit.language)}</span>`}</a
              >`,
          )
        : html`<a href="${href('')}" ${search === '' && html`aria-current="page"`}>${words.all}</a>`
    }
    ${views.map(
      ({ viewId, name, query: saved }) =>
        html`<span class="view"
          ><a href="${href(saved)}" ${saved === search && html`aria-current="page"`}>${name}</a>
          <form method="post" action="${to(visit, `/views/${viewId}/delete`)}">
            <button class="link" aria-label="${words.deleteView({ name })}">×</button>
          </form></span
        >`,
    )}
    ${
      !isSaved &&
      html`<details class="save-view">
        <summary>${words.saveView}</summary>
        <form method="post" action="${to(visit, '/views')}" class="popover">
          <input type="hidden" name="list" value="${path}" />
          <input type="hidden" name="query" value="${search}" />
          <label for="view-name">${words.viewName}</label>
          <input id="view-name" name="name" maxlength="60" required />
          <button class="main">${words.save}</button>
        </form>
      </details>`
    }
  </nav>`;
}

/** Filters take effect while one types; without scripts, with the button. */
function filterForm<Row>(visit: ShopVisit, list: List<Row>, state: ListState, query: Query): Markup {
  const words = visit.words.list;
  const tab = list.tabs && { [list.tabs.name]: query[list.tabs.name] };
  const hidden = { sort: query['sort'], columns: query['columns'], ...tab };
  return html`<form
    class="filters"
    method="get"
    action="${to(visit, list.path)}"
    hx-get="${to(visit, list.path)}"
    hx-trigger="input delay:300ms, change, submit"
    hx-target="#list"
    hx-select="#list"
    hx-swap="outerHTML"
    hx-push-url="true"
  >
    ${Object.entries(hidden).map(
      ([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    ${list.filters.map((filter) => filterField(filter, state.filter(filter.name), words.any))}
    <button class="without-script">${words.filter}</button>
    <span class="space"></span>
    ${columnChooser(list, query, words.columns)}
    ${
      list.exportPath !== undefined &&
      html`<a class="button" href="${to(visit, list.exportPath, query)}" hx-boost="false">${words.export}</a>`
    }
  </form>`;
}

function filterField(filter: Filter, value: string, any: string): Markup {
  const id = `filter-${filter.name}`;
  if (filter.kind === 'choice') {
    return html`<label for="${id}" class="hidden">${filter.label}</label>
      <select id="${id}" name="${filter.name}">
        <option value="">${filter.label}: ${any}</option>
        ${filter.choices.map(
          (choice) =>
            html`<option value="${choice.value}" ${choice.value === value && html`selected`}>
              ${choice.text}
            </option>`,
        )}
      </select>`;
  }
  if (filter.kind === 'date') {
    return html`<span class="date"
      ><label for="${id}">${filter.label}</label>
      <input type="date" id="${id}" name="${filter.name}" value="${value}"
    /></span>`;
  }
  return html`<label for="${id}" class="hidden">${filter.label}</label>
    <input
      type="search"
      id="${id}"
      name="${filter.name}"
      value="${value}"
      maxlength="200"
      placeholder="${filter.label}"
    />`;
}

/** The boxes are joined to one parameter by the script, so it is hidden where scripts do not run. */
function columnChooser<Row>({ columns }: List<Row>, query: Query, text: string): Markup | false {
  if (!columns.some(({ isExtra }) => isExtra)) return false;
  const chosen = query['columns']?.split(',');
  return html`<details class="columns with-script">
    <summary class="button">${text}</summary>
    <div class="popover" data-columns>
      ${columns.map(
        ({ name, title, isExtra }) =>
          html`<label
            ><input
              type="checkbox"
              value="${name}"
              ${(chosen ? chosen.includes(name) : !isExtra) && html`checked`}
            />
            ${title}</label
          >`,
      )}
    </div>
  </details>`;
}

function table<Row>(
  visit: ShopVisit,
  list: List<Row>,
  columns: readonly Column<Row>[],
  state: ListState,
  query: Query,
): Markup {
  const { idOf, bulk = [] } = list;
  const isBulk = idOf !== undefined && bulk.length > 0;
  const body = html`<table>
    <caption class="hidden">
      ${list.caption}
    </caption>
    <thead>
      <tr>
        ${
          isBulk &&
          html`<th class="choose">
            <input
              type="checkbox"
              class="with-script"
              data-choose-all
              aria-label="${visit.words.list.chooseAll}"
            />
          </th>`
        }
        ${columns.map((column) => headCell(visit, list.path, column, state, query))}
      </tr>
    </thead>
    <tbody>
      ${list.rows.map(
        (row) =>
          html`<tr class="${list.isUnread?.(row) ? 'unread' : ''}">
            ${
              isBulk &&
              html`<td class="choose">
                <input
                  type="checkbox"
                  name="id"
                  value="${idOf(row)}"
                  aria-label="${visit.words.list.choose}"
                />
              </td>`
            }
            ${columns.map(
              (column, index) =>
                html`<td class="${column.isNumeric ? 'number' : ''}" data-title="${column.title}">
                  ${index === 0 ? html`<a href="${list.href(row)}">${column.cell(row)}</a>` : column.cell(row)}
                </td>`,
            )}
          </tr>`,
      )}
    </tbody>
  </table>`;
  if (!isBulk) return body;
  return html`<form method="post" class="bulk">
    <div class="bulk-actions">
      ${bulk.map(
        ({ action, text, kind, method = 'post' }) =>
          html`<button formaction="${to(visit, action)}" formmethod="${method}" class="${kind ?? ''}">
            ${text}
          </button>`,
      )}
    </div>
    ${body}
  </form>`;
}

function headCell<Row>(
  visit: ShopVisit,
  path: string,
  { name, title, isNumeric, isSortable }: Column<Row>,
  { sort }: ListState,
  query: Query,
): Markup {
  const kind = isNumeric ? 'number' : '';
  if (!isSortable) return html`<th scope="col" class="${kind}">${title}</th>`;
  const direction = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined;
  const next = direction === 'ascending' ? `-${name}` : name;
  return html`<th scope="col" class="${kind}" ${direction !== undefined && html`aria-sort="${direction}"`}>
    <a href="${to(visit, path, { ...query, sort: next })}">${title}</a>
  </th>`;
}

function pageLinks<Row>(visit: ShopVisit, list: List<Row>, state: ListState, query: Query): Markup {
  const words = visit.words.list;
  const { page, limit, offset } = state;
  const { lastPage = LAST_PAGE } = list;
  const href = (to_: number) => to(visit, list.path, { ...query, page: to_ === 1 ? undefined : String(to_) });
  const last = offset + list.rows.length;
  const isLast = list.rows.length < limit || (!list.isMore && last >= list.results);
  const number = (value: number) => value.toLocaleString(visit.language);
  return html`<nav class="pages" aria-label="${words.pages}">
    <span class="quiet"
      >${words.range({
        first: number(offset + 1),
        last: number(last),
        results: number(Math.max(list.results, last)) + (list.isMore ? '+' : ''),
      })}</span
    >
    ${page > 1 && html`<a class="button" rel="prev" href="${href(page - 1)}">${words.previous}</a>`}
    ${!isLast && page < lastPage && html`<a class="button" rel="next" href="${href(page + 1)}">${words.next}</a>`}
    ${!isLast && page === lastPage && html`<span class="quiet">${words.narrow}</span>`}
  </nav>`;
}

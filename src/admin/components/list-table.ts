import { html, type Markup } from '../../http/html.ts';
import type { FormRequest } from '../../http/page-kit.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { chip } from './format.ts';
import { LAST_PAGE, type Column, type ListDefinition, type ListState, type Query } from './list-state.ts';

/** Rows can be chosen, to do something with all of them. */
const hasBulk = <Row>({ idOf, bulk = [] }: ListDefinition<Row>) => idOf !== undefined && bulk.length > 0;

/** The rows of a list that were checked, by `idOf`. */
export const checkedRows = (form: Pick<FormRequest, 'fieldList'>) => form.fieldList('id');

export function listTable<Row>(
  visit: ShopVisit,
  list: ListDefinition<Row>,
  columns: readonly Column<Row>[],
  state: ListState,
  query: Query,
): Markup {
  const isBulk = hasBulk(list);
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
              aria-label="${visit.messages.list.chooseAll}"
            />
          </th>`
        }
        ${columns.map((column) => headCell(visit, list.path, column, state, query))}
      </tr>
    </thead>
    <tbody>
      ${list.rows.map((row) => tableRow(visit, list, columns, row))}
    </tbody>
  </table>`;
  if (!isBulk) return body;
  return html`<form method="post" class="bulk">
    <div class="bulk-actions">
      <span class="chosen-count">${visit.messages.list.chosen} <output></output></span>
      ${list.bulk?.map(
        ({ action, text, kind, method = 'post' }) =>
          html`<button formaction="${adminPath(visit, action)}" formmethod="${method}" class="${kind ?? ''}">
            ${text}
          </button>`,
      )}
    </div>
    ${body}
  </form>`;
}

function tableRow<Row>(
  { messages }: ShopVisit,
  list: ListDefinition<Row>,
  columns: readonly Column<Row>[],
  row: Row,
): Markup {
  const { idOf, unread } = list;
  const isUnread = unread?.is(row) ?? false;
  return html`<tr class="${isUnread ? 'unread' : ''}">
    ${
      idOf &&
      hasBulk(list) &&
      html`<td class="choose">
        <input type="checkbox" name="id" value="${idOf(row)}" aria-label="${messages.list.choose}" />
      </td>`
    }
    ${columns.map((column, index) => {
      const content =
        index === 0
          ? html`<a href="${list.href(row)}">${column.cell(row)}</a> ${isUnread && chip(unread!.text, 'new')}`
          : column.cell(row);
      return html`<td class="${column.isNumeric ? 'number' : ''}" data-title="${column.title}">
        ${content}
      </td>`;
    })}
  </tr>`;
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
    <a href="${adminPath(visit, path, { ...query, sort: next })}">${title}</a>
  </th>`;
}

export function pageLinks<Row>(
  visit: ShopVisit,
  list: ListDefinition<Row>,
  state: ListState,
  query: Query,
): Markup {
  const messages = visit.messages.list;
  const { page, limit, offset } = state;
  const { lastPage = LAST_PAGE } = list;
  const href = (to_: number) =>
    adminPath(visit, list.path, { ...query, page: to_ === 1 ? undefined : String(to_) });
  const last = offset + list.rows.length;
  const isLast = list.rows.length < limit || (!list.isMore && last >= list.results);
  const number = (value: number) => value.toLocaleString(visit.language);
  return html`<nav class="pages" aria-label="${messages.pages}">
    <span class="quiet"
      >${messages.range({
        first: number(offset + 1),
        last: number(last),
        results: number(Math.max(list.results, last)) + (list.isMore ? '+' : ''),
      })}</span
    >
    ${page > 1 && html`<a class="button" rel="prev" href="${href(page - 1)}">${messages.previous}</a>`}
    ${!isLast && page < lastPage && html`<a class="button" rel="next" href="${href(page + 1)}">${messages.next}</a>`}
    ${!isLast && page === lastPage && html`<span class="quiet">${messages.narrow}</span>`}
  </nav>`;
}

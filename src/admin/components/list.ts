import { html, type Markup } from '../../http/html.ts';
import { findViews, type SavedView } from '../views/queries.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { filterForm } from './list-filters.ts';
import { currentQuery, listState, type Column, type ListDefinition, type Query } from './list-state.ts';
import { listTable, pageLinks } from './list-table.ts';
import type { PageRequest } from '../../http/page-kit.ts';

/**
 * Filters, views, table and pages of a list. All of its state is in the address, so that it can be shared and
 * bookmarked.
 */
export async function listView<Row>(
  visit: ShopVisit,
  request: PageRequest,
  list: ListDefinition<Row>,
): Promise<Markup> {
  const views = await findViews(visit.db, visit.shopId, visit.user.userId, list.path);
  const state = listState(request, list.columns, list.lastPage);
  const query = currentQuery(request, list, state);
  const columns = shownColumns(request, list.columns);
  const isFiltered = list.filters.some(({ name }) => state.filter(name) !== '');
  return html`${viewTabs(visit, list, views, request.search, query)} ${filterForm(visit, list, state, query)}
    <div id="list" class="list">
      ${list.above}
      ${
        list.rows.length === 0
          ? html`<div class="empty">
              ${isFiltered ? visit.messages.list.nothingFound : list.empty}
              ${list.isMore && visit.messages.list.tooMuch}
            </div>`
          : html`${listTable(visit, list, columns, state, query)} ${pageLinks(visit, list, state, query)}`
      }
    </div>`;
}

function shownColumns<Row>(request: PageRequest, columns: readonly Column<Row>[]): readonly Column<Row>[] {
  const chosen = request.query('columns')?.split(',');
  const shown = columns.filter(({ name, isExtra }) => (chosen ? chosen.includes(name) : !isExtra));
  return shown.length === 0 ? columns.filter(({ isExtra }) => !isExtra) : shown;
}

function viewTabs<Row>(
  visit: ShopVisit,
  { path, tabs }: ListDefinition<Row>,
  views: readonly SavedView[],
  search: string,
  query: Query,
): Markup {
  const messages = visit.messages.list;
  const href = (query: string) => adminPath(visit, path) + (query === '' ? '' : `?${query}`);
  const isTab = tabs !== undefined && (search === '' || search === `${tabs.name}=${tabs.current}`);
  const isView = views.some((view) => view.query === search);
  // Views belong to users; people of the host have none.
  const isSaved = search === '' || isTab || isView || visit.user.support !== undefined;
  return html`<nav class="views" aria-label="${messages.views}">
    ${
      tabs
        ? tabs.tabs.map(
            ({ value, text, count }, index) =>
              html`<a
                href="${adminPath(visit, path, { ...query, [tabs.name]: index === 0 ? undefined : value })}"
                ${value === tabs.current && !isView && html`aria-current="page"`}
                >${text}${count !== undefined && html` <span class="count">${count.toLocaleString(visit.language)}</span>`}</a
              >`,
          )
        : html`<a href="${href('')}" ${search === '' && html`aria-current="page"`}>${messages.all}</a>`
    }
    ${views.map(
      ({ viewId, name, query: saved }) =>
        html`<span class="view"
          ><a href="${href(saved)}" ${saved === search && html`aria-current="page"`}>${name}</a>
          <form method="post" action="${adminPath(visit, `/views/${viewId}/delete`)}">
            <button class="link" aria-label="${messages.deleteView({ name })}">×</button>
          </form></span
        >`,
    )}
    ${
      !isSaved &&
      html`<details class="save-view">
        <summary>${messages.saveView}</summary>
        <form method="post" action="${adminPath(visit, '/views')}" class="popover">
          <input type="hidden" name="list" value="${path}" />
          <input type="hidden" name="query" value="${search}" />
          <label for="view-name">${messages.viewName}</label>
          <input id="view-name" name="name" maxlength="60" required />
          <button class="main">${messages.save}</button>
        </form>
      </details>`
    }
  </nav>`;
}

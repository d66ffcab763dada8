import { html, type Markup } from '../../http/html.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import type { Filter, ListDefinition, ListState, Query } from './list-state.ts';

/** Filters take effect during typing; without scripts, with the button. */
export function filterForm<Row>(
  visit: ShopVisit,
  list: ListDefinition<Row>,
  state: ListState,
  query: Query,
): Markup {
  const messages = visit.messages.list;
  const tab = list.tabs && { [list.tabs.name]: query[list.tabs.name] };
  const hidden = { sort: query['sort'], columns: query['columns'], ...tab };
  return html`<form
    class="filters"
    method="get"
    action="${adminPath(visit, list.path)}"
    hx-get="${adminPath(visit, list.path)}"
    hx-trigger="input delay:300ms, change, submit"
    hx-target="#list"
    hx-select="#list"
    hx-swap="outerHTML"
    hx-push-url="true"
  >
    ${Object.entries(hidden).map(
      ([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    ${list.filters
      .filter(({ isMore }) => !isMore)
      .map((filter) => filterField(filter, state.filter(filter.name), messages.any))}
    ${moreFilters(list, state, messages)}
    <button class="without-script">${messages.filter}</button>
    <span class="space"></span>
    ${columnChooser(list, query, messages.columns)}
    ${
      list.exportPath !== undefined &&
      html`<a class="button" href="${adminPath(visit, list.exportPath, query)}" hx-boost="false"
        >${messages.export}</a
      >`
    }
  </form>`;
}

/** Filters that are seldom used. The part is open while one of them is set, so that nothing is hidden that counts. */
function moreFilters<Row>(
  { filters }: ListDefinition<Row>,
  state: ListState,
  messages: ShopVisit['messages']['list'],
): Markup | false {
  const more = filters.filter(({ isMore }) => isMore);
  if (more.length === 0) return false;
  const isSet = more.some(({ name }) => state.filter(name) !== '');
  return html`<details class="more-filters" ${isSet && html`open`}>
    <summary class="button">${messages.moreFilters}</summary>
    <div class="filter-grid">
      ${more.map((filter) => html`<div>${filterField(filter, state.filter(filter.name), messages.any)}</div>`)}
    </div>
  </details>`;
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
  if (filter.kind === 'number') {
    return html`<span class="date"
      ><label for="${id}">${filter.label}</label>
      <input type="number" step="any" id="${id}" name="${filter.name}" value="${value}"
    /></span>`;
  }
  if (filter.kind === 'text') {
    return html`<label for="${id}" class="hidden">${filter.label}</label>
      <input
        type="text"
        id="${id}"
        name="${filter.name}"
        value="${value}"
        maxlength="200"
        placeholder="${filter.label}"
        list="${id}-offered"
      />
      <datalist id="${id}-offered">
        ${filter.offered.map((text) => html`<option value="${text}"></option>`)}
      </datalist>`;
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

/** The script joins the checkboxes to one parameter, so it is hidden without scripts. */
function columnChooser<Row>({ columns }: ListDefinition<Row>, query: Query, text: string): Markup | false {
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

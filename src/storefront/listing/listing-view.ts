import { html, type Markup } from '../../http/html.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import type { Facet } from '../../catalogue/search/facets.ts';
import { bound, isFiltered, PER_PAGE, queryOf, type AskedList, type Sort } from './listing-asked.ts';
import { jsonScript } from '../page.ts';
import { messages } from '../../kernel/messages.ts';
import { priceNote, productCards } from '../product/product-card.ts';
import { addressOf, to, type Visit } from '../visit.ts';

/** A list as it is shown. */
export interface ShownList {
  /** The page it stands on, and what belongs to its address beside what is asked of the list. */
  path: string;
  query: Readonly<Record<string, string>>;
  asked: AskedList;
  sorts: readonly Sort[];
  results: number;
  products: readonly Product[];
  /** undefined: nothing to filter by; `on demand`: they are counted when somebody wants them. */
  facets: readonly Facet[] | 'on demand' | undefined;
  /** A facet that every product of the list has: the category itself. */
  ownFacet?: string;
}

export function listView(visit: Visit, list: ShownList): Markup {
  const words = messages(visit.locale).storefront.listing;
  const filters = filterView(visit, list);
  const { asked, results, products } = list;
  const content = html`<div>
    ${
      results === 0
        ? html`<p>${isFiltered(asked) ? words.noMatches : words.empty}</p>`
        : html`<div class="list-head">
              <p>${words.products({ count: results })}</p>
              ${results > 1 && sortForm(visit, list)}
            </div>
            ${productCards(visit, products, { heading: 'h2' })} ${priceNote(visit)} ${pager(visit, list)}`
    }
  </div>`;
  return filters ? html`<div class="columns with-facets">${filters} ${content}</div>` : content;
}

const address = (visit: Visit, { path, query, asked }: ShownList, changes: Partial<AskedList>) =>
  to(visit, path, { ...query, ...queryOf(asked, changes) });

/** What a form does not ask for stays as it is. */
function hiddenFields(
  visit: Visit,
  { query, asked }: ShownList,
  without: readonly string[],
): (Markup | false)[] {
  const language = visit.locale === visit.settings.defaultLocale ? {} : { locale: visit.locale };
  return Object.entries({ ...language, ...query, ...queryOf(asked) }).flatMap(([name, value]) =>
    without.includes(name)
      ? []
      : [value ?? []].flat().map((one) => html`<input type="hidden" name="${name}" value="${one}" />`),
  );
}

function sortForm(visit: Visit, list: ShownList): Markup {
  const words = messages(visit.locale).storefront.listing;
  return html`<form
    class="sort"
    action="${to({ ...visit, locale: visit.settings.defaultLocale }, list.path)}"
  >
    ${hiddenFields(visit, list, ['sort'])}
    <label
      >${words.sort}
      <select name="sort" data-submit>
        ${list.sorts.map(
          (sort) =>
            html`<option value="${sort}" ${sort === list.asked.sort && html`selected`}>
              ${words.sorts[sort]}
            </option>`,
        )}
      </select></label
    >
    <button class="quiet">${words.applySort}</button>
  </form>`;
}

function pager(visit: Visit, list: ShownList): Markup | false {
  const pages = Math.ceil(list.results / PER_PAGE);
  if (pages <= 1) return false;
  const words = messages(visit.locale).storefront.listing;
  const { page } = list.asked;
  const href = (other: number) => address(visit, list, { page: other });
  return html`<nav class="pager" aria-label="${words.pages}">
    <ul>
      ${page > 1 && html`<li><a class="quiet" rel="prev" href="${href(page - 1)}">${words.previous}</a></li>`}
      <li aria-current="page">${words.page({ page, pages })}</li>
      ${page < pages && html`<li><a class="quiet" rel="next" href="${href(page + 1)}">${words.next}</a></li>`}
    </ul>
  </nav>`;
}

/** Values of a facet that are seen at once. */
const FIRST_VALUES = 10;

type FacetValue = Facet['values'][number];

function filterView(visit: Visit, list: ShownList): Markup | false {
  const { asked, facets } = list;
  const words = messages(visit.locale).storefront.listing;
  if (facets === 'on demand') {
    return html`<aside class="facets" aria-label="${words.filter}">
      <p>
        <a class="quiet" href="${address(visit, list, { showsFilters: true })}" data-filters
          >${words.showFilters}</a
        >
      </p>
    </aside>`;
  }
  const sections = (facets ?? []).flatMap((facet) =>
    facet.attributeName === 'ListPrice' && facet.attributeType === 'Standard'
      ? (priceFilter(visit, list, facet.values[0]!) ?? [])
      : (facetView(visit, list, facet) ?? []),
  );
  if (sections.length === 0 && !isFiltered(asked)) return false;
  // On a phone they are closed until asked for, so that the products come first.
  return html`<aside class="facets" aria-label="${words.filter}">
    <details class="fold" ${(isFiltered(asked) || asked.showsFilters) && html`open`}>
      <summary>${words.filter}</summary>
      ${
        isFiltered(asked) &&
        html`<p>
          <a class="quiet" href="${address(visit, list, { facets: [], min: '', max: '' })}"
            >${words.removeAllFilters}</a
          >
        </p>`
      }
      ${sections}
    </details>
  </aside>`;
}

/** As the listing holds it, which is how the address says it too. */
function facetKey({ filter }: FacetValue): string {
  const { fieldName, attributeValue } = filter;
  if (fieldName === 'CategoryID') return `c:${attributeValue}`;
  if (fieldName === 'Manufacturer') return `m:${attributeValue}`;
  return `a:${fieldName.split('_').at(-1)}:${attributeValue}`;
}

function facetView(visit: Visit, list: ShownList, facet: Facet): Markup | undefined {
  const words = messages(visit.locale).storefront.listing;
  const { asked, results, ownFacet } = list;
  const isStandard = facet.attributeType === 'Standard';
  const title = !isStandard
    ? facet.attributeName
    : facet.attributeName === 'Category'
      ? words.category
      : words.manufacturer;
  // What all of them have narrows nothing.
  const values = facet.values.filter(
    (value) => facetKey(value) !== ownFacet && (value.selectedValue !== undefined || value.matches < results),
  );
  if (values.length === 0) return undefined;
  const choice = (value: FacetValue) => {
    const key = facetKey(value);
    if (value.selectedValue !== undefined) {
      const href = address(visit, list, { facets: asked.facets.filter((one) => one !== key) });
      return html`<li class="chosen">
        <a href="${href}"
          ><span class="visually-hidden">${words.removeFilter}</span> ${value.name}
          <span aria-hidden="true">×</span></a
        >
      </li>`;
    }
    const href = address(visit, list, { facets: [...asked.facets, key] });
    return html`<li>
      <a href="${href}">${value.name} <small>(${value.matches})</small></a>
    </li>`;
  };
  const rest = values.slice(FIRST_VALUES);
  return html`<section>
    <h2>${title}</h2>
    <ul>
      ${values.slice(0, FIRST_VALUES).map(choice)}
    </ul>
    ${
      rest.length > 0 &&
      html`<details>
        <summary>${words.more}</summary>
        <ul>
          ${rest.map(choice)}
        </ul>
      </details>`
    }
  </section>`;
}

function priceFilter(visit: Visit, list: ShownList, value: FacetValue): Markup | undefined {
  const { min, max } = value.filter.attributeRange!;
  const { asked } = list;
  if (min === max && asked.min === '' && asked.max === '') return undefined;
  const words = messages(visit.locale).storefront.listing;
  const { defaultCurrency } = visit.settings;
  const field = (name: 'min' | 'max', label: string, limit: string) => {
    const isWrong = bound(asked[name], defaultCurrency) === undefined;
    return html`<div class="field">
      <label for="list.${name}">${label}</label>
      <input
        id="list.${name}"
        name="${name}"
        inputmode="decimal"
        maxlength="40"
        placeholder="${limit}"
        value="${asked[name]}"
        ${isWrong && html`aria-invalid="true" aria-describedby="list.${name}.error"`}
      />
      ${isWrong && html`<p class="error" id="list.${name}.error">${words.wrongAmount}</p>`}
    </div>`;
  };
  return html`<section>
    <h2>${words.price({ currency: value.name })}</h2>
    <form class="range" action="${to({ ...visit, locale: visit.settings.defaultLocale }, list.path)}">
      ${hiddenFields(visit, list, ['min', 'max'])} ${field('min', words.from, min)}
      ${field('max', words.to, max)}
      <button class="quiet">${words.apply}</button>
    </form>
  </section>`;
}

export interface Place {
  name: string;
  path: string;
}

/** The same as `crumbs`, for search engines. */
export function breadcrumbList(visit: Visit, places: readonly Place[]): Markup {
  const all = [{ name: messages(visit.locale).storefront.listing.home, path: '' }, ...places];
  return jsonScript(
    'page.breadcrumb',
    {
      '@context': 'https://schema.org',
      '@type': 'BreadcrumbList',
      itemListElement: all.map(({ name, path }, index) => ({
        '@type': 'ListItem',
        position: index + 1,
        name,
        item: addressOf(visit, path),
      })),
    },
    'application/ld+json',
  );
}

/** Where a page stands: from the front page down. The last one is the page itself. */
export function crumbs(visit: Visit, places: readonly Place[]): Markup {
  const words = messages(visit.locale).storefront.listing;
  return html`<nav class="crumbs" aria-label="${words.breadcrumbs}">
    <ol>
      <li><a href="${to(visit, '')}">${words.home}</a></li>
      ${places.map(({ name, path }, index) =>
        index === places.length - 1
          ? html`<li aria-current="page">${name}</li>`
          : html`<li><a href="${to(visit, path)}">${name}</a></li>`,
      )}
    </ol>
  </nav>`;
}

import type { ListRatings } from '../reviews/review-view.ts';
import { html, type Markup } from '../../http/html.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import type { Facet } from '../../catalogue/search/facets.ts';
import { fieldAddress } from './field-facets.ts';
import { isFiltered, listQuery, PER_PAGE, priceBound, type ListRequest, type Sort } from './list-request.ts';
import { jsonScript } from '../page.ts';
import { languageTag } from '../../http/locale.ts';
import { inNaturalOrder } from '../../kernel/natural-order.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { priceNote, productCards } from '../product/product-card.ts';
import { absoluteUrl, shopPath, type Visit } from '../visit.ts';

/** A list of products with everything its page shows around it. */
export interface ProductListing {
  /** The address of the page without the parameters of the list. */
  path: string;
  query: Readonly<Record<string, string>>;
  request: ListRequest;
  sorts: readonly Sort[];
  results: number;
  /** There are more: a search has compared only this many. */
  isMore?: boolean | undefined;
  /** The facets are counted from the products that a search has compared; there are more. */
  isSampled?: boolean | undefined;
  products: readonly Product[];
  ratings: ListRatings;
  /** undefined: there are no filters; `on demand`: they are counted when the visitor opens them. */
  facets: readonly Facet[] | 'on demand' | undefined;
  /** The facet of the category itself, which every product of the list has. */
  ownFacet?: string;
}

export function listingView(visit: Visit, list: ProductListing): Markup {
  const { listing: messages, manyHits } = messagesIn(visit.locale).storefront;
  const filters = filterView(visit, list);
  const { request, results, products } = list;
  const content = html`<div>
    ${
      results === 0
        ? html`<p>${isFiltered(request) ? messages.noMatches : messages.empty}</p>`
        : html`<div class="list-head">
              <p>
                ${list.isMore ? manyHits.moreThan({ count: results }) : messages.products({ count: results })}
              </p>
              ${results > 1 && sortForm(visit, list)}
            </div>
            ${productCards(visit, products, { heading: 'h2', ratings: list.ratings })} ${priceNote(visit)}
            ${pager(visit, list)}`
    }
  </div>`;
  return filters ? html`<div class="columns with-facets">${filters} ${content}</div>` : content;
}

const address = (visit: Visit, { path, query, request }: ProductListing, changes: Partial<ListRequest>) =>
  shopPath(visit, path, { ...query, ...listQuery(request, changes) });

/** Repeats the parameters that the fields of a form do not change. */
function hiddenFields(
  visit: Visit,
  { query, request }: ProductListing,
  without: readonly string[],
): (Markup | false)[] {
  const language = visit.locale === visit.settings.defaultLocale ? {} : { locale: visit.locale };
  return Object.entries({ ...language, ...query, ...listQuery(request) }).flatMap(([name, value]) =>
    without.includes(name)
      ? []
      : [value ?? []].flat().map((one) => html`<input type="hidden" name="${name}" value="${one}" />`),
  );
}

function sortForm(visit: Visit, list: ProductListing): Markup {
  const messages = messagesIn(visit.locale).storefront.listing;
  return html`<form
    class="sort"
    action="${shopPath({ ...visit, locale: visit.settings.defaultLocale }, list.path)}"
  >
    ${hiddenFields(visit, list, ['sort'])}
    <label
      >${messages.sort}
      <select name="sort" data-submit>
        ${list.sorts.map(
          (sort) =>
            html`<option value="${sort}" ${sort === list.request.sort && html`selected`}>
              ${messages.sorts[sort]}
            </option>`,
        )}
      </select></label
    >
    <button class="quiet">${messages.applySort}</button>
  </form>`;
}

function pager(visit: Visit, list: ProductListing): Markup | false {
  const pages = Math.ceil(list.results / PER_PAGE);
  if (pages <= 1) return false;
  const messages = messagesIn(visit.locale).storefront.listing;
  const { page } = list.request;
  const href = (other: number) => address(visit, list, { page: other });
  return html`<nav class="pager" aria-label="${messages.pages}">
    <ul>
      ${page > 1 && html`<li><a class="quiet" rel="prev" href="${href(page - 1)}">${messages.previous}</a></li>`}
      <li aria-current="page">${messages.page({ page, pages })}</li>
      ${page < pages && html`<li><a class="quiet" rel="next" href="${href(page + 1)}">${messages.next}</a></li>`}
    </ul>
  </nav>`;
}

/** How many values of a facet are visible at once. */
const FIRST_VALUES = 10;

type FacetValue = Facet['values'][number];

function filterView(visit: Visit, list: ProductListing): Markup | false {
  const { request, facets } = list;
  const messages = messagesIn(visit.locale).storefront.listing;
  if (facets === 'on demand') {
    return html`<aside class="facets" aria-label="${messages.filter}">
      <p>
        <a class="quiet" href="${address(visit, list, { showsFilters: true })}" data-filters
          >${messages.showFilters}</a
        >
      </p>
    </aside>`;
  }
  const sections = (facets ?? []).flatMap((facet) =>
    facet.attributeName === 'ListPrice' && facet.attributeType === 'Standard'
      ? (priceFilter(visit, list, facet.values[0]!) ?? [])
      : (facetView(visit, list, facet) ?? []),
  );
  if (sections.length === 0 && !isFiltered(request)) return false;
  // On a phone the filters are closed at first, so that the products come first.
  return html`<aside class="facets" aria-label="${messages.filter}">
    <details class="fold" ${(isFiltered(request) || request.showsFilters) && html`open`}>
      <summary>${messages.filter}</summary>
      ${
        isFiltered(request) &&
        html`<p>
          <a class="quiet" href="${address(visit, list, { facets: [], min: '', max: '' })}"
            >${messages.removeAllFilters}</a
          >
        </p>`
      }
      ${sections}
    </details>
  </aside>`;
}

/** The key of a facet value in the listing table and in addresses. */
function facetKey({ filter }: FacetValue): string {
  const { fieldName, attributeValue } = filter;
  if (fieldName === 'CategoryID') return `c:${attributeValue}`;
  if (fieldName === 'Manufacturer') return `m:${attributeValue}`;
  if (!fieldName.startsWith('PreDefString_')) return fieldAddress(fieldName, attributeValue ?? '');
  return `a:${fieldName.split('_').at(-1)}:${attributeValue}`;
}

function facetView(visit: Visit, list: ProductListing, facet: Facet): Markup | undefined {
  const messages = messagesIn(visit.locale).storefront.listing;
  const { request, results, ownFacet } = list;
  const isStandard = facet.attributeType === 'Standard';
  const isField = facet.attributeType === 'CustomField';
  const isChosen = facet.values.some(({ selectedValue }) => selectedValue !== undefined);
  const title = !isStandard
    ? facet.attributeName
    : facet.attributeName === 'Category'
      ? messages.category
      : messages.manufacturer;
  // A value that all products have would not narrow the list. Another value of a chosen field widens it.
  const offered = facet.values.filter(
    (value) =>
      facetKey(value) !== ownFacet &&
      (value.selectedValue !== undefined || value.matches < results || (isField && isChosen)),
  );
  // Categories and manufacturers stay as they are, with most products first, and custom fields in their own order.
  const values =
    isStandard || isField ? offered : inNaturalOrder(offered, ({ name }) => name, languageTag(visit.locale));
  if (values.length === 0) return undefined;
  const choice = (value: FacetValue) => {
    const key = facetKey(value);
    if (value.selectedValue !== undefined) {
      const href = address(visit, list, { facets: request.facets.filter((one) => one !== key) });
      return html`<li class="chosen">
        <a href="${href}"
          ><span class="visually-hidden">${messages.removeFilter}</span> ${value.name}
          <span aria-hidden="true">×</span></a
        >
      </li>`;
    }
    const href = address(visit, list, { facets: [...request.facets, key] });
    return html`<li>
      <a href="${href}">${value.name} <small>(${value.matches}${list.isSampled && '+'})</small></a>
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
        <summary>${messages.more}</summary>
        <ul>
          ${rest.map(choice)}
        </ul>
      </details>`
    }
  </section>`;
}

function priceFilter(visit: Visit, list: ProductListing, value: FacetValue): Markup | undefined {
  const { min, max } = value.filter.attributeRange!;
  const { request } = list;
  if (min === max && request.min === '' && request.max === '') return undefined;
  const messages = messagesIn(visit.locale).storefront.listing;
  const { defaultCurrency } = visit.settings;
  const field = (name: 'min' | 'max', label: string, limit: string) => {
    const isWrong = priceBound(request[name], defaultCurrency) === undefined;
    return html`<div class="field">
      <label for="list.${name}">${label}</label>
      <input
        id="list.${name}"
        name="${name}"
        inputmode="decimal"
        maxlength="40"
        placeholder="${limit}"
        value="${request[name]}"
        ${isWrong && html`aria-invalid="true" aria-describedby="list.${name}.error"`}
      />
      ${isWrong && html`<p class="error" id="list.${name}.error">${messages.wrongAmount}</p>`}
    </div>`;
  };
  return html`<section>
    <h2>${messages.price({ currency: value.name })}</h2>
    <form class="range" action="${shopPath({ ...visit, locale: visit.settings.defaultLocale }, list.path)}">
      ${hiddenFields(visit, list, ['min', 'max'])} ${field('min', messages.from, min)}
      ${field('max', messages.to, max)}
      <button class="quiet">${messages.apply}</button>
    </form>
  </section>`;
}

/** A step of the breadcrumb. */
export interface Breadcrumb {
  name: string;
  path: string;
}

/** The breadcrumb for search engines. */
export function breadcrumbData(visit: Visit, breadcrumbs: readonly Breadcrumb[]): Markup {
  const all = [{ name: messagesIn(visit.locale).storefront.listing.home, path: '' }, ...breadcrumbs];
  return jsonScript(
    'page.breadcrumb',
    {
      '@context': 'https://schema.org',
      '@type': 'BreadcrumbList',
      itemListElement: all.map(({ name, path }, index) => ({
        '@type': 'ListItem',
        position: index + 1,
        name,
        item: absoluteUrl(visit, path),
      })),
    },
    'application/ld+json',
  );
}

/** The way from the front page to this page, which is the last step. */
export function breadcrumbNavigation(visit: Visit, breadcrumbs: readonly Breadcrumb[]): Markup {
  const messages = messagesIn(visit.locale).storefront.listing;
  return html`<nav class="crumbs" aria-label="${messages.breadcrumbs}">
    <ol>
      <li><a href="${shopPath(visit, '')}">${messages.home}</a></li>
      ${breadcrumbs.map(({ name, path }, index) =>
        index === breadcrumbs.length - 1
          ? html`<li aria-current="page">${name}</li>`
          : html`<li><a href="${shopPath(visit, path)}">${name}</a></li>`,
      )}
    </ol>
  </nav>`;
}

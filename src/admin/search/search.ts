import { suggestOrFallBack } from '../../catalogue/search/suggestions.ts';
import { parseQuery } from '../../catalogue/search/query.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { MENU } from '../layout/menu.ts';
import type { ShopPages } from '../pages.ts';
import { settingHits, settingsPlaces } from '../settings/overview.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { FOUND_BY } from '../orders/queries.ts';
import { findProductPage } from '../products/list-queries.ts';
import {
  findCustomersByText,
  findOrdersByText,
  findProductNames,
  findProductsByNumberPrefix,
} from './queries.ts';

interface Hit {
  href: string;
  text: string;
  note?: string | null;
}

interface HitGroup {
  title: string;
  hits: readonly Hit[];
}

const MAX_TEXT_LENGTH = 100;
const MAX_PRODUCTS = 6;
const MAX_SETTINGS = 6;

/**
 * The search in the header finds orders, products, customers and pages. It shows the part `hits` of this page during
 * typing.
 */
export function adminSearchPages(pages: ShopPages): void {
  pages.get('/search', 'member', async (visit, request) => {
    const messages = visit.messages.search;
    const text = (request.query('q') ?? '').trim().slice(0, MAX_TEXT_LENGTH);
    const groups = text === '' ? [] : await findAll(visit, text);
    return {
      title: text === '' ? messages.empty : messages.title({ text }),
      main: html`<div class="card">
        ${text === '' && html`<p>${messages.hint}</p>`} ${text !== '' && foundView(visit, groups, text)}
      </div>`,
    };
  });
}

async function findAll(visit: ShopVisit, text: string): Promise<HitGroup[]> {
  const { messages } = visit;
  const [orders, products, customers] = await Promise.all([
    visit.may('orders_read') ? findOrders(visit, text) : [],
    visit.may('products_read') ? findProducts(visit, text) : [],
    visit.may('customers_read') ? findCustomers(visit, text) : [],
  ]);
  const titles = messages.layout.menuEntries;
  const groups = [
    { title: titles.orders, hits: orders },
    { title: titles.products, hits: products },
    { title: titles.customers, hits: customers },
    { title: messages.search.places, hits: findPlaces(visit, text) },
    { title: titles.settings, hits: settingHits(visit, text, MAX_SETTINGS) },
  ];
  return groups.filter(({ hits }) => hits.length > 0);
}

async function findOrders(visit: ShopVisit, text: string): Promise<Hit[]> {
  const { foundBy } = visit.messages.search;
  const orders = await findOrdersByText(visit.db, visit.shopId, text);
  return orders.map(({ orderId, orderNumber, name, place }) => {
    const kind = FOUND_BY[place];
    const how = kind === 'document' || kind === 'tracking' ? foundBy[kind] : '';
    return {
      href: adminPath(visit, `/orders/${orderId}`),
      text: orderNumber,
      note: [name, how].filter(Boolean).join(' · '),
    };
  });
}

async function findProducts(visit: ShopVisit, text: string): Promise<Hit[]> {
  const products = await findProductHits(visit, text);
  return products.map(({ productId, ...hit }) => ({
    href: adminPath(visit, `/products/${productId}`),
    ...hit,
  }));
}

interface ProductHit {
  productId: string;
  text: string;
  note?: string;
}

/** By the start of the number, then as in the product list; with a typo, as in the shop. */
export async function findProductHits(visit: ShopVisit, text: string): Promise<ProductHit[]> {
  const { db, shopId, locale, settings } = visit;
  const terms = parseQuery(text);
  if (terms.length === 0) return [];
  const [numbered, page] = await Promise.all([
    findProductsByNumberPrefix(db, shopId, text),
    findProductPage(db, shopId, {
      locale,
      terms,
      sort: 'name',
      direction: 'asc',
      limit: MAX_PRODUCTS,
      offset: 0,
    }),
  ]);
  const named = await findProductNames(db, shopId, page.productIds);
  const corrected =
    numbered.length + named.length > 0 ? [] : await suggestOrFallBack(db, shopId, locale, text, MAX_PRODUCTS);
  const hits = new Map<string, ProductHit>();
  const add = (productId: string, hit: Omit<ProductHit, 'productId'>) => {
    if (!hits.has(productId)) hits.set(productId, { productId, ...hit });
  };
  for (const { productId, productNumber, name } of [...numbered, ...named]) {
    const shown = name && textIn(name, locale, settings.defaultLocale);
    add(productId, { text: shown ?? productNumber, note: productNumber });
  }
  for (const { productId, name } of corrected) add(productId, { text: name });
  return [...hits.values()].slice(0, MAX_PRODUCTS);
}

async function findCustomers(visit: ShopVisit, text: string): Promise<Hit[]> {
  const customers = await findCustomersByText(visit.db, visit.shopId, text);
  return customers.map(({ customerId, customerNumber, name, email }) => ({
    href: adminPath(visit, `/customers/${customerId}`),
    text: name || customerNumber,
    note: email,
  }));
}

/** Pages of the admin whose name contains the text. */
function findPlaces(visit: ShopVisit, text: string): Hit[] {
  const wanted = text.toLocaleLowerCase(visit.language);
  const entries: Hit[] = MENU.filter(
    ({ permission }) => permission === 'member' || visit.may(permission),
  ).map(({ name, path }) => ({
    href: adminPath(visit, path),
    text: visit.messages.layout.menuEntries[name],
  }));
  return [...entries, ...settingsPlaces(visit)].filter(({ text: name, note }) =>
    `${name} ${note ?? ''}`.toLocaleLowerCase(visit.language).includes(wanted),
  );
}

function foundView(visit: ShopVisit, groups: readonly HitGroup[], text: string): Markup {
  return html`<div id="hits" class="hits">
    ${groups.length === 0 && html`<p class="quiet">${visit.messages.search.nothing({ text })}</p>`}
    ${groups.map(
      ({ title, hits }) =>
        html`<section>
          <h2>${title}</h2>
          ${hits.map(
            (hit) =>
              html`<a href="${hit.href}"
                >${hit.text} ${hit.note && html`<span class="quiet">${hit.note}</span>`}</a
              >`,
          )}
        </section>`,
    )}
  </div>`;
}

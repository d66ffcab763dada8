import { Type } from 'typebox';
import { updateCrossSelling } from '../../catalogue/products/cross-selling.ts';
import { html } from '../../http/html.ts';
import { Id } from '../../http/schemas.ts';
import { isId } from '../../kernel/ids.ts';
import { parseQuery } from '../../catalogue/search/query.ts';
import { declareForm, declaredButton, optionsOf, readFields } from '../components/declared-form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { findListedProducts, type ProductListRow } from './list-row.ts';
import { productPage, readProduct } from './product-page.ts';
import { findProductPage } from './list-queries.ts';
import { findCrossSellingIds } from './queries.ts';
import { redirectWithNotice } from '../refused-button.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';

const TARGET = declareForm({ body: Type.Object({ productId: Id }) }, ({ products: { tabs } }) => ({
  productId: { kind: 'hidden', label: tabs.product, maxLength: 100 },
}));

/** The products offered along with a product, with a search to add more. */
export function related(pages: ShopPages): void {
  pages.get('/products/:productId/related', 'products_read', async (visit, request) => {
    const row = await readProduct(visit, request.params['productId']!);
    const messages = visit.messages.products.related;
    const assigned = await findCrossSellingIds(visit.db, visit.shopId, row.productId);
    const path = `/products/${row.productId}/related`;
    const terms = parseQuery((request.query('q') ?? '').slice(0, 200));
    const found = terms.length === 0 ? [] : await search(visit, terms);
    const others = found.filter((id) => id !== row.productId && !assigned.includes(id));
    const mayWrite = visit.may('products_write');
    const item = (product: ProductListRow, action: 'add' | 'remove') =>
      html`<li>
        <a class="product-name" href="${adminPath(visit, `/products/${product.productId}`)}"
          >${product.picture}
          <span>${product.name} <span class="quiet">${product.productNumber}</span></span></a
        >
        <span class="quiet">${product.price}</span>
        ${
          mayWrite &&
          declaredButton(TARGET, visit, product, {
            action: adminPath(visit, `${path}/${action}`),
            text: action === 'add' ? visit.messages.form.add : messages.remove,
          })
        }
      </li>`;
    return productPage(visit, row, 'related', {
      main: html`<section class="card">
          <h2>${messages.title}</h2>
          ${
            assigned.length === 0
              ? html`<p class="quiet">${messages.none}</p>`
              : html`<ul class="counted">
                  ${(await findListedProducts(visit, assigned)).map((product) => item(product, 'remove'))}
                </ul>`
          }
        </section>
        ${
          mayWrite &&
          html`<section class="card">
            <h2>${messages.addTitle}</h2>
            <form
              method="get"
              role="search"
              aria-label="${messages.addTitle}"
              hx-get="${adminPath(visit, path)}"
              hx-trigger="input delay:250ms, submit"
              hx-target="#candidates"
              hx-select="#candidates"
              hx-swap="outerHTML"
            >
              <input
                type="search"
                name="q"
                value="${request.query('q') ?? ''}"
                maxlength="200"
                aria-label="${visit.messages.products.search}"
                placeholder="${visit.messages.products.search}"
              />
              <button class="without-script">${visit.messages.layout.search}</button>
            </form>
            <div id="candidates" aria-live="polite">
              ${terms.length > 0 && others.length === 0 && html`<p class="quiet">${visit.messages.list.nothingFound}</p>`}
              <ul class="counted">
                ${(await findListedProducts(visit, others)).map((product) => item(product, 'add'))}
              </ul>
            </div>
          </section>`
        }`,
    });
  });

  for (const action of ['add', 'remove'] as const) {
    const change = async (visit: ShopVisit, form: FormRequest): Promise<Redirect> => {
      const { productId } = await readProduct(visit, form.params['productId']!);
      const { productId: target } = readFields(TARGET, form, visit);
      const path = adminPath(visit, `/products/${productId}/related`);
      if (!isId(target)) return new Redirect(path);
      return redirectWithNotice(visit, path, async () => {
        await visit.call(updateCrossSelling, {
          params: { productId },
          body: [{ op: action, path: '/', value: target }],
        });
        const opposite = action === 'add' ? 'remove' : 'add';
        return {
          text: visit.messages.form.saved,
          undo: { action: `${path}/${opposite}`, fields: { productId: target } },
        };
      });
    };
    pages.post(`/products/:productId/related/${action}`, 'products_write', change, optionsOf(TARGET));
  }
}

async function search(
  { db, shopId, locale }: ShopVisit,
  terms: ReturnType<typeof parseQuery>,
): Promise<string[]> {
  const { productIds } = await findProductPage(db, shopId, {
    locale,
    terms,
    sort: 'name',
    direction: 'asc',
    limit: 12,
    offset: 0,
  });
  return productIds;
}

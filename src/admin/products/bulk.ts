import { deleteProduct, updateProduct } from '../../catalogue/products/write-routes.ts';
import { badRequest } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { checkedRows } from '../components/list-table.ts';
import { problemOf } from '../components/form.ts';
import type { AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { bulkEdit } from './bulk-edit.ts';
import { findListedProducts } from './list-row.ts';

/** As many as a page of the list has, and some to spare. */
const MAX_PRODUCTS = 100;
const ID_LENGTH = 36;

/** Actions on several products of the list at once. */
export function bulk(pages: ShopPages): void {
  bulkEdit(pages);
  for (const [path, visible] of [
    ['/products/show', true],
    ['/products/hide', false],
  ] as const) {
    pages.post(
      path,
      'products_write',
      async (visit, form) => {
        const messages = visit.messages.products.bulk;
        const changed = await setVisible(visit, requireChosen(visit, checkedRows(form)), visible);
        const text = (visible ? messages.shown : messages.hidden)({ count: changed.length });
        const opposite = visible ? '/products/hide' : '/products/show';
        return new Redirect(adminPath(visit, '/products'), {
          text,
          undo:
            changed.length === 0
              ? undefined
              : { action: adminPath(visit, opposite), fields: { id: changed.join(',') } },
        });
      },
      { limits: { texts: { id: MAX_PRODUCTS * (ID_LENGTH + 1) } } },
    );
  }

  pages.form(
    '/products/delete',
    { read: 'products_write', write: 'products_write' },
    {
      show: async (visit, request, draft) => {
        const messages = visit.messages.products.bulk;
        const ids = chosenIds(request.queryList('id'));
        if (ids.length === 0) return noneChosenPage(visit, messages.delete);
        const products = await findListedProducts(visit, ids);
        return bulkPage(visit, {
          title: messages.deleteTitle({ count: products.length }),
          main: html`<form method="post" class="card">
            ${problemOf(draft)}
            <p>${messages.deleteText}</p>
            <ul class="chosen-products">
              ${products.map(
                ({ name, productNumber, picture }) =>
                  html`<li class="product-name">
                    ${picture} <span>${name} <span class="quiet">${productNumber}</span></span>
                  </li>`,
              )}
            </ul>
            <div class="actions">
              <button class="danger">${visit.messages.form.delete}</button>
              <a class="button" href="${adminPath(visit, '/products')}">${visit.messages.form.cancel}</a>
            </div>
          </form>`,
        });
      },
      save: async (visit, form) => {
        const ids = requireChosen(visit, form.queryList('id'));
        await visit.inTransaction(async (call) => {
          for (const id of ids) await call(deleteProduct, { params: { productId: id } });
        });
        return new Redirect(
          adminPath(visit, '/products'),
          visit.messages.products.bulk.deleted({ count: ids.length }),
        );
      },
    },
  );
}

/** The ids come as checked boxes, or, to undo a change, joined to one text. */
function chosenIds(values: readonly string[]): string[] {
  const ids = [...new Set(values.flatMap((value) => value.split(',')).filter(isId))].map((id) =>
    id.toUpperCase(),
  );
  return ids.slice(0, MAX_PRODUCTS);
}

function requireChosen(visit: ShopVisit, values: readonly string[]): string[] {
  const ids = chosenIds(values);
  if (ids.length === 0) throw badRequest(visit.messages.products.bulk.noneChosen);
  return ids;
}

/** For users who did not come from the list. */
function noneChosenPage(visit: ShopVisit, title: string): AdminPage {
  return bulkPage(visit, {
    title,
    main: html`<p class="card">
      ${visit.messages.products.bulk.noneChosen}
      <a href="${adminPath(visit, '/products')}">${visit.messages.layout.menuEntries.products}</a>
    </p>`,
  });
}

/** Returns those whose visibility has changed. */
async function setVisible(visit: ShopVisit, ids: readonly string[], visible: boolean): Promise<string[]> {
  const products = await findListedProducts(visit, ids);
  const others = products.filter((product) => product.visible !== visible);
  await visit.inTransaction(async (call) => {
    for (const { productId } of others) {
      await call(updateProduct, {
        params: { productId },
        body: [{ op: 'add', path: '/visible', value: visible }],
      });
    }
  });
  return others.map(({ productId }) => productId);
}

function bulkPage(visit: ShopVisit, page: Pick<AdminPage, 'title' | 'main'>): AdminPage {
  return {
    ...page,
    menu: 'products',
    breadcrumbs: [{ href: adminPath(visit, '/products'), text: visit.messages.layout.menuEntries.products }],
  };
}

import { notFound } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { nameOf } from '../../catalogue/products/render.ts';
import { findProductRows, type ProductRow } from '../../catalogue/products/queries.ts';
import { buttonForm } from '../components/form.ts';
import type { AdminPage } from '../page.ts';
import { adminPath, storefrontLink, type ShopVisit } from '../visit.ts';

export async function readProduct({ db, shopId }: ShopVisit, productId: string): Promise<ProductRow> {
  const [row] = isId(productId) ? await findProductRows(db, shopId, [productId]) : [];
  if (!row) throw notFound();
  return row;
}

export type ProductTab = 'product' | 'variations' | 'attributes' | 'bundle' | 'related' | 'prices';

const TAB_PATHS: Readonly<Record<ProductTab, string>> = {
  product: '',
  variations: '/variations',
  attributes: '/attributes',
  bundle: '/bundle',
  related: '/related',
  prices: '/prices',
};

/** The common parts of all pages of a product: breadcrumbs, tabs, and the actions on the whole product. */
export function productPage(
  visit: ShopVisit,
  row: ProductRow,
  current: ProductTab,
  page: Pick<AdminPage, 'main' | 'scripts' | 'frames'>,
): AdminPage {
  const { settings, locale } = visit;
  const messages = visit.messages.products;
  const name = nameOf(row, settings, locale);
  const path = `/products/${row.productId}`;
  const master = row.master && { ...row, ...row.master, master: null };
  const tabs = (Object.keys(TAB_PATHS) as ProductTab[]).filter(
    (tab) =>
      (row.kind !== 'variation' || (tab !== 'variations' && tab !== 'related')) &&
      (row.kind === 'regular' || tab !== 'bundle'),
  );
  return {
    ...page,
    title: row.selection ? `${name} (${Object.values(row.selection).join(', ')})` : name,
    menu: 'products',
    breadcrumbs: [
      { href: adminPath(visit, '/products'), text: visit.messages.layout.menuEntries.products },
      ...(master
        ? [
            {
              href: adminPath(visit, `/products/${row.masterId}/variations`),
              text: nameOf(master, settings, locale),
            },
          ]
        : []),
    ],
    actions: html`${
      row.visible &&
      html`<a
        class="button"
        href="${storefrontLink(visit, `/Products/${encodeURIComponent(row.productNumber)}`)}"
        target="_blank"
        rel="noopener"
        >${messages.viewInShop}</a
      >`
    }
    ${
      visit.may('products_write') &&
      html`${row.kind !== 'variation' && buttonForm({ action: adminPath(visit, `${path}/copy`), text: messages.copy })}
        <a class="button danger" href="${adminPath(visit, '/products/delete', { id: row.productId })}"
          >${visit.messages.form.delete}</a
        >`
    }`,
    main: html`<nav class="tabs" aria-label="${messages.tabs.label}">
        ${tabs.map(
          (tab) =>
            html`<a
              href="${adminPath(visit, path + TAB_PATHS[tab])}"
              ${tab === current && html`aria-current="page"`}
              >${messages.tabs[tab]}</a
            >`,
        )}
      </nav>
      ${page.main}`,
  };
}

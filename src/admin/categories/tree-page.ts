import { badRequest, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { chip } from '../components/format.ts';
import { CATEGORIES_SCRIPT } from '../layout/assets.ts';
import { ARROW_ICONS } from '../layout/icons.ts';
import { Redirect } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { to, type ShopVisit } from '../visit.ts';
import { findTree, type TreeRow } from './queries.ts';
import { isDirection, placeOf, stepTo, treeOf, type Direction, type Place, type TreeNode } from './tree.ts';

/** The tree of categories: moved by drag and drop, or one step at a time with buttons. */
export function categoryTree(pages: ShopPages): void {
  pages.get('/categories', 'products_read', async (visit, request) => {
    const rows = await findTree(visit.db, visit.shopId);
    const { words } = visit;
    return {
      title: words.layout.menuEntries.categories,
      menu: 'categories',
      actions: html`<a class="button" href="${to(visit, '/product-types')}">${words.productTypes.title}</a>`,
      scripts: visit.may('products_write') ? [CATEGORIES_SCRIPT] : [],
      main: html`<p class="hint">${words.categories.hint}</p>
        ${treeOf(rows).map((root) => rootView(visit, rows, root, request.query('moved')))}`,
    };
  });

  pages.post('/categories/:categoryId/move', 'products_write', async (visit, form) => {
    const categoryId = form.params['categoryId']!.toUpperCase();
    const rows = await findTree(visit.db, visit.shopId);
    const before = placeOf(rows, categoryId);
    if (!before) throw notFound();
    const place = wantedPlace(rows, categoryId, form.field('direction')) ?? sentPlace(form.field);
    await visit.call('PUT', `/manage/categories/${categoryId}/place`, { body: place });
    return new Redirect(`${to(visit, '/categories', { moved: categoryId })}#category-${categoryId}`, {
      text: visit.words.categories.moved({ name: nameOf(visit, rows, categoryId) }),
      undo: {
        action: to(visit, `/categories/${categoryId}/move`),
        fields: { parentId: before.parentId, position: String(before.position) },
      },
    });
  });

  pages.post('/categories/:categoryId/add', 'products_write', async (visit, form) => {
    const name = form.field('name');
    if (name === '') throw badRequest(visit.words.categories.nameMissing);
    const path = `/rs/categories/${encodeURIComponent(form.params['categoryId']!)}`;
    const { categoryId } = await visit.call<{ categoryId: string }>('POST', path, {
      query: { locale: visit.locale },
      body: { name },
    });
    // Somebody who makes a category here wants to see it in the shop.
    await visit.call('PUT', `/rs/categories/${categoryId}`, {
      query: { locale: visit.locale },
      body: { categoryId, name, visible: true },
    });
    return new Redirect(
      `${to(visit, '/categories')}#category-${categoryId}`,
      visit.words.categories.added({ name }),
    );
  });
}

function wantedPlace(rows: readonly TreeRow[], categoryId: string, direction: string): Place | undefined {
  return isDirection(direction) ? stepTo(rows, categoryId, direction) : undefined;
}

/** Where the category was dropped; the operation refuses what is none. */
function sentPlace(field: (name: string) => string): Place {
  return { parentId: field('parentId'), position: Number(field('position') || 0) };
}

function nameOf({ locale, settings }: ShopVisit, rows: readonly TreeRow[], categoryId: string): string {
  const row = rows.find((one) => one.categoryId === categoryId)!;
  return textIn(row.name, locale, settings.defaultLocale) ?? row.alias;
}

function rootView(
  visit: ShopVisit,
  rows: readonly TreeRow[],
  root: TreeNode,
  moved: string | undefined,
): Markup {
  return html`<section class="card tree" data-tree data-base="${to(visit, '/categories')}">
    <div class="category">
      <a href="${to(visit, `/categories/${root.categoryId}`)}">${nameOf(visit, rows, root.categoryId)}</a>
      ${addForm(visit, root.categoryId)}
    </div>
    ${listView(visit, rows, root, moved)}
  </section>`;
}

function listView(
  visit: ShopVisit,
  rows: readonly TreeRow[],
  { categoryId, children }: TreeNode,
  moved: string | undefined,
): Markup {
  return html`<ul data-parent="${categoryId}">
    ${children.map((child) => nodeView(visit, rows, child, moved))}
  </ul>`;
}

function nodeView(
  visit: ShopVisit,
  rows: readonly TreeRow[],
  node: TreeNode,
  moved: string | undefined,
): Markup {
  const words = visit.words.categories;
  const { categoryId, visible, products } = node;
  const mayWrite = visit.may('products_write');
  return html`<li id="category-${categoryId}" data-category="${categoryId}">
    <div
      class="${moved === categoryId ? 'category moved' : 'category'}"
      ${mayWrite && html`draggable="true"`}
    >
      <a href="${to(visit, `/categories/${categoryId}`)}">${nameOf(visit, rows, categoryId)}</a>
      <span class="quiet">${words.products({ count: products })}</span>
      ${!visible && chip(words.hidden)} ${mayWrite && stepForm(visit, rows, categoryId)}
      ${addForm(visit, categoryId)}
    </div>
    ${listView(visit, rows, node, moved)}
  </li>`;
}

const DIRECTIONS: readonly Direction[] = ['up', 'down', 'out', 'in'];

function stepForm(visit: ShopVisit, rows: readonly TreeRow[], categoryId: string): Markup {
  const name = nameOf(visit, rows, categoryId);
  return html`<form class="steps" method="post" action="${to(visit, `/categories/${categoryId}/move`)}">
    ${DIRECTIONS.map(
      (direction) =>
        html`<button
          name="direction"
          value="${direction}"
          aria-label="${visit.words.categories.steps[direction]({ name })}"
          title="${visit.words.categories.steps[direction]({ name })}"
          ${!stepTo(rows, categoryId, direction) && html`disabled`}
        >
          ${ARROW_ICONS[direction]}
        </button>`,
    )}
  </form>`;
}

function addForm(visit: ShopVisit, parentId: string): Markup | false {
  if (!visit.may('products_write')) return false;
  const words = visit.words.categories;
  return html`<details class="add">
    <summary>${words.add}</summary>
    <form class="popover" method="post" action="${to(visit, `/categories/${parentId}/add`)}">
      <label for="add-${parentId}">${words.name}</label>
      <input id="add-${parentId}" name="name" maxlength="255" required />
      <button class="main">${visit.words.form.add}</button>
    </form>
  </details>`;
}

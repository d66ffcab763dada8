import { moveCategory } from '../../catalogue/categories/move.ts';
import { createSubcategory, updateCategory } from '../../catalogue/categories/routes.ts';
import { badRequest, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { declareForm, declareHidden, readFields } from '../components/declared-form.ts';
import { chip } from '../components/format.ts';
import { CATEGORIES_SCRIPT } from '../layout/assets.ts';
import { ACTION_ICONS } from '../layout/icons.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { findTree, type TreeRow } from './queries.ts';
import {
  isDirection,
  placeOf,
  stepTo,
  treeOf,
  wayTo,
  type Direction,
  type TreePlace,
  type TreeNode,
} from './tree.ts';
import { Redirect } from '../../http/page-kit.ts';

const NEW_CATEGORY = declareForm(createSubcategory, ({ categories: { texts } }) => ({
  name: { label: texts.name, isRequired: true },
}));

/** Where a category is dropped; the operation refuses a wrong place. */
const STEP = declareHidden({ direction: 10 });
const PLACE = declareForm(moveCategory, ({ categories: messages }) => ({
  parentId: { label: messages.move },
  position: { kind: 'integer', label: messages.move },
}));

/** The tree of categories: moved by drag and drop, or one step at a time with buttons. */
export function categoryTreePages(pages: ShopPages): void {
  pages.get('/categories', 'products_read', async (visit, request) => {
    const rows = await findTree(visit.db, visit.shopId);
    const { messages } = visit;
    const moved = request.query('moved');
    const view = treeView(visit, rows, { moved, chosen: request.query('open') ?? moved });
    return {
      title: messages.layout.menuEntries.categories,
      menu: 'categories',
      actions: html`<a class="button" href="${adminPath(visit, '/product-types')}"
        >${messages.productTypes.title}</a
      >`,
      scripts: visit.may('products_write') ? [CATEGORIES_SCRIPT] : [],
      main: html`<p class="hint">${messages.categories.hint}</p>
        ${treeOf(rows).map((root) => rootView(view, root))}`,
    };
  });

  pages.post('/categories/:categoryId/move', 'products_write', async (visit, form) => {
    const categoryId = form.params['categoryId']!.toUpperCase();
    const rows = await findTree(visit.db, visit.shopId);
    const before = placeOf(rows, categoryId);
    if (!before) throw notFound();
    const place =
      wantedPlace(rows, categoryId, readFields(STEP, form, visit).direction) ??
      readFields(PLACE, form, visit);
    await visit.call(moveCategory, { params: { categoryId }, body: place });
    return new Redirect(`${adminPath(visit, '/categories', { moved: categoryId })}#category-${categoryId}`, {
      text: visit.messages.categories.moved({ name: nameOf(visit, rows, categoryId) }),
      undo: {
        action: adminPath(visit, `/categories/${categoryId}/move`),
        fields: { parentId: before.parentId, position: String(before.position) },
      },
    });
  });

  pages.post('/categories/:categoryId/add', 'products_write', async (visit, form) => {
    const { name } = readFields(NEW_CATEGORY, form, visit);
    if (!name) throw badRequest(visit.messages.categories.nameMissing);
    const params = { categoryId: form.params['categoryId']! };
    const query = { locale: visit.locale };
    const categoryId = await visit.inTransaction(async (call) => {
      const made = await call(createSubcategory, { params, query, body: { name } });
      // A category created here should be visible in the shop.
      const body = { categoryId: made.categoryId, name, visible: true };
      await call(updateCategory, { params: { categoryId: made.categoryId }, query, body });
      return made.categoryId;
    });
    return new Redirect(
      `${adminPath(visit, '/categories', { open: form.params['categoryId']! })}#category-${categoryId}`,
      visit.messages.categories.added({ name }),
    );
  });
}

function wantedPlace(rows: readonly TreeRow[], categoryId: string, direction: string): TreePlace | undefined {
  return isDirection(direction) ? stepTo(rows, categoryId, direction) : undefined;
}

function nameOf({ locale, settings }: ShopVisit, rows: readonly TreeRow[], categoryId: string): string {
  const row = rows.find((one) => one.categoryId === categoryId)!;
  return textIn(row.name, locale, settings.defaultLocale) ?? row.alias;
}

/** Larger trees are shown in parts, because a page with a thousand categories is slow to load and hard to read. */
const SHOWN_WHOLE = 40;

interface TreeView {
  visit: ShopVisit;
  rows: readonly TreeRow[];
  moved: string | undefined;
  /** Whether the categories below this one are shown. */
  isOpen: (categoryId: string) => boolean;
  /** Whether its arrows and its form are shown. */
  isChosen: (categoryId: string) => boolean;
}

/** For a large tree, only the descendants of the chosen category and the siblings along its path are shown. */
function treeView(
  visit: ShopVisit,
  rows: readonly TreeRow[],
  { moved, chosen }: { moved: string | undefined; chosen: string | undefined },
): TreeView {
  const view = { visit, rows, moved };
  if (rows.length <= SHOWN_WHOLE) return { ...view, isOpen: () => true, isChosen: () => true };
  const way = new Set(wayTo(rows, chosen));
  return { ...view, isOpen: (id) => way.has(id), isChosen: (id) => id === chosen };
}

function rootView(view: TreeView, root: TreeNode): Markup {
  const { visit, rows } = view;
  return html`<section class="card tree" data-tree data-base="${adminPath(visit, '/categories')}">
    <div class="category">
      <a href="${adminPath(visit, `/categories/${root.categoryId}`)}"
        >${nameOf(visit, rows, root.categoryId)}</a
      >
      ${addForm(visit, root.categoryId)}
    </div>
    ${listView(view, root, true)}
  </section>`;
}

function listView(view: TreeView, { categoryId, children }: TreeNode, isOpen: boolean): Markup {
  return html`<ul data-parent="${categoryId}" data-children="${children.length}">
    ${isOpen && children.map((child) => nodeView(view, child))}
  </ul>`;
}

function nodeView(view: TreeView, node: TreeNode): Markup {
  const { visit, rows, moved } = view;
  const messages = visit.messages.categories;
  const { categoryId, visible, products, children } = node;
  const mayWrite = visit.may('products_write');
  const isChosen = view.isChosen(categoryId);
  const isOpen = view.isOpen(categoryId);
  const isClosed = !isOpen && children.length > 0;
  return html`<li id="category-${categoryId}" data-category="${categoryId}">
    <div
      class="${moved === categoryId ? 'category moved' : 'category'}"
      ${mayWrite && html`draggable="true"`}
    >
      <a href="${adminPath(visit, `/categories/${categoryId}`)}">${nameOf(visit, rows, categoryId)}</a>
      <span class="quiet">${messages.products({ count: products })}</span>
      ${!visible && chip(messages.hidden)}
      ${
        !isChosen &&
        (isClosed || mayWrite) &&
        html`<a
          class="quiet"
          href="${adminPath(visit, '/categories', { open: categoryId })}#category-${categoryId}"
          >${isClosed ? messages.below({ count: children.length }) : messages.move}</a
        >`
      }
      ${isChosen && mayWrite && html`${stepForm(visit, rows, categoryId)} ${addForm(visit, categoryId)}`}
    </div>
    ${listView(view, node, isOpen)}
  </li>`;
}

const DIRECTIONS: readonly Direction[] = ['up', 'down', 'out', 'in'];

function stepForm(visit: ShopVisit, rows: readonly TreeRow[], categoryId: string): Markup {
  const name = nameOf(visit, rows, categoryId);
  return html`<form
    class="steps"
    method="post"
    action="${adminPath(visit, `/categories/${categoryId}/move`)}"
  >
    ${DIRECTIONS.map(
      (direction) =>
        html`<button
          name="direction"
          value="${direction}"
          aria-label="${visit.messages.categories.steps[direction]({ name })}"
          title="${visit.messages.categories.steps[direction]({ name })}"
          ${!stepTo(rows, categoryId, direction) && html`disabled`}
        >
          ${ACTION_ICONS[direction]}
        </button>`,
    )}
  </form>`;
}

function addForm(visit: ShopVisit, parentId: string): Markup | false {
  if (!visit.may('products_write')) return false;
  const messages = visit.messages.categories;
  return html`<details class="add">
    <summary>${messages.add}</summary>
    <form class="popover" method="post" action="${adminPath(visit, `/categories/${parentId}/add`)}">
      <label for="add-${parentId}">${messages.name}</label>
      <input id="add-${parentId}" name="name" maxlength="255" required />
      <button class="main">${visit.messages.form.add}</button>
    </form>
  </details>`;
}

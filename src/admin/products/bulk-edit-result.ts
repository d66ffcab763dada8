import {
  findBulkEdit,
  findItemsInState,
  SHOWN_ITEMS,
  startUndo,
  UNDO_TIME,
  type BulkEdit,
  type ListedItem,
} from '../../catalogue/products/bulk-edit-queries.ts';
import { badRequest, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { buttonForm } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { actionTexts } from './bulk-edit-text.ts';

/** The progress of an edit of many products, its result, and the way back. */
export function bulkEditResultPages(pages: ShopPages): void {
  pages.get('/products/bulk-edits/:editId', 'products_read', async (visit, request) => {
    const edit = await readEdit(visit, request.params['editId']!);
    return {
      title: visit.messages.products.bulk.resultTitle,
      menu: 'products',
      breadcrumbs: [
        { href: adminPath(visit, '/products'), text: visit.messages.layout.menuEntries.products },
      ],
      main: await editView(visit, edit),
    };
  });

  pages.post('/products/bulk-edits/:editId/undo', 'products_write', async (visit, form) => {
    const { editId } = await readEdit(visit, form.params['editId']!);
    await visit.db.transaction(async (tx) => {
      if (!(await startUndo(tx, visit.shopId, editId))) {
        throw badRequest(visit.messages.products.bulk.noUndo);
      }
      await recordAction(tx, visit, '/products/bulk-edits/:editId/undo', { editId });
    });
    return new Redirect(adminPath(visit, `/products/bulk-edits/${editId}`));
  });
}

async function readEdit({ db, shopId }: ShopVisit, editId: string): Promise<BulkEdit> {
  const edit = isId(editId) ? await findBulkEdit(db, shopId, editId) : undefined;
  if (!edit) throw notFound();
  return edit;
}

/** While it runs, htmx polls this part. */
async function editView(visit: ShopVisit, edit: BulkEdit): Promise<Markup> {
  const { db, shopId, language } = visit;
  const messages = visit.messages.products.bulk;
  const { editId, state, items, itemsDone, changed, refused, undone, kept } = edit;
  const [text] = await actionTexts(visit, [edit.action]);
  const isRunning = state === 'running' || state === 'undoing';
  const path = adminPath(visit, `/products/bulk-edits/${editId}`);
  const [done, all] = state === 'undoing' ? [undone + kept, changed] : [itemsDone, items];
  const number = (value: number) => value.toLocaleString(language);
  const mayUndo =
    state === 'done' &&
    changed > 0 &&
    visit.may('products_write') &&
    edit.createdAt.getTime() + UNDO_TIME > db.now.getTime();
  const lists = isRunning
    ? []
    : await Promise.all(
        (['refused', 'kept'] as const).map((one) => findItemsInState(db, shopId, editId, one)),
      );
  const counts: [string, number][] = [
    [messages.changedCount, changed],
    [messages.unchangedCount, itemsDone - changed - refused],
    [messages.refusedCount, refused],
    ...(state === 'undone' || state === 'undoing'
      ? ([
          [messages.undoneCount, undone],
          [messages.keptCount, kept],
        ] as [string, number][])
      : []),
  ];
  return html`<div
    id="bulk-edit"
    class="stack"
    ${
      isRunning &&
      html`hx-get="${path}" hx-trigger="every 1s" hx-select="#bulk-edit" hx-target="this" hx-swap="outerHTML"`
    }
  >
    <section class="card">
      <p>
        ${text}
        <span class="quiet">${edit.author}, ${momentText(edit.createdAt, language)}</span>
      </p>
      <p role="status">${messages.states[state]}</p>
      ${edit.error !== null && html`<p class="problem">${edit.error}</p>`}
      ${
        isRunning &&
        html`<progress value="${done}" max="${all}" aria-label="${messages.states[state]}"></progress>
          <p class="quiet">${messages.progress({ done: number(done), all: number(all) })}</p>
          <p class="without-script"><a class="button" href="${path}">${messages.reload}</a></p>`
      }
      <dl class="import-counts">
        ${counts.map(
          ([title, count]) =>
            html`<div>
              <dt>${title}</dt>
              <dd>${number(count)}</dd>
            </div>`,
        )}
      </dl>
      <div class="actions">
        ${mayUndo && buttonForm({ action: `${path}/undo`, text: messages.undo })}
        <a class="button main" href="${adminPath(visit, '/products')}"
          >${visit.messages.layout.menuEntries.products}</a
        >
      </div>
      ${mayUndo && html`<p class="hint">${messages.undoHint({ until: momentText(new Date(edit.createdAt.getTime() + UNDO_TIME), language) })}</p>`}
    </section>
    ${lists.map((list, index) => itemCard(visit, index === 0 ? messages.refusedTitle : messages.keptTitle, list))}
  </div>`;
}

function itemCard(visit: ShopVisit, title: string, items: readonly ListedItem[]): Markup | false {
  const messages = visit.messages.products.bulk;
  if (items.length === 0) return false;
  return html`<section class="card">
    <h2>${title}</h2>
    <ul>
      ${items.map(
        ({ productId, productNumber, problem }) =>
          html`<li>
            ${
              productNumber === null
                ? messages.problems.gone
                : html`<a href="${adminPath(visit, `/products/${productId}`)}">${productNumber}</a>`
            }
            ${problem !== null && productNumber !== null && messages.problems[problem]}
          </li>`,
      )}
    </ul>
    ${items.length === SHOWN_ITEMS && html`<p class="hint">${messages.firstShown({ count: SHOWN_ITEMS })}</p>`}
  </section>`;
}

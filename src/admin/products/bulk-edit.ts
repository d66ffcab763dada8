import {
  editedValue,
  isSameValue,
  MAX_CHOSEN,
  MAX_EDITED_PRODUCTS,
  MAX_STOCK,
  editTarget,
  valueOf,
  type BulkAction,
  type BulkProblem,
  type EditedValue,
} from '../../catalogue/products/bulk-edit.ts';
import {
  hasManyRunningEdits,
  findBulkEdits,
  findTargets,
  insertBulkEdit,
  type TargetProduct,
} from '../../catalogue/products/bulk-edit-queries.ts';
import { ENDINGS, type Ending } from '../../catalogue/products/changed-price.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { filterFields, namesUnknownField, parameterOf } from '../../fields/filter.ts';
import { badRequest } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type PageRequest } from '../../http/page-kit.ts';
import { newPauses } from '../../http/pauses.ts';
import { isId } from '../../kernel/ids.ts';
import { toMinor } from '../../kernel/money.ts';
import { decimalText, parseLocalisedDecimal } from '../components/decimal.ts';
import { choiceField, problemOf, textField } from '../components/form.ts';
import { amountText, dayText } from '../components/format.ts';
import { listState } from '../components/list-state.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { bulkEditResultPages } from './bulk-edit-result.ts';
import { actionTexts } from './bulk-edit-text.ts';
import { findProductPage } from './list-queries.ts';
import { categoryChoices, PRODUCT_FILTERS, toProductFilter } from './product-filter.ts';
import { findCategoryChoices } from './queries.ts';

/** The changes that are offered. */
const KINDS = [
  'setPrice',
  'changePrice',
  'setStock',
  'addStock',
  'addCategory',
  'removeCategory',
  'show',
  'hide',
] as const;
export type BulkKind = (typeof KINDS)[number];

const SHOWN_ROWS = 20;
const READ_AT_ONCE = 1_000;

/** A change of many products: what is chosen and changed is shown first, and done in the background. */
export function bulkEdit(pages: ShopPages): void {
  bulkEditResultPages(pages);
  pages.form(
    '/products/bulk-edit',
    { read: 'products_write', write: 'products_write' },
    {
      show: async (visit, request, draft) => {
        const messages = visit.messages.products.bulk;
        const chosen = await findChosen(visit, request);
        const asked = askedOf(visit, request);
        const kind = request.query('kind') ?? '';
        const preview =
          asked && chosen.ids.length > 0 ? await previewOf(visit, asked, chosen.ids) : undefined;
        return {
          title: messages.editTitle({ count: chosen.ids.length }),
          menu: 'products',
          breadcrumbs: [
            { href: adminPath(visit, '/products'), text: visit.messages.layout.menuEntries.products },
          ],
          main: html`${problemOf(draft)}
          ${
            chosen.ids.length === 0
              ? html`<p class="card">
                  ${messages.noneChosen}
                  <a href="${adminPath(visit, '/products')}">${visit.messages.layout.menuEntries.products}</a>
                </p>`
              : html`${chosen.isMore && html`<p class="notice">${messages.onlyFirst({ count: chosen.ids.length })}</p>`}
                ${await askForm(visit, request, kind !== '' && !asked)}
                ${preview && asked && (await previewCard(visit, asked, preview))}`
          }
          ${await recentEdits(visit)}`,
        };
      },
      save: async (visit, form) => {
        const { db, shopId, user } = visit;
        const messages = visit.messages.products.bulk;
        const { ids } = await findChosen(visit, form);
        const action = askedOf(visit, form);
        if (ids.length === 0) throw badRequest(messages.noneChosen);
        if (!action) throw badRequest(messages.wrongValue);
        const productIds: string[] = [];
        for await (const targets of eachTarget(visit, action, ids)) {
          productIds.push(...targets.map(({ productId }) => productId));
        }
        if (productIds.length > MAX_EDITED_PRODUCTS)
          throw badRequest(messages.tooMany({ limit: MAX_EDITED_PRODUCTS }));
        if (productIds.length === 0) throw badRequest(messages.nothingToChange);
        const editId = await db.transaction(async (tx) => {
          if (await hasManyRunningEdits(tx, shopId)) throw badRequest(messages.stillRunning);
          const id = await insertBulkEdit(tx, shopId, { author: user.email, action, productIds });
          await recordAction(tx, visit, '/products/bulk-edit', { editId: id });
          return id;
        });
        return new Redirect(adminPath(visit, `/products/bulk-edits/${editId}`));
      },
    },
  );
}

interface Chosen {
  ids: string[];
  /** More products match than are changed at once. */
  isMore: boolean;
}

/** The products of the address: the checked ones, or all that match the filter of the list. */
async function findChosen(visit: ShopVisit, request: PageRequest): Promise<Chosen> {
  if (request.query('all') !== 'yes') {
    const ids = [...new Set(request.queryList('id').filter(isId))].map((id) => id.toUpperCase());
    return { ids: ids.slice(0, MAX_CHOSEN), isMore: false };
  }
  // A field that was deleted meanwhile must not widen the choice.
  if (namesUnknownField(filterFields(visit.settings, 'product'), request.search)) {
    return { ids: [], isMore: false };
  }
  const filter = toProductFilter(visit, listState(request, []));
  const found = await findProductPage(visit.db, visit.shopId, { ...filter, limit: MAX_CHOSEN, offset: 0 });
  return { ids: found.productIds, isMore: found.isMore || found.results > found.productIds.length };
}

/** The change of the address; undefined: it is not complete, or makes no sense. */
function askedOf({ language, settings }: ShopVisit, request: PageRequest): BulkAction | undefined {
  const kind = KINDS.find((one) => one === request.query('kind'));
  const number = Number(parseLocalisedDecimal((request.query('amount') ?? '').replace('%', ''), language));
  const isNumber = (request.query('amount') ?? '').trim() !== '' && Number.isFinite(number);
  switch (kind) {
    case 'setPrice': {
      const asked = request.query('currency') ?? '';
      const currency = settings.currencies.includes(asked) ? asked : settings.defaultCurrency;
      const amount = isNumber && number >= 0 && number < 1e10 ? toMinor(number, currency) : undefined;
      return amount === undefined ? undefined : { kind, currency, amount };
    }
    case 'changePrice':
      return isNumber && number >= -90 && number <= 900 && number !== 0
        ? { kind, basisPoints: Math.round(number * 100), ending: endingOf(request.query('ending')) }
        : undefined;
    case 'setStock':
    case 'addStock': {
      const min = kind === 'setStock' ? 0 : -MAX_STOCK;
      const isStock =
        isNumber && number >= min && number <= MAX_STOCK && (kind === 'setStock' || number !== 0);
      return isStock ? { kind, amount: Math.round(number * 1e6) / 1e6 } : undefined;
    }
    case 'addCategory':
    case 'removeCategory': {
      const categoryId = request.query('target') ?? '';
      return isId(categoryId) ? { kind, categoryId: categoryId.toUpperCase() } : undefined;
    }
    case 'show':
    case 'hide':
      return { kind: 'setVisible', visible: kind === 'show' };
    case undefined:
      return undefined;
  }
}

const endingOf = (text: string | undefined): Ending => ENDINGS.find((ending) => ending === text) ?? 'exact';

async function askForm(visit: ShopVisit, request: PageRequest, isWrong: boolean): Promise<Markup> {
  const { messages, language, settings } = visit;
  const words = messages.products.bulk;
  const categories = await findCategoryChoices(visit.db, visit.shopId);
  const target = request.query('target') ?? '';
  return html`<form method="get" class="card">
    ${isWrong && html`<p class="problem" role="alert">${words.wrongValue}</p>`}
    ${hiddenChoice(visit, request)}
    <div class="row">
      ${choiceField({
        name: 'kind',
        label: words.change,
        value: request.query('kind') ?? null,
        choices: KINDS.map((value) => ({ value, text: words.kinds[value] })),
      })}
      ${textField({
        name: 'amount',
        label: words.amount,
        hint: words.amountHint,
        value: request.query('amount') ?? '',
        inputMode: 'decimal',
        maxLength: 20,
      })}
      ${
        settings.currencies.length > 1 &&
        choiceField({
          name: 'currency',
          label: words.currency,
          value: request.query('currency') ?? settings.defaultCurrency,
          choices: settings.currencies.map((value) => ({ value, text: value })),
        })
      }
      ${choiceField({
        name: 'ending',
        label: words.ending,
        hint: words.endingHint,
        value: endingOf(request.query('ending')),
        choices: ENDINGS.map((value) => ({
          value,
          text: value === 'exact' ? words.exact : `… ${decimalText(Number(`0.${value}`), language, 2)}`,
        })),
      })}
      ${choiceField({
        name: 'target',
        label: messages.products.category,
        value: target,
        empty: words.noCategory,
        choices: categoryChoices(visit, categories, target),
      })}
    </div>
    <div class="actions">
      <button class="main">${words.preview}</button>
      <a class="button" href="${adminPath(visit, '/products')}">${messages.form.cancel}</a>
    </div>
  </form>`;
}

/** The choice, as hidden fields of the form that asks. */
function hiddenChoice({ settings }: ShopVisit, request: PageRequest): Markup[] {
  const fields = filterFields(settings, 'product').map(parameterOf);
  const names = request.query('all') === 'yes' ? ['all', ...PRODUCT_FILTERS, ...fields] : ['id'];
  return names.flatMap((name) =>
    request.queryList(name).map((value) => html`<input type="hidden" name="${name}" value="${value}" />`),
  );
}

/** The products of an edit, in parts: a page never waits long for many of them. */
async function* eachTarget(
  { db, shopId }: ShopVisit,
  action: BulkAction,
  ids: readonly string[],
): AsyncGenerator<TargetProduct[]> {
  const categoryId = 'categoryId' in action ? action.categoryId : undefined;
  for (let first = 0; first < ids.length; first += READ_AT_ONCE) {
    const part = ids.slice(first, first + READ_AT_ONCE);
    yield await findTargets(db, shopId, part, { target: editTarget(action), categoryId });
  }
}

interface PreviewRow extends TargetProduct {
  before: EditedValue;
  after: EditedValue;
}

interface Preview {
  /** The first ones that change. */
  rows: PreviewRow[];
  changed: number;
  unchanged: number;
  problems: Map<BulkProblem, { count: number; numbers: string[] }>;
}

async function previewOf(visit: ShopVisit, action: BulkAction, ids: readonly string[]): Promise<Preview> {
  const preview: Preview = { rows: [], changed: 0, unchanged: 0, problems: new Map() };
  const pause = newPauses();
  for await (const targets of eachTarget(visit, action, ids)) {
    for (const product of targets) {
      await pause();
      const before = valueOf(action, product);
      const edited = editedValue(action, product);
      if ('problem' in edited) {
        const known = preview.problems.get(edited.problem) ?? { count: 0, numbers: [] };
        known.count++;
        if (known.numbers.length < 5) known.numbers.push(product.productNumber);
        preview.problems.set(edited.problem, known);
      } else if (isSameValue(before, edited.value)) preview.unchanged++;
      else {
        preview.changed++;
        if (preview.rows.length < SHOWN_ROWS) preview.rows.push({ ...product, before, after: edited.value });
      }
    }
  }
  return preview;
}

async function previewCard(visit: ShopVisit, action: BulkAction, preview: Preview): Promise<Markup> {
  const { products: messages } = visit.messages;
  const words = messages.bulk;
  const { rows, changed, unchanged, problems } = preview;
  const [text] = await actionTexts(visit, [action]);
  return html`<form method="post" class="card">
    <h2>${words.previewTitle}</h2>
    <p>${text}</p>
    <p role="status">
      ${words.changes({ count: changed })} ${unchanged > 0 && words.stay({ count: unchanged })}
    </p>
    ${[...problems].map(
      ([problem, { count, numbers }]) =>
        html`<p class="problem">
          ${words.problems[problem]} ${words.affected({ count, numbers: numbers.join(', ') })}
        </p>`,
    )}
    ${
      rows.length > 0 &&
      html`<div class="scroll">
        <table>
          <caption class="hidden">
            ${words.previewTitle}
          </caption>
          <thead>
            <tr>
              <th scope="col">${messages.name}</th>
              <th scope="col" class="number">${words.before}</th>
              <th scope="col" class="number">${words.after}</th>
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              ({ name, productNumber, before, after }) =>
                html`<tr>
                  <td>
                    ${name && anyText(name, visit.locale, visit.settings.defaultLocale)}
                    <span class="quiet">${productNumber}</span>
                  </td>
                  <td class="number">${valueText(visit, action, before)}</td>
                  <td class="number"><strong>${valueText(visit, action, after)}</strong></td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`
    }
    ${changed > rows.length && html`<p class="hint">${words.moreRows({ count: changed - rows.length })}</p>`}
    ${changed > 0 && html`<button class="main">${words.apply({ count: changed })}</button>`}
  </form>`;
}

function valueText(visit: ShopVisit, action: BulkAction, value: EditedValue): string {
  const messages = visit.messages.products;
  switch (editTarget(action)) {
    case 'stock':
      return value === null ? messages.bulk.notTracked : decimalText(value as number, visit.language);
    case 'price':
      return (
        Object.entries((value ?? {}) as Record<string, number>)
          .map(([currency, minor]) => amountText(minor, visit, currency))
          .join(' / ') || '–'
      );
    case 'listed':
      if (action.kind === 'setVisible') return value === true ? messages.shown : messages.hidden;
      return value === null ? messages.bulk.notInCategory : messages.bulk.inCategory;
  }
}

async function recentEdits(visit: ShopVisit): Promise<Markup | false> {
  const edits = await findBulkEdits(visit.db, visit.shopId);
  const messages = visit.messages.products.bulk;
  if (edits.length === 0) return false;
  const texts = await actionTexts(
    visit,
    edits.map(({ action }) => action),
  );
  return html`<section class="card" aria-labelledby="recent-edits">
    <h2 id="recent-edits">${messages.recent}</h2>
    <ul class="things">
      ${edits.map(
        (edit, index) =>
          html`<li>
            <span
              ><a href="${adminPath(visit, `/products/bulk-edits/${edit.editId}`)}">${texts[index]}</a><br />
              <span class="quiet">${edit.author}, ${dayText(edit.createdAt, visit.language)}</span></span
            >
            <span>${messages.states[edit.state]}</span>
          </li>`,
      )}
    </ul>
  </section>`;
}

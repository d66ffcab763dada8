import { Type } from 'typebox';
import { fieldCard } from '../fields/value-pages.ts';
import { copyProduct, updateProductExtras } from '../../catalogue/products/manage-routes.ts';
import { conflict } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { anyText } from '../../catalogue/products/render.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { declareForm, declareHidden, readFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { languageTabs } from '../components/language-tabs.ts';
import { RICH_TEXT_SCRIPTS } from '../components/rich-text.ts';
import { requireUnchanged, versionField, versionOf } from '../components/version.ts';
import { PRODUCTS_SCRIPT } from '../layout/assets.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { blocksOf } from '../apps/frames.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { categoryTree } from './category-tree.ts';
import { picturesCard } from './pictures.ts';
import {
  detailsCard,
  pricesCard,
  shippingCard,
  stockCard,
  textsCard,
  visibilityCard,
} from './product-cards.ts';
import { productChanges, type ProductChanges } from './product-changes.ts';
import { PRODUCT_LIMITS } from './product-declaration.ts';
import { productFieldInputs } from './product-fields.ts';
import { productPage, readProduct } from './product-page.ts';
import { productRefusal } from './product-problems.ts';
import { productFormValues, type ProductFormValues } from './product-values.ts';
import { findCategoryChoices, findCategoryIds } from './queries.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';

/** The stock that the page has shown. */
const SHOWN_STOCK = declareHidden({ stockWas: 40 });
/** The page has a box for each category, and says so, because boxes that are not checked send nothing. */
const CATEGORIES = declareForm(
  { body: Type.Object({ categories: Type.Boolean(), category: Type.Array(Type.String()) }) },
  ({ products: { fields } }) => ({
    categories: { kind: 'tick', label: fields.categories },
    category: { kind: 'ticks', label: fields.categories },
  }),
);

/** A product with all its fields. */
export function productEditorPages(pages: ShopPages): void {
  pages.form(
    '/products/:productId',
    { read: 'products_read', write: 'products_write' },
    {
      show: async (visit, request, draft) => {
        const row = await readProduct(visit, request.params['productId']!);
        const mayWrite = visit.may('products_write');
        const values = productFormValues(row, visit);
        const master = row.master && { ...row, ...row.master, master: null };
        const fields = productFieldInputs(values, master ? productFormValues(master, visit) : undefined, {
          draft,
          mayWrite,
          visit,
        });
        const blocks = blocksOf(visit, 'product', [row.productId]);
        return productPage(visit, row, 'product', {
          scripts: [PRODUCTS_SCRIPT, ...RICH_TEXT_SCRIPTS, ...blocks.scripts],
          frames: blocks.frames,
          main: html`${await picturesCard(visit, row)}
            <form method="post" class="product-form">
              ${problemOf(draft)} ${versionField(versionedValues(values))}
              <div class="sides">
                <div>
                  ${languageTabs(visit.settings.locales, visit.language, visit.messages)}
                  ${textsCard(visit, fields)} ${pricesCard(visit, row, fields)}
                  ${stockCard(visit, row, fields)} ${shippingCard(visit, row, fields)}
                  ${detailsCard(visit, fields)}
                </div>
                <div>
                  ${visibilityCard(visit, row, fields)}
                  ${row.kind !== 'variation' && (await categoriesCard(visit, row, draft))}
                  ${await fieldCard(visit, row.kind === 'variation' ? 'variation' : 'product', { productId: row.productId })}
                </div>
              </div>
              ${
                mayWrite &&
                html`<div class="save-bar">
                  <button class="main">${visit.messages.form.save}</button>
                  <span class="quiet">${visit.messages.products.saveHint}</span>
                </div>`
              }
            </form>
            ${blocks.markup}`,
        });
      },
      save: async (visit, form) => {
        const row = await readProduct(visit, form.params['productId']!);
        const values = productFormValues(row, visit);
        requireUnchanged(form, versionedValues(values), visit.messages);
        const changes = productChanges(row, typedIn(visit, form), {
          ...visit,
          refusal: (typed) => visit.messages.products.noNumber({ typed }),
        });
        if ('stock' in changes.before && readFields(SHOWN_STOCK, form, visit).stockWas !== values['stock']) {
          throw conflict(visit.messages.products.stockMoved);
        }
        const { categories, category } = readFields(CATEGORIES, form, visit);
        await saveChanges(visit, row.productId, changes, categories ? category : undefined).catch(
          (error: unknown) => {
            throw productRefusal(error, changes, visit);
          },
        );
        const path = adminPath(visit, `/products/${row.productId}`);
        const after = await readProduct(visit, row.productId);
        return new Redirect(path, {
          text: visit.messages.form.saved,
          undo: undoOf(path, changes, productFormValues(after, visit)),
        });
      },
    },
    { limits: PRODUCT_LIMITS },
  );

  pages.post('/products/:productId/copy', 'products_write', async (visit, form) => {
    const { productId } = await readProduct(visit, form.params['productId']!);
    const copy = await visit.call(copyProduct, { params: { productId } });
    return new Redirect(adminPath(visit, `/products/${copy.productId}`), visit.messages.products.copied);
  });
}

/** Orders change the stock all the time, which is no reason to refuse a new description. */
function versionedValues({ stock: _stock, ...values }: ProductFormValues): ProductFormValues {
  return values;
}

/**
 * A checkbox sends two values: that it is present, and that it is checked. The last one counts. A stock that was not
 * changed in the form keeps its current value.
 */
function typedIn(visit: ShopVisit, form: FormRequest): (name: string) => string | undefined {
  const names = new Set(form.fieldNames);
  const isStockTyped = form.field('stock') !== readFields(SHOWN_STOCK, form, visit).stockWas;
  return (name) => {
    if (!names.has(name) || (name === 'stock' && !isStockTyped)) return undefined;
    return form.fieldList(name).at(-1);
  };
}

/** Everything in one call, so that a refusal leaves nothing half saved. */
async function saveChanges(
  visit: ShopVisit,
  productId: string,
  { patches, extras }: ProductChanges,
  categoryIds: string[] | undefined,
): Promise<void> {
  const body = { ...extras, ...(patches.length > 0 && { patches }), ...(categoryIds && { categoryIds }) };
  if (Object.keys(body).length > 0) await visit.call(updateProductExtras, { params: { productId }, body });
}

/** The form with the previous values, based on the current state; categories cannot be undone in one step. */
function undoOf(path: string, { before }: ProductChanges, now: ProductFormValues) {
  if (Object.keys(before).length === 0) return undefined;
  const state = { version: versionOf(versionedValues(now)), stockWas: now['stock']! };
  return { action: path, fields: { ...state, ...before } };
}

async function categoriesCard(visit: ShopVisit, row: ProductRow, draft: Draft | undefined): Promise<Markup> {
  const { db, shopId, locale, settings } = visit;
  const messages = visit.messages.products.fields;
  const [assigned, categories] = await Promise.all([
    findCategoryIds(db, shopId, row.productId),
    findCategoryChoices(db, shopId),
  ]);
  const chosen = new Set(draft ? draft.fieldList('category') : assigned);
  return html`<section class="card">
    <h2>${messages.categories}</h2>
    <input type="hidden" name="categories" value="yes" />
    <div class="category-ticks">
      ${categoryTree(categories).map(
        ({ categoryId, name, depth }) =>
          html`<label data-depth="${Math.min(depth, 5)}"
            ><input
              type="checkbox"
              name="category"
              value="${categoryId}"
              ${chosen.has(categoryId) && html`checked`}
              ${!visit.may('products_write') && html`disabled`}
            />
            ${anyText(name, locale, settings.defaultLocale)}</label
          >`,
      )}
    </div>
  </section>`;
}

import { Type } from 'typebox';
import { createAssignments } from '../../catalogue/categories/assignments.ts';
import { createProduct } from '../../catalogue/products/write-routes.ts';
import { badRequest, HttpError } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { parseLocalisedDecimal } from '../components/decimal.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { RICH_TEXT_SCRIPTS } from '../components/rich-text.ts';
import { refusalText } from '../components/validation.ts';
import { PRODUCTS_SCRIPT } from '../layout/assets.ts';
import type { Language } from '../messages.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { categoryTree } from './category-tree.ts';
import { taxClassChoices } from './product-cards.ts';
import { readProduct } from './product-page.ts';
import { findCategoryChoices } from './queries.ts';
import { ATTRIBUTE_TEXTS, attributeFields, hasAttributes, makeVariations } from './variations.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';

const PRODUCT = declareForm(createProduct, ({ products: { fields, new: messages, noNumber } }) => {
  const toDecimal = (typed: string, language: Language) => {
    const number = parseLocalisedDecimal(typed, language);
    if (number === undefined) throw badRequest(noNumber({ typed }));
    return number;
  };
  const number = { kind: 'decimal', autocomplete: 'off', toDecimal } as const;
  return {
    name: { label: fields.name, isRequired: true },
    price: { ...number, label: fields.price },
    stocklevel: { ...number, label: fields.stock, hint: fields.stockHint, input: 'stock' },
    productNumber: { label: fields.productNumber, hint: messages.numberHint, autocomplete: 'off' },
    ean: { label: fields.ean, inputMode: 'numeric', autocomplete: 'off' },
    description: { kind: 'rich text', label: fields.description, rows: 5 },
    taxClassId: { kind: 'choice', label: fields.taxClass },
    visible: { kind: 'tick', label: messages.visible },
  };
});
const CATEGORY = declareForm(
  { body: Type.Object({ categoryId: Type.String() }) },
  ({ products: { category, new: messages } }) => ({
    categoryId: { kind: 'choice', label: category, empty: messages.noCategory, input: 'category' },
  }),
);
const { limits, labels } = optionsOf(PRODUCT);

/** A new product on one page: the data needed to sell it, its pictures and its variations. */
export function newProduct(pages: ShopPages): void {
  pages.form(
    '/products/new',
    { read: 'products_write', write: 'products_write' },
    {
      show: async (visit, _request, draft) => {
        const { settings, locale } = visit;
        const messages = visit.messages.products;
        const taxClassId = settings.taxClasses.find(({ isDefault }) => isDefault)?.taxClassId;
        const field = showFields(PRODUCT, visit, { values: { taxClassId, visible: true }, draft });
        const categories = categoryTree(await findCategoryChoices(visit.db, visit.shopId));
        return {
          title: messages.new.title,
          menu: 'products',
          breadcrumbs: [
            { href: adminPath(visit, '/products'), text: visit.messages.layout.menuEntries.products },
          ],
          scripts: [PRODUCTS_SCRIPT, ...RICH_TEXT_SCRIPTS],
          main: html`<form method="post" class="product-form" data-new-product>
            <div data-refusal>${problemOf(draft)}</div>
            <section class="card">
              ${field('name')}
              <div class="row">
                ${field('price', { unit: settings.defaultCurrency })} ${field('stocklevel')}
                ${field('productNumber')} ${field('ean')}
              </div>
              ${field('description')}
              <div class="row">
                ${showFields(CATEGORY, visit, { draft })('categoryId', {
                  choices: categories.map(({ categoryId, name, depth }) => ({
                    value: categoryId,
                    text: `${'– '.repeat(depth)}${anyText(name, locale, settings.defaultLocale) ?? ''}`,
                  })),
                })}
                ${field('taxClassId', { choices: taxClassChoices(visit) })}
              </div>
              ${field('visible')}
            </section>
            <section class="card">
              <h2>${messages.pictures.title}</h2>
              <div class="drop with-script" data-new-pictures>
                <label for="new-pictures">${messages.pictures.drop}</label>
                <input type="file" id="new-pictures" accept=".png,.jpg,.jpeg,.gif" multiple />
                <ul class="pictures" data-chosen></ul>
              </div>
              <p class="quiet without-script">${messages.new.picturesLater}</p>
              <p
                class="quiet"
                role="status"
                data-progress="${messages.pictures.progress}"
                data-next="${messages.new.toProduct}"
                hidden
              ></p>
            </section>
            <section class="card">
              <h2>${messages.tabs.variations}</h2>
              <p class="hint">${messages.new.variationsHint}</p>
              ${attributeFields(visit, undefined, draft)}
            </section>
            <div class="save-bar"><button class="main">${messages.new.create}</button></div>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const productId = await saveProduct(visit, form);
        const path = `/products/${productId}`;
        if (!hasAttributes(visit, form)) {
          return new Redirect(adminPath(visit, path), visit.messages.products.new.created);
        }
        try {
          await makeVariations(visit, await readProduct(visit, productId), form);
        } catch (error) {
          // The product exists; its variations can be created on the page that shows their problems.
          if (!(error instanceof HttpError)) throw error;
          return new Redirect(adminPath(visit, `${path}/variations`), {
            text: refusalText(visit, error),
            isProblem: true,
          });
        }
        return new Redirect(adminPath(visit, `${path}/variations`), visit.messages.products.new.created);
      },
    },
    { labels, limits: { texts: { ...limits.texts, ...ATTRIBUTE_TEXTS } } },
  );
}

async function saveProduct(visit: ShopVisit, form: FormRequest): Promise<string> {
  const { defaultLocale: locale, defaultCurrency: currency } = visit.settings;
  const { categoryId } = readFields(CATEGORY, form, visit);
  const body = readFields(PRODUCT, form, visit);
  return visit.inTransaction(async (call) => {
    const { productId } = await call(createProduct, { query: { locale, currency }, body });
    if (isId(categoryId)) await call(createAssignments, { body: { productId, categoryId } });
    return productId;
  });
}

import { createAssignments } from '../../catalogue/categories/assignments.ts';
import { createProduct } from '../../catalogue/products/write-routes.ts';
import { badRequest, HttpError } from '../../http/errors.ts';
import { MAX_LENGTHS } from '../../catalogue/products/request-fields.ts';
import { html } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { isId } from '../../kernel/ids.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { choiceField, longTextField, problemOf, textField, tickField } from '../components/form.ts';
import { decimalOf } from '../components/decimal.ts';
import { refusalText } from '../components/validation.ts';
import { PRODUCTS_SCRIPT } from '../layout/assets.ts';
import { Redirect } from '../page.ts';
import type { FormRequest, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { categoryTree } from './category-tree.ts';
import { readProduct } from './product-page.ts';
import { findCategoryChoices } from './queries.ts';
import { ATTRIBUTE_TEXTS, attributeFields, makeVariations } from './variations.ts';

/** A new product on one page: the data needed to sell it, its pictures and its variations. */
export function newProduct(pages: ShopPages): void {
  pages.form(
    '/products/new',
    { read: 'products_write', write: 'products_write' },
    {
      show: async (visit, _request, draft) => {
        const { settings, locale } = visit;
        const words = visit.words.products;
        const categories = categoryTree(await findCategoryChoices(visit.db, visit.shopId));
        return {
          title: words.new.title,
          menu: 'products',
          breadcrumbs: [
            { href: adminPath(visit, '/products'), text: visit.words.layout.menuEntries.products },
          ],
          scripts: [PRODUCTS_SCRIPT],
          main: html`<form method="post" class="product-form" data-new-product>
            <div data-refusal>${problemOf(draft)}</div>
            <section class="card">
              ${textField({ name: 'name', label: words.fields.name, isRequired: true, maxLength: 1000, draft })}
              <div class="row">
                ${textField({
                  name: 'price',
                  label: words.fields.price,
                  unit: settings.defaultCurrency,
                  inputMode: 'decimal',
                  autocomplete: 'off',
                  draft,
                })}
                ${textField({
                  name: 'stock',
                  label: words.fields.stock,
                  hint: words.fields.stockHint,
                  inputMode: 'decimal',
                  autocomplete: 'off',
                  draft,
                })}
                ${textField({
                  name: 'productNumber',
                  label: words.fields.productNumber,
                  hint: words.new.numberHint,
                  maxLength: 100,
                  autocomplete: 'off',
                  draft,
                })}
                ${textField({ name: 'ean', label: words.fields.ean, inputMode: 'numeric', autocomplete: 'off', draft })}
              </div>
              ${longTextField({ name: 'description', label: words.fields.description, rows: 5, maxLength: MAX_LENGTHS.text, draft })}
              <div class="row">
                ${choiceField({
                  name: 'category',
                  label: words.category,
                  empty: words.new.noCategory,
                  choices: categories.map(({ categoryId, name, depth }) => ({
                    value: categoryId,
                    text: `${'– '.repeat(depth)}${anyText(name, locale, settings.defaultLocale) ?? ''}`,
                  })),
                  draft,
                })}
                ${choiceField({
                  name: 'taxClassId',
                  label: words.fields.taxClass,
                  choices: settings.taxClasses.map(({ taxClassId, key, name }) => ({
                    value: taxClassId,
                    text: textIn(name, locale, settings.defaultLocale) ?? key,
                  })),
                  value: settings.taxClasses.find(({ isDefault }) => isDefault)?.taxClassId,
                  draft,
                })}
              </div>
              ${tickField({ name: 'visible', label: words.new.visible, value: true, draft })}
            </section>
            <section class="card">
              <h2>${words.pictures.title}</h2>
              <div class="drop with-script" data-new-pictures>
                <label for="new-pictures">${words.pictures.drop}</label>
                <input type="file" id="new-pictures" accept=".png,.jpg,.jpeg,.gif" multiple />
                <ul class="pictures" data-chosen></ul>
              </div>
              <p class="quiet without-script">${words.new.picturesLater}</p>
              <p
                class="quiet"
                role="status"
                data-progress="${words.pictures.progress}"
                data-next="${words.new.toProduct}"
                hidden
              ></p>
            </section>
            <section class="card">
              <h2>${words.tabs.variations}</h2>
              <p class="hint">${words.new.variationsHint}</p>
              ${attributeFields(visit, undefined, draft)}
            </section>
            <div class="save-bar"><button class="main">${words.new.create}</button></div>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const productId = await saveProduct(visit, form);
        const path = `/products/${productId}`;
        if (form.field('attribute.0') === '') {
          return new Redirect(adminPath(visit, path), visit.words.products.new.created);
        }
        try {
          await makeVariations(visit, await readProduct(visit, productId), form);
        } catch (error) {
          // The product exists; its variations can be created on the page that shows their problems.
          if (!(error instanceof HttpError)) throw error;
          return new Redirect(adminPath(visit, `${path}/variations`), {
            text: refusalText(visit.words, error),
            isProblem: true,
          });
        }
        return new Redirect(adminPath(visit, `${path}/variations`), visit.words.products.new.created);
      },
    },
    { limits: { texts: { description: MAX_LENGTHS.text, ...ATTRIBUTE_TEXTS } } },
  );
}

async function saveProduct(visit: ShopVisit, form: FormRequest): Promise<string> {
  const { settings, language, words } = visit;
  const decimal = (name: string) => {
    const typed = form.field(name);
    const number = decimalOf(typed, language);
    if (typed !== '' && number === undefined) throw badRequest(words.products.noNumber({ typed }));
    return number ?? null;
  };
  const category = form.field('category');
  const query = { locale: settings.defaultLocale, currency: settings.defaultCurrency };
  const body = {
    name: form.field('name'),
    productNumber: form.field('productNumber') || null,
    description: form.field('description') || null,
    price: decimal('price'),
    stocklevel: decimal('stock'),
    ean: form.field('ean') || null,
    taxClassId: form.field('taxClassId') || null,
    visible: form.field('visible') === 'yes',
  };
  return visit.inTransaction(async (call) => {
    const { productId } = await call(createProduct, { query, body });
    if (isId(category)) {
      await call(createAssignments, { body: { productId, categoryId: category } });
    }
    return productId;
  });
}

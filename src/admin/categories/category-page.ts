import { fieldCard } from '../fields/value-pages.ts';
import { Type } from 'typebox';
import { createAssignments, deleteAssignments } from '../../catalogue/categories/assignments.ts';
import { deleteCategory, getCategory, updateCategory } from '../../catalogue/categories/routes.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { isId } from '../../kernel/ids.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { imagePath } from '../../platform/media/images.ts';
import { chip } from '../components/format.ts';
import { languageName } from '../components/language-name.ts';
import { languageTabs } from '../components/language-tabs.ts';
import { RICH_TEXT_SCRIPTS } from '../components/rich-text.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import { pickerLink } from '../media/picker.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, storefrontLink, type ShopVisit } from '../visit.ts';
import {
  findAssignedProducts,
  findCategoryTexts,
  findProductByTypedNumber,
  PRODUCTS_PER_PAGE,
  type AssignedProduct,
  type CategoryTexts,
} from './queries.ts';
import { type FormRequest, type PageRequest, Redirect } from '../../http/page-kit.ts';

/** The part of the API's category that the form changes. */
interface ShownCategory {
  categoryId: string;
  alias: string;
  visible: boolean;
  visibleInNavigation: boolean;
  specialOffer: boolean;
  facetedSearchShowFacetsOnCategory: boolean;
  parent: object | null;
  images: readonly { url: string; classifier: string }[];
  sfUrl: string;
}

const FLAGS = [
  'visible',
  'visibleInNavigation',
  'specialOffer',
  'facetedSearchShowFacetsOnCategory',
] as const;

const TEXTS = ['name', 'pageTitle', 'navigationCaption', 'description'] as const;

const CATEGORY = declareForm(updateCategory, ({ categories: messages }) => {
  const flag = (name: (typeof FLAGS)[number]) => ({ kind: 'tick', label: messages.flags[name] }) as const;
  return {
    alias: { label: messages.alias, hint: messages.aliasHint, isRequired: true },
    visible: flag('visible'),
    visibleInNavigation: flag('visibleInNavigation'),
    specialOffer: flag('specialOffer'),
    facetedSearchShowFacetsOnCategory: flag('facetedSearchShowFacetsOnCategory'),
  };
});

/** The texts of one language. */
const CATEGORY_TEXTS = declareForm(updateCategory, ({ categories: { texts, markupHint } }) => {
  const text = (name: (typeof TEXTS)[number]) => ({ label: texts[name], isLocalised: true });
  return {
    name: text('name'),
    pageTitle: text('pageTitle'),
    navigationCaption: text('navigationCaption'),
    description: { ...text('description'), kind: 'rich text', rows: 5, hint: markupHint },
  };
});

/** A product that is added by its number. */
const ASSIGNMENT = declareForm(
  { body: Type.Object({ number: Type.String({ maxLength: 100 }) }) },
  ({ categories: messages }) => ({ number: { label: messages.number } }),
);

/** A category: its texts in all languages, its visibility, and its products. */
export function categoryPages(pages: ShopPages): void {
  pages.form(
    '/categories/:categoryId',
    { read: 'products_read', write: 'products_write' },
    { show: showCategory, save: saveCategory },
    optionsOf(CATEGORY, CATEGORY_TEXTS),
  );

  pages.post('/categories/:categoryId/delete', 'products_write', async (visit, form) => {
    const { categoryId } = await readCategory(visit, form);
    await visit.call(deleteCategory, { params: { categoryId } });
    return new Redirect(adminPath(visit, '/categories'), visit.messages.categories.deleted);
  });

  pages.post(
    '/categories/:categoryId/products',
    'products_write',
    async (visit, form) => {
      const { categoryId } = await readCategory(visit, form);
      const { number } = readFields(ASSIGNMENT, form, visit);
      const product = await findProductByTypedNumber(visit.db, visit.shopId, number);
      if (!product)
        return new Redirect(pathOf(visit, categoryId), visit.messages.categories.noSuchProduct({ number }));
      await assign(visit, 'POST', categoryId, product.productId);
      return new Redirect(pathOf(visit, categoryId), visit.messages.categories.assigned({ number }));
    },
    optionsOf(ASSIGNMENT),
  );

  pages.post(
    '/categories/:categoryId/products/:productId/delete',
    'products_write',
    async (visit, form) => {
      const { categoryId } = await readCategory(visit, form);
      await assign(visit, 'DELETE', categoryId, form.params['productId']!);
      return new Redirect(pathOf(visit, categoryId), {
        text: visit.messages.categories.unassigned,
        undo: {
          action: `${pathOf(visit, categoryId)}/products`,
          fields: readFields(ASSIGNMENT, form, visit),
        },
      });
    },
    optionsOf(ASSIGNMENT),
  );
}

const pathOf = (visit: ShopVisit, categoryId: string) => adminPath(visit, `/categories/${categoryId}`);

async function readCategory(visit: ShopVisit, { params }: PageRequest): Promise<ShownCategory> {
  const categoryId = params['categoryId']!;
  if (!isId(categoryId)) throw notFound();
  const query = { locale: visit.locale, includeInvisible: true };
  return visit.call(getCategory, { params: { categoryId }, query });
}

const assign = (visit: ShopVisit, method: 'POST' | 'DELETE', categoryId: string, productId: string) =>
  method === 'POST'
    ? visit.call(createAssignments, { body: { categoryId, productId } })
    : visit.call(deleteAssignments, { query: { categoryId, productId } });

/** The data of the form: the state that must be unchanged when it is saved. */
async function loadForm(visit: ShopVisit, request: PageRequest) {
  const category = await readCategory(visit, request);
  const texts = await findCategoryTexts(visit.db, visit.shopId, category.categoryId);
  if (!texts) throw notFound();
  const flags = Object.fromEntries(FLAGS.map((name) => [name, category[name]]));
  return { category, texts, version: { alias: category.alias, ...flags, texts } };
}

async function showCategory(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.categories;
  const { category, texts, version } = await loadForm(visit, request);
  const page = Math.max(1, Math.trunc(Number(request.query('page') ?? 1)) || 1);
  const offset = (Math.min(page, 2_000) - 1) * PRODUCTS_PER_PAGE;
  const { db, shopId, locale, settings } = visit;
  const products = await findAssignedProducts(db, shopId, category.categoryId, locale, offset);
  const mayWrite = visit.may('products_write');
  const field = showFields(CATEGORY, visit, { values: category, draft });
  return {
    title: textIn(texts.name, locale, settings.defaultLocale) ?? category.alias,
    menu: 'categories',
    scripts: RICH_TEXT_SCRIPTS,
    breadcrumbs: [
      { href: adminPath(visit, '/categories'), text: visit.messages.layout.menuEntries.categories },
    ],
    actions: html`<a
        class="button"
        href="${storefrontPath(visit, category.alias)}"
        target="_blank"
        rel="noopener"
        >${visit.messages.layout.storefront}</a
      >
      ${
        mayWrite &&
        category.parent !== null &&
        buttonForm({
          action: `${pathOf(visit, category.categoryId)}/delete`,
          text: visit.messages.form.delete,
          kind: 'danger',
          confirm: messages.confirmDelete,
        })
      }`,
    main: html`<div class="sides">
      <form method="post" class="card">
        ${problemOf(draft)} ${versionField(version)}
        ${languageTabs(visit.settings.locales, visit.language, visit.messages)}
        ${languageColumns(visit, texts, draft)} ${field('alias', { isDisabled: category.parent === null })}
        ${FLAGS.map((name) => field(name))}
        ${mayWrite && html`<button class="main">${visit.messages.form.save}</button>`}
      </form>
      <div class="stack">
        ${pictureCard(visit, category)} ${productCard(visit, category.categoryId, products, page)}
        ${await fieldCard(visit, 'category', { categoryId: category.categoryId })}
      </div>
    </div>`,
  };
}

/** Its picture, with the ways to another one. */
function pictureCard(visit: ShopVisit, { categoryId, images }: ShownCategory): Markup {
  const messages = visit.messages.media;
  const shown = images.find(({ classifier }) => classifier === 'Medium') ?? images[0];
  return html`<section class="card" id="category-picture">
    <h2>${visit.messages.categories.picture}</h2>
    ${
      shown
        ? html`<p class="logo-shown"><img src="${imagePath(shown.url)}" alt="" /></p>`
        : html`<p class="quiet">${messages.noPicture}</p>`
    }
    ${
      visit.may('products_write') &&
      html`<div class="actions">
        ${pickerLink(visit, { kind: 'category', id: categoryId }, 'category-picture')}
        ${
          shown &&
          buttonForm({
            action: adminPath(visit, '/media/assign'),
            text: messages.removeChosen,
            fields: { for: `category.${categoryId}`, imageKey: '' },
          })
        }
      </div>`
    }
  </section>`;
}

/** The texts of every language side by side. */
function languageColumns(visit: ShopVisit, texts: CategoryTexts, draft?: Draft): Markup {
  const { locales, defaultLocale } = visit.settings;
  const ordered = [defaultLocale, ...locales.filter((locale) => locale !== defaultLocale)];
  return html`<div class="row">
    ${ordered.map((locale) => {
      const values = Object.fromEntries(TEXTS.map((name) => [name, texts[name][locale]]));
      const field = showFields(CATEGORY_TEXTS, visit, { values, draft, locale });
      return html`<fieldset class="stack" data-language="${locale}">
        <legend>${languageName(locale, visit.language, locales)}</legend>
        ${TEXTS.map((name) => field(name, { isRequired: name === 'name' && locale === defaultLocale }))}
      </fieldset>`;
    })}
  </div>`;
}

async function saveCategory(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const { category, texts, version } = await loadForm(visit, form);
  requireUnchanged(form, version, visit.messages);
  const { categoryId } = category;
  const typed = readFields(CATEGORY, form, visit);
  const body = { ...typed, categoryId, ...(category.parent === null && { alias: category.alias }) };
  await visit.inTransaction(async (call) => {
    for (const locale of visit.settings.locales) {
      const typedTexts = readFields(CATEGORY_TEXTS, form, visit, { locale });
      const isFirst = locale === visit.settings.locales[0];
      const isUnchanged = TEXTS.every((name) => (typedTexts[name] ?? '') === (texts[name][locale] ?? ''));
      if (!isFirst && isUnchanged) continue;
      await call(updateCategory, {
        params: { categoryId },
        query: { locale },
        body: { ...body, ...typedTexts },
      });
    }
  });
  return new Redirect(pathOf(visit, categoryId), visit.messages.form.saved);
}

function storefrontPath(visit: ShopVisit, alias: string): string {
  return storefrontLink(visit, `/Categories/${encodeURIComponent(alias)}`);
}

function productCard(
  visit: ShopVisit,
  categoryId: string,
  found: readonly AssignedProduct[],
  page: number,
): Markup {
  const messages = visit.messages.categories;
  const products = found.slice(0, PRODUCTS_PER_PAGE);
  const path = pathOf(visit, categoryId);
  const mayWrite = visit.may('products_write');
  return html`<section class="card" aria-labelledby="products">
    <h2 id="products">${visit.messages.layout.menuEntries.products}</h2>
    ${
      mayWrite &&
      html`<form class="filters" method="post" action="${path}/products">
        <label class="hidden" for="assign">${messages.number}</label>
        <input id="assign" name="number" placeholder="${messages.number}" maxlength="100" required />
        <button>${visit.messages.form.add}</button>
      </form>`
    }
    ${products.length === 0 && html`<p class="quiet">${messages.noProducts}</p>`}
    <table>
      <tbody>
        ${products.map((product) => productRow(visit, path, product, mayWrite))}
      </tbody>
    </table>
    <div class="actions">
      ${page > 1 && html`<a class="button" href="?page=${page - 1}">${visit.messages.list.previous}</a>`}
      ${found.length > products.length && html`<a class="button" href="?page=${page + 1}">${visit.messages.list.next}</a>`}
    </div>
  </section>`;
}

function productRow(
  visit: ShopVisit,
  path: string,
  { productId, productNumber, name, visible }: AssignedProduct,
  mayWrite: boolean,
): Markup {
  const shown = nameIn(visit, name) ?? productNumber;
  return html`<tr>
    <td>
      <a href="${adminPath(visit, `/products/${productId}`)}">${shown}</a>
      <span class="quiet">${productNumber}</span> ${!visible && chip(visit.messages.categories.hidden)}
    </td>
    <td class="number">
      ${
        mayWrite &&
        html`<form method="post" action="${path}/products/${productId}/delete">
          <input type="hidden" name="number" value="${productNumber}" />
          <button class="link" aria-label="${visit.messages.categories.unassign({ name: shown })}">×</button>
        </form>`
      }
    </td>
  </tr>`;
}

function nameIn({ locale, settings }: ShopVisit, name: Localised | null): string | null {
  return name && textIn(name, locale, settings.defaultLocale);
}

import type { Static } from 'typebox';
import type { JsonPatch } from '../../http/json-patch.ts';
import type { CallOperation } from '../../http/internal-call.ts';
import { createProductType, updateProductType } from '../../catalogue/producttypes/routes.ts';
import { badRequest, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import type { ProductType, TypeAttribute } from '../../shops/settings/settings.ts';
import { longTextField, problemOf, textField, tickField } from '../components/form.ts';
import { languageName } from '../components/language-name.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { type FormRequest, type PageRequest, Redirect } from '../../http/page-kit.ts';

/** One value per line. */
const NEW_VALUES = { characters: 20_000, lines: 500 };
/** A label per value and language. */
const MAX_LABELS = 3_000;

const PERMISSIONS = { read: 'products_read', write: 'products_write' } as const;

/** Product types, with the attributes of their products and the attributes by which variations differ. */
export function productTypePages(pages: ShopPages): void {
  pages.form('/product-types', PERMISSIONS, { show: showTypes, save: addType });
  pages.form(
    '/product-types/:productTypeId',
    PERMISSIONS,
    { show: showType, save: saveLabels },
    { limits: { texts: { 'new.*': NEW_VALUES }, values: MAX_LABELS } },
  );

  pages.post(
    '/product-types/:productTypeId/attributes',
    'products_write',
    async (visit, form) => {
      const type = typeOf(visit, form);
      const name = form.field('name');
      const values = linesOf(form.field('values')).map((value) => ({ name: value }));
      await patchType(visit.call, type, visit.settings.defaultLocale, [
        { op: 'add', path: '/attributevalues', value: { name, visible: true, values } },
      ]);
      return new Redirect(pathOf(visit, type), visit.messages.productTypes.attributeAdded({ name }));
    },
    { limits: { texts: { name: 255, values: NEW_VALUES } } },
  );

  pages.post('/product-types/:productTypeId/remove', 'products_write', async (visit, form) => {
    const type = typeOf(visit, form);
    const [key, value] = [form.field('attribute'), form.field('value')];
    await patchType(visit.call, type, visit.settings.defaultLocale, [
      value === ''
        ? { op: 'remove', path: '/attribute', value: { name: key } }
        : { op: 'remove', path: '/attributevalues', value: { name: key, values: [{ value }] } },
    ]);
    const name = value === '' ? key : value;
    return new Redirect(pathOf(visit, type), visit.messages.productTypes.removed({ name }));
  });
}

const pathOf = (visit: ShopVisit, { productTypeId }: ProductType) =>
  adminPath(visit, `/product-types/${productTypeId}`);

function typeOf({ settings }: ShopVisit, { params }: PageRequest): ProductType {
  const found = settings.productTypes.find(({ productTypeId }) => productTypeId === params['productTypeId']);
  if (!found) throw notFound();
  return found;
}

const patchType = (
  call: CallOperation,
  { productTypeId }: ProductType,
  locale: string,
  body: Static<typeof JsonPatch>,
) => call(updateProductType, { params: { productTypeId }, query: { locale }, body });

const nameOf = ({ locale, settings }: ShopVisit, name: Localised, key: string) =>
  textIn(name, locale, settings.defaultLocale) ?? key;

function linesOf(text: string): string[] {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== ''))];
}

async function showTypes(visit: ShopVisit, _request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.productTypes;
  return {
    title: messages.title,
    menu: 'products',
    breadcrumbs: [{ href: adminPath(visit, '/products'), text: visit.messages.layout.menuEntries.products }],
    main: html`<p class="hint intro">${messages.intro}</p>
      <div class="sides">
        <section class="card">
          <ul class="things">
            ${visit.settings.productTypes.map(
              (type) =>
                html`<li>
                  <a href="${pathOf(visit, type)}">${nameOf(visit, type.name, type.alias)}</a>
                  <span class="quiet"
                    >${type.attributes.map(({ name, key }) => nameOf(visit, name, key)).join(', ') || messages.noAttributes}</span
                  >
                </li>`,
            )}
          </ul>
        </section>
        ${
          visit.may('products_write') &&
          html`<form method="post" class="card" action="${adminPath(visit, '/product-types')}">
            <h2>${messages.new}</h2>
            ${problemOf(draft)}
            ${textField({ name: 'name', label: messages.name, maxLength: 255, isRequired: true, draft })}
            <button class="main">${visit.messages.form.add}</button>
          </form>`
        }
      </div>`,
  };
}

async function addType(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const name = form.field('name');
  if (name === '') throw badRequest(visit.messages.productTypes.nameMissing);
  const query = { locale: visit.settings.defaultLocale };
  const made = await visit.call(createProductType, {
    query,
    body: { name },
  });
  const path = adminPath(visit, `/product-types/${made.productTypeId}`);
  return new Redirect(path, visit.messages.productTypes.added({ name }));
}

async function showType(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.productTypes;
  const type = typeOf(visit, request);
  const mayWrite = visit.may('products_write');
  return {
    title: nameOf(visit, type.name, type.alias),
    menu: 'products',
    breadcrumbs: [{ href: adminPath(visit, '/product-types'), text: messages.title }],
    main: html`${
      type.attributes.length === 0
        ? html`<p class="quiet">${messages.empty}</p>`
        : html`<form method="post" id="labels">
            ${problemOf(draft)} ${versionField(type.attributes)}
            ${type.attributes.map((attribute, index) => attributeCard(visit, attribute, index, draft))}
            ${mayWrite && html`<button class="main">${visit.messages.form.save}</button>`}
          </form>`
    }
    ${
      mayWrite &&
      html`<form method="post" class="card" action="${pathOf(visit, type)}/attributes">
        <h2>${messages.newAttribute}</h2>
        ${textField({ name: 'name', label: messages.attributeName, maxLength: 255, isRequired: true })}
        ${longTextField({ name: 'values', label: messages.values, hint: messages.onePerLine, rows: 4, maxLength: NEW_VALUES.characters })}
        <button>${visit.messages.form.add}</button>
      </form>`
    }
    ${mayWrite && type.attributes.length > 0 && removeCard(visit, type)}`,
  };
}

/** The values of an attribute, with their labels in every language side by side. */
function attributeCard(visit: ShopVisit, attribute: TypeAttribute, index: number, draft?: Draft): Markup {
  const messages = visit.messages.productTypes;
  const { locales } = visit.settings;
  const title = nameOf(visit, attribute.name, attribute.key);
  return html`<section class="card">
    <h2>${title}</h2>
    ${tickField({ name: `visible.${index}`, label: messages.visible, value: attribute.visible, draft })}
    ${
      attribute.values.length > 0 &&
      html`<div class="scroll">
        <table>
          <thead>
            <tr>
              ${locales.map((locale) => html`<th scope="col">${languageName(locale, visit.language, locales)}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${attribute.values.map(
              ({ value, name }, place) =>
                html`<tr>
                  ${locales.map((locale) => {
                    const field = `label.${index}.${place}.${locale}`;
                    return html`<td>
                      <input
                        name="${field}"
                        value="${draft?.field(field) ?? name[locale] ?? ''}"
                        maxlength="255"
                        placeholder="${value}"
                        aria-label="${value}, ${languageName(locale, visit.language, locales)}"
                      />
                    </td>`;
                  })}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`
    }
    ${
      visit.may('products_write') &&
      longTextField({
        name: `new.${index}`,
        label: messages.newValues({ name: title }),
        hint: messages.onePerLine,
        rows: 2,
        maxLength: NEW_VALUES.characters,
        draft,
      })
    }
  </section>`;
}

/** One call per language: changed labels, and in the default language new values. */
async function saveLabels(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const type = typeOf(visit, form);
  requireUnchanged(form, type.attributes, visit.messages);
  const { defaultLocale, locales } = visit.settings;
  await visit.inTransaction(async (call) => {
    for (const locale of locales) {
      const changes = type.attributes.flatMap((attribute, index) => {
        const labels = attribute.values.flatMap(({ value, name }, place) => {
          const typed = form.field(`label.${index}.${place}.${locale}`);
          return typed === '' || typed === name[locale] ? [] : [{ value, name: typed }];
        });
        const isFirst = locale === defaultLocale;
        const added = isFirst ? linesOf(form.field(`new.${index}`)).map((name) => ({ name })) : [];
        const visible = form.field(`visible.${index}`) === 'yes';
        const isShownAnew = isFirst && visible !== attribute.visible;
        if (labels.length + added.length === 0 && !isShownAnew) return [];
        const value = { name: attribute.key, visible, values: [...labels, ...added] };
        return [{ op: 'add', path: '/attributevalues', value }];
      });
      if (changes.length > 0) await patchType(call, type, locale, changes);
    }
  });
  return new Redirect(pathOf(visit, type), visit.messages.form.saved);
}

/** Values used by a product can't be removed; the operation names that product. */
function removeCard(visit: ShopVisit, type: ProductType): Markup {
  const messages = visit.messages.productTypes;
  const button = (attribute: TypeAttribute, value: string, text: string) =>
    html`<form
      method="post"
      action="${pathOf(visit, type)}/remove"
      data-confirm="${messages.confirm({ name: text })}"
    >
      <input type="hidden" name="attribute" value="${attribute.key}" />
      <input type="hidden" name="value" value="${value}" />
      <button aria-label="${messages.remove({ name: text })}">${text} ×</button>
    </form>`;
  return html`<details class="card">
    <summary>${messages.removeTitle}</summary>
    <p class="hint">${messages.removeHint}</p>
    ${type.attributes.map(
      (attribute) =>
        html`<div class="actions">
          ${button(attribute, '', nameOf(visit, attribute.name, attribute.key))}
          ${attribute.values.map(({ value, name }) => button(attribute, value, nameOf(visit, name, value)))}
        </div>`,
    )}
  </details>`;
}

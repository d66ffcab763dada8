import { Type, type Static } from 'typebox';
import type { JsonPatch } from '../../http/json-patch.ts';
import type { CallOperation } from '../../http/internal-call.ts';
import { createProductType, updateProductType } from '../../catalogue/producttypes/routes.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import type { ProductType, TypeAttribute } from '../../shops/settings/settings.ts';
import {
  declaredButton,
  declareForm,
  declareRows,
  optionsOf,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { languageName } from '../components/language-name.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { type FormRequest, type PageRequest, Redirect } from '../../http/page-kit.ts';

/** The values of a JSON Patch, as people type them. */
const Attribute = Type.Object({
  name: Type.String({ maxLength: 255 }),
  label: Type.String({ maxLength: 255 }),
  visible: Type.Boolean(),
  values: Type.Array(Type.String()),
  key: Type.String(),
  value: Type.String(),
});

/** One value per line. */
const LINES = { kind: 'lines', maxLength: { characters: 20_000, lines: 500 } } as const;

const TYPE = declareForm(createProductType, ({ productTypes: messages }) => ({
  name: { label: messages.name, isRequired: true },
}));

const NEW_ATTRIBUTE = declareForm({ body: Attribute }, ({ productTypes: messages }) => ({
  name: { label: messages.attributeName, isRequired: true },
  values: { ...LINES, label: messages.values, hint: messages.onePerLine, rows: 4 },
}));

/** A row is an attribute. */
const ATTRIBUTES = declareRows({ body: Attribute }, ({ productTypes: messages }) => ({
  visible: { kind: 'tick', label: messages.visible },
  values: { ...LINES, label: messages.values, hint: messages.onePerLine, rows: 2, input: 'new' },
}));

/** A row is a value of an attribute, with its label in each language. */
const LABELS = declareRows({ body: Attribute }, ({ productTypes: messages }) => ({
  label: { label: messages.values, isCell: true, isLocalised: true },
}));

/** Removes a value, or without one the attribute. */
const REMOVED = declareForm({ body: Attribute }, () => ({
  key: { kind: 'hidden', label: '', input: 'attribute' },
  value: { kind: 'hidden', label: '' },
}));

/** A label per value and language. */
const MAX_LABELS = 3_000;

const PERMISSIONS = { read: 'products_read', write: 'products_write' } as const;

/** Product types, with the attributes of their products and the attributes by which variations differ. */
export function productTypePages(pages: ShopPages): void {
  pages.form('/product-types', PERMISSIONS, { show: showTypes, save: addType }, optionsOf(TYPE));
  pages.form(
    '/product-types/:productTypeId',
    PERMISSIONS,
    { show: showType, save: saveLabels },
    { limits: { ...optionsOf(ATTRIBUTES, LABELS).limits, values: MAX_LABELS } },
  );

  pages.post(
    '/product-types/:productTypeId/attributes',
    'products_write',
    async (visit, form) => {
      const type = typeOf(visit, form);
      const { name, values } = readFields(NEW_ATTRIBUTE, form, visit);
      await patchType(visit.call, type, visit.settings.defaultLocale, [
        { op: 'add', path: '/attributevalues', value: { name, visible: true, values: named(values) } },
      ]);
      return new Redirect(pathOf(visit, type), visit.messages.productTypes.attributeAdded({ name }));
    },
    optionsOf(NEW_ATTRIBUTE),
  );

  pages.post('/product-types/:productTypeId/remove', 'products_write', async (visit, form) => {
    const type = typeOf(visit, form);
    const { key, value } = readFields(REMOVED, form, visit);
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

const named = (values: readonly string[]) => values.map((name) => ({ name }));

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
            ${problemOf(draft)} ${showFields(TYPE, visit, { draft })('name')}
            <button class="main">${visit.messages.form.add}</button>
          </form>`
        }
      </div>`,
  };
}

async function addType(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const body = readFields(TYPE, form, visit);
  const query = { locale: visit.settings.defaultLocale };
  const made = await visit.call(createProductType, { query, body });
  const path = adminPath(visit, `/product-types/${made.productTypeId}`);
  return new Redirect(path, visit.messages.productTypes.added(body));
}

async function showType(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.productTypes;
  const type = typeOf(visit, request);
  const mayWrite = visit.may('products_write');
  const newAttribute = showFields(NEW_ATTRIBUTE, visit, { draft: undefined });
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
        ${newAttribute('name')} ${newAttribute('values')}
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
  const values = { visible: attribute.visible };
  const field = showFields(ATTRIBUTES, visit, { values, row: String(index), draft });
  return html`<section class="card">
    <h2>${title}</h2>
    ${field('visible')}
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
                    const shown = {
                      values: { label: name[locale] },
                      row: `${index}-${place}`,
                      locale,
                      draft,
                    };
                    const label = `${value}, ${languageName(locale, visit.language, locales)}`;
                    return html`<td>
                      ${showFields(LABELS, visit, shown)('label', { label, placeholder: value })}
                    </td>`;
                  })}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`
    }
    ${visit.may('products_write') && field('values', { label: messages.newValues({ name: title }) })}
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
        const { visible, values } = readFields(ATTRIBUTES, form, visit, { row: String(index) });
        const labels = attribute.values.flatMap(({ value, name }, place) => {
          const { label } = readFields(LABELS, form, visit, { row: `${index}-${place}`, locale });
          return label === '' || label === name[locale] ? [] : [{ value, name: label }];
        });
        const isFirst = locale === defaultLocale;
        const added = isFirst ? named(values) : [];
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
  const button = ({ key }: TypeAttribute, value: string, text: string) =>
    declaredButton(
      REMOVED,
      visit,
      { key, value },
      {
        action: `${pathOf(visit, type)}/remove`,
        confirm: messages.confirm({ name: text }),
        text: `${text} ×`,
        label: messages.remove({ name: text }),
      },
    );
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

import type { TObject } from 'typebox';
import { categoryFieldOperations } from '../../catalogue/categories/category-fields.ts';
import { getCategory } from '../../catalogue/categories/routes.ts';
import { productFieldOperations } from '../../catalogue/products/product-fields.ts';
import { findProductKind } from '../../catalogue/products/queries.ts';
import { nameOf as nameOfProduct } from '../../catalogue/products/render.ts';
import { shopFieldOperations } from '../../fields/shop-fields.ts';
import { readableFields, type fieldOperations } from '../../fields/values.ts';
import { fullKey } from '../../fields/value.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { getManagedOrder } from '../../orders/manage.ts';
import { orderFieldOperations } from '../../orders/order-fields.ts';
import { customerFieldOperations } from '../../people/customers/customer-fields.ts';
import { getCustomer } from '../../people/customers/routes.ts';
import type { CustomField, FieldResource } from '../../shops/settings/settings.ts';
import { problemOf } from '../components/form.ts';
import { RICH_TEXT_SCRIPTS } from '../components/rich-text.ts';
import { refusalBeside } from '../components/validation.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import { customerStep, listStep } from '../customers/customer-steps.ts';
import type { MenuEntry } from '../layout/menu.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { readProduct } from '../products/product-page.ts';
import type { Permission } from '../users/permissions.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import {
  FIELD_LIMITS,
  fieldInputs,
  inputOfPlace,
  isEditable,
  customFieldName,
  namesOfReferences,
  readFieldInputs,
  type TypedFieldValues,
} from './field-inputs.ts';
import { cutText, shownText } from './shown-text.ts';

/** A kind of thing with a page for its custom fields. */
interface FieldPage {
  resource: FieldResource;
  /** Of the thing; its fields are at `/custom-fields` below it. */
  path: string;
  /** The name of its id in the path; the shop has none. */
  idName?: string;
  operations: ReturnType<typeof fieldOperations<TObject>>;
  permissions: { read: Permission; write: Permission };
  menu: MenuEntry;
  /** The path above the page, which names the thing. */
  steps: (visit: ShopVisit, id: string) => Promise<NonNullable<AdminPage['breadcrumbs']>>;
  /** Where one of several definitions applies. */
  resourceOf?: (visit: ShopVisit, id: string) => Promise<FieldResource>;
}

const PAGES: readonly FieldPage[] = [
  {
    resource: 'product',
    path: '/products/:productId',
    idName: 'productId',
    operations: productFieldOperations,
    permissions: { read: 'products_read', write: 'products_write' },
    menu: 'products',
    steps: async (visit, productId) => {
      const row = await readProduct(visit, productId);
      return [
        { href: adminPath(visit, '/products'), text: visit.messages.layout.menuEntries.products },
        {
          href: adminPath(visit, `/products/${productId}`),
          text: nameOfProduct(row, visit.settings, visit.locale),
        },
      ];
    },
    resourceOf: async ({ db, shopId }, productId) => {
      const found = await findProductKind(db, shopId, productId);
      return found?.kind === 'variation' ? 'variation' : 'product';
    },
  },
  {
    resource: 'category',
    path: '/categories/:categoryId',
    idName: 'categoryId',
    operations: categoryFieldOperations,
    permissions: { read: 'products_read', write: 'products_write' },
    menu: 'categories',
    steps: async (visit, categoryId) => {
      const query = { includeInvisible: true, locale: visit.locale };
      const category = await visit.call(getCategory, { params: { categoryId }, query });
      return [
        { href: adminPath(visit, '/categories'), text: visit.messages.layout.menuEntries.categories },
        { href: adminPath(visit, `/categories/${categoryId}`), text: category.name },
      ];
    },
  },
  {
    resource: 'customer',
    path: '/customers/:customerId',
    idName: 'customerId',
    operations: customerFieldOperations,
    permissions: { read: 'customers_read', write: 'customers_write' },
    menu: 'customers',
    steps: async (visit, customerId) => {
      const customer = await visit.call(getCustomer, { params: { customerId } });
      return [listStep(visit), customerStep(visit, customer)];
    },
  },
  {
    resource: 'order',
    path: '/orders/:orderId',
    idName: 'orderId',
    operations: orderFieldOperations,
    permissions: { read: 'orders_read', write: 'orders_write' },
    menu: 'orders',
    steps: async (visit, orderId) => {
      const { orderNumber } = await visit.call(getManagedOrder, { params: { orderId } });
      return [
        { href: adminPath(visit, '/orders'), text: visit.messages.layout.menuEntries.orders },
        {
          href: adminPath(visit, `/orders/${orderId}`),
          text: visit.messages.orders.title({ number: orderNumber }),
        },
      ];
    },
  },
  {
    resource: 'shop',
    path: '/settings/shop',
    operations: shopFieldOperations,
    permissions: { read: 'settings_read', write: 'settings_write' },
    menu: 'settings',
    steps: async (visit) => [
      { href: adminPath(visit, '/settings/shop'), text: visit.messages.customFields.things.shop },
    ],
  },
];

/** A page for the custom fields of each kind of thing. */
export function fieldValuePages(pages: ShopPages): void {
  for (const page of PAGES) {
    pages.form(
      `${page.path}/custom-fields`,
      page.permissions,
      {
        show: (visit, request, draft) => showValues(visit, page, request, draft),
        save: (visit, form) => saveValues(visit, page, form),
      },
      { limits: FIELD_LIMITS },
    );
  }
}

const paramsOf = ({ idName }: FieldPage, { params }: PageRequest): Record<string, string> => {
  if (idName === undefined) return {};
  const id = params[idName] ?? '';
  if (!isId(id)) throw notFound();
  return { [idName]: id.toUpperCase() };
};

const pathOf = (visit: ShopVisit, { path, idName }: FieldPage, params: Readonly<Record<string, string>>) =>
  adminPath(visit, idName === undefined ? path : path.replace(`:${idName}`, params[idName]!));

/** The fields of a thing, and its values. */
async function loadValues(visit: ShopVisit, page: FieldPage, params: Readonly<Record<string, string>>) {
  const { fields: values } = await visit.call(page.operations.get, { params });
  const id = page.idName === undefined ? '' : params[page.idName]!;
  const resource = (await page.resourceOf?.(visit, id)) ?? page.resource;
  return { values: values as TypedFieldValues, fields: readableFields(visit.settings, resource, 'merchant') };
}

async function showValues(
  visit: ShopVisit,
  page: FieldPage,
  request: PageRequest,
  draft?: Draft,
): Promise<AdminPage> {
  const { messages } = visit;
  const words = messages.customFields;
  const params = paramsOf(page, request);
  const { fields, values } = await loadValues(visit, page, params);
  const names = await namesOfReferences(visit, fields, [values]);
  const mayWrite = visit.may(page.permissions.write);
  const others = fields.filter((field) => !mayWrite || !isEditable(field));
  return {
    title: words.title,
    menu: page.menu,
    breadcrumbs: await page.steps(visit, page.idName === undefined ? '' : params[page.idName]!),
    scripts: RICH_TEXT_SCRIPTS,
    main: html`${
      fields.length === 0 &&
      html`<p class="quiet">${words.noFields}</p>
        ${visit.may('settings_write') && html`<a class="button" href="${adminPath(visit, '/custom-fields')}">${words.define}</a>`}`
    }
    ${
      mayWrite &&
      fields.some(isEditable) &&
      html`<form method="post" class="card">
        ${problemOf(draft)} ${versionField(values)}
        ${fields.filter(isEditable).map((field) => fieldInputs(visit, field, values[fullKey(field)], names, draft))}
        <button class="main">${messages.form.save}</button>
      </form>`
    }
    ${
      others.length > 0 &&
      html`<section class="card">
        ${mayWrite && html`<p class="hint">${words.ofApps}</p>`} ${valueTable(visit, others, values, names)}
      </section>`
    }`,
  };
}

async function saveValues(visit: ShopVisit, page: FieldPage, form: FormRequest): Promise<Redirect> {
  const params = paramsOf(page, form);
  const { fields, values } = await loadValues(visit, page, params);
  requireUnchanged(form, values, visit.messages);
  const changes = await readFieldInputs(visit, form, fields.filter(isEditable), values);
  try {
    if (Object.keys(changes).length > 0) {
      await visit.call(page.operations.update, { params, body: { fields: changes } });
    }
  } catch (error) {
    throw refusalBeside(error, visit, (place) => inputOfPlace(visit, fields, place));
  }
  return new Redirect(pathOf(visit, page, params), visit.messages.form.saved);
}

/** The fields of a thing beside its other data; false: the shop has defined none for it. */
export async function fieldCard(
  visit: ShopVisit,
  resource: FieldResource,
  params: Readonly<Record<string, string>>,
): Promise<Markup | false> {
  const fields = readableFields(visit.settings, resource, 'merchant');
  if (fields.length === 0) return false;
  const page = PAGES.find((one) => one.resource === (resource === 'variation' ? 'product' : resource))!;
  const { fields: values } = await visit.call(page.operations.get, { params });
  const names = await namesOfReferences(visit, fields, [values]);
  const messages = visit.messages.customFields;
  return html`<section class="card" aria-labelledby="custom-fields">
    <h2 id="custom-fields">${messages.title}</h2>
    ${valueTable(visit, fields, values, names)}
    ${
      visit.may(page.permissions.write) &&
      html`<a class="button" href="${pathOf(visit, page, params)}/custom-fields">${messages.edit}</a>`
    }
  </section>`;
}

function valueTable(
  visit: ShopVisit,
  fields: readonly CustomField[],
  values: TypedFieldValues,
  names: ReadonlyMap<string, string>,
): Markup {
  const filled = fields.filter((field) => values[fullKey(field)] !== undefined);
  if (filled.length === 0) return html`<p class="quiet">${visit.messages.customFields.noValues}</p>`;
  return html`<dl class="pairs">
    ${filled.map(
      (field) =>
        html`<dt>${customFieldName(field, visit)}</dt>
          <dd>${cutText(shownText(visit, field, values[fullKey(field)], names))}</dd>`,
    )}
  </dl>`;
}

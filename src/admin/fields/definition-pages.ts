import { Type } from 'typebox';
import {
  createCustomField,
  deleteCustomField,
  getCustomField,
  updateCustomField,
} from '../../fields/definitions.ts';
import {
  FEED_ATTRIBUTES,
  FIELD_RESOURCES,
  FIELD_TYPES,
  type CustomField,
} from '../../shops/settings/settings.ts';
import { fullKey } from '../../fields/value.ts';
import type { FieldChange } from '../../fields/schema.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import type { Localised } from '../../http/locale.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import {
  declareForm,
  optionsOf,
  readFields,
  showFields,
  type FormValue,
} from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { languageName } from '../components/language-name.ts';
import { languageTabs } from '../components/language-tabs.ts';
import { refuseField } from '../components/validation.ts';
import type { AdminMessages } from '../messages.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { settingsBreadcrumbs } from '../settings/section-page.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { customFieldName } from './field-inputs.ts';

const PATH = '/custom-fields';
const PERMISSIONS = { read: 'settings_read', write: 'settings_write' } as const;

const choicesOf = <Value extends string>(values: readonly Value[], texts: Readonly<Record<Value, string>>) =>
  values.map((value) => ({ value, text: texts[value] }));

/** What a field is, which stays as it is. */
const IDENTITY = declareForm(createCustomField, ({ customFields: messages }) => ({
  resource: {
    kind: 'choice',
    label: messages.resource,
    choices: choicesOf(FIELD_RESOURCES, messages.things),
  },
  type: {
    kind: 'choice',
    label: messages.type,
    hint: messages.typeHint,
    choices: choicesOf(FIELD_TYPES, messages.types),
  },
  namespace: { label: messages.namespace, hint: messages.namespaceHint, isRequired: true },
  key: { label: messages.key, hint: messages.keyHint, isRequired: true },
  isList: { kind: 'tick', label: messages.isList },
  isLocalised: { kind: 'tick', label: messages.isLocalised },
}));

const changeableIn = ({ customFields: messages }: AdminMessages) =>
  ({
    description: { label: messages.description, hint: messages.descriptionHint },
    readableBy: {
      kind: 'choice',
      label: messages.readableBy,
      choices: choicesOf(['merchant', 'public'], messages.readers),
    },
    writableBy: {
      kind: 'choice',
      label: messages.writableBy,
      hint: messages.writableByHint,
      choices: choicesOf(['merchant', 'shopper'], messages.writers),
    },
    isFilter: { kind: 'tick', label: messages.isFilter, hint: messages.isFilterHint },
    isFacet: { kind: 'tick', label: messages.isFacet, hint: messages.isFacetHint },
    feedAttribute: {
      kind: 'choice',
      label: messages.feedAttribute,
      hint: messages.feedAttributeHint,
      choices: choicesOf(FEED_ATTRIBUTES, messages.feedAttributes),
      empty: messages.noFeed,
    },
  }) as const;

const RIGHTS = declareForm(updateCustomField, changeableIn);

/** Texts of the form whose form in the operation is another. */
const TEXTS = declareForm(
  {
    body: Type.Object({
      name: Type.String({ maxLength: 100 }),
      choices: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 }),
      jsonSchema: Type.String({ maxLength: 8_000 }),
    }),
  },
  ({ customFields: messages }) => ({
    name: { label: messages.name, isLocalised: true },
    choices: { kind: 'lines', label: messages.choices, hint: messages.choicesHint, isLocalised: true },
    jsonSchema: {
      kind: 'long text',
      label: messages.jsonSchema,
      hint: messages.jsonSchemaHint,
      isCode: true,
    },
  }),
);

/** The definitions of the merchant, and those of apps to look at. */
export function fieldDefinitionPages(pages: ShopPages): void {
  pages.get(PATH, 'settings_read', showList);
  pages.form(
    `${PATH}/new`,
    { read: 'settings_write', write: 'settings_write' },
    { show: showNew, save: addField },
    optionsOf(IDENTITY, RIGHTS, TEXTS),
  );
  pages.form(`${PATH}/:fieldId`, PERMISSIONS, { show: showField, save: saveField }, optionsOf(RIGHTS, TEXTS));
  pages.post(`${PATH}/:fieldId/delete`, 'settings_write', async (visit, { params }) => {
    const { fieldId, ...field } = await loadField(visit, params['fieldId']!);
    await visit.call(deleteCustomField, { params: { fieldId } });
    return new Redirect(
      adminPath(visit, PATH),
      visit.messages.customFields.deleted({ field: fullKey(field) }),
    );
  });
}

const listStep = (visit: ShopVisit) => [
  ...settingsBreadcrumbs(visit),
  { href: adminPath(visit, PATH), text: visit.messages.customFields.title },
];

async function loadField(visit: ShopVisit, fieldId: string) {
  if (!isId(fieldId)) throw notFound();
  return visit.call(getCustomField, { params: { fieldId: fieldId.toUpperCase() } });
}

async function showList(visit: ShopVisit): Promise<AdminPage> {
  const messages = visit.messages.customFields;
  const fields = visit.settings.customFields.filter(({ readableBy }) => readableBy !== 'owner');
  return {
    title: messages.title,
    menu: 'settings',
    breadcrumbs: settingsBreadcrumbs(visit),
    actions:
      visit.may('settings_write') &&
      html`<a class="button main" href="${adminPath(visit, `${PATH}/new`)}">${messages.add}</a>`,
    main: html`<p class="hint intro">${messages.intro}</p>
      <p><a href="${adminPath(visit, '/settings/shop/custom-fields')}">${messages.ofShop}</a></p>
      ${fields.length === 0 && html`<p class="quiet">${messages.empty}</p>`}
      ${FIELD_RESOURCES.map((resource) => {
        const own = fields.filter((field) => field.resource === resource);
        return own.length > 0 && fieldTable(visit, messages.things[resource], own);
      })}`,
  };
}

function fieldTable(visit: ShopVisit, title: string, fields: readonly CustomField[]): Markup {
  const messages = visit.messages.customFields;
  return html`<section class="card">
    <h2>${title}</h2>
    <div class="list plain">
      <table>
        <thead>
          <tr>
            <th scope="col">${messages.name}</th>
            <th scope="col">${messages.key}</th>
            <th scope="col">${messages.type}</th>
            <th scope="col">${messages.readableBy}</th>
          </tr>
        </thead>
        <tbody>
          ${fields.map(
            (field) =>
              html`<tr>
                <td>
                  <a href="${adminPath(visit, `${PATH}/${field.fieldId}`)}"
                    >${customFieldName(field, visit)}</a
                  >
                  ${field.appId !== null && html`<span class="quiet">${messages.ofApp}</span>`}
                </td>
                <td><code>${fullKey(field)}</code></td>
                <td>${messages.types[field.type]}</td>
                <td>${messages.readers[field.readableBy === 'public' ? 'public' : 'merchant']}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

async function showNew(visit: ShopVisit, _request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.customFields;
  const field = showFields(IDENTITY, visit, { draft });
  return {
    title: messages.add,
    menu: 'settings',
    breadcrumbs: listStep(visit),
    main: html`<form method="post" class="card">
      ${problemOf(draft)} ${languageTabs(visit.settings.locales, visit.language, visit.messages)}
      ${nameFields(visit, undefined, draft)} ${field('resource')} ${field('type')} ${field('namespace')}
      ${field('key')} ${field('isList')} ${field('isLocalised')}
      ${changeableFields(visit, undefined, draft, { hasChoices: true, hasSchema: true })}
      <button class="main">${visit.messages.form.add}</button>
    </form>`,
  };
}

async function addField(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const identity = readFields(IDENTITY, form, visit);
  const body = { ...identity, ...readChange(visit, form, identity.type) };
  const field = await visit.call(createCustomField, { body });
  return new Redirect(adminPath(visit, PATH), visit.messages.customFields.added({ field: fullKey(field) }));
}

async function showField(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.customFields;
  const field = (await loadField(visit, request.params['fieldId']!)) as CustomField;
  const mayChange = visit.may('settings_write') && field.appId === null;
  const facts = html`<dl class="pairs">
    <dt>${messages.resource}</dt>
    <dd>${messages.things[field.resource]}</dd>
    <dt>${messages.key}</dt>
    <dd><code>${fullKey(field)}</code></dd>
    <dt>${messages.type}</dt>
    <dd>
      ${[messages.types[field.type], field.isList && messages.isList, field.isLocalised && messages.isLocalised].filter((text) => text !== false).join(', ')}
    </dd>
  </dl>`;
  return {
    title: customFieldName(field, visit),
    menu: 'settings',
    breadcrumbs: listStep(visit),
    main: html`<section class="card">
        ${facts} ${field.appId !== null && html`<p class="hint">${messages.ofAppHint}</p>`}
      </section>
      ${
        mayChange &&
        html`<form method="post" class="card">
            ${problemOf(draft)} ${languageTabs(visit.settings.locales, visit.language, visit.messages)}
            ${nameFields(visit, field, draft)}
            ${changeableFields(visit, field, draft, {
              hasChoices: field.type === 'choice',
              hasSchema: field.type === 'json',
            })}
            <button class="main">${visit.messages.form.save}</button>
          </form>
          ${buttonForm({
            action: adminPath(visit, `${PATH}/${field.fieldId}/delete`),
            text: messages.delete,
            kind: 'danger',
            confirm: messages.confirmDelete,
          })}`
      }`,
  };
}

async function saveField(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const { fieldId, type } = await loadField(visit, form.params['fieldId']!);
  await visit.call(updateCustomField, { params: { fieldId }, body: readChange(visit, form, type) });
  return new Redirect(adminPath(visit, PATH), visit.messages.form.saved);
}

function labelIn(visit: ShopVisit, label: string, locale: string): string {
  const { locales } = visit.settings;
  return locales.length < 2 ? label : `${label} (${languageName(locale, visit.language, locales)})`;
}

function nameFields(visit: ShopVisit, field: CustomField | undefined, draft: Draft | undefined): Markup {
  const { locales, defaultLocale } = visit.settings;
  const messages = visit.messages.customFields;
  return html`${locales.map(
    (locale) =>
      html`<div data-language="${locale}">
        ${showFields(TEXTS, visit, { values: { name: field?.name[locale] }, draft, locale })('name', {
          label: labelIn(visit, messages.name, locale),
          isRequired: locale === defaultLocale,
        })}
      </div>`,
  )}`;
}

function changeableFields(
  visit: ShopVisit,
  field: CustomField | undefined,
  draft: Draft | undefined,
  { hasChoices, hasSchema }: { hasChoices: boolean; hasSchema: boolean },
): Markup {
  const messages = visit.messages.customFields;
  const { locales } = visit.settings;
  const values = {
    description: field?.description,
    readableBy: field?.readableBy,
    writableBy: field?.writableBy,
    isFilter: field?.isFilter,
    isFacet: field?.isFacet,
    feedAttribute: field?.feedAttribute,
  } satisfies Record<string, FormValue>;
  const right = showFields(RIGHTS, visit, { values, draft });
  const schema = field?.jsonSchema ? JSON.stringify(field.jsonSchema, null, 2) : '';
  return html`${right('description')} ${right('readableBy')} ${right('writableBy')} ${right('isFilter')}
  ${right('isFacet')} ${right('feedAttribute')}
  ${
    hasChoices &&
    locales.map(
      (locale) =>
        html`<div data-language="${locale}">
          ${showFields(TEXTS, visit, { values: { choices: linesOf(field, locale) }, draft, locale })(
            'choices',
            { label: labelIn(visit, messages.choices, locale) },
          )}
        </div>`,
    )
  }
  ${hasSchema && showFields(TEXTS, visit, { values: { jsonSchema: schema }, draft })('jsonSchema')}`;
}

/** `cold = Cold wash` */
function linesOf(field: CustomField | undefined, locale: string): string[] {
  return (field?.choices ?? []).flatMap(({ key, label }) => {
    const text = label[locale];
    return text === undefined ? [] : [`${key} = ${text}`];
  });
}

function readChange(visit: ShopVisit, form: FormRequest, type: CustomField['type']): FieldChange {
  const { locales } = visit.settings;
  const texts = locales.map((locale) => ({ locale, ...readFields(TEXTS, form, visit, { locale }) }));
  const name = Object.fromEntries(
    texts.flatMap(({ locale, name: text }) => (text === '' ? [] : [[locale, text] as const])),
  );
  const rights = readFields(RIGHTS, form, visit);
  return {
    ...rights,
    name,
    choices: type === 'choice' ? readChoices(visit, texts) : null,
    jsonSchema: type === 'json' ? readSchema(visit, form) : null,
  };
}

function readChoices(
  visit: ShopVisit,
  texts: readonly { locale: string; choices: string[] }[],
): { key: string; label: Localised }[] {
  const labels = new Map<string, Record<string, string>>();
  for (const { locale, choices } of texts) {
    for (const line of choices) {
      const [key = '', ...rest] = line.split('=');
      const label = rest.join('=').trim() || key.trim();
      if (key.trim() === '')
        throw refuseField(`choices.${locale}`, visit.messages.customFields.wrongChoice({ line }));
      labels.set(key.trim(), { ...labels.get(key.trim()), [locale]: label });
    }
  }
  return [...labels].map(([key, label]) => ({ key, label }));
}

function readSchema(visit: ShopVisit, form: FormRequest): Record<string, unknown> | null {
  const text = form.field('jsonSchema');
  if (text === '') return null;
  const refusal = refuseField('jsonSchema', visit.messages.customFields.noJson);
  try {
    const schema: unknown = JSON.parse(text);
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) throw refusal;
    return schema as Record<string, unknown>;
  } catch (error) {
    throw error instanceof SyntaxError ? refusal : error;
  }
}

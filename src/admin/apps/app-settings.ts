import { Type, type TString } from 'typebox';
import { findManifest, lockManifest } from '../../apps/manifest/queries.ts';
import { inLanguage, type SettingField } from '../../apps/manifest/schema.ts';
import {
  MAX_SETTING_LENGTH,
  saveSettingValues,
  settingValues,
  type SettingValues,
} from '../../apps/manifest/settings.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import {
  declareForm,
  readFields,
  showFields,
  type DeclaredField,
  type FormReader,
} from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { refuseField } from '../components/validation.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import type { Language } from '../messages.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { appLabel } from '../../apps/manifest/installed.ts';
import { appsStep } from './parts.ts';
import { requireApp } from './require-app.ts';

/** The fields that an app asks for in its manifest. The form is made here, so that no app can draw one of its own. */
export function appSettingsPages(pages: ShopPages): void {
  pages.form(
    '/apps/:appId/settings',
    { read: 'apps_write', write: 'apps_write' },
    {
      show: async (visit, request, draft) => {
        const messages = visit.messages.apps;
        const { app, host, fields } = await requireFields(visit, request);
        const { db, shopId, key } = visit;
        const values = await settingValues(db, shopId, app.appId, fields, key);
        return {
          title: messages.settingsTitle({ name: app.name }),
          menu: 'apps',
          breadcrumbs: [appsStep(visit), { href: adminPath(visit, `/apps/${app.appId}`), text: app.name }],
          main: html`<form method="post" class="card prose">
            ${problemOf(draft)} ${versionField(fields)}
            <p>${messages.settingsIntro({ app: appLabel({ name: app.name, host }) })}</p>
            ${inputsOf(visit, fields, values, draft)}
            <button class="main">${visit.messages.form.save}</button>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const { db, shopId, key } = visit;
        const { app, fields } = await requireFields(visit, form);
        // The app may have other fields by now.
        requireUnchanged(form, fields, visit.messages);
        await db.transaction(async (tx) => {
          await lockManifest(tx, shopId, app.appId);
          const stored = await settingValues(tx, shopId, app.appId, fields, key);
          const values = typedValues(visit, form, fields, stored);
          await saveSettingValues(tx, shopId, app.appId, fields, values, key);
          await recordAction(tx, visit, '/apps/:appId/settings', { appId: app.appId });
        });
        return new Redirect(adminPath(visit, `/apps/${app.appId}`), visit.messages.form.saved);
      },
    },
    { needsReauthentication: true },
  );
}

const inputName = ({ name }: SettingField) => `setting-${name}`;
const removalName = (field: SettingField) => `${inputName(field)}-remove`;

const KINDS = {
  text: 'text',
  longText: 'long text',
  tick: 'tick',
  choice: 'choice',
  secret: 'password',
} as const satisfies Readonly<Record<SettingField['kind'], DeclaredField['kind']>>;

/** An app may call a field `constructor`. */
const storedValue = (stored: SettingValues, { name }: SettingField) =>
  Object.hasOwn(stored, name) ? stored[name] : undefined;

/** The form of these fields, each within what every form takes. A tick sends `yes`; one removes a stored secret. */
function formOf(fields: readonly SettingField[], { language }: FormReader) {
  const names = fields.flatMap((field) => [inputName(field), removalName(field)]);
  const texts = names.map((name) => [name, Type.String({ maxLength: MAX_SETTING_LENGTH })]);
  const body = Type.Object(Object.fromEntries(texts) as Record<string, TString>);
  return declareForm<typeof body, string>({ body }, ({ apps: messages }) =>
    Object.fromEntries(
      fields.flatMap((field): [string, DeclaredField][] => [
        [inputName(field), declaredOf(field, language, messages.noChoice)],
        [removalName(field), { kind: 'tick', label: messages.removeSecret }],
      ]),
    ),
  );
}

const declaredOf = (
  { kind, label, hint, choices }: SettingField,
  language: Language,
  noChoice: string,
): DeclaredField => ({
  kind: KINDS[kind],
  label: inLanguage(label, language),
  ...(hint && { hint: inLanguage(hint, language) }),
  ...(kind === 'secret' && { autocomplete: 'off' }),
  ...(kind === 'choice' && {
    empty: noChoice,
    choices: choices.map((choice) => ({ value: choice.value, text: inLanguage(choice.label, language) })),
  }),
});

function inputsOf(
  visit: ShopVisit,
  fields: readonly SettingField[],
  stored: SettingValues,
  draft: Draft | undefined,
): Markup[] {
  const { secretStored } = visit.messages.apps;
  const values = Object.fromEntries(fields.map((field) => [inputName(field), storedValue(stored, field)]));
  const input = showFields(formOf(fields, visit), visit, { values, draft });
  return fields.map((field) => {
    if (field.kind !== 'secret' || storedValue(stored, field) === undefined) return input(inputName(field));
    const hint = field.hint ? `${inLanguage(field.hint, visit.language)} ${secretStored}` : secretStored;
    return html`${input(inputName(field), { hint })} ${input(removalName(field))}`;
  });
}

/** The typed values; a secret that was not typed again stays. */
function typedValues(
  visit: ShopVisit,
  form: FormRequest,
  fields: readonly SettingField[],
  stored: SettingValues,
): SettingValues {
  const texts = readFields(formOf(fields, visit), form, visit);
  const entries = fields.flatMap((field): [string, string | boolean][] => {
    const typed = texts[inputName(field)]!;
    if (field.kind === 'tick') return [[field.name, typed === 'yes']];
    if (field.kind === 'choice' && typed !== '' && !field.choices.some(({ value }) => value === typed)) {
      throw refuseField(inputName(field), visit.messages.apps.unknownChoice);
    }
    if (field.kind === 'secret' && typed === '') {
      const kept = texts[removalName(field)] === 'yes' ? undefined : storedValue(stored, field);
      return kept === undefined ? [] : [[field.name, kept]];
    }
    return typed === '' ? [] : [[field.name, typed]];
  });
  return Object.fromEntries(entries);
}

/** The fields of an installed app; one without any has no such page. */
async function requireFields(visit: ShopVisit, request: Pick<PageRequest, 'params'>) {
  const app = await requireApp(visit, request);
  const row = await findManifest(visit.db, visit.shopId, app.appId);
  if (!row?.agreed || row.agreed.settings.length === 0) throw notFound();
  return { app, host: new URL(row.address).host, fields: row.agreed.settings };
}

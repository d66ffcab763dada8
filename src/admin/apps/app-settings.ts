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
import { choiceField, longTextField, problemOf, textField, tickField } from '../components/form.ts';
import { refuseField } from '../components/validation.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { appLabel } from './frames.ts';
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
            ${fields.map((field) => inputOf(visit, field, values, draft))}
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

function inputOf(
  visit: ShopVisit,
  field: SettingField,
  values: SettingValues,
  draft: Draft | undefined,
): Markup {
  const { messages, language } = visit;
  const value = values[field.name];
  const text = typeof value === 'string' ? value : '';
  const hint = field.hint ? inLanguage(field.hint, language) : undefined;
  const shared = {
    name: inputName(field),
    label: inLanguage(field.label, language),
    draft,
    ...(hint !== undefined && { hint }),
  };
  switch (field.kind) {
    case 'text':
      return textField({ ...shared, value: text, maxLength: MAX_SETTING_LENGTH });
    case 'longText':
      return longTextField({ ...shared, value: text, maxLength: MAX_SETTING_LENGTH });
    case 'tick':
      return tickField({ ...shared, value: value === true });
    case 'choice':
      return choiceField({
        ...shared,
        value: text,
        empty: messages.apps.noChoice,
        choices: field.choices.map((choice) => ({
          value: choice.value,
          text: inLanguage(choice.label, language),
        })),
      });
    case 'secret': {
      const isStored = text !== '';
      const stored = isStored ? messages.apps.secretStored : undefined;
      return html`${textField({
        ...shared,
        type: 'password',
        autocomplete: 'off',
        maxLength: MAX_SETTING_LENGTH,
        ...(stored !== undefined && { hint: hint === undefined ? stored : `${hint} ${stored}` }),
      })}
      ${
        isStored &&
        tickField({ name: `${inputName(field)}-remove`, label: messages.apps.removeSecret, draft })
      }`;
    }
  }
}

/** What was typed; a secret that was not typed again stays. */
function typedValues(
  visit: ShopVisit,
  form: FormRequest,
  fields: readonly SettingField[],
  stored: SettingValues,
): SettingValues {
  const entries = fields.flatMap((field): [string, string | boolean][] => {
    const typed = form.field(inputName(field));
    if (field.kind === 'tick') return [[field.name, typed === 'yes']];
    if (field.kind === 'choice' && typed !== '' && !field.choices.some(({ value }) => value === typed)) {
      throw refuseField(inputName(field), visit.messages.apps.unknownChoice);
    }
    if (field.kind === 'secret' && typed === '') {
      const kept = form.field(`${inputName(field)}-remove`) === 'yes' ? undefined : stored[field.name];
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

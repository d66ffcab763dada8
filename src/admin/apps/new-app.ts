import { badRequest } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { createApp, createToken } from '../../apps/apps.ts';
import { longTextField, problemOf, textField } from '../components/form.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { requireApp } from './require-app.ts';
import { appsStep, grantableScopes, onForm, scopeFields } from './parts.ts';
import type { FormRequest } from '../../http/page-kit.ts';

const DATE = /^\d{4}-\d\d-\d\d$/;

const MAX_CALLBACK_LENGTH = 2_000;
/** One network per line. */
const NETWORKS = { characters: 5_000, lines: 100 };

const permissions = { read: 'apps_write', write: 'apps_write' } as const;

/** Apps and tokens created by a merchant. Their secrets are shown only in the response to the form. */
export function newApps(pages: ShopPages): void {
  pages.form(
    '/apps/new',
    permissions,
    {
      show: async (visit, _request, draft) => ({
        title: visit.messages.apps.newPrivate,
        menu: 'apps',
        breadcrumbs: [appsStep(visit)],
        main: html`<form method="post" class="card prose">
          ${problemOf(draft)}
          <p>${visit.messages.apps.privateHint}</p>
          ${nameField(visit, draft)} ${scopeFields(visit, draft)} ${limitFields(visit, draft)}
          <button class="main">${visit.messages.apps.createPrivate}</button>
        </form>`,
      }),
      save: (visit, form) => tokenPage(visit, form, form.field('name')),
    },
    { needsReauthentication: true, limits: { texts: { networks: NETWORKS } } },
  );

  pages.form(
    '/apps/:appId/tokens',
    permissions,
    {
      show: async (visit, request, draft) => {
        const app = await requireApp(visit, request);
        return {
          title: visit.messages.apps.newToken,
          menu: 'apps',
          breadcrumbs: [appsStep(visit), { href: adminPath(visit, `/apps/${app.appId}`), text: app.name }],
          main: html`<form method="post" class="card prose">
            ${problemOf(draft)} ${scopeFields(visit, draft)} ${limitFields(visit, draft)}
            <button class="main">${visit.messages.apps.newToken}</button>
          </form>`,
        };
      },
      save: async (visit, form) => tokenPage(visit, form, (await requireApp(visit, form)).name),
    },
    { needsReauthentication: true, limits: { texts: { networks: NETWORKS } } },
  );

  pages.form(
    '/apps/register',
    permissions,
    {
      show: async (visit, _request, draft) => {
        const messages = visit.messages.apps;
        return {
          title: messages.register,
          menu: 'apps',
          breadcrumbs: [appsStep(visit)],
          main: html`<form method="post" class="card prose">
            ${problemOf(draft)}
            <p>${messages.registerHint}</p>
            ${nameField(visit, draft)}
            ${textField({
              name: 'callbackUrl',
              type: 'url',
              label: messages.callback,
              hint: messages.callbackHint,
              maxLength: MAX_CALLBACK_LENGTH,
              isRequired: true,
              draft,
            })}
            ${scopeFields(visit, draft)}
            <button class="main">${messages.register}</button>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const { db, shopId, key } = visit;
        const messages = visit.messages.apps;
        const made = await onForm(visit, () =>
          db.transaction(async (tx) => {
            const app = await createApp(tx, key, shopId, {
              name: form.field('name'),
              callbackUrl: form.field('callbackUrl'),
              scopes: chosenScopes(visit, form),
            });
            await recordAction(tx, visit, '/apps/register', { appId: app.clientId });
            return app;
          }),
        );
        return secretPage(visit, form.field('name'), `/apps/${made.clientId}`, [
          [messages.clientId, made.clientId],
          [messages.clientSecret, made.clientSecret],
        ]);
      },
    },
    { needsReauthentication: true, limits: { texts: { callbackUrl: MAX_CALLBACK_LENGTH } } },
  );
}

function nameField(visit: ShopVisit, draft: Draft | undefined): Markup {
  return textField({
    name: 'name',
    label: visit.messages.apps.name,
    maxLength: 100,
    isRequired: true,
    draft,
  });
}

function limitFields(visit: ShopVisit, draft: Draft | undefined): Markup {
  const messages = visit.messages.apps;
  return html`<div class="row">
    ${textField({ name: 'expires', type: 'date', label: messages.expires, hint: messages.expiresHint, draft })}
    ${longTextField({ name: 'networks', label: messages.networks, hint: messages.networksHint, rows: 2, maxLength: NETWORKS.characters, draft })}
  </div>`;
}

function chosenScopes(visit: ShopVisit, form: FormRequest) {
  const chosen = form.fieldList('scope');
  const scopes = grantableScopes(visit).filter((scope) => chosen.includes(scope));
  if (scopes.length === 0) throw badRequest(visit.messages.apps.chooseScopes);
  return scopes;
}

async function tokenPage(visit: ShopVisit, form: FormRequest, name: string): Promise<AdminPage> {
  const { db, shopId } = visit;
  const messages = visit.messages.apps;
  const scopes = chosenScopes(visit, form);
  const networks = form.field('networks').split(/\s+/).filter(Boolean);
  const expires = form.field('expires');
  if (expires !== '' && !(DATE.test(expires) && Number.isFinite(Date.parse(expires)))) {
    throw badRequest(messages.wrongDate);
  }
  const token = await onForm(visit, () =>
    db.transaction(async (tx) => {
      const made = await createToken(tx, shopId, {
        app: name,
        scopes,
        expiresAt: expires === '' ? null : new Date(`${expires}T23:59:59Z`),
        networks: networks.length === 0 ? null : networks,
      });
      await recordAction(tx, visit, '/apps/tokens', { app: name });
      return made;
    }),
  );
  return secretPage(visit, name, '/apps', [[messages.token, token]]);
}

/** The secret, shown only once. */
function secretPage(
  visit: ShopVisit,
  name: string,
  path: string,
  secrets: readonly (readonly [label: string, secret: string])[],
): AdminPage {
  const messages = visit.messages.apps;
  return {
    title: `${name}: ${messages.secretTitle}`,
    menu: 'apps',
    breadcrumbs: [appsStep(visit)],
    main: html`<section class="card prose">
      <p>${messages.secretOnce}</p>
      ${secrets.map(
        ([label, secret]) =>
          html`<div class="field">
            <label for="secret-${label}">${label}</label>
            <input id="secret-${label}" class="code" readonly value="${secret}" />
          </div>`,
      )}
      <a class="button main" href="${adminPath(visit, path)}">${messages.toApp}</a>
    </section>`,
  };
}

import { Type } from 'typebox';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { createApp, createToken } from '../../apps/apps.ts';
import { requireFeature } from '../../platform/plans/limits.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { refuseField } from '../components/validation.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { requireApp } from './require-app.ts';
import { appsStep, grantableScopes, onForm } from './parts.ts';
import type { FormRequest } from '../../http/page-kit.ts';

const DATE = /^\d{4}-\d\d-\d\d$/;

const NAME = declareForm(
  { body: Type.Object({ name: Type.String({ maxLength: 100 }) }) },
  ({ apps: messages }) => ({ name: { label: messages.name, isRequired: true } }),
);

const CALLBACK = declareForm(
  { body: Type.Object({ callbackUrl: Type.String({ maxLength: 2_000 }) }) },
  ({ apps: messages }) => ({
    callbackUrl: {
      kind: 'url',
      label: messages.callback,
      hint: messages.callbackHint,
      isRequired: true,
    },
  }),
);

const SCOPES = declareForm(
  { body: Type.Object({ scope: Type.Array(Type.String()) }) },
  ({ apps: messages }) => ({ scope: { kind: 'ticks', label: messages.scopesLegend } }),
);

/** When and from where a token can be used. One network per line. */
const LIMITS = declareForm(
  { body: Type.Object({ expires: Type.String({ maxLength: 10 }), networks: Type.String() }) },
  ({ apps: messages }) => ({
    expires: { kind: 'date', label: messages.expires, hint: messages.expiresHint },
    networks: {
      kind: 'long text',
      label: messages.networks,
      hint: messages.networksHint,
      rows: 2,
      maxLength: { characters: 5_000, lines: 100 },
    },
  }),
);

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
          ${showFields(NAME, visit, { draft })('name')} ${scopeFields(visit, draft)}
          ${limitFields(visit, draft)}
          <button class="main">${visit.messages.apps.createPrivate}</button>
        </form>`,
      }),
      save: (visit, form) => tokenPage(visit, form, readFields(NAME, form, visit).name),
    },
    { needsReauthentication: true, ...optionsOf(NAME, SCOPES, LIMITS) },
  );

  pages.form(
    '/apps/:appId/tokens',
    permissions,
    {
      show: async (visit, request, draft) => {
        const app = await requirePrivateApp(visit, request);
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
      save: async (visit, form) => tokenPage(visit, form, (await requirePrivateApp(visit, form)).name),
    },
    { needsReauthentication: true, ...optionsOf(SCOPES, LIMITS) },
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
            ${showFields(NAME, visit, { draft })('name')}
            ${showFields(CALLBACK, visit, { draft })('callbackUrl')} ${scopeFields(visit, draft)}
            <button class="main">${messages.register}</button>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const { db, shopId, key } = visit;
        const messages = visit.messages.apps;
        const { name } = readFields(NAME, form, visit);
        const { callbackUrl } = readFields(CALLBACK, form, visit);
        const scopes = chosenScopes(visit, form);
        const made = await onForm(visit, () =>
          db.transaction(async (tx) => {
            await requireFeature({ db: tx, config: visit.config }, shopId, 'apps');
            const app = await createApp(tx, key, shopId, { name, callbackUrl, scopes });
            await recordAction(tx, visit, '/apps/register', { appId: app.clientId });
            return app;
          }),
        );
        return secretPage(visit, name, `/apps/${made.clientId}`, [
          [messages.clientId, made.clientId],
          [messages.clientSecret, made.clientSecret],
        ]);
      },
    },
    { needsReauthentication: true, ...optionsOf(NAME, CALLBACK, SCOPES) },
  );
}

/** An assistant gets its tokens from the person who connects it. */
async function requirePrivateApp(visit: ShopVisit, request: Pick<FormRequest, 'params'>) {
  const app = await requireApp(visit, request);
  if (app.isAssistant) throw notFound();
  return app;
}

function scopeFields(visit: ShopVisit, draft: Draft | undefined): Markup {
  const choices = grantableScopes(visit).map((scope) => ({
    value: scope,
    text: visit.messages.apps.scopes[scope],
  }));
  return showFields(SCOPES, visit, { draft })('scope', { choices });
}

function limitFields(visit: ShopVisit, draft: Draft | undefined): Markup {
  const field = showFields(LIMITS, visit, { draft });
  return html`<div class="row">${field('expires')} ${field('networks')}</div>`;
}

function chosenScopes(visit: ShopVisit, form: FormRequest) {
  const { scope: chosen } = readFields(SCOPES, form, visit);
  const scopes = grantableScopes(visit).filter((scope) => chosen.includes(scope));
  if (scopes.length === 0) throw refuseField('scope', visit.messages.apps.chooseScopes);
  return scopes;
}

async function tokenPage(visit: ShopVisit, form: FormRequest, name: string): Promise<AdminPage> {
  const { db, shopId } = visit;
  const messages = visit.messages.apps;
  const scopes = chosenScopes(visit, form);
  const { expires, ...typed } = readFields(LIMITS, form, visit);
  const networks = typed.networks.split(/\s+/).filter(Boolean);
  if (expires !== '' && !(DATE.test(expires) && Number.isFinite(Date.parse(expires)))) {
    throw refuseField('expires', messages.wrongDate);
  }
  const token = await onForm(visit, () =>
    db.transaction(async (tx) => {
      await requireFeature({ db: tx, config: visit.config }, shopId, 'apps');
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

import { Type } from 'typebox';
import { issueCode } from '../../apps/oauth/tokens.ts';
import { CONNECT_PATH, resourceOf } from '../../apps/oauth/routes.ts';
import { isLoopback } from '../../config.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { Redirect, type FormRequest } from '../../http/page-kit.ts';
import type { Scope } from '../../http/scopes.ts';
import { requireFeature } from '../../platform/plans/limits.ts';
import {
  declareForm,
  declareHidden,
  optionsOf,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { refuseField } from '../components/validation.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, Pages, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { permissionsOf } from '../users/permissions.ts';
import { findShopsOf } from '../users/queries.ts';
import type { ShopVisit, Visit } from '../visit.ts';
import {
  answerAddress,
  readConnectRequest,
  type ConnectDeps,
  type ConnectRequest,
} from './connect-request.ts';
import { appsStep, grantableScopes } from './parts.ts';

const BUTTON = declareHidden({ answer: 10 });

/** Two lists of ticks: what the assistant sees, and what it does. */
const GRANTED = declareForm(
  { body: Type.Object({ sees: Type.Array(Type.String()), does: Type.Array(Type.String()) }) },
  ({ connect: messages }) => ({
    sees: { kind: 'ticks', label: messages.sees },
    does: { kind: 'ticks', label: messages.does },
  }),
);

/** The link of an assistant leads here: the person chooses the shop. */
export function connectPages(pages: Pages, deps: ConnectDeps): void {
  pages.get(CONNECT_PATH.slice('/admin'.length), 'signed in', async (visit, request) => {
    if (request.search === '') return new Redirect('/admin');
    const { client } = await readConnectRequest(visit, request, deps);
    const all = await findShopsOf(visit.db, visit.user.userId);
    const shops = all.filter(({ isPending, role }) => !isPending && permissionsOf(role).has('apps_write'));
    const href = (shopId: string) => `/admin/shops/${shopId}/apps/connect?${request.search}`;
    if (shops.length === 1) return new Redirect(href(shops[0]!.shopId));
    const messages = visit.messages.connect;
    return {
      title: messages.title,
      main:
        shops.length === 0
          ? html`<p>${messages.noShop}</p>`
          : html`<p>${messages.chooseShop({ name: client.name })}</p>
              <ul class="cards">
                ${shops.map(
                  ({ shopId, name }) =>
                    html`<li class="card">
                      <h2><a href="${href(shopId)}">${name}</a></h2>
                    </li>`,
                )}
              </ul>`,
    };
  });
}

/** The consent to an assistant. Nothing is granted that is not ticked, and at first only reading is. */
export function connecting(pages: ShopPages, deps: ConnectDeps): void {
  pages.form(
    '/apps/connect',
    { read: 'apps_write', write: 'apps_write' },
    {
      show: async (visit, request, draft) => {
        if (request.search === '') return howTo(visit, draft);
        const asked = await readConnectRequest(visit, request, deps);
        const { settings, locale, shopId, messages } = visit;
        const shop = textIn(settings.name, locale, settings.defaultLocale) ?? shopId;
        const { name } = asked.client;
        return {
          title: messages.connect.consentTitle({ name }),
          menu: 'apps',
          breadcrumbs: [appsStep(visit)],
          main: html`<form method="post" class="card prose consent">
            ${problemOf(draft)}
            <p>${messages.connect.consentText({ name, shop })}</p>
            ${whoAsks(visit, asked)} ${grantFields(visit, asked, draft)}
            <p>${messages.connect.plans}</p>
            <p class="hint">${messages.connect.sendsOn}</p>
            <p class="hint">${messages.connect.ends}</p>
            <div class="actions">
              <button class="main" name="answer" value="agree">${messages.connect.agree}</button>
              <button name="answer" value="decline">${messages.apps.decline}</button>
            </div>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const asked = await readConnectRequest(visit, form, deps);
        if (readFields(BUTTON, form, visit).answer !== 'agree') {
          return leaving(visit, asked, { error: 'access_denied' });
        }
        const scopes = grantedScopes(visit, form);
        const { client, redirectAddress, challenge } = asked;
        const code = await visit.db.transaction(async (tx) => {
          await requireFeature({ db: tx, config: visit.config }, visit.shopId, 'apps');
          await recordAction(tx, visit, '/apps/connect', { app: client.name });
          return issueCode(tx, visit.shopId, {
            clientId: client.clientId,
            clientName: client.name,
            userId: visit.user.userId,
            redirectAddress,
            challenge,
            scopes,
          });
        });
        return leaving(visit, asked, { code });
      },
    },
    { needsReauthentication: true, ...optionsOf(GRANTED) },
  );
}

/** Somebody who has come here by hand begins in the assistant, with the address of the tools. */
function howTo(visit: ShopVisit, draft: Draft | undefined): AdminPage {
  const messages = visit.messages.connect;
  return {
    title: messages.title,
    menu: 'apps',
    breadcrumbs: [appsStep(visit)],
    main: html`<section class="card prose">
      ${problemOf(draft)}
      <p>${messages.how}</p>
      <input readonly class="code" aria-label="${messages.address}" value="${resourceOf(visit.origin)}" />
    </section>`,
  };
}

/** Anybody can call an assistant anything, but not the place where the answer goes. */
function whoAsks({ messages }: Visit<'signed in'>, { client, redirectAddress }: ConnectRequest): Markup {
  const { host, hostname } = new URL(redirectAddress);
  const { connect } = messages;
  return html`<p>
      ${client.host === undefined ? connect.selfNamed : connect.describedAt({ host: client.host })}
      ${connect.goesTo({ host })}
    </p>
    ${isLoopback(hostname) && html`<p class="notice">${connect.local}</p>`}`;
}

const isRead = (scope: Scope) => scope.endsWith('_read') || scope === 'products_read_batch';

function grantFields(visit: ShopVisit, { asked }: ConnectRequest, draft: Draft | undefined): Markup {
  const field = showFields(GRANTED, visit, {
    draft,
    values: {
      sees: grantableScopes(visit).filter((scope) => isRead(scope) && (asked?.includes(scope) ?? true)),
    },
  });
  const choices = (ofKind: (scope: Scope) => boolean) =>
    grantableScopes(visit)
      .filter(ofKind)
      .map((scope) => ({ value: scope, text: visit.messages.apps.scopes[scope] }));
  return html`${field('sees', { choices: choices(isRead) })}
  ${field('does', { choices: choices((scope) => !isRead(scope)) })}`;
}

function grantedScopes(visit: ShopVisit, form: FormRequest): Scope[] {
  const { sees, does } = readFields(GRANTED, form, visit);
  const chosen = [...sees, ...does];
  const scopes = grantableScopes(visit).filter((scope) => chosen.includes(scope));
  if (scopes.length === 0) throw refuseField('sees', visit.messages.apps.chooseScopes);
  return scopes;
}

function leaving(
  { messages, origin }: ShopVisit,
  asked: ConnectRequest,
  answer: Parameters<typeof answerAddress>[2],
): AdminPage {
  const { name } = asked.client;
  const address = answerAddress(asked, origin, answer);
  return {
    title: messages.apps.leaving({ name }),
    menu: 'apps',
    next: address,
    main: html`<section class="card prose">
      <p>${'code' in answer ? messages.connect.leavingHint : messages.connect.declinedHint}</p>
      <a class="button main" href="${address}">${messages.apps.continueTo({ name })}</a>
    </section>`,
  };
}

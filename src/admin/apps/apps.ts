import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { SCOPES } from '../../http/scopes.ts';
import { findUse, type DayOfUse } from '../../apps/app-use.ts';
import { deleteApp } from '../../apps/apps.ts';
import { deleteToken } from '../../apps/queries.ts';
import { findAuditEntries } from '../../apps/audit-log/queries.ts';
import { barChart } from '../components/bars.ts';
import { buttonForm } from '../components/form.ts';
import { chip, dayText, momentText, plainDay, shortDay } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { findCallEntries, type CallEntry } from '../../apps/calls/queries.ts';
import { findManifest, type ManifestRow } from '../../apps/manifest/queries.ts';
import type { Manifest } from '../../apps/manifest/schema.ts';
import { appSettingsPages } from './app-settings.ts';
import { addingApps } from './add-app.ts';
import { auditLog, entryTable } from './audit.ts';
import { connecting } from './connect.ts';
import type { ConnectDeps } from './connect-request.ts';
import { framePages } from './frame-pages.ts';
import { installing } from './install.ts';
import { appHead, withoutAnswer } from './manifest-view.ts';
import { newApps } from './new-app.ts';
import { appsStep, appTabs, scopeLists } from './parts.ts';
import {
  findListedApps,
  findListedWebhooks,
  findTokensOf,
  type AppToken,
  type ListedApp,
} from './queries.ts';
import { planPages } from './plans.ts';
import { requireApp } from './require-app.ts';
import { scripts } from './scripts.ts';
import { webhookPages, webhookTable } from './webhooks.ts';
import { Redirect } from '../../http/page-kit.ts';

const SHOWN_ENTRIES = 5;
const SHOWN_DAYS = 30;
const SHOWN_CALLS = 20;

export function appPages(pages: ShopPages, deps: ConnectDeps): void {
  newApps(pages);
  addingApps(pages, deps);
  installing(pages, deps);
  connecting(pages, deps);
  planPages(pages);
  framePages(pages);
  appSettingsPages(pages);
  webhookPages(pages);
  scripts(pages);
  auditLog(pages);

  pages.get('/apps', 'apps_read', async (visit) => {
    const messages = visit.messages.apps;
    const rows = await findListedApps(visit.db, visit.shopId);
    return {
      title: visit.messages.layout.menuEntries.apps,
      menu: 'apps',
      actions: visit.may('apps_write')
        ? html`<a class="button" href="${adminPath(visit, '/apps/register')}">${messages.register}</a>
            <a class="button" href="${adminPath(visit, '/apps/new')}">${messages.newPrivate}</a>
            <a class="button" href="${adminPath(visit, '/apps/connect')}">${visit.messages.connect.title}</a>
            <a class="button main" href="${adminPath(visit, '/apps/add')}">${messages.add}</a>`
        : undefined,
      main: html`${appTabs(visit, 'installed')}
      ${rows.length === 0 ? html`<p class="list empty">${messages.empty}</p>` : appTable(visit, rows)}`,
    };
  });

  pages.get('/apps/:appId', 'apps_read', async (visit, request) => {
    const { db, shopId } = visit;
    const messages = visit.messages.apps;
    const app = await requireApp(visit, request);
    const [use, tokens, hooks, manifest, calls, entries] = await Promise.all([
      findUse(db, shopId, app.appId, SHOWN_DAYS),
      findTokensOf(db, shopId, app.appId),
      findListedWebhooks(db, shopId, app.appId),
      findManifest(db, shopId, app.appId),
      findCallEntries(db, shopId, app.appId, SHOWN_CALLS),
      findAuditEntries(
        db,
        shopId,
        { after: null, before: null, appId: app.appId, method: null },
        SHOWN_ENTRIES,
        0,
      ),
    ]);
    const path = `/apps/${app.appId}`;
    return {
      title: app.name,
      menu: 'apps',
      breadcrumbs: [appsStep(visit)],
      actions: visit.may('apps_write') ? appActions(visit, app) : undefined,
      main: html`<div class="sides">
        <div class="stack">
          ${figures(visit, app, use)} ${useCard(visit, use)}
          <section class="card">
            <h2>${messages.whatItDid}</h2>
            ${
              entries.length === 0
                ? html`<p class="quiet">${messages.didNothing}</p>`
                : html`${await entryTable(visit, entries)}
                    <a href="${adminPath(visit, '/apps/audit', { who: app.appId })}"
                      >${messages.allEntries}</a
                    >`
            }
          </section>
          ${manifest?.agreed && callsCard(visit, manifest.agreed, calls)}
          ${
            hooks.length > 0 &&
            html`<section class="card">
              <h2>${messages.webhooks}</h2>
              ${webhookTable(visit, hooks)}
            </section>`
          }
        </div>
        <div class="stack">
          ${manifest && manifestCard(visit, path, manifest)}
          <section class="card">
            <h2>${messages.whatItMay}</h2>
            ${scopeLists(visit, app.scopes)}
          </section>
          <section class="card">
            <h2>${messages.tokens}</h2>
            ${tokens.length === 0 ? html`<p class="quiet">${messages.noTokens}</p>` : tokenList(visit, path, tokens)}
            <p class="hint">${messages.tokensHint}</p>
            ${
              app.callbackUrl === null &&
              !app.isAssistant &&
              visit.may('apps_write') &&
              html`<a class="button" href="${adminPath(visit, `${path}/tokens`)}">${messages.newToken}</a>`
            }
          </section>
          ${
            app.callbackUrl !== null &&
            html`<section class="card">
              <h2>${messages.installLink}</h2>
              <input
                readonly
                class="code"
                aria-label="${messages.installLink}"
                value="${visit.origin}${adminPath(visit, `${path}/install`)}"
              />
              <p class="hint">${messages.installLinkHint}</p>
            </section>`
          }
        </div>
      </div>`,
    };
  });

  pages.post(
    '/apps/:appId/uninstall',
    'apps_write',
    async (visit, form) => {
      const app = await requireApp(visit, form);
      await visit.db.transaction(async (tx) => {
        await deleteApp(tx, visit.shopId, app.appId);
        await recordAction(tx, visit, '/apps/:appId/uninstall', { appId: app.appId });
      });
      const { connect, apps } = visit.messages;
      const { name, isAssistant } = app;
      return new Redirect(
        adminPath(visit, '/apps'),
        isAssistant ? connect.ended({ name }) : apps.uninstalled({ name }),
      );
    },
    { needsReauthentication: true },
  );

  pages.post('/apps/:appId/tokens/:tokenId/revoke', 'apps_write', async (visit, form) => {
    const app = await requireApp(visit, form);
    const tokens = await findTokensOf(visit.db, visit.shopId, app.appId);
    const token = tokens.find(({ tokenId }) => tokenId === form.params['tokenId']);
    if (!token) throw notFound();
    await visit.db.transaction(async (tx) => {
      await deleteToken(tx, visit.shopId, Buffer.from(token.tokenId, 'hex'));
      await recordAction(tx, visit, '/apps/:appId/tokens/:tokenId/revoke', { appId: app.appId });
    });
    return new Redirect(adminPath(visit, `/apps/${app.appId}`), visit.messages.apps.revoked);
  });
}

function appTable(visit: ShopVisit, rows: readonly ListedApp[]): Markup {
  const messages = visit.messages.apps;
  return html`<div class="list">
    <table>
      <thead>
        <tr>
          <th scope="col">${messages.name}</th>
          <th scope="col">${messages.kind}</th>
          <th scope="col">${messages.may}</th>
          <th scope="col">${messages.lastUse}</th>
          <th scope="col">${messages.webhooks}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (app) =>
            html`<tr>
              <td data-title="${messages.name}">
                <a href="${adminPath(visit, `/apps/${app.appId}`)}">${app.name}</a>
              </td>
              <td data-title="${messages.kind}">${kindChip(visit, app)}</td>
              <td data-title="${messages.may}">
                ${
                  app.scopes.length === SCOPES.length
                    ? messages.mayEverything
                    : messages.mayCount({ count: app.scopes.length })
                }
              </td>
              <td data-title="${messages.lastUse}">
                ${
                  app.lastUsedAt
                    ? dayText(app.lastUsedAt, visit.language)
                    : html`<span class="quiet">${messages.never}</span>`
                }
              </td>
              <td data-title="${messages.webhooks}">
                <span
                  >${app.webhooks}
                  ${app.failingWebhooks > 0 && chip(visit.messages.webhooks.failing, 'bad')}</span
                >
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function kindChip({ messages }: ShopVisit, { callbackUrl, tokens, isAssistant }: ListedApp): Markup {
  if (isAssistant) {
    return tokens > 0 ? chip(messages.connect.kind, 'good') : chip(messages.connect.notConnected, 'warning');
  }
  if (callbackUrl === null) return chip(messages.apps.private);
  return tokens > 0 ? chip(messages.apps.installed, 'good') : chip(messages.apps.notInstalled, 'warning');
}

function appActions(visit: ShopVisit, { appId, name, callbackUrl, tokens, isAssistant }: ListedApp): Markup {
  const messages = visit.messages.apps;
  if (isAssistant) {
    const { end, endSure } = visit.messages.connect;
    const action = adminPath(visit, `/apps/${appId}/uninstall`);
    return buttonForm({ action, text: end, kind: 'danger', confirm: endSure({ name }) });
  }
  return html`${
    callbackUrl !== null &&
    html`<a
      class="${tokens > 0 ? 'button' : 'button main'}"
      href="${adminPath(visit, `/apps/${appId}/install`)}"
      >${tokens > 0 ? messages.installAgain : messages.install}</a
    >`
  }
  ${buttonForm({
    action: adminPath(visit, `/apps/${appId}/uninstall`),
    text: messages.uninstall,
    kind: 'danger',
    confirm: messages.uninstallSure({ name }),
  })}`;
}

/** Where the app comes from, and whether it has changed. */
function manifestCard(visit: ShopVisit, path: string, manifest: ManifestRow): Markup | false {
  const messages = visit.messages.apps;
  const { agreed, offered, readAt, problem } = manifest;
  const shown = agreed ?? offered;
  if (!shown) return false;
  const mayWrite = visit.may('apps_write');
  return html`<section class="card">
    <h2>${messages.provider}</h2>
    ${appHead(visit, manifest, shown)}
    ${
      agreed &&
      offered &&
      html`<p>${chip(messages.updateChip, 'warning')} ${messages.updateWaits}</p>
        ${
          mayWrite &&
          html`<a class="button main" href="${adminPath(visit, `${path}/update`)}">${messages.seeUpdate}</a>`
        }`
    }
    ${problem !== null && html`<p class="field-problem">${messages.notRead} <span lang="en">${problem}</span></p>`}
    <p class="hint">${messages.readOn({ moment: momentText(readAt, visit.language) })}</p>
    ${
      agreed &&
      agreed.settings.length > 0 &&
      mayWrite &&
      html`<a class="button" href="${adminPath(visit, `${path}/settings`)}">${messages.settings}</a>`
    }
    ${agreed && mayWrite && buttonForm({ action: adminPath(visit, `${path}/read`), text: messages.checkUpdate })}
  </section>`;
}

/** What the app is asked while customers wait, and where it was slow or has failed. */
function callsCard(visit: ShopVisit, manifest: Manifest, entries: readonly CallEntry[]): Markup | false {
  if (manifest.calls.length === 0) return false;
  const messages = visit.messages.apps.asked;
  return html`<section class="card">
    <h2>${messages.title}</h2>
    <ul class="rights">
      ${manifest.calls.map((call) => html`<li>${messages[call.kind]}. ${withoutAnswer(visit, call)}</li>`)}
    </ul>
    <h3>${messages.log}</h3>
    ${
      entries.length === 0
        ? html`<p class="quiet">${messages.noLog}</p>`
        : html`<div class="list">
            <table>
              <thead>
                <tr>
                  <th scope="col">${messages.at}</th>
                  <th scope="col">${messages.call}</th>
                  <th scope="col">${messages.duration}</th>
                  <th scope="col">${messages.problem}</th>
                </tr>
              </thead>
              <tbody>
                ${entries.map(
                  ({ at, kind, milliseconds, problem }) =>
                    html`<tr>
                      <td data-title="${messages.at}">${momentText(at, visit.language)}</td>
                      <td data-title="${messages.call}">${messages.kinds[kind]}</td>
                      <td data-title="${messages.duration}">
                        ${messages.milliseconds({ count: milliseconds })}
                      </td>
                      <td data-title="${messages.problem}">
                        ${problem === null ? messages.slow : html`<span lang="en">${problem}</span>`}
                      </td>
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
    }
  </section>`;
}

function figures(visit: ShopVisit, app: ListedApp, use: readonly DayOfUse[]): Markup {
  const messages = visit.messages.apps;
  const today = use.at(-1)!;
  const number = new Intl.NumberFormat(visit.language);
  return html`<dl class="card figures">
    <div>
      <dt>${messages.kind}</dt>
      <dd>${kindChip(visit, app)}</dd>
    </div>
    <div>
      <dt>${messages.lastUse}</dt>
      <dd>${app.lastUsedAt ? dayText(app.lastUsedAt, visit.language) : messages.never}</dd>
    </div>
    <div>
      <dt>${messages.callsToday}</dt>
      <dd>${number.format(today.calls)}</dd>
    </div>
    <div>
      <dt>${messages.errorsToday}</dt>
      <dd>${number.format(today.errors)}</dd>
    </div>
    <div>
      <dt>${messages.since}</dt>
      <dd>${dayText(app.createdAt, visit.language)}</dd>
    </div>
  </dl>`;
}

/** The calls of the last days. */
function useCard(
  { messages: { apps: messages }, language }: ShopVisit,
  use: readonly DayOfUse[],
): Markup | false {
  if (use.every(({ calls }) => calls === 0)) return false;
  const number = new Intl.NumberFormat(language);
  const bars = use.map(({ day, calls, errors }) => ({
    label: shortDay(new Date(day), language),
    value: calls,
    text: messages.callsText({ calls: number.format(calls), errors: number.format(errors) }),
  }));
  return html`<section class="card">
    <h2>${messages.callsOverTime}</h2>
    ${barChart(messages.callsOverTime, bars)}
    <p class="hint">${messages.callsHint}</p>
  </section>`;
}

function tokenList(visit: ShopVisit, path: string, tokens: readonly AppToken[]): Markup {
  const messages = visit.messages.apps;
  const day = (moment: Date) => plainDay(moment, visit.language);
  return html`<ul class="tokens">
    ${tokens.map(
      ({ tokenId, createdAt, lastUsedAt, expiresAt, networks }) =>
        html`<li>
          <div>
            <code>${tokenId.slice(0, 12)}</code>
            ${expiresAt && expiresAt <= visit.db.now && chip(messages.ended, 'bad')}
            <p class="hint">
              ${messages.made({ day: day(createdAt) })},
              ${lastUsedAt ? messages.used({ day: day(lastUsedAt) }) : messages.unused}.
              ${expiresAt && `${messages.ends({ day: day(expiresAt) })}.`}
              ${networks && `${messages.from({ networks: networks.join(', ') })}.`}
            </p>
          </div>
          ${
            visit.may('apps_write') &&
            buttonForm({
              action: adminPath(visit, `${path}/tokens/${tokenId}/revoke`),
              text: messages.revoke,
              kind: 'link',
              confirm: messages.revokeSure,
            })
          }
        </li>`,
    )}
  </ul>`;
}

import { isDemo } from '../../config.ts';
import { dateText } from '../../http/dates.ts';
import { inLanguage } from '../../apps/manifest/schema.ts';
import { minutesToReset } from '../../http/demo-mode.ts';
import { encodeHtml, html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { brandOf, type Brand } from '../../platform/brand.ts';
import type { AdminPage } from '../page.ts';
import { adminPath, storefrontLink, type ShopVisit, type Visit } from '../visit.ts';
import { momentText } from '../components/format.ts';
import { hostMessageBanner } from './host-messages.ts';
import { HTMX, SCRIPT, STYLESHEET } from './assets.ts';
import { MENU_ICONS, OPEN_ICON, SEARCH_ICON, USER_ICON } from './icons.ts';
import { appMenuEntry, MENU, type AppMenuEntry, type MenuEntry } from './menu.ts';
import type { Notice } from '../../http/page-kit.ts';

/** htmx must not add its own styles, and a refusal replaces the requested part like any other response. */
const HTMX_CONFIG = JSON.stringify({ includeIndicatorCSS: false, defaultTimeout: 30_000 });

/** The whole document: the page's content, and the layout around it. */
export function documentBytes(visit: Visit<'anybody'> | ShopVisit, page: AdminPage): Buffer {
  const { language, messages } = visit;
  const isOfShop = 'shopId' in visit;
  const brand = brandOf(visit.config);
  return encodeHtml`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="htmx-config" content="${HTMX_CONFIG}" />
        <title>${page.title} | ${isOfShop ? shopName(visit) : brand.name}</title>
        <link rel="icon" href="${brand.icon}" />
        <link rel="stylesheet" href="${STYLESHEET.path}" />${brand.stylesheet && html`<link rel="stylesheet" href="${brand.stylesheet.path}" />`}
        <script src="${HTMX.path}" defer></script>
        <script src="${SCRIPT.path}" defer></script>
        ${(page.scripts ?? []).map(({ path, type }) => pageAsset(path, type))}
      </head>
      <body class="${isOfShop ? 'with-menu' : 'alone'}">
        <a class="skip" href="#main">${messages.layout.skip}</a>
        ${isOfShop ? header(visit, brand, page.menu) : brandHeader(visit, brand)}
        <main id="main" tabindex="-1">
          ${isOfShop && supportBanner(visit)}${isDemo(visit.config) ? demoBanner(visit) : isOfShop && sandboxBanner(visit)}
          ${isOfShop && hostMessageBanner(visit)} ${page.breadcrumbs && breadcrumbs(page.breadcrumbs, messages.layout.breadcrumbs)}
          <div class="title">
            <h1>${page.title}</h1>
            ${page.actions && html`<div class="actions">${page.actions}</div>`}
          </div>
          ${isOfShop && visit.settings.isSuspended && pausedBanner(visit)}
          ${isOfShop && frozenBanner(visit)}
          <div id="notices" aria-live="polite">${visit.notice && notice(visit.notice, messages.layout.undo)}</div>
          ${page.main}${brand.links.length > 0 && brandLinks(brand, messages.layout)}
        </main>
      </body>
    </html>
  `;
}

/** On every page, so that a person of the host knows whose shop this is, and until when. */
function supportBanner(visit: ShopVisit): Markup | false {
  const { support } = visit.user;
  if (!support) return false;
  const messages = visit.messages.support;
  const until = momentText(support.endsAt, visit.language);
  return html`<div class="notice warning" role="note">
    <span>${messages.banner({ name: visit.user.email, shop: shopName(visit), until })}</span>
    ${leaveForm(visit)}
  </div>`;
}

function demoBanner({ db, messages }: Visit<'anybody'> | ShopVisit): Markup {
  const { demo } = messages.layout;
  return html`<p class="notice warning">
    <strong>${demo.title}</strong> ${demo.reset({ count: minutesToReset(db.now) })}
  </p>`;
}

/** On every page, so that nobody takes a sandbox for the shop, or its time for today's. */
function sandboxBanner(visit: ShopVisit): Markup | false {
  const { sandbox } = visit.settings;
  const messages = visit.messages.sandbox;
  return (
    sandbox !== null &&
    html`<p class="notice warning">
      <a href="${adminPath(visit, '/sandbox')}">${messages.title({ shop: sandbox.of })}</a> ·
      ${momentText(visit.db.now, visit.language)}
    </p>`
  );
}

/** The operator of the installation has closed the shop: its people can still read and save everything. */
function pausedBanner({ settings: { deletionAt }, messages, language }: ShopVisit): Markup {
  return html`<div class="problem" role="note">
    <span
      >${
        deletionAt
          ? messages.layout.toBeDeleted({ day: dateText(deletionAt, language) })
          : messages.layout.paused
      }</span
    >
  </div>`;
}

/** The operator of the installation has stopped the emails of the shop. */
function frozenBanner({ settings: { emailsFrozen }, messages }: ShopVisit): Markup | false {
  return (
    emailsFrozen !== null &&
    html`<div class="problem" role="note">
      <span>${messages.layout.emailsFrozen({ reason: emailsFrozen })}</span>
    </div>`
  );
}

function pageAsset(path: string, type: string): Markup {
  return type.startsWith('text/css')
    ? html`<link rel="stylesheet" href="${path}" />`
    : html`<script src="${path}" defer></script>`;
}

function shopName({ settings, locale, shopId }: ShopVisit): string {
  return textIn(settings.name, locale, settings.defaultLocale) ?? shopId;
}

/** The logo, beside the name of a shop or in the place of the host's own. */
const logoOf = ({ logo, name }: Brand): Markup | undefined =>
  logo && html`<img src="${logo.path}" alt="${name}" />`;

/** The host's own links beside the admin: help, imprint, privacy. */
function brandLinks({ links }: Brand, { brandLinks: texts }: ShopVisit['messages']['layout']): Markup {
  return html`<footer class="actions quiet">
    ${links.map(({ name, href }) => html`<a href="${href}" rel="noopener">${texts[name]}</a> `)}
  </footer>`;
}

function brandHeader({ user, messages }: Visit<'anybody'> | ShopVisit, brand: Brand): Markup {
  return html`<header class="top">
    <a class="brand" href="/admin">${logoOf(brand) ?? brand.name}</a>
    ${user?.isHost && html`<a href="/admin/host">${messages.host.title}</a>`}
    ${user && html`<a href="/admin/account">${USER_ICON} ${messages.layout.account}</a>`}
  </header>`;
}

function header(visit: ShopVisit, brand: Brand, current: MenuEntry | AppMenuEntry | undefined): Markup {
  const messages = visit.messages.layout;
  const entries = MENU.filter(({ permission }) => permission === 'member' || visit.may(permission));
  return html`<header class="top">
      <a class="brand" href="${visit.base}">${brand.logo && html`${logoOf(brand)} `}${shopName(visit)}</a>
      <form class="search" role="search" action="${adminPath(visit, '/search')}" method="get">
        ${SEARCH_ICON}
        <input
          type="search"
          name="q"
          id="search"
          maxlength="100"
          autocomplete="off"
          aria-label="${messages.search}"
          placeholder="${messages.searchHint}"
          hx-get="${adminPath(visit, '/search')}"
          hx-trigger="input changed delay:200ms"
          hx-target="#found"
          hx-select="#hits"
          hx-swap="innerHTML"
        />
        <div id="found"></div>
      </form>
      <a class="quiet" href="${storefrontLink(visit)}" target="_blank" rel="noopener"
        >${OPEN_ICON} ${messages.storefront}</a
      >
      <details class="user">
        <summary aria-label="${messages.account}">${USER_ICON}</summary>
        <div class="popover">
          <p class="quiet">${visit.user.email}</p>
          ${visit.user.support ? leaveForm(visit) : accountLinks(visit)}
        </div>
      </details>
    </header>
    <nav class="menu" aria-label="${messages.menu}">
      <ul>
        ${entries.map(
          ({ name, path }) =>
            html`<li>
              <a href="${adminPath(visit, path)}" ${name === current && html`aria-current="page"`}
                >${MENU_ICONS[name]} <span>${messages.menuEntries[name]}</span></a
              >
            </li>`,
        )}
        ${visit.apps.map((app) =>
          app.pages.map(
            (entry) =>
              html`<li class="of-app">
                <a
                  href="${adminPath(visit, `/apps/${app.appId}/pages/${entry.name}`)}"
                  ${appMenuEntry(app, entry) === current && html`aria-current="page"`}
                  >${MENU_ICONS.apps}
                  <span>${inLanguage(entry.title, visit.language)} <small>${app.host}</small></span></a
                >
              </li>`,
          ),
        )}
      </ul>
    </nav>`;
}

/** Links to the user's other shops and account. */
function accountLinks({ user, messages: { layout, host } }: ShopVisit): Markup {
  return html`<a href="/admin">${layout.shops}</a>
    ${user.isHost && html`<a href="/admin/host">${host.title}</a>`}
    <a href="/admin/account">${layout.account}</a>
    <form method="post" action="/admin/sign-out">
      <button class="link">${layout.signOut}</button>
    </form>`;
}

const leaveForm = (visit: ShopVisit): Markup =>
  html`<form method="post" action="${adminPath(visit, '/support/leave')}">
    <button class="link">${visit.messages.support.leave}</button>
  </form>`;

function breadcrumbs(steps: readonly { href: string; text: string }[], label: string): Markup {
  return html`<nav class="breadcrumbs" aria-label="${label}">
    ${steps.map(({ href, text }) => html`<a href="${href}">${text}</a> › `)}
  </nav>`;
}

function notice({ text, isProblem, undo }: Notice, undoWord: string): Markup {
  return html`<div class="${isProblem ? 'problem' : 'notice'}" role="${isProblem ? 'alert' : 'status'}">
    <span>${text}</span>
    ${
      undo &&
      html`<form method="post" action="${undo.action}">
        ${Object.entries(undo.fields).map(
          ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
        )}
        <button class="link">${undoWord}</button>
      </form>`
    }
  </div>`;
}

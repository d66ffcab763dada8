import { dayOf } from '../../http/dates.ts';
import { DEMO_SHOP } from '../../http/demo-mode.ts';
import { html, type Markup } from '../../http/html.ts';
import { shopUrl } from '../../http/links.ts';
import type { Brand, BrandLink } from '../../platform/brand.ts';
import { brandLink, type StartPage } from './page.ts';

export interface ListedShop {
  shopId: string;
  name: string;
  createdAt: Date;
  /** Where its pages are. */
  storefront: string;
}

/** The header of a private installation. */
const header = (brand: Brand) =>
  html`${brandLink(brand)}
    <nav aria-label="This server">
      <ul>
        <li><a href="/admin">Admin</a></li>
        <li><a href="/docs">Documentation</a></li>
        <li><a href="/openapi.json">OpenAPI</a></li>
        <li><a href="/health">Health</a></li>
        <li><a href="/metrics">Metrics</a></li>
      </ul>
    </nav>`;

/** Strangers see no more than this. */
const publicHeader = (brand: Brand) =>
  html`${brandLink(brand)}
    <nav aria-label="This server">
      <ul>
        <li><a href="/docs">Documentation</a></li>
      </ul>
    </nav>`;

/** A line to copy: one click selects all of it. */
const line = (text: string) => html`<code class="line">${text}</code>`;

/** After a request through a proxy or from a stranger to a service that seemed to be private. */
export const demoEndedNotice = html`<section class="card" aria-labelledby="page.ended">
  <h2 id="page.ended">Demo access is closed</h2>
  <p>
    A request came through a proxy or from another machine. So the known tokens, the demo owner, the demo
    payment and webhooks to private addresses are closed, also after a restart.
  </p>
  <p>
    If others are to reach this server: set <code>PUBLIC_URL</code> and <code>TRUST_PROXY</code>, and create
    an owner.
  </p>
  ${line('npx kontor user create you@shop.example --shop DemoShop')}
  <p>If only this machine is to reach it: end the proxy, then open demo access again.</p>
  ${line('npx kontor demo open')}
</section>`;

const serverText = ({ name }: Brand): string =>
  `
This server runs ${name}, which keeps the data of shops and serves it over HTTP to storefronts, apps
and scripts.
`;

/** The page for everyone but the operator: it shows nothing of the shops here. */
export const publicPage = (brand: Brand, notice?: Markup): StartPage => ({
  brand,
  title: brand.name,
  header: publicHeader(brand),
  main: html`<div class="hero">
      <h1>A shop back end</h1>
      <p>${serverText(brand)}</p>
      <div class="row"><a class="button main" href="/docs">Open the documentation</a></div>
    </div>
    ${notice}`,
  ...footerOf(brand),
});

const LINK_TEXTS: Readonly<Record<BrandLink, string>> = {
  help: 'Help',
  imprint: 'Imprint',
  privacy: 'Privacy',
};

/** What the host has beside its shops; without a brand there is nothing. */
function footerOf({ links }: Brand): Pick<StartPage, 'footer'> {
  if (links.length === 0) return {};
  return {
    footer: html`<p class="row small">
      ${links.map(({ name, href }) => html`<a href="${href}" rel="noopener">${LINK_TEXTS[name]}</a> `)}
    </p>`,
  };
}

const aboutText = ({ name }: Brand): string =>
  `
${name} is a shop back end: it keeps the data of any number of shops in PostgreSQL and serves it over
HTTP to storefronts, apps and scripts.
`;

/** The first page of a demo that strangers may use. */
export const demoPage = (brand: Brand, minutes: number): StartPage => ({
  brand,
  title: `${brand.name} demo`,
  header: publicHeader(brand),
  main: html`<div class="hero">
    <h1>Try ${brand.name}</h1>
    <p>
      This is a demo: buy in the shop, and look around in the admin, where nothing can be changed. Everything
      is deleted at every full hour, in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.
    </p>
    <div class="row">
      <a class="button main" href="/shop/${DEMO_SHOP}">Visit the shop</a>
      <a class="button" href="/admin">Open the admin</a>
      <a class="button" href="/docs">Documentation</a>
    </div>
  </div>`,
});

/**
 * The start page of a private installation. `shops` are the first of all `count`; `origin` is the address of this
 * server.
 */
export function startPage(
  brand: Brand,
  shops: readonly ListedShop[],
  count: number,
  origin: string,
  notice?: Markup,
): StartPage {
  const example = shops[0]?.shopId ?? 'MyShop';
  return {
    brand,
    title: brand.name,
    header: header(brand),
    main: html`
      <div class="hero">
        <h1>Your shops, behind one API</h1>
        <p>${aboutText(brand)}</p>
        <div class="row">
          <a class="button main" href="/admin">Open the admin</a>
          <a class="button" href="/docs">Documentation</a>
        </div>
      </div>
      ${notice}
      <section aria-labelledby="page.shops">
        <h2 id="page.shops">${headingOf(count)}</h2>
        ${
          shops.length > 0 &&
          html`<ul class="grid">
            ${shops.map((shop) => shopCard(shop, origin))}
          </ul>`
        }
        ${
          count > shops.length &&
          html`<p class="quiet">
            The first ${shops.length} are shown; <code>npx kontor shop list</code> prints all ${count}.
          </p>`
        }
        ${count === 0 && line('npx kontor shop create MyShop --demo')}
      </section>
      <section aria-labelledby="page.next">
        <h2 id="page.next">Next steps</h2>
        <ol class="steps">
          <li>
            <h3>Create a token and call the API with it</h3>
            ${line(`npx kontor token create ${example} --scopes all`)}
            ${line(`curl -H 'Authorization: Bearer TOKEN' ${shopUrl(origin, example)}/customers`)}
          </li>
          <li>
            <h3>Change the settings: export them, edit the file, apply it</h3>
            ${line(`npx kontor shop export-settings ${example} > shop.yaml`)}
            ${line(`npx kontor shop apply ${example} shop.yaml`)}
          </li>
          <li>
            <h3>Create your own shop</h3>
            ${line('npx kontor shop create MyShop')}
          </li>
        </ol>
      </section>
    `,
  };
}

function headingOf(count: number): string {
  if (count === 0) return 'No shops yet: create the first one';
  return count === 1 ? '1 shop' : `${count} shops`;
}

function shopCard({ shopId, name, createdAt, storefront }: ListedShop, origin: string): Markup {
  const day = dayOf(createdAt);
  const root = shopUrl(origin, shopId);
  return html`<li class="card" id="${shopId}">
    <h3><a href="${storefront}">${name}</a></h3>
    <p class="quiet small"><code>${shopId}</code>, created <time datetime="${day}">${day}</time></p>
    ${line(`curl ${root}`)}
    <p class="row small">
      <a href="${storefront}" aria-label="Storefront of ${name}">Storefront</a>
      <a href="/shop/${shopId}" aria-label="Storefront of ${name} on this host">on this host</a>
      <a href="/rs/shops/${shopId}" aria-label="API root of ${name}">API root</a>
    </p>
  </li>`;
}

/** Shown while the schema is migrated; the browser reloads automatically. */
export const startingPage = (brand: Brand): StartPage => ({
  brand,
  title: `${brand.name} is starting`,
  header: brandLink(brand),
  main: html`<div class="hero">
    <h1>${brand.name} is starting</h1>
    <p>The database is being prepared. This page reloads by itself.</p>
  </div>`,
});

/** For a client that has opened too many pages. */
export const busyPage = (brand: Brand): StartPage => ({
  brand,
  title: 'Too many requests',
  header: brandLink(brand),
  main: html`<div class="hero">
    <h1>Too many requests</h1>
    <p>Please wait a little, then try again.</p>
  </div>`,
});

/** `what` is missing: a shop, or a page of it. */
export function notFoundPage(brand: Brand, what: string): StartPage {
  return {
    brand,
    title: 'Not found',
    header: publicHeader(brand),
    main: html`<div class="hero">
      <h1>There is no ${what}</h1>
      <p>Ids of shops are spelled as they were created, upper and lower case included.</p>
      <div class="row"><a class="button main" href="/">Start page</a></div>
    </div>`,
  };
}

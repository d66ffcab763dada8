import { gzipSync } from 'node:zlib';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenToken } from '../../../test/builders.ts';
import { startDemo } from '../../../test/demo.ts';
import { givenShop } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { applySettings, type SettingsFile } from '../../shops/settings/file.ts';
import { findSettings } from '../../shops/settings/settings.ts';
import { documentBytes } from './layout.ts';
import { createProviders } from '../../orders/payments/providers.ts';
import { installationKey } from '../../platform/sealing.ts';
import { loadShopLayout } from './shop-layout.ts';
import type { Page } from '../page.ts';
import type { Session } from '../session.ts';
import type { Visit } from '../visit.ts';
import { html } from '../../http/html.ts';

let service: Service;

beforeAll(async () => {
  service = await startDemo();
});
afterAll(() => service.close());

async function get(url: string) {
  const response = await service.app.inject({ url, headers: { host: 'kontor.example' } });
  return { status: response.statusCode, headers: response.headers, text: response.body };
}

const apply = (file: SettingsFile, shopId = 'DemoShop') =>
  service.db.transaction((tx) => applySettings(tx, shopId, file));

/** A page as a visitor with this session sees it. */
async function shown(page: Partial<Page> = {}, visitor: Partial<Visit> = {}, session: Session = {}) {
  const settings = (await findSettings(service.db, 'DemoShop'))!;
  const visit: Visit = {
    db: service.db,
    // The layout shows no cart.
    carts: undefined as never,
    placeOrder: undefined as never,
    appCalls: undefined as never,
    vatRegister: undefined as never,
    payments: undefined as never,
    config: service.config,
    guaranteeFiles: new Map(),
    shopId: 'DemoShop',
    settings,
    verifySettings: () => {},
    layout: await loadShopLayout(service.db, settings, {
      providers: createProviders(service.db, service.app.demoAccess),
      loadKey: () => installationKey(service.config),
    }),
    access: 'public',
    locale: 'en_GB',
    isLocaleNamed: false,
    currency: 'EUR',
    priceView: {},
    origin: 'https://shop.example',
    pageOrigin: 'https://shop.example',
    base: '/shop/DemoShop',
    home: 'https://shop.example/shop/DemoShop',
    loadsScripts: true,
    device: undefined,
    rememberAccount: () => {},
    account: undefined,
    setAccountToken: () => undefined,
    session,
    updateSession: () => undefined,
    ...visitor,
  };
  return String(
    documentBytes(visit, { title: 'A page', path: '/somewhere', main: html`<h1>A page</h1>`, ...page }),
  );
}

const between = (text: string, start: string, end: string) => {
  const at = text.indexOf(start);
  expect(at).toBeGreaterThan(-1);
  return text.slice(at, text.indexOf(end, at) + end.length);
};
const links = (text: string) =>
  [...text.matchAll(/<a [^>]*?href="([^"]*)"[^>]*>(.*?)<\/a>/gs)].map(([, href, label]) => [
    href,
    label!.replaceAll(/<svg.*?<\/svg>|<[^>]*>/gs, ' ').trim(),
  ]);

describe('the header', () => {
  test('leads to the visitor’s own things and says how many there are', async () => {
    const own = async (session: Session, locale = 'en_GB') =>
      links(between(await shown({}, { locale }, session), '<nav class="own"', '</nav>'));
    expect(await own({})).toEqual([
      ['/shop/DemoShop/account', 'Account'],
      ['/shop/DemoShop/wishlist', 'Wish list'],
      ['/shop/DemoShop/cart', 'Cart'],
    ]);
    const session = { wishlistCount: 2, cart: { id: 'A', count: 13 } };
    expect(await own(session, 'de_DE')).toEqual([
      ['/shop/DemoShop/account?locale=de_DE', 'Konto'],
      ['/shop/DemoShop/wishlist?locale=de_DE', expect.stringMatching(/^Merkliste\s+2$/)],
      ['/shop/DemoShop/cart?locale=de_DE', expect.stringMatching(/^Warenkorb\s+13$/)],
    ]);
    // What was one visitor's is not the next one's.
    expect(await own({ wishlistCount: 0, cart: { id: 'B', count: 0 } })).toEqual(await own({}));
  });

  test('has the categories in their order, each with its children', async () => {
    const menu = async (locale: string) =>
      links(between(await shown({}, { locale }), '<details class="menu"', '</details>'));
    expect((await menu('en_GB')).map(([href, label]) => [href!.split('/').at(-1), label])).toEqual([
      ['coffee', 'Coffee'],
      ['beans', 'Beans'],
      ['ground', 'Ground coffee'],
      ['tea', 'Tea'],
      ['green', 'Green tea'],
      ['black', 'Black and herbal tea'],
      ['drinks', 'Cold drinks'],
      ['kitchen', 'Kitchen'],
      ['knives', 'Knives'],
      ['appliances', 'Appliances'],
      ['lamps', 'Lamps'],
      ['books', 'Books and audio'],
      ['gifts', 'Gifts'],
    ]);
    expect((await menu('de_DE'))[0]).toEqual(['/shop/DemoShop/Categories/coffee?locale=de_DE', 'Kaffee']);
  });

  test('marks where the visitor is, and nothing else', async () => {
    const marked = (text: string) =>
      [...text.matchAll(/<a href="([^"]*)" aria-current="page"/g)].map(([, href]) => href);
    expect(marked(await shown({ path: '/Categories/green' }))).toEqual(['/shop/DemoShop/Categories/green']);
    expect(marked(await shown({ path: '/Categories/green' }, { locale: 'de_DE' }))).toEqual([
      '/shop/DemoShop/Categories/green?locale=de_DE',
    ]);
    expect(marked(await shown({ path: '/cart' }))).toEqual(['/shop/DemoShop/cart']);
    expect(marked(await shown({ path: '/legal/privacy-policy' }))).toEqual([
      '/shop/DemoShop/legal/privacy-policy',
    ]);
    expect(marked(await shown({ path: '/Products/TE-100' }))).toEqual([]);
  });

  test('offers the page in the other languages, each in its own words', async () => {
    const page = { path: '/Categories/tea', query: { page: '2' } };
    const form = between(await shown(page, { locale: 'de_DE' }), '<form class="languages"', '</form>');
    expect(form).toContain(' method="post" action="/shop/DemoShop/language">');
    expect(form).toContain('<input type="hidden" name="page" value="/Categories/tea?page=2" />');
    expect(form).toContain('<ul aria-label="Sprache">');
    const buttons = [
      ...form.matchAll(/value="(\w+)"\s+lang="([\w-]+)"\s*(aria-current="true")?\s*>\s*(\S+)/g),
    ];
    expect(buttons.map(([, ...parts]) => parts)).toEqual([
      ['en_GB', 'en-GB', undefined, 'English'],
      ['de_DE', 'de-DE', 'aria-current="true"', 'Deutsch'],
      ['fr_FR', 'fr-FR', undefined, 'Français'],
    ]);
  });

  test('links a page with a secret address to itself, in each language', async () => {
    const page = { path: '/order/abc', hasSecretAddress: true };
    const text = await shown(page, { locale: 'de_DE' });
    expect(between(text, '<nav aria-label="Sprache"', '</nav>').match(/<a.*?<\/a>/g)).toEqual([
      '<a lang="en-GB" hreflang="en-GB" href="/shop/DemoShop/order/abc?locale=en_GB" >English</a>',
      '<a lang="de-DE" hreflang="de-DE" href="/shop/DemoShop/order/abc?locale=de_DE" aria-current="true">Deutsch</a>',
      '<a lang="fr-FR" hreflang="fr-FR" href="/shop/DemoShop/order/abc?locale=fr_FR" >Français</a>',
    ]);
  });

  test('offers the currencies', async () => {
    const options = async (currency: string) =>
      [
        ...between(await shown({}, { currency }), '<select name="currency"', '</select>').matchAll(
          /<option value="(\w+)"( selected)?/g,
        ),
      ].map(([, code, selected]) => [code, selected !== undefined]);
    expect(await options('EUR')).toEqual([
      ['EUR', true],
      ['GBP', false],
      ['USD', false],
    ]);
    expect(await options('GBP')).toEqual([
      ['EUR', false],
      ['GBP', true],
      ['USD', false],
    ]);
  });

  test('of a shop with one language and one currency has nothing to choose', async () => {
    const { text } = await get('/shop/EmptyShop');
    expect(text).not.toContain('class="switch"');
    expect(text).not.toContain('hreflang="de-DE"');
    expect(text).toContain('class="find"');
  });

  test('tells two kinds of one language apart', async () => {
    await givenShop(service, 'Twice');
    await apply({ locales: { default: 'en_GB', items: ['en_GB', 'en_US', 'de_DE'] } }, 'Twice');
    const { text } = await get('/shop/Twice');
    const form = between(text, '<form class="languages"', '</form>');
    expect([...form.matchAll(/<button[^>]*>\s*(.*?)\s*<\/button/gs)].map(([, label]) => label)).toEqual([
      'English (United Kingdom)',
      'English (United States)',
      'Deutsch',
    ]);
  });
});

describe('the footer', () => {
  test('says who sells, how it is paid and how it is sent', async () => {
    const text = await shown({}, { locale: 'de_DE' });
    const footer = between(text, '<footer', '</footer>');
    expect(footer.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')).toMatch(
      / Zahlung Vorkasse Rechnung QuickPay Später bezahlen Versand Standardversand Expressversand Selbstabholung Spedition Kontakt Harbour &amp; Hearth GmbH Speicherweg 4 20457 Hamburg \+49 40 5550100 hello@harbour-hearth.example © Harbour &amp; Hearth $/,
    );
    expect(footer).toContain('href="tel:+49405550100"');
    expect(footer).toContain('href="mailto:hello@harbour-hearth.example"');
    expect(footer).toContain('href="/shop/DemoShop/consent?locale=de_DE"');
    expect(footer).toContain('href="/shop/DemoShop/newsletter?locale=de_DE"');
    expect(footer).toContain('href="/shop/DemoShop/legal/privacy-policy?locale=de_DE"');
    // Only in English: the link leads to where that is said.
    expect(footer).toContain('href="/shop/DemoShop/legal/cookie-policy?locale=de_DE">Cookies<');
    expect(await shown()).toContain('href="/shop/DemoShop/legal/cookie-policy"');
  });
});

describe('a cached layout', () => {
  test('is new after a change of settings, of a category and of a legal page', async () => {
    const front = async () => (await get('/shop/DemoShop')).text;
    const before = await front();
    expect(before).toContain('>Lamps</a>');

    await apply({ theme: { accent: '#aa0000' }, name: 'Quay & Co' });
    const painted = await front();
    expect(painted).toContain('--accent:#aa0000');
    expect(painted).toContain('<title>Quay &amp; Co</title>');
    expect(painted).toContain('© Quay &amp; Co');

    const token = await givenToken(service, 'DemoShop');
    const lamps = await service.db.one<{ id: string }>(
      sql`select category_id as id from category where shop_id = 'DemoShop' and alias = 'lamps'`,
    );
    const renamed = await service.call('PUT', `/DemoShop/categories/${lamps!.id}?locale=en_GB`, {
      token,
      body: { categoryId: lamps!.id, alias: 'lamps', name: 'Lanterns' },
    });
    expect(renamed.status).toBe(200);
    expect(await front()).toContain('>Lanterns</a>');

    const legal = await service.call('PUT', '/DemoShop/legal/privacy-policy?locale=en_GB', {
      token,
      body: { name: 'Your data', navigationCaption: 'Your data' },
    });
    expect(legal.status).toBe(200);
    expect(await front()).toContain('/legal/privacy-policy">Your data</a>');
  });

  test('is of one shop', async () => {
    await givenShop(service, 'Neighbour', { name: 'Next door' });
    const { text } = await get('/shop/Neighbour');
    expect(text).toContain('Next door');
    expect(text).not.toMatch(/DemoShop|Harbour|Quay/);
  });
});

describe('the head', () => {
  test('says what the page is, here and in other languages', async () => {
    const text = await shown(
      {
        title: 'Tea & more',
        description: 'Leaves "and" herbs',
        path: '/Products/TE-100',
        image: '/media/a.png',
      },
      { locale: 'de_DE' },
    );
    for (const line of [
      '<meta name="description" content="Leaves &quot;and&quot; herbs" />',
      '<meta property="og:title" content="Tea &amp; more" />',
      '<meta property="og:description" content="Leaves &quot;and&quot; herbs" />',
      '<meta property="og:type" content="product" />',
      '<meta property="og:url" content="https://shop.example/shop/DemoShop/Products/TE-100?locale=de_DE" />',
      '<meta property="og:locale" content="de_DE" />',
      '<link rel="canonical" href="https://shop.example/shop/DemoShop/Products/TE-100?locale=de_DE" />',
      '<link rel="alternate" hreflang="en-GB" href="https://shop.example/shop/DemoShop/Products/TE-100" />',
      '<link rel="alternate" hreflang="x-default" href="https://shop.example/shop/DemoShop/Products/TE-100" />',
      '<meta name="format-detection" content="telephone=no" />',
    ]) {
      expect(text.replaceAll(/\s+/g, ' ')).toContain(line);
    }
    expect(text).toMatch(
      /<meta\s+property="og:image"\s+content="https:\/\/shop.example\/media\/a.png"\s+\/>/,
    );
    expect(text).toContain('<html lang="de-DE">');
  });

  test('of a page of one visitor is not for search engines', async () => {
    const text = await shown({ isPrivate: true });
    expect(text).toContain('<meta name="robots" content="noindex" />');
    expect(text).not.toMatch(/canonical|og:url|rel="alternate"/);
  });

  test('has the letter of a shop without a logo as its icon', async () => {
    await givenShop(service, 'Plain', { name: 'åland' });
    const { text } = await get('/shop/Plain');
    const [, icon] = /<link rel="icon" href="data:image\/svg\+xml,([^"]+)"/.exec(text)!;
    expect(decodeURIComponent(icon!)).toMatch(/<rect [^>]*fill="#0b5d66".*>\s*Å\s*<\/text>/s);
  });
});

describe('the theme', () => {
  test('is what the policy allows, with the font of the shop and no other', async () => {
    await givenShop(service, 'Painted');
    expect((await get('/shop/Painted')).headers['content-security-policy']).toContain("; font-src 'none';");
    await apply({ theme: { background: '#101418', fontUrl: '/media/own.woff2?v=1' } }, 'Painted');
    const { text, headers } = await get('/shop/Painted');
    expect(headers['content-security-policy']).toContain('; font-src http://kontor.example/media/own.woff2;');
    expect(text).toContain('src:url("/media/own.woff2?v=1") format("woff2")');
    expect(text).toContain('color-scheme:dark;--background:#101418;--text:#f1f4f4');
    expect(text).toContain('<meta name="theme-color" content="#101418" />');
  });

  test('has the rules that the shop writes itself, where nothing is bought', async () => {
    const linked = async (path: string) =>
      /<link rel="stylesheet" href="([^"]*theme\.css[^"]*)"/.exec(
        (await get(`/shop/Painted${path}`)).text,
      )?.[1];
    await apply({ theme: {} }, 'Painted');
    expect(await linked('')).toBeUndefined();
    expect((await get('/shop/Painted/theme.css')).status).toBe(404);

    await apply({ theme: { css: 'h1 { color: var(--link) }' } }, 'Painted');
    const address = (await linked(''))!;
    expect(address).toMatch(/^\/shop\/Painted\/theme\.css\?v=[\w-]{16}$/);
    const sent = await get(address);
    expect([sent.status, sent.text, sent.headers['content-type'], sent.headers['cache-control']]).toEqual([
      200,
      'main h1{color:var(--link)}',
      'text/css; charset=utf-8',
      'private, max-age=31536000, immutable',
    ]);
    expect((await get('/shop/Painted/theme.css?v=old')).headers['cache-control']).toBe('private, no-cache');
    for (const path of ['/cart', '/checkout', '/account', '/wishlist', '/legal/privacy-policy', '/nothing'])
      expect([path, await linked(path)]).toEqual([path, undefined]);

    await expect(apply({ theme: { css: 'h1 {}\na { position: fixed }' } }, 'Painted')).rejects.toThrow(
      'theme.css: has rules that are not possible, from its line 2 on: "position: fixed }"',
    );
    expect(await linked('')).toBe(address);
  });

  test('says what the theme sets, and nothing of what is as usual', async () => {
    const ruleOf = async (theme: object) => {
      await apply({ theme }, 'Painted');
      const [, style] = /<style>(.*?)<\/style>/s.exec((await get('/shop/Painted')).text)!;
      return style!.slice(style!.indexOf(';--font:')).replace(/--font:[^;}]*/, '--font:');
    };
    const usual = await ruleOf({});
    expect(usual).toBe(';--font:}');
    expect(await ruleOf({ corners: 'soft', density: 'normal', header: 'plain', cards: 'plain' })).toBe(usual);
    expect(await ruleOf({ corners: 'sharp', density: 'airy', header: 'tinted', cards: 'framed' })).toBe(
      ';--font:;--radius:0px;--gap:clamp(1.25rem,0.6rem + 2.8vw,3.25rem)}' +
        '.top{background:var(--soft)}' +
        '.card{padding:.75rem;border:1px solid var(--line);border-radius:var(--radius)}',
    );
  });
});

describe('a shop with an evil name and logo', () => {
  test('has text where others have text', async () => {
    const name = `"><script>alert(1)</script>`;
    await givenShop(service, 'Evil', { name });
    const escaped = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;';
    for (const theme of [{}, { showName: true }]) {
      await apply({ logoUrl: 'https://evil.example/"onload="x', theme }, 'Evil');
      const { text } = await get('/shop/Evil');
      expect(text).not.toContain('<script>');
      expect(text).toContain(escaped);
      expect(text).toContain('<img src="https://evil.example/%22onload=%22x"');
      expect(text).not.toMatch(/\sonload="/);
    }
  });
});

test('a closed shop shows its name and nothing to do', async () => {
  await givenShop(service, 'Closed', { name: 'Members only' });
  await apply({ publicCatalogue: false }, 'Closed');
  const { status, text } = await get('/shop/Closed');
  expect(status).toBe(200);
  expect(text).toContain('<h1>Members only</h1>');
  expect(text).not.toMatch(/<form|<footer|\/cart|\/search/);
});

test.each(['/Categories/nothing', '/nothing', '/no/thing'])('%s does not exist: a search', async (path) => {
  const { status, text } = await get(`/shop/DemoShop${path}?locale=de_DE`);
  expect(status).toBe(404);
  expect(text).toContain('<h1>Diese Seite gibt es nicht</h1>');
  const main = between(text, '<main', '</main>');
  expect(main).toContain('action="/shop/DemoShop/search?locale=de_DE"');
  expect(main).toContain('<input type="hidden" name="locale" value="de_DE" />');
});

test('no page carries styles or handlers in its tags', async () => {
  for (const path of ['', '/cart', '/nothing', '/consent', '/wishlist', '/newsletter', '/Categories/tea']) {
    const { text } = await get(`/shop/DemoShop${path}`);
    expect(text).not.toMatch(/<[^>]*\s(?:style|on\w+)=/);
  }
});

test('the stylesheet is small, names no other place and moves only for those who like it', async () => {
  const css = await readFile(new URL('../../../assets/storefront.css', import.meta.url), 'utf8');
  const served = await get(/href="(\/assets\/storefront\.[^"]+\.css)"/.exec(await shown())![1]!);
  expect(gzipSync(served.text).length).toBeLessThan(8_000);
  expect(css).not.toMatch(/@import|url\((?!"data:)/);
  const still = css.replace(/@media \(prefers-reduced-motion: no-preference\) \{[\s\S]*?\n\}\n/, '');
  expect(still).not.toMatch(/\b(?:transition|animation|scroll-behavior)\b/);
});

test('what another process has set shows at once, on pages that ask for it in passing too', async () => {
  await apply({ name: 'Harbour & Hearth' });
  const other = await startService({}, service);
  try {
    const titleAt = async (path: string) => {
      const { body } = await other.app.inject({ url: `/shop/DemoShop${path}` });
      return between(body, '<title>', '</title>');
    };
    const paths = ['', '/Products/AP-100', '/Categories/kitchen', '/Products/nothing'];
    for (const path of paths) expect(await titleAt(path)).toContain('Harbour &amp; Hearth</title>');
    await apply({ name: 'Quay & Hearth' });
    for (const path of paths) expect(await titleAt(path)).toContain('Quay &amp; Hearth</title>');
    await apply({ publicCatalogue: false });
    for (const path of paths) expect(await titleAt(path)).toBe('<title>Quay &amp; Hearth</title>');
    expect((await other.app.inject({ url: '/shop/DemoShop/Products/AP-100' })).body).not.toContain('Kettle');
  } finally {
    await apply({ name: 'Harbour & Hearth', publicCatalogue: true });
    await other.close();
  }
});

test('events are on the page only where an app listens', async () => {
  await apply({ appScripts: { load: true } });
  expect(await shown({}, {}, { consent: 'all' })).toContain('id="page.events"');
  expect(await shown()).not.toContain('page.events');
  await givenShop(service, 'Quiet');
  const { text } = await get('/shop/Quiet');
  expect(text).toContain('<h1>');
  expect(text).not.toContain('page.events');
});

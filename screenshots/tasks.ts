import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Locator, Page } from 'playwright-core';
import { openBrowser } from '../test/chromium.ts';
import { cleanUp, kontor, newFolder, startKontor } from '../test/process.ts';

/**
 * `npm run tasks [-- --pictures FOLDER]`: what a merchant does on the first day of a shop and on an ordinary one, in a real
 * browser and in German. Prints how many clicks and filled fields each task takes, and the seconds of the service and the
 * browser; nobody reads or thinks in them, and two pages are opened by their address. With a folder, it takes a picture of each page at two widths.
 */

const { values: options } = parseArgs({ options: { pictures: { type: 'string' } } });

const WIDTHS = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
const SHOP = 'Teekontor';

interface Figures {
  task: string;
  clicks: number;
  fields: number;
  ms: number;
}

const figures: Figures[] = [];
let pictures = 0;

/** One person at one window: counts what the hands do. */
class Hands {
  readonly page: Page;
  #counted: Figures | undefined;
  #paused = 0;

  constructor(page: Page) {
    this.page = page;
  }

  async task(task: string, work: () => Promise<void>): Promise<void> {
    this.#counted = { task, clicks: 0, fields: 0, ms: 0 };
    this.#paused = 0;
    const began = performance.now();
    await work();
    this.#counted.ms = performance.now() - began - this.#paused;
    figures.push(this.#counted);
    this.#counted = undefined;
  }

  async click(target: Locator): Promise<void> {
    if (this.#counted) this.#counted.clicks += 1;
    await target.click();
  }

  press(name: string | RegExp): Promise<void> {
    return this.click(this.page.getByRole('button', { name, exact: true }).locator('visible=true').first());
  }

  follow(name: string | RegExp): Promise<void> {
    return this.click(this.page.getByRole('link', { name, exact: true }).locator('visible=true').first());
  }

  async type(fields: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, text] of Object.entries(fields)) {
      if (this.#counted) this.#counted.fields += 1;
      await this.page.locator(`[name="${name}"]`).locator('visible=true').first().fill(text);
    }
  }

  async choose(name: string, value: string): Promise<void> {
    if (this.#counted) this.#counted.fields += 1;
    await this.page.locator(`select[name="${name}"]`).locator('visible=true').first().selectOption(value);
  }

  async sees(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).locator('visible=true').first().waitFor();
  }

  /** A picture of the whole page at each width. It takes none of the time of the task. */
  async look(name: string): Promise<void> {
    if (options.pictures === undefined) return;
    const began = performance.now();
    const before = this.page.viewportSize()!;
    pictures += 1;
    for (const [width, size] of Object.entries(WIDTHS)) {
      await this.page.setViewportSize(size);
      await this.page.waitForTimeout(250);
      const file = `${String(pictures).padStart(2, '0')}-${name}-${width}.png`;
      await this.page.screenshot({ path: path.join(options.pictures, file), fullPage: true });
    }
    await this.page.setViewportSize(before);
    this.#paused += performance.now() - began;
  }
}

const nameOf = async (field: Locator) => (await field.getAttribute('name'))!;

async function openHands(browser: Browser, address: string): Promise<Hands> {
  const context = await browser.newContext({ baseURL: address, locale: 'de-DE', viewport: WIDTHS.wide });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  return new Hands(page);
}

const SELLER = {
  'invoicing.company': 'Teekontor GmbH',
  'invoicing.street': 'Kai 1',
  'invoicing.zipCode': '20457',
  'invoicing.city': 'Hamburg',
  'invoicing.vatId': 'DE123456789',
  'invoicing.bank.iban': 'DE02120300000000202051',
};
const BUYER = {
  'billing.emailAddress': 'ada.lindqvist@mail.example',
  'billing.firstName': 'Ada',
  'billing.lastName': 'Lindqvist',
  'billing.street': 'Kai 7',
  'billing.zipCode': '20457',
  'billing.city': 'Hamburg',
};
const LEGAL_PAGES = [
  'contact-information',
  'privacy-policy',
  'terms-and-conditions',
  'rights-of-withdrawal',
  'shipping-information',
  'cookie-policy',
];
const TRACKING = '00340434161094042557';
const ADMIN = `/admin/shops/${SHOP}`;

const environment = { KONTOR_DATA: await newFolder() };

/** A command that must succeed; what it prints. */
async function run(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await kontor(words, environment);
  if (code !== 0) throw new Error(`kontor ${words.join(' ')}: ${stderr}`);
  return stdout.trim();
}

/** A lawyer writes the legal texts, not the merchant on the first day: they come from a file. */
async function finishLegalTexts(address: string): Promise<void> {
  const token = await run('token', 'create', SHOP, '--scopes', 'all');
  for (const name of LEGAL_PAGES) {
    const { status } = await fetch(`${address}/rs/shops/${SHOP}/legal/${name}?locale=de_DE`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, description: `<p>Fertiger Text: ${name}</p>` }),
    });
    if (status !== 200) throw new Error(`${name}: ${status}`);
  }
}

async function firstDay(merchant: Hands, visitor: Hands, address: string): Promise<void> {
  const { page } = merchant;
  const link = new URL(/http\S+/.exec(await run('user', 'create', 'tee@mail.example', '--shop', SHOP))![0]);
  await merchant.task('choose a password', async () => {
    await page.goto(link.pathname + link.search);
    await merchant.type({ newPassword: 'vier leise grüne Boote' });
    await merchant.press('Speichern und anmelden');
    await merchant.sees('Ihr Shop ist noch nicht eröffnet');
    await merchant.look('first-home');
  });
  await merchant.task('name the seller and the bank account', async () => {
    await merchant.click(page.locator('#step-address a').first());
    await merchant.type(SELLER);
    await merchant.look('seller');
    await merchant.press('Speichern');
    await merchant.sees(/^Gespeichert/);
  });
  await page.goto(`${ADMIN}/settings/legal/rights-of-withdrawal`);
  await merchant.look('legal-text');
  await finishLegalTexts(address);
  await page.goto(ADMIN);
  await merchant.task('add the first product', async () => {
    await merchant.click(page.locator('#step-firstProduct a').first());
    await merchant.type({ name: 'Assam', productNumber: 'T-1', price: '9,90', stock: '4' });
    await merchant.look('new-product');
    await merchant.press('Produkt anlegen');
    await page.waitForURL(/products\/[0-9A-F-]{36}/);
    await merchant.look('product');
  });
  await page.goto(ADMIN);
  await merchant.task('open the shop', async () => {
    await merchant.look('ready');
    await merchant.press('Shop eröffnen');
    await merchant.sees('Übersicht');
    await merchant.look('open');
  });
  await visitor.task('a visitor buys two', async () => {
    await visitor.page.goto(`/shop/${SHOP}/Products/T-1`);
    await visitor.look('shop-product');
    await visitor.type({ quantity: '2' });
    await visitor.press('In den Warenkorb');
    await visitor.sees('Assam liegt in Ihrem Warenkorb.');
    await visitor.page.goto(`/shop/${SHOP}/cart`);
    await visitor.look('shop-cart');
    await visitor.follow('Zur Kasse');
    await visitor.type(BUYER);
    await visitor.press('Weiter');
    await visitor.page.waitForURL('**/checkout/delivery');
    await visitor.look('shop-delivery');
    await visitor.press('Weiter');
    await visitor.page.waitForURL('**/checkout/review');
    await visitor.look('shop-review');
    await visitor.press('Zahlungspflichtig bestellen');
    await visitor.sees('DE02 1203 0000 0000 2020 51');
    await visitor.look('shop-confirmation');
  });
  await page.goto(`${ADMIN}/orders`);
  await merchant.task('record the payment', async () => {
    await merchant.look('orders');
    await merchant.click(page.locator('main td a').first());
    await page.waitForURL(/orders\/[0-9A-F-]{36}/);
    await merchant.look('order');
    await merchant.press('Zahlung erfassen');
    await merchant.sees('ist erfasst. Der Kunde bekommt eine E-Mail.');
  });
  const order = new URL(page.url()).pathname;
  await merchant.task('ship, with a tracking number', async () => {
    // The next step of a paid order is open on its page.
    await merchant.type({ trackingCode: TRACKING });
    await merchant.look('ship');
    await merchant.press('Als versandt markieren');
    await page.getByRole('link', { name: TRACKING }).first().waitFor();
    await merchant.look('order-shipped');
  });
  await merchant.task('take one of two back and refund it', async () => {
    await page.goto(`${order}/return`);
    await merchant.type({ [await nameOf(page.getByLabel(/Assam/).first())]: '1' });
    await merchant.look('return');
    await merchant.press('Retoure erfassen');
    await merchant.sees('Die Retoure ist erfasst.');
    await merchant.look('refund');
    await merchant.press('Erstatten');
    await merchant.sees('Teilweise zurückgegeben');
    await merchant.look('order-refunded');
  });
}

async function ordinaryDay(merchant: Hands): Promise<void> {
  const { page } = merchant;
  const shop = '/admin/shops/DemoShop';
  await page.goto('/admin/sign-in');
  await merchant.press(/Demo/);
  await page.waitForURL(`**${shop}`);
  await merchant.look('demo-home');
  await merchant.task('find an order by the name of its customer', async () => {
    await merchant.type({ q: 'Brennan' });
    await page.locator('[name="q"]').locator('visible=true').first().press('Enter');
    await page.waitForURL(/q=Brennan/);
    await merchant.look('search');
    await merchant.click(page.locator('main a[href*="/orders/"]').first());
    await page.waitForURL(/orders\/[0-9A-F-]{36}/);
    await merchant.look('demo-order');
  });
  await merchant.task('see what sold best this year', async () => {
    await merchant.follow('Berichte');
    await merchant.follow('Dieses Jahr');
    await page.waitForURL(/reports\?/);
    await merchant.look('report');
  });
  await merchant.task('add five pieces to two products', async () => {
    await merchant.follow('Produkte');
    for (const index of [0, 2]) await merchant.click(page.locator('main [name="id"]').nth(index));
    await merchant.look('selected');
    await merchant.press('Massenbearbeitung …');
    await merchant.choose('kind', 'addStock');
    await merchant.look('bulk-edit');
    await merchant.type({ amount: '5' });
    await merchant.press(/^Vorschau/);
    await merchant.look('bulk-preview');
    await merchant.press(/ändern$/);
    await page.waitForURL(/bulk-edits\//);
    await merchant.look('bulk-done');
  });
  await merchant.task('export the orders with their tax', async () => {
    await page.goto(`${shop}/orders/accounting`);
    await merchant.look('accounting');
    const download = page.waitForEvent('download');
    await merchant.press('Bestellungen nach Steuersatz (CSV)');
    await download;
  });
}

const [service, browser] = await Promise.all([startKontor(environment), openBrowser()]);
try {
  if (options.pictures !== undefined) await mkdir(options.pictures, { recursive: true });
  const facts = [
    '--name',
    'Teekontor',
    '--country',
    'DE',
    '--language',
    'de_DE',
    '--email',
    'tee@mail.example',
  ];
  await run('shop', 'create', SHOP, ...facts);
  const { address } = service;
  await firstDay(await openHands(browser, address), await openHands(browser, address), address);
  await ordinaryDay(await openHands(browser, address));
} finally {
  await browser.close();
  await service.stop();
  await cleanUp();
  for (const { task, clicks, fields, ms } of figures)
    console.log(`| ${task} | ${clicks} | ${fields} | ${(ms / 1000).toFixed(1)} |`);
}

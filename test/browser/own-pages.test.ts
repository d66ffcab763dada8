import { expect, test } from 'vitest';
import { seriousProblems } from '../accessibility.ts';
import { openAdmin } from '../admin.ts';
import { browsing } from '../browser.ts';
import { givenToken } from '../builders.ts';
import { ofTheDay } from '../seed.ts';
import { sql } from '../../src/db/sql.ts';

const shop = browsing();
const BASE = '/shop/DemoShop';

/** What is typed into the blocks, by their kinds; the others are filled in as they come. */
const KINDS = [
  ['heading', { text: 'How we roast' }],
  ['richText', { html: '<p>Slowly.</p>' }],
  ['quote', { text: 'The best kettle', source: 'Ada' }],
  ['button', { link: '/Categories/tea', linkText: 'Tea' }],
  ['products', { title: 'Knives', numbers: 'KN-110\nAP-100' }],
  ['categories', { title: 'Our range' }],
  ['faq', { title: 'Questions', 'items.0.question': 'Why?', 'items.0.answer': '<p>Because.</p>' }],
  ['promises', { promises: 'Free returns\nMade here' }],
  ['contactForm', { title: 'Write to us' }],
  ['spacer', {}],
] as const satisfies readonly (readonly [string, Readonly<Record<string, string>>])[];

test('a page of ten kinds of blocks is written in two languages, without scripts', async () => {
  const admin = await openAdmin(shop, '/pages/new', { runsScripts: false });
  await admin.getByLabel('Title').fill('About us');
  await admin.getByRole('button', { name: 'Create draft' }).click();
  for (const [index, [kind, fields]] of KINDS.entries()) {
    await admin.getByLabel('Add a block').selectOption(kind);
    await admin.getByRole('button', { name: 'Add', exact: true }).click();
    for (const [name, text] of Object.entries(fields))
      await admin.locator(`[name="blocks.${index}.${name}"]`).fill(text);
  }
  // The keyboard moves a block as the mouse does.
  await admin.getByRole('button', { name: 'Move up: 2. Text' }).press('Enter');
  await admin.getByLabel('Published').check();
  await admin.getByRole('button', { name: 'Save' }).click();
  await admin.getByRole('link', { name: 'German' }).click();
  await admin.getByRole('button', { name: 'Copy' }).click();
  await admin.getByLabel('Title', { exact: true }).fill('Über uns');
  await admin.locator('[name="blocks.1.text"]').fill('Wie wir rösten');
  await admin.getByRole('button', { name: 'Save' }).click();

  const page = await shop.open();
  await page.goto(`${BASE}/pages/about-us`);
  expect(await page.locator('main h2').allTextContents()).toEqual([
    'How we roast',
    'Knives',
    'Our range',
    'Questions',
    'Write to us',
  ]);
  expect(await page.locator('main .prose').first().textContent()).toBe('Slowly.');
  expect(await seriousProblems(page)).toEqual([]);
  await page.goto(`${BASE}/pages/ueber-uns?locale=de_DE`);
  expect(await page.locator('main h2').first().textContent()).toBe('Wie wir rösten');

  // A menu names it, and the theme and the shop's own rules apply to it, within the policy of the page.
  await shop.service.db.run(sql`
    update shop set settings_version = settings_version + 1, settings = settings || ${JSON.stringify({
      menus: { header: [{ text: { en_GB: 'Our story' }, link: '/pages/about-us', entries: [] }], footer: [] },
      theme: {
        corners: 'round',
        density: 'airy',
        header: 'tinted',
        cards: 'raised',
        css: 'h2 { text-transform: uppercase } .top { display: none }',
      },
    })}::jsonb where shop_id = 'DemoShop'`);
  for (const screen of ofTheDay(['phone', 'wide'] as const, 1)) {
    const visitor = await shop.open({ screen });
    await visitor.goto(BASE);
    await visitor.evaluate(`document.querySelector('nav[aria-label="Menu"] a').click()`);
    await visitor.waitForURL('**/pages/about-us');
    expect(await visitor.evaluate(`getComputedStyle(document.querySelector('main h2')).textTransform`)).toBe(
      'uppercase',
    );
    expect(await visitor.locator('header.top').isVisible()).toBe(true);
    expect(await seriousProblems(visitor)).toEqual([]);
    expect(await visitor.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  }
});

test('the editor, its preview and a post are accessible, and the post is in the feed', async () => {
  const token = await givenToken(shop.service, 'DemoShop');
  const { body } = await shop.service.call('POST', '/manage/shops/DemoShop/pages', {
    token,
    body: {
      kind: 'post',
      published: true,
      texts: [
        {
          locale: 'en_GB',
          title: 'We have moved',
          summary: 'To the harbour.',
          blocks: [{ type: 'richText', html: '<p>Come by.</p>' }],
        },
      ],
    },
  });
  const page = await shop.open({ screen: 'phone' });
  await page.goto(`${BASE}/posts`);
  expect(await seriousProblems(page)).toEqual([]);
  await page.getByRole('link', { name: 'We have moved' }).click();
  expect(await page.locator('h1').textContent()).toBe('We have moved');
  const feed = await page.request.get(`${BASE}/posts.atom`);
  expect(await feed.text()).toContain('<title>We have moved</title>');

  const admin = await openAdmin(shop, `/pages/${body.pageId}`);
  expect(await seriousProblems(admin)).toEqual([]);
  // The demo shop is also at an address of its own, where its previews are.
  shop.otherSites.push(new URL(shop.origin).origin.replace('127.0.0.1', 'demoshop.localhost'));
  await admin.getByRole('button', { name: 'Preview' }).click();
  const frame = admin.frameLocator('iframe.phone');
  expect(await frame.locator('h1').textContent()).toBe('We have moved');
});

import { expect, test } from 'vitest';
import { EMAIL_KINDS } from '../../src/composition/email-kinds.ts';
import { sampleFacts } from '../../src/platform/email/kind.ts';
import { createEmailShopLoader } from '../../src/shops/email/shop.ts';
import { seriousProblems } from '../accessibility.ts';
import { browsing } from '../browser.ts';
import { ofTheDay } from '../seed.ts';

const shop = browsing({ hasImages: true });

/** Nothing stands out of the letter, and nobody has to scroll to the side. */
const OVERFLOWING = `[...document.querySelectorAll('body *')]
  .filter((one) => (one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1)
    || one.getBoundingClientRect().right > innerWidth)
  .map((one) => one.outerHTML.slice(0, 200))`;

const LOCALES = ['en_GB', 'de_DE', 'fr_FR'];

/** Every kind in every language, so that each third of the list has all kinds and all languages. */
const EMAILS = LOCALES.flatMap((_, shift) =>
  EMAIL_KINDS.map((kind, index) => ({ kind, locale: LOCALES[(index + shift) % LOCALES.length]! })),
);

test('every email fits on wide and narrow screens, can be read by everybody and loads nothing', async () => {
  const { db, config } = shop.service;
  const load = createEmailShopLoader({ db, config, origin: shop.origin, logo: 'in the page' });
  const emails = (await load('DemoShop'))!;
  const page = await shop.open();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  const to = 'ada@mail.example';
  for (const { kind, locale } of ofTheDay(EMAILS, EMAIL_KINDS.length)) {
    const email = { shopId: 'DemoShop', template: kind.name, to, locale, facts: sampleFacts(kind, locale) };
    await page.setContent(emails.render(kind, email).html);
    const which = `${kind.name} ${locale}`;
    for (const width of [600, 320]) {
      await page.setViewportSize({ width, height: 800 });
      expect([which, width, await page.evaluate(OVERFLOWING)]).toEqual([which, width, []]);
    }
    expect([which, await seriousProblems(page)]).toEqual([which, []]);
    const hasLogo = 'document.images.length === 1 && document.images[0].naturalWidth > 0';
    expect([which, await page.evaluate(hasLogo)]).toEqual([which, true]);
  }
  expect(requests.filter((url) => !url.startsWith('data:'))).toEqual([]);
});

import { expect, test } from 'vitest';
import { EMAIL_KINDS } from '../../src/email-kinds.ts';
import { createEmailShopLoader } from '../../src/shops/email/shop.ts';
import { browsing, seriousProblems } from '../browser.ts';

const shop = browsing({ hasImages: true });

/** Nothing stands out of the letter, and nobody has to scroll to the side. */
const OVERFLOWING = `[...document.querySelectorAll('body *')]
  .filter((one) => (one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1)
    || one.getBoundingClientRect().right > innerWidth)
  .map((one) => one.outerHTML.slice(0, 200))`;

test.each(EMAIL_KINDS)(
  'the email $name fits on wide and narrow screens, can be read by everybody and loads nothing',
  async (kind) => {
    const { db, config } = shop.service;
    const load = createEmailShopLoader({ db, config, origin: shop.origin, logo: 'in the page' });
    const emails = (await load('DemoShop'))!;
    const page = await shop.open();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    for (const locale of ['en_GB', 'de_DE', 'fr_FR']) {
      const to = 'ada@mail.example';
      const { html } = emails.render(kind, {
        shopId: 'DemoShop',
        template: kind.name,
        to,
        locale,
        facts: kind.sample!,
      });
      await page.setContent(html);
      for (const width of [600, 320]) {
        await page.setViewportSize({ width, height: 800 });
        expect([locale, width, await page.evaluate(OVERFLOWING)]).toEqual([locale, width, []]);
      }
    }
    expect(await seriousProblems(page)).toEqual([]);
    expect(await page.evaluate('document.images.length === 1 && document.images[0].naturalWidth > 0')).toBe(
      true,
    );
    expect(requests.filter((url) => !url.startsWith('data:'))).toEqual([]);
  },
);

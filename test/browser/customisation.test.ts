import { expect, test } from 'vitest';
import { seriousProblems } from '../accessibility.ts';
import { browsing } from '../browser.ts';

/** A product with a text that the customer types. */
const shop = browsing();

test.each([
  ['wide', true],
  ['phone', true],
  ['phone', false],
] as const)('an engraving is typed and goes into the cart: %s, scripts: %s', async (screen, runsScripts) => {
  const page = await shop.open({ screen, runsScripts });
  await page.goto('/shop/DemoShop/Products/GI-100');
  const field = page.getByLabel('Your engraving');
  expect(await field.getAttribute('maxlength')).toBe('40');
  await field.fill('For Anna, who knows the tides');
  if (runsScripts) expect(await seriousProblems(page)).toEqual([]);
  await page.locator('button.button:visible', { hasText: 'Add to cart' }).first().click();
  if (runsScripts) {
    await page.getByRole('dialog').getByText('Your engraving: For Anna, who knows the tides').waitFor();
    await page.goto('/shop/DemoShop/cart');
  }
  await page.waitForURL('**/cart');
  expect(await page.getByText('Your engraving: For Anna, who knows the tides').count()).toBe(1);
});

import { expect, test } from 'vitest';
import { browsing } from '../browser.ts';
import { reopenDemo } from '../demo.ts';

/** The first thing that somebody sees who has run `npm start`: one click, and the demo shop is theirs. */
const demo = browsing({ onLocalhost: true });

test('the demo owner is one click away, from the start page on', async () => {
  const page = await demo.open();
  await page.goto('/');
  await page.getByRole('link', { name: 'Open the admin' }).click();
  await page.getByRole('button', { name: 'Sign in as the demo owner' }).click();
  await page.waitForURL('**/admin/shops/DemoShop');
  expect(demo.service.app.demoAccess.isOpen()).toBe(true);
});

test('after a request through a proxy the page says why there is no button, and the owner is signed out', async () => {
  const page = await demo.open();
  await page.goto('/admin/sign-in');
  await page.getByRole('button', { name: 'Sign in as the demo owner' }).click();
  await page.waitForURL('**/admin/shops/DemoShop');
  await demo.service.app.inject({ url: '/health', headers: { host: 'localhost', via: '1.1 proxy' } });
  await page.reload();
  await page.getByRole('heading', { name: 'Demo access is closed' }).waitFor();
  expect(await page.getByRole('button', { name: 'Sign in as the demo owner' }).count()).toBe(0);
  await reopenDemo(demo.service);
  await page.reload();
  await page.getByRole('button', { name: 'Sign in as the demo owner' }).waitFor();
});

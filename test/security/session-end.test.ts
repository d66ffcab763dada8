import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemo } from '../demo.ts';
import type { Service } from '../service.ts';
import { givenVisitor, mainOf } from '../visitor.ts';

/**
 * The cookie of a visitor opens the cart and the last order. When it ended, only the browser knew: a copy of it, from
 * a backup or a shared computer, worked for ever. Now it says when it ends, under its signature.
 */
const NOW = new Date('2026-03-01T12:00:00Z');
const DAY = 86_400_000;
let service: Service;

beforeAll(async () => {
  service = await startDemo({}, NOW);
});
afterAll(() => service.close());

const at = (days: number) => service.setClock(new Date(NOW.getTime() + days * DAY));

test('a session ends thirty days after it was written last, whatever the browser sends', async () => {
  at(0);
  const visitor = givenVisitor(service, 'DemoShop');
  await visitor.post('/currency', { currency: 'GBP' });
  const chosen = async () => /<option value="(\w+)"\s+selected/.exec((await visitor.get('')).text)?.[1];

  at(30 - 1 / DAY);
  expect(await chosen()).toBe('GBP');
  at(30);
  expect(await chosen()).toBe('EUR');

  at(20);
  await visitor.post('/consent', { consent: 'all' });
  at(49);
  expect(await chosen()).toBe('GBP');
  at(50);
  expect(await chosen()).toBe('EUR');
});

test('with it ends the access to the cart', async () => {
  at(0);
  const visitor = givenVisitor(service, 'DemoShop');
  const { body } = await service.call('GET', '/DemoShop/products?q=TE-100');
  await visitor.post('/cart/add', { productId: body.items[0].productId, quantity: '1' });
  expect(mainOf(await visitor.get('/cart'))).toContain('Fog Lane Green Tea');
  at(29);
  expect(mainOf(await visitor.get('/cart'))).toContain('Fog Lane Green Tea');
  at(31);
  expect(mainOf(await visitor.get('/cart'))).not.toContain('Fog Lane Green Tea');
});

test('a cookie without an end, or with another end, is worth nothing', async () => {
  at(0);
  const visitor = givenVisitor(service, 'DemoShop');
  await visitor.post('/currency', { currency: 'GBP' });
  const [content, end, signature] = visitor.cookie()!.split('.') as [string, string, string];
  expect(Number(end)).toBe((NOW.getTime() + 30 * DAY) / 1000);
  for (const forged of [
    `${content}.${signature}`,
    `${content}.${Number(end) + 86_400}.${signature}`,
    `${content}..${signature}`,
  ]) {
    visitor.useCookie(forged);
    expect((await visitor.get('')).text).toMatch(/<option value="EUR"\s+selected/);
  }
});

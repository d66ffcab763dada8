import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop } from '../../test/builders.ts';
import { givenProduct, givenSmallShop } from '../../test/carts.ts';
import { startService, type Service } from '../../test/service.ts';
import { givenVisitor, mainOf } from '../../test/visitor.ts';
import { loadMessages } from '../kernel/messages.ts';

let service: Service;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'messages-'));
  service = await startService();
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

test.each([
  ['de_DE', ['1\u00a0Stück', '2\u00a0Stück']],
  ['fr_FR', ['1\u00a0pièce', '2\u00a0pièces']],
])('a shop in %s has units in its language, without names of its own', async (locale, amounts) => {
  const shop = await givenSmallShop(service, { locales: { default: locale, items: [locale] } });
  const productId = await givenProduct(shop);
  for (const amount of amounts) {
    const visitor = givenVisitor(service, shop.shopId);
    await visitor.post('/cart/add', { productId, quantity: amount.charAt(0) });
    expect((await visitor.get('/cart/drawer')).text).toContain(`<small>${amount}</small>`);
  }
});

test('a language is added with one file', async () => {
  const english = await readFile(new URL('../kernel/messages/en.json', import.meta.url), 'utf8');
  const madeUp = JSON.parse(english, (_key, value: unknown) =>
    typeof value === 'string' ? `‹${value}›` : value,
  ) as object;
  await writeFile(join(folder, 'eo.json'), JSON.stringify(madeUp));
  loadMessages(pathToFileURL(`${folder}/`));
  await givenShop(service, 'Butiko', { locale: 'eo_DE' });

  const page = await givenVisitor(service, 'Butiko').get('/cart');
  expect(page.text).toContain('<html lang="eo-DE">');
  expect(mainOf(page)).toBe('‹Your cart› ‹Your cart is empty.› ‹Continue shopping›');

  const search = await givenVisitor(service, 'Butiko').get('/search?q=lanterno');
  expect(search.text).toContain('<h1>‹Nothing was found for “lanterno”›</h1>');
});

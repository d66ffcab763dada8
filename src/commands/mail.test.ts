import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  changeSettings,
  done,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  type Shop,
} from '../../test/carts.ts';
import { databaseUrl, startService, type Service } from '../../test/service.ts';
import { openMediaStorage } from '../platform/media/open-storage.ts';
import { loadSharp } from '../platform/media/store-image.ts';
import { EMAIL_KINDS } from '../composition/email-kinds.ts';
import { handlers } from './mail.ts';

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await startService();
  shop = await givenSmallShop(service);
});
afterAll(() => service.close());

const fileOf = (name: string) => path.join(service.config.KONTOR_DATA, name);

/** Runs `mail preview`, and gives what it printed. */
async function preview(words: string[], options: Record<string, string> = {}): Promise<string[]> {
  const config = { ...service.config, DATABASE_URL: databaseUrl(service.database) };
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await handlers['mail preview']({ config, arguments: words, options });
    return printed.mock.calls.map(([text]) => String(text).trimEnd());
  } finally {
    printed.mockRestore();
  }
}

test('without a kind it lists them', async () => {
  const lines = await preview([shop.shopId]);
  expect(lines[0]).toMatch(/^KIND +WHEN IT IS SENT$/);
  expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual(EMAIL_KINDS.map(({ name }) => name));
});

test('in a shop without orders everything is made up', async () => {
  const file = fileOf('made-up.html');
  expect(await preview([shop.shopId, 'cancelled'], { out: file })).toEqual([
    'Your order ORD261115/1001 was cancelled',
    file,
    fileOf('made-up.txt'),
    fileOf('made-up.eml'),
  ]);
  expect(await readFile(fileOf('made-up.txt'), 'utf8')).toContain(
    'We are sorry: we had to cancel your order.',
  );
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test.each([
  [['birthday'], {}, 'There is no kind of email "birthday". See: npx kontor mail preview'],
  [['order'], { locale: 'it_IT' }, 'The shop has no locale it_IT, it has '],
])('%j with %j is refused, and writes nothing', async (words, options, text) => {
  const before = await readdir(service.config.KONTOR_DATA);
  await expect(preview([shop.shopId, ...words], { out: fileOf('never.html'), ...options })).rejects.toThrow(
    text,
  );
  await expect(preview(['Nobody', ...words], { out: fileOf('never.html') })).rejects.toThrow(
    'There is no shop',
  );
  expect(await readdir(service.config.KONTOR_DATA)).toEqual(before);
});

test('the logo comes with the email; one of another server does not', async () => {
  const bytes = await drawnLogo();
  await openMediaStorage(service.config).write(shop.shopId, 'files', [{ file: 'logo.png', bytes }]);
  await changeSettings(shop, { logoUrl: `/media/${shop.shopId}/files/logo.png`, theme: { accent: '#c40' } });
  await preview([shop.shopId, 'refund'], { out: fileOf('logo.html') });
  const page = await readFile(fileOf('logo.html'), 'utf8');
  // At most 200 x 48, in half of the pixels.
  expect(page).toMatch(/<img\s+src="data:image\/png;base64,[^"]+"\s+width="96"\s+height="48"\s+alt="/);
  expect(page).toContain(`alt="${shop.shopId}"`);
  expect(page).toContain('background: #cc4400; color: #ffffff');
  const message = await readFile(fileOf('logo.eml'), 'utf8');
  expect(message).toContain('multipart/related');
  expect(message).toMatch(/^Content-ID: <logo@localhost>$/im);
  // A soft line break may be anywhere.
  expect(message.replaceAll('=\r\n', '')).toContain('src=3D"cid:logo@localhost"');

  await changeSettings(shop, { logoUrl: 'https://elsewhere.example/logo.png' });
  await preview([shop.shopId, 'refund'], { out: fileOf('logo.html') });
  const named = await readFile(fileOf('logo.html'), 'utf8');
  expect(named).not.toContain('<img');
  expect(named).toMatch(new RegExp(`>\\s*${shop.shopId}\\s*</td>`));
});

/** 400 x 200. */
async function drawnLogo(): Promise<Buffer> {
  const sharp = await loadSharp();
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"><rect width="400" height="99"/></svg>';
  return sharp(Buffer.from(svg)).png().toBuffer();
}

test('it is about the last order, with the attachments that customers get', async () => {
  const tea = await givenProduct(shop, { number: 'TEA', price: 1000, stock: 5 });
  const terms = {
    name: 'Our terms',
    description: '<p>Goods are ours until they are paid.</p><p>Really.</p>',
  };
  const put = { token: shop.token, body: terms };
  await service.call('PUT', `/${shop.shopId}/legal/terms-and-conditions?locale=en_GB`, put);
  const order = await done(await givenFullCart(shop, { [tea]: 2 }), 'POST', '/order');

  const [subject] = await preview([shop.shopId, 'order'], { out: fileOf('order.html') });
  expect(subject).toBe(`Your order ${order.orderNumber}`);
  const text = await readFile(fileOf('order.txt'), 'utf8');
  expect(text).toContain('\n2\u00a0× TEA: €20.00\n');
  expect(text).toContain('\nATTACHED TO THIS EMAIL\nOur terms\n');
  const message = await readFile(fileOf('order.eml'), 'utf8');
  expect(message).toContain('filename=terms-and-conditions.txt');
  expect(message).toContain('Content-Type: text/plain; charset=utf-8; name=terms-and-conditions.txt');
  const file = Buffer.from('Our terms\n\nGoods are ours until they are paid.\n\nReally.\n');
  expect(message).toContain(file.toString('base64'));

  await preview([shop.shopId, 'refund'], { out: fileOf('refund.html') });
  expect(await readFile(fileOf('refund.txt'), 'utf8')).toContain(`for your order ${order.orderNumber}.`);
});

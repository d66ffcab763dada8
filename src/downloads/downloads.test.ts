import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changesNothing, DAY, givenProduct, givenSmallShop, NOW, queuedEmails } from '../../test/carts.ts';
import {
  lineIds,
  placed,
  service,
  SETTINGS,
  startManaging,
  stockOf,
  well,
  type Placed,
} from '../../test/managed-orders.ts';
import { formOf } from '../../test/upload.ts';
import { givenVisitor, mainOf } from '../../test/visitor.ts';
import { sql } from '../db/sql.ts';
import { orderTokens } from '../orders/order-link.ts';
import { installationKey } from '../platform/sealing.ts';
import { downloadsEmail } from './downloads-email.ts';
import { fewKeysEmail } from './few-keys.ts';
import { downloadLinks } from './links.ts';
import { newVersionEmail } from './new-version-email.ts';
import { resealLicenceKeys } from './reseal.ts';
import { PART_BYTES } from './part-file.ts';
import { runDueSupplies } from './runner.ts';

beforeAll(startManaging);
afterAll(() => service.close());

const supply = () => runDueSupplies({ db: service.db, log: pino({ level: 'silent' }) });

/** A shop with an e-book that costs 10.00 and needs no carrier. `isConsented`: customers need not agree. */
async function givenShop({ isConsented = true } = {}) {
  const shop = await givenSmallShop(service, {
    ...SETTINGS,
    taxClasses: [
      { key: 'standard', name: 'standard', default: true, rates: { DE: 19 } },
      { key: 'ebook', name: 'E-book', digital: true, rates: { DE: 7 } },
    ],
  });
  // Whoever sells what may be withdrawn anyway asks for no consent.
  const facts = isConsented ? { withdrawalExcluded: 'sealedMedia' as const } : {};
  const book = await givenProduct(shop, { number: 'EBOOK', price: 1000, taxClass: 'ebook', facts });
  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, `/manage/shops/${shop.shopId}${path}`, { token: shop.token, body });
  const upload = (name: string, content: string | Buffer, path = '') => {
    const { body, headers } = formOf({ name: 'file', filename: name, content });
    return service.call('POST', `/manage/shops/${shop.shopId}/products/${book}/downloads/files${path}`, {
      token: shop.token,
      body,
      headers,
    });
  };
  const addKeys = (...keys: string[]) => call('POST', `/products/${book}/keys`, { keys });
  const visitor = givenVisitor(service, shop.shopId);
  const order = async (quantity = 1) => placed(shop, { [book]: quantity });
  return { shop, book, call, upload, addKeys, visitor, order };
}

const paid = async (order: Placed) =>
  well(order, 'POST', '/payments', {
    amount: order.body.grandTotal?.amount ?? order.body.lineItemContainer.grandTotal.amount,
  });

const pathOf = async ({ shop, id }: Placed) =>
  `/order/${orderTokens(await installationKey(service.config)).token(shop.shopId, id)}`;

const deliveriesOf = async (order: Placed) => (await well(order, 'GET', '/deliveries')).items;

const emailsTo = async (shopId: string, { name }: { name: string }) =>
  (await queuedEmails(service, shopId)).filter(({ template }) => template === name);

const eventsOf = async (shopId: string) =>
  service.db.many<{ type: string; data: object }>(sql`
    select type, data from event
    where shop_id = ${shopId} and (type like 'KEYS%' or type like 'DOWNLOADS%') order by position`);

const codesIn = (text: string) => [...text.matchAll(/<code>([^<]*)<\/code>/g)].map(([, code]) => code);
const fieldsIn = (text: string) => ({
  line: /name="line" value="([^"]*)"/.exec(text)![1]!,
  file: /name="file" value="([^"]*)"/.exec(text)![1]!,
});

describe('files', () => {
  test('are delivered when paid, downloaded by a form as often as is allowed, in ranges, and stop with a return', async () => {
    const { shop, book, call, upload, visitor, order } = await givenShop();
    const content = Buffer.alloc(PART_BYTES + 1_000, 'book');
    const added = await upload('Stars & (Sky).txt', content);
    expect(added.status).toBe(201);
    const { fileId } = added.body.files[0];
    expect(added.body).toEqual({
      productId: book,
      hasKeys: false,
      maxDownloads: 10,
      days: null,
      fewKeys: 10,
      files: [
        {
          fileId,
          name: 'Stars & (Sky).txt',
          version: 1,
          note: null,
          bytes: content.length,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          changedOn: expect.any(String),
        },
      ],
      keys: { free: 0, given: 0, revoked: 0 },
    });
    await call('PUT', `/products/${book}/downloads`, {
      hasKeys: false,
      maxDownloads: 2,
      days: 30,
      fewKeys: 10,
    });
    // No address of pictures leads to it.
    const stored = await service.db.one<{ key: string }>(sql`
      select upper(storage_key::text) as key from download_file where shop_id = ${shop.shopId}`);
    const media = await service.app.inject(`/media/${shop.shopId}/${stored!.key}/00000.part`);
    expect(media.statusCode).toBe(404);

    const bought = await order();
    const path = await pathOf(bought);
    await supply();
    expect(await deliveriesOf(bought)).toEqual([]);
    expect(mainOf(await visitor.get(`${path}/downloads`))).toContain('This order has no downloads yet.');
    await paid(bought);
    await supply();
    await supply();
    const [lineItemId] = lineIds(bought.body);
    const [delivery] = await deliveriesOf(bought);
    expect(delivery).toEqual({
      lineItemId,
      productId: book,
      state: 'open',
      deliveredOn: expect.any(String),
      beginsOn: null,
      expiresOn: expect.any(String),
      maxDownloads: 2,
      isRevoked: false,
      missingKeys: 0,
      files: [{ fileId, name: 'Stars & (Sky).txt', downloads: 0, lastDownloadOn: null }],
      keys: [],
    });
    expect(await emailsTo(shop.shopId, downloadsEmail)).toHaveLength(1);
    const { management } = await well(bought, 'GET');
    expect([management.state, management.shipments.length]).toEqual(['shipped', 1]);
    expect((await eventsOf(shop.shopId)).map(({ type }) => type)).toEqual(['DOWNLOADS_DELIVERED']);

    const page = await visitor.get(`${path}/downloads`);
    expect(mainOf(page)).toContain('0 of 2 downloads used');
    expect(mainOf(await visitor.get(path))).toContain('To your downloads and keys');
    const fields = fieldsIn(page.text);
    expect(fields).toEqual({ line: lineItemId, file: fileId });
    const sent = await visitor.post(`${path}/downloads`, fields);
    expect(sent.status).toBe(303);
    const link = String(sent.headers.location);
    const whole = await visitor.get(link);
    expect({ status: whole.status, headers: whole.headers }).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': String(content.length),
        'content-disposition': `attachment; filename="Stars _ (Sky).txt"; filename*=UTF-8''Stars%20%26%20%28Sky%29.txt`,
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-store',
        'accept-ranges': 'bytes',
      },
    });
    expect(whole.text === content.toString()).toBe(true);
    // Across the end of a part.
    const from = PART_BYTES - 2;
    const part = await visitor.get(link, { range: `bytes=${from}-${from + 5}` });
    expect([part.status, part.text, part.headers['content-range']]).toEqual([
      206,
      content.subarray(from, from + 6).toString(),
      `bytes ${from}-${from + 5}/${content.length}`,
    ]);
    expect((await visitor.get(link, { range: `bytes=${content.length}-` })).status).toBe(416);
    expect((await deliveriesOf(bought))[0].files[0].downloads).toBe(1);
    // Two at once, of which one is left.
    const both = await Promise.all([
      visitor.post(`${path}/downloads`, fields),
      visitor.post(`${path}/downloads`, fields),
    ]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([303, 409]));
    expect(mainOf(await visitor.get(`${path}/downloads`))).toContain(
      'All downloads of this file are used up.',
    );

    await well(bought, 'PUT', `/deliveries/${lineItemId}`, {
      isRevoked: false,
      maxDownloads: 3,
      expiresOn: null,
    });
    const again = await visitor.post(`${path}/downloads`, fields);
    const lastLink = String(again.headers.location);
    expect((await visitor.get(lastLink)).status).toBe(200);
    await well(bought, 'POST', '/returns', {
      lines: [{ lineItemId, quantity: 1 }],
      refund: 10,
      restock: false,
    });
    // At once, before anything else has run.
    expect((await visitor.get(lastLink)).status).toBe(404);
    expect((await visitor.post(`${path}/downloads`, fields)).status).toBe(409);
    expect(mainOf(await visitor.get(`${path}/downloads`))).toContain('can no longer be used');
    await supply();
    expect((await deliveriesOf(bought))[0].state).toBe('ended');
  });

  test('open by no other link, and not for ever', async () => {
    const { shop, upload, visitor, order } = await givenShop();
    await upload('a.txt', 'A');
    const [one, other] = [await order(), await order()];
    await paid(one);
    await paid(other);
    await supply();
    const path = await pathOf(one);
    const fields = fieldsIn((await visitor.get(`${path}/downloads`)).text);
    const place = String((await visitor.post(`${path}/downloads`, fields)).headers.location);
    const token = place.split('/').at(-1)!;
    const statusOf = async (at: string) => (await visitor.get(at)).status;
    expect(await statusOf(place)).toBe(200);
    expect(await statusOf(`${await pathOf(other)}/downloads/${token}`)).toBe(404);
    for (let index = 0; index < token.length; index += 7) {
      const letter = token[index] === 'A' ? 'B' : 'A';
      const changed = token.slice(0, index) + letter + token.slice(index + 1);
      expect(await statusOf(`${path}/downloads/${changed}`)).toBe(404);
    }
    // A line of another order.
    const foreign = { ...fields, line: lineIds(other.body)[0]! };
    expect(
      await changesNothing(service, async () => (await visitor.post(`${path}/downloads`, foreign)).status),
    ).toBe(404);
    const links = downloadLinks(await installationKey(service.config));
    const late = new Date(service.db.now.getTime() + 2 * 3_600_000);
    expect(links.grant(shop.shopId, one.id, token, late)).toBeUndefined();
    expect(links.grant(`${shop.shopId}X`, one.id, token, service.db.now)).toBeUndefined();
  });

  test('are refused when they are not what their name says, and hold no space then', async () => {
    const { shop, book, call, upload } = await givenShop();
    const statusOf = (name: string, content: string) =>
      changesNothing(service, async () => (await upload(name, content)).status);
    expect(await statusOf('book.pdf', 'no pdf')).toBe(400);
    expect(await statusOf('book.txt', '')).toBe(400);
    expect(await statusOf('.hidden', 'x')).toBe(400);
    expect((await call('GET', `/products/${book}/downloads`)).status).toBe(404);
    const pdf = await upload('book.pdf', '%PDF-1.7');
    const { fileId } = pdf.body.files[0];
    const bytes = () =>
      service.db.one<{ value: number }>(sql`
        select value from counter where shop_id = ${shop.shopId} and name = 'mediaBytes'`);
    expect(await bytes()).toEqual({ value: 8 });
    expect((await call('DELETE', `/products/${book}/downloads/files/${fileId}`)).status).toBe(204);
    expect(await bytes()).toEqual({ value: 0 });
  });

  test('reach earlier buyers in a new version, who are told once where the shop wants it', async () => {
    const { shop, book, call, upload, visitor, order } = await givenShop();
    const { fileId } = (await upload('a.txt', 'first')).body.files[0];
    const [first, second] = [await order(), await order()];
    await paid(first);
    await paid(second);
    await supply();
    const path = await pathOf(first);
    const old = String(
      (await visitor.post(`${path}/downloads`, fieldsIn((await visitor.get(`${path}/downloads`)).text)))
        .headers.location,
    );
    const replaced = await upload('b.txt', 'second', `/${fileId}/versions`);
    expect(replaced.body.files).toMatchObject([{ fileId, name: 'b.txt', version: 2, bytes: 6 }]);
    expect((await visitor.get(old)).status).toBe(404);
    await supply();
    expect(await emailsTo(shop.shopId, newVersionEmail)).toEqual([]);
    const said = await call('PUT', `/products/${book}/downloads/files/${fileId}`, {
      note: 'Better.',
      notify: true,
    });
    expect(said.body.files[0].note).toBe('Better.');
    await supply();
    await supply();
    // Both orders are of the same customer.
    const told = await emailsTo(shop.shopId, newVersionEmail);
    expect(told.map(({ facts }) => facts['orderId'])).toEqual([second.id]);
    const loaded = await newVersionEmail.load!(service.db, {
      shopId: shop.shopId,
      locale: 'en_GB',
      facts: told[0]!.facts,
    });
    expect(loaded).toMatchObject({ product: 'EBOOK', file: 'b.txt', note: 'Better.' });
    const page = await visitor.get(`${path}/downloads`);
    expect(mainOf(page)).toContain('b.txt');
    const link = String((await visitor.post(`${path}/downloads`, fieldsIn(page.text))).headers.location);
    expect((await visitor.get(link)).text).toBe('second');
  });
});

describe('licence keys', () => {
  test('are given once each, first come, first served; the shop is warned, and they are nowhere in clear', async () => {
    const { shop, book, call, addKeys, visitor, order } = await givenShop();
    const added = await addKeys('KEY-AAAA-0001', ' KEY-AAAA-0002 ', 'KEY-AAAA-0002', 'short');
    expect([added.status, added.body]).toEqual([201, { added: 3, known: 1, free: 3 }]);
    expect((await addKeys('KEY-AAAA-0001')).body).toEqual({ added: 0, known: 1, free: 3 });
    const { items } = (await call('GET', `/products/${book}/keys?state=free`)).body;
    expect(items.map(({ lastCharacters }: { lastCharacters: string }) => lastCharacters)).toEqual([
      '0001',
      '0002',
      '',
    ]);
    const dump = await service.db.many(sql`select * from licence_key where shop_id = ${shop.shopId}`);
    expect(JSON.stringify(dump)).not.toContain(Buffer.from('KEY-AAAA').toString('hex'));
    await call('PUT', `/products/${book}/downloads`, {
      hasKeys: true,
      maxDownloads: null,
      days: null,
      fewKeys: 2,
    });

    const [first, second, third] = [await order(2), await order(2), await order(1)];
    for (const one of [first, second, third]) await paid(one);
    await supply();
    const codes = async (one: Placed) => codesIn((await visitor.get(`${await pathOf(one)}/downloads`)).text);
    expect(await codes(first)).toEqual(['KEY-AAAA-0001', 'KEY-AAAA-0002']);
    expect(await codes(second)).toEqual(['short']);
    expect(await codes(third)).toEqual([]);
    expect((await deliveriesOf(second))[0]).toMatchObject({ state: 'waitsForKeys', missingKeys: 1 });
    expect((await well(second, 'GET')).management.shipments[0].lines[0].quantity).toBe(1);
    expect(await emailsTo(shop.shopId, fewKeysEmail)).toHaveLength(1);
    const toThird = (await emailsTo(shop.shopId, downloadsEmail)).find(
      ({ facts }) => facts['orderId'] === third.id,
    );
    expect(JSON.stringify(await queuedEmails(service, shop.shopId))).not.toContain('KEY-AAAA');
    const load = (facts: object) =>
      downloadsEmail.load!(service.db, { shopId: shop.shopId, locale: 'en_GB', facts });
    expect(await load(toThird!.facts)).toMatchObject({
      ready: [],
      waiting: [expect.stringContaining('EBOOK')],
    });
    const facts = (await load({ orderId: first.id, orderNumber: '' }))!;
    expect(
      await downloadsEmail.secrets!(
        service.db,
        { shopId: shop.shopId, locale: 'en_GB', facts },
        service.config,
      ),
    ).toEqual({
      keys: [{ product: expect.stringMatching(/^2.*EBOOK$/), keys: ['KEY-AAAA-0001', 'KEY-AAAA-0002'] }],
    });

    // The second one has waited longer.
    await addKeys('KEY-BBBB-0003');
    await supply();
    expect([await codes(second), await codes(third)]).toEqual([['short', 'KEY-BBBB-0003'], []]);
    await addKeys('KEY-BBBB-0004', 'KEY-BBBB-0005', 'KEY-BBBB-0006', 'KEY-BBBB-0007');
    await supply();
    expect(await codes(third)).toEqual(['KEY-BBBB-0004']);
    expect((await well(third, 'GET')).management.state).toBe('shipped');
    expect(await emailsTo(shop.shopId, fewKeysEmail)).toHaveLength(1);

    // A part comes back: its last key ends, and is not given again.
    const [lineItemId] = lineIds(first.body);
    await well(first, 'POST', '/returns', {
      lines: [{ lineItemId, quantity: 1 }],
      refund: 10,
      restock: false,
    });
    expect(await codes(first)).toEqual(['KEY-AAAA-0001']);
    await supply();
    expect((await call('GET', `/products/${book}/keys?state=revoked`)).body.items).toMatchObject([
      { lastCharacters: '0002', state: 'revoked', orderId: first.id },
    ]);
    const fourth = await order();
    await paid(fourth);
    await supply();
    expect(await codes(fourth)).toEqual(['KEY-BBBB-0005']);
    expect((await eventsOf(shop.shopId)).filter(({ type }) => type === 'KEYS_REVOKED')).toHaveLength(1);

    const given = (await call('GET', `/products/${book}/keys?state=given`)).body.items[0];
    expect((await call('DELETE', `/products/${book}/keys/${given.keyId}`)).status).toBe(409);
    const free = (await call('GET', `/products/${book}/keys?state=free`)).body.items[0];
    expect((await call('DELETE', `/products/${book}/keys/${free.keyId}`)).status).toBe(204);

    // Another installation, which knows the former key, reads them.
    const own = Buffer.alloc(32, 7);
    const former = await installationKey(service.config);
    const unread = await service.db.transaction((tx) => resealLicenceKeys(tx, shop.shopId, { own, former }));
    expect(unread).toBe(0);
    expect(await codes(fourth)).toEqual([]);
    await service.db.transaction((tx) => resealLicenceKeys(tx, shop.shopId, { own: former, former: own }));
    expect(await codes(fourth)).toEqual(['KEY-BBBB-0005']);
  });

  test('raise the stock that is counted, and are revoked and given back by the shop', async () => {
    const { shop, book, addKeys, visitor, order } = await givenShop();
    await service.db.run(
      sql`update product set stock = 0 where shop_id = ${shop.shopId} and product_id = ${book}`,
    );
    await addKeys('KEY-AAAA-0001', 'KEY-AAAA-0002');
    expect(await stockOf(shop, book)).toBe(2);
    const bought = await order();
    // On account.
    await well(bought, 'POST', '/deliveries', { isReleased: true });
    const codes = async () => codesIn((await visitor.get(`${await pathOf(bought)}/downloads`)).text);
    expect(await codes()).toEqual(['KEY-AAAA-0001']);
    const [lineItemId] = lineIds(bought.body);
    const set = (isRevoked: boolean) =>
      well(bought, 'PUT', `/deliveries/${lineItemId}`, { isRevoked, maxDownloads: null, expiresOn: null });
    expect((await set(true)).items[0]).toMatchObject({
      state: 'ended',
      isRevoked: true,
      keys: [{ isRevoked: true }],
    });
    expect(await codes()).toEqual([]);
    expect((await set(false)).items[0]).toMatchObject({ state: 'open', keys: [{ isRevoked: false }] });
    await supply();
    expect(await codes()).toEqual(['KEY-AAAA-0001']);
  });
});

describe('without the consent of the customer', () => {
  test('nothing begins before the withdrawal period ends; the consent is stored, confirmed and begins it', async () => {
    const { shop, book, addKeys, call, visitor, order } = await givenShop({ isConsented: false });
    await addKeys('KEY-AAAA-0001', 'KEY-AAAA-0002');
    const product = await service.call('GET', `/${shop.shopId}/products/${book}`, { token: shop.token });
    expect(product.body.withdrawalExcluded).toBe('digitalContent');
    const [agreeing, waiting] = [await order(), await order()];
    await paid(agreeing);
    await paid(waiting);
    await supply();
    expect((await deliveriesOf(agreeing))[0]).toMatchObject({
      state: 'waitsForConsent',
      deliveredOn: null,
      keys: [],
    });
    expect((await call('GET', `/products/${book}/downloads`)).body.keys.free).toBe(2);
    const path = await pathOf(agreeing);
    const page = await visitor.get(`${path}/downloads`);
    expect(mainOf(page)).toContain(
      'I expressly agree that you begin to supply EBOOK before the withdrawal period ends.',
    );
    const without = await visitor.post(`${path}/downloads/consent`, {});
    expect([without.status, (await deliveriesOf(agreeing))[0].state]).toEqual([409, 'waitsForConsent']);
    expect((await visitor.post(`${path}/downloads/consent`, { consent: 'yes' })).status).toBe(303);
    expect(codesIn((await visitor.get(`${path}/downloads`)).text)).toEqual(['KEY-AAAA-0001']);
    const { content } = (await service.db.one<{ content: { lines: { withdrawalConsent: object }[] } }>(sql`
      select content from customer_order where shop_id = ${shop.shopId} and order_id = ${agreeing.id}`))!;
    expect(content.lines[0]!.withdrawalConsent).toEqual({
      at: expect.any(String),
      text: expect.stringContaining('I expressly agree that you begin to supply EBOOK'),
    });
    const loaded = await downloadsEmail.load!(service.db, {
      shopId: shop.shopId,
      locale: 'en_GB',
      facts: { orderId: agreeing.id, orderNumber: '' },
    });
    expect(loaded!.consents).toEqual([expect.stringContaining('I expressly agree')]);
    // The right of withdrawal has ended with the supply.
    expect(mainOf(await visitor.get(path))).not.toContain('Withdraw from contract here');
    expect(mainOf(await visitor.get(await pathOf(waiting)))).toContain('Withdraw from contract here');

    service.setClock(new Date(NOW.getTime() + 18 * DAY));
    await supply();
    expect(codesIn((await visitor.get(`${await pathOf(waiting)}/downloads`)).text)).toEqual([
      'KEY-AAAA-0002',
    ]);
    service.setClock(NOW);
  });
});

test('an order that is cancelled before it was delivered, or wholly refunded, gets and keeps nothing', async () => {
  const { addKeys, visitor, order, call, book } = await givenShop();
  const [cancelled, refunded] = [await order(), await order()];
  await addKeys('KEY-AAAA-0001', 'KEY-AAAA-0002');
  await paid(cancelled);
  await paid(refunded);
  await well(cancelled, 'POST', '/cancel', {});
  await supply();
  expect(await deliveriesOf(cancelled)).toEqual([]);
  const path = await pathOf(refunded);
  expect(codesIn((await visitor.get(`${path}/downloads`)).text)).toEqual(['KEY-AAAA-0001']);
  const total = refunded.body.lineItemContainer.grandTotal.amount;
  await well(refunded, 'POST', '/refunds', { amount: total });
  expect(codesIn((await visitor.get(`${path}/downloads`)).text)).toEqual([]);
  await supply();
  expect((await call('GET', `/products/${book}/downloads`)).body.keys).toEqual({
    free: 1,
    given: 0,
    revoked: 1,
  });
});

test('a master has no files and keys of its own', async () => {
  const { shop, book, addKeys } = await givenShop();
  await service.db.run(sql`
    update product set kind = 'master' where shop_id = ${shop.shopId} and product_id = ${book}`);
  expect(await changesNothing(service, async () => (await addKeys('KEY')).body.message)).toContain(
    'has variations',
  );
});

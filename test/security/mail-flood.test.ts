import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { sql } from '../../src/db/sql.ts';
import { emailCountCleanup } from '../../src/platform/email/daily-limit.ts';
import { startEmails } from '../../src/composition/emails.ts';
import { refundEmail } from '../../src/orders/refund-email.ts';
import { newsletterConfirmation } from '../../src/people/newsletters/confirmation-email.ts';
import { JOB_STATE } from '../../src/platform/jobs/queries.ts';
import { queueEmails } from '../../src/platform/email/queue.ts';
import {
  changeSettings,
  DAY,
  done,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  NOW,
  type Shop,
} from '../carts.ts';
import { waitFor } from '../process.ts';
import { startService, type Answer, type Service } from '../service.ts';
import { startSmtp } from '../smtp.ts';

/**
 * Anybody can order with a stranger's address. The stranger must not get a mailbox full of confirmations: a shop sends
 * an address so many emails a day, and no more. The orders stand, and the merchant sees what was not sent.
 */

let service: Service;
let folder: string;
let log: Record<string, unknown>[];
let worker: { stop: () => Promise<void> } | undefined;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT: '0' });
  service.setClock(NOW);
});
afterAll(() => service.close());
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-flood-'));
  log = [];
  await service.db.run(sql`delete from job`);
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await rm(folder, { recursive: true });
});

function start(environment: Record<string, string> = {}): void {
  const config = readConfig({ KONTOR_DATA: folder, ...environment });
  const lines = { write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>) };
  worker = startEmails({
    db: service.db,
    config,
    log: pino({ base: null }, lines),
    origin: 'https://shop.example',
    pause: 10,
  });
}

const jobs = async () =>
  (await service.db.one<{ count: number }>(sql`select count(*) as count from job`))!.count;

const delivered = async () => (await readdir(path.join(folder, 'mails')).catch(() => [])).length;

/** Sends what is queued; how many emails went out. */
async function deliver(): Promise<number> {
  const before = await delivered();
  start();
  await waitFor(async () => (await jobs()) === 0);
  await worker!.stop();
  worker = undefined;
  return (await delivered()) - before;
}

async function order(shop: Shop, productId: string, emailAddress: string): Promise<Answer['body']> {
  return done(await givenFullCart(shop, { [productId]: 1 }, { address: { emailAddress } }), 'POST', '/order');
}

const newsletterTo = (shop: Shop, ...addresses: string[]) =>
  service.db.transaction((tx) =>
    queueEmails(
      tx,
      shop.shopId,
      newsletterConfirmation,
      addresses.map((to) => ({
        to,
        locale: 'en_GB',
        facts: { requestId: 'none', newsletters: ['News'] },
      })),
    ),
  );

const historyOf = async ({ shopId, token }: Shop, orderId: string) =>
  (await service.call('GET', `/manage/shops/${shopId}/orders/${orderId}/history`, { token })).body.items;

test('of 25 orders with the address of a stranger, 20 are confirmed; the others are placed, and say so', async () => {
  const shop = await givenSmallShop(service, { emailNewOrders: false });
  const tea = await givenProduct(shop, { stock: 100 });
  const orders = [];
  // Capitals do not make another mailbox.
  for (let index = 0; index < 25; index++) {
    orders.push(await order(shop, tea, index % 2 ? 'Victim@mail.example' : 'victim@mail.example'));
  }
  await order(shop, tea, 'somebody.else@mail.example');
  expect(await deliver()).toBe(21);
  const histories = await Promise.all(orders.map(({ orderId }) => historyOf(shop, orderId)));
  const unsent = histories.flat().filter(({ kind }) => kind === 'email not sent');
  expect(unsent).toHaveLength(5);
  expect(unsent[0]).toMatchObject({
    appId: null,
    details: { email: 'order', cause: 'daily limit of the address' },
  });
  expect(
    log.filter(({ msg }) => msg === 'email not sent: its address has reached the limit of the day'),
  ).toHaveLength(5);
  expect(JSON.stringify(log)).not.toContain('@');
});

test('the limit is that of the shop, for a day, and holds for what forms send too', async () => {
  const shop = await givenSmallShop(service, { dailyEmailsPerRecipient: 2, emailNewOrders: false });
  const other = await givenSmallShop(service);
  const victims = Array.from({ length: 4 }, () => 'victim@mail.example');
  await newsletterTo(shop, ...victims);
  expect(await deliver()).toBe(2);
  await order(shop, await givenProduct(shop), 'victim@mail.example');
  expect(await deliver()).toBe(0);
  await newsletterTo(other, ...victims);
  expect(await deliver()).toBe(4);
  service.setClock(new Date(NOW.getTime() + DAY));
  await newsletterTo(shop, ...victims);
  expect(await deliver()).toBe(2);
  await changeSettings(shop, { dailyEmailsPerRecipient: 5 });
  await newsletterTo(shop, ...victims);
  expect(await deliver()).toBe(3);
  service.setClock(NOW);
});

test('what the merchant causes is sent all the same', async () => {
  const shop = await givenSmallShop(service, { dailyEmailsPerRecipient: 1 });
  await newsletterTo(shop, 'ada@mail.example', 'ada@mail.example');
  await service.db.transaction((tx) =>
    queueEmails(
      tx,
      shop.shopId,
      refundEmail,
      [1, 2].map(() => ({
        to: 'ada@mail.example',
        locale: 'en_GB',
        facts: { orderId: '0197', orderNumber: 'A-1', amount: '1.00 €' },
      })),
    ),
  );
  expect(await deliver()).toBe(3);
});

test('an email that is tried again counts once, and its retry is not refused', async () => {
  const shop = await givenSmallShop(service, { dailyEmailsPerRecipient: 2 });
  const smtp = await startSmtp();
  smtp.refusals.push('451 later', '451 later');
  await newsletterTo(shop, 'ada@mail.example', 'ada@mail.example');
  start({ SMTP_URL: `smtp://${smtp.host}` });
  const failed = async () =>
    (await service.db.one<{ count: number }>(sql`
      select count(*) as count from job where ${JOB_STATE} = 'retry'`))!.count;
  await waitFor(async () => (await failed()) === 2);
  await worker!.stop();
  await smtp.close();
  await service.db.run(sql`update job set run_at = created_at`);
  await newsletterTo(shop, 'ada@mail.example');
  expect(await deliver()).toBe(2);
});

test('no address is kept, and nothing at all after two days', async () => {
  const shop = await givenSmallShop(service);
  await newsletterTo(shop, 'ada@mail.example');
  await deliver();
  const rows = () =>
    service.db.many<{ row: string }>(sql`
      select mail_day::text as row from mail_day where shop_id = ${shop.shopId}`);
  expect(await rows()).toHaveLength(1);
  expect((await rows())[0]!.row).not.toContain(Buffer.from('ada').toString('hex'));
  service.setClock(new Date(NOW.getTime() + 2 * DAY));
  await emailCountCleanup.run(service.db, 100);
  expect(await rows()).toHaveLength(1);
  service.setClock(new Date(NOW.getTime() + 3 * DAY));
  await emailCountCleanup.run(service.db, 100);
  expect(await rows()).toEqual([]);
  service.setClock(NOW);
});

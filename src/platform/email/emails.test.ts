import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import {
  changeSettings,
  done,
  givenFullCart,
  givenProduct,
  givenSmallShop,
  type Shop,
} from '../../../test/carts.ts';
import { waitFor } from '../../../test/process.ts';
import { startService, type Service } from '../../../test/service.ts';
import { startSmtp, type SmtpServer } from '../../../test/smtp.ts';
import { readConfig } from '../../config.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { startEmails } from '../../composition/emails.ts';
import { availabilityEmail } from '../../catalogue/products/availability-email.ts';
import { queueAvailabilityNotifications } from '../../catalogue/products/availability-notifications.ts';
import { documentEmail } from '../../orders/documents/document-email.ts';
import { deleteShop } from '../../shops/shop/queries.ts';
import { JOB_STATE } from '../jobs/queries.ts';
import { queueJobs } from '../jobs/queue.ts';
import { deliveryPlace, fileDelivery, smtpDelivery } from './delivery.ts';
import { queueEmails } from './queue.ts';

let service: Service;
let folder: string;
let log: Record<string, unknown>[];
const workers: { stop: () => Promise<void> }[] = [];

beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Harbour', { name: 'Harbour & Hearth', email: 'hello@harbour.example' });
});
afterAll(() => service.close());
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-mails-'));
  log = [];
  await service.db.run(sql`delete from job`);
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
  await rm(folder, { recursive: true });
});

/** Reads the queue often, so that a test need not wait. */
function start(environment: Record<string, string> = {}): void {
  const config = readConfig({ KONTOR_DATA: folder, ...environment });
  const lines = { write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>) };
  const origin = 'https://shop.example';
  workers.push(startEmails({ db: service.db, config, log: pino({ base: null }, lines), origin, pause: 10 }));
}

const queue = (...to: string[]) =>
  service.db.transaction((tx) =>
    queueEmails(
      tx,
      'Harbour',
      availabilityEmail,
      to.map((address) => ({
        to: address,
        locale: 'en_GB',
        facts: { productName: 'Ginger tea', productNumber: 'TE-120' },
      })),
    ),
  );

const message = {
  id: 'one',
  from: { name: 'Harbour', address: 'hello@harbour.example' },
  replyTo: undefined,
  to: 'ada@mail.example',
  subject: 'First',
  language: 'en',
  text: 'Text',
  html: '<p>Text</p>',
  attachments: [],
  logo: undefined,
  host: 'shop.example',
};

interface JobRow {
  id: string;
  state: string;
  attempts: number;
  /** In how many seconds it is tried again. */
  wait: number;
}

const jobs = () =>
  service.db.many<JobRow>(sql`
    select job_id as id, ${JOB_STATE} as state, attempts,
      extract(epoch from run_at - clock_timestamp())::float8 as wait
    from job order by job_id`);

const isIdle = async () => (await jobs()).length === 0;

const files = async () =>
  Promise.all(
    (await readdir(path.join(folder, 'mails')).catch(() => []))
      // A draft is renamed when it is complete.
      .filter((name) => name.endsWith('.eml'))
      .map(async (name) => ({ name, text: await readFile(path.join(folder, 'mails', name), 'utf8') })),
  );

const headersOf = (text: string) =>
  Object.fromEntries(
    text
      .slice(0, text.indexOf('\r\n\r\n'))
      .replaceAll(/\r\n\s/g, ' ')
      .split('\r\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );

/** Every byte there is, many times. */
const PDF = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7) % 256));

/** The parts of an email that are attached to it. */
const attachedTo = (text: string) => {
  const [, boundary] = /boundary="([^"]+)"/.exec(text)!;
  return text
    .split(`--${boundary}`)
    .filter((part) => part.includes('Content-Disposition: attachment'))
    .map((part) => ({
      type: /Content-Type: ([^;\r]+)/.exec(part)![1],
      name: /filename="?([^"\r]+)"?/.exec(part)![1],
      bytes: Buffer.from(part.slice(part.indexOf('\r\n\r\n')), 'base64'),
    }));
};

/** An order of Ada's, and an invoice whose file is there. */
async function givenInvoice(): Promise<{ shop: Shop; documentId: string }> {
  const { db } = service;
  const shop = await givenSmallShop(service);
  const cart = await givenFullCart(shop, { [await givenProduct(shop)]: 1 });
  const { orderId } = await done(cart, 'POST', '/order');
  await db.run(sql`delete from job`);
  const documentId = newId(db.now);
  await db.run(sql`
    insert into order_document (shop_id, document_id, order_id, kind, number, issued_at, created_at, address, terms,
      content, pdf)
    select shop_id, ${documentId}, order_id, 'Invoice', 1001, created_at, created_at, billing_address,
      ${{ locale: 'en_GB' }}, '{}', ${PDF}
    from customer_order where shop_id = ${shop.shopId} and order_id = ${orderId}`);
  return { shop, documentId };
}

const queueInvoice = (shopId: string, documentId: string) =>
  service.db.transaction((tx) =>
    queueEmails(tx, shopId, documentEmail, [
      {
        to: 'ada@mail.example',
        locale: 'en_GB',
        facts: {
          orderId: '0196',
          orderNumber: 'ORD261115/1001',
          documentId,
          documentType: 'Invoice',
          documentNumber: '1001',
          grandTotal: '€10.00',
        },
      },
    ]),
  );

describe('without SMTP_URL', () => {
  test('an email is a file, named by its id', async () => {
    await queue('ada@mail.example');
    const [job] = await jobs();
    start();
    await waitFor(isIdle);
    const [file, ...others] = await files();
    expect(others).toEqual([]);
    expect(file!.name).toBe(`${job!.id}.eml`);
    expect(headersOf(file!.text)).toMatchObject({
      From: '"Harbour & Hearth" <hello@harbour.example>',
      To: 'ada@mail.example',
      Subject: 'Available again: Ginger tea',
      'Message-ID': `<${job!.id}@shop.example>`,
      'Auto-Submitted': 'auto-generated',
      'Content-Language': 'en',
      'Content-Type': expect.stringContaining('multipart/alternative'),
    });
    expect(file!.text).toContain('https://shop.example/shop/Harbour/Products/TE-120');
    expect(file!.text.replaceAll('\r\n', '')).not.toContain('\n');
  });

  test('who watched a product gets one email in the language of the locale', async () => {
    const { db } = service;
    await db.run(sql`
      update shop set locales = '{en_GB,de_DE}', settings_version = settings_version + 1
      where shop_id = 'Harbour'`);
    const token = await givenToken(service, 'Harbour', ['products_write']);
    const productId = newId(db.now);
    await db.run(sql`
      insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, stock, facts)
      values ('Harbour', ${productId}, 'TE-120', 'regular', ${db.now}, 1, true, 0,
        ${{ name: { en_GB: 'Tea', de_DE: 'Tee' } }})`);
    start();
    for (const email of ['Ada@mail.example', 'ada@mail.example']) {
      const body = { email, locale: 'de_DE' };
      const url = `/Harbour/products/${productId}/availability-notifications`;
      expect((await service.call('POST', url, { token, body })).status).toBe(200);
    }
    await db.transaction(async (tx) => {
      await tx.run(sql`update product set stock = 4 where shop_id = 'Harbour' and product_id = ${productId}`);
      await queueAvailabilityNotifications(tx, 'Harbour', [productId]);
    });
    await waitFor(async () => (await files()).length > 0 && (await isIdle()));
    const [file, ...others] = await files();
    expect(others).toEqual([]);
    expect(headersOf(file!.text)).toMatchObject({
      To: 'ada@mail.example',
      Subject: '=?UTF-8?Q?Wieder_verf=C3=BCgbar=3A_Tee?=',
      'Content-Language': 'de',
    });
  });

  test('a second delivery of an email replaces the first', async () => {
    const delivery = fileDelivery(path.join(folder, 'mails'));
    await delivery.deliver(message);
    await delivery.deliver({ ...message, subject: 'Second' });
    const found = await files();
    expect(found.map(({ name }) => name)).toEqual(['one.eml']);
    expect(headersOf(found[0]!.text)['Subject']).toBe('Second');
  });

  test('the log names the email, its template and shop, not the address', async () => {
    await queue('ada@mail.example');
    const [job] = await jobs();
    start();
    await waitFor(isIdle);
    expect(log.map(({ time: _time, level: _level, ...line }) => line)).toEqual([
      { email: job!.id, template: 'availability', shop: 'Harbour', msg: 'email sent' },
    ]);
  });

  test('an invoice comes with its file', async () => {
    const { shop, documentId } = await givenInvoice();
    await queueInvoice(shop.shopId, documentId);
    start();
    await waitFor(isIdle);
    const [file, ...others] = await files();
    expect(others).toEqual([]);
    expect(headersOf(file!.text)).toMatchObject({
      Subject: 'Your invoice 1001',
      'Content-Type': expect.stringContaining('multipart/mixed'),
    });
    expect(file!.text).toContain('multipart/alternative');
    expect(attachedTo(file!.text)).toEqual([
      { type: 'application/pdf', name: expect.stringMatching(/1001\.pdf$/), bytes: PDF },
    ]);
  });

  test('an invoice that is gone, or of another shop, is not sent', async () => {
    const { shop, documentId } = await givenInvoice();
    await queueInvoice('Harbour', documentId);
    await service.db.run(sql`delete from order_document where shop_id = ${shop.shopId}`);
    await queueInvoice(shop.shopId, documentId);
    start();
    await waitFor(isIdle);
    expect(await files()).toEqual([]);
    expect(log.filter(({ msg }) => msg === 'email sent')).toEqual([]);
  });

  test("an email has the shop's own words, as they are when it is sent", async () => {
    const shop = await givenSmallShop(service, {
      mails: { availability: { en_GB: { subject: 'Old {productName}' } } },
    });
    const facts = { productName: 'Tea\r\nBcc: all@mail.example', productNumber: '1' };
    await service.db.transaction((tx) =>
      queueEmails(tx, shop.shopId, availabilityEmail, [{ to: 'ada@mail.example', locale: 'en_GB', facts }]),
    );
    const text = 'Dear <b>customer</b>,\n\n{productUrl}';
    await changeSettings(shop, {
      mails: { availability: { en_GB: { subject: 'New {productName}', text } } },
    });
    start();
    await waitFor(isIdle);
    const [file] = await files();
    expect(headersOf(file!.text)).toMatchObject({ Subject: 'New Tea Bcc: all@mail.example' });
    expect(headersOf(file!.text)).not.toHaveProperty('Bcc');
    const words = file!.text.replaceAll('=\r\n', '');
    expect(words).toContain('Dear <b>customer</b>,\r\n\r\nhttps://shop.example/shop/');
    expect(words).toContain('>Dear &lt;b&gt;customer&lt;/b&gt;,</p>');
  });

  test('an email that an earlier version has queued is sent', async () => {
    const content = {
      shopId: 'Harbour',
      to: 'ada@mail.example',
      locale: 'de_DE',
      template: 'refund',
      facts: { orderNumber: 'ORD261115/1001', amount: '9,80 €' },
    };
    await service.db.transaction((tx) => queueJobs(tx, 'Harbour', 'mail', [{ id: newId(tx.now), content }]));
    start();
    await waitFor(isIdle);
    const [file] = await files();
    expect(headersOf(file!.text)).toMatchObject({
      Subject: 'Erstattung zu Ihrer Bestellung ORD261115/1001',
      To: 'ada@mail.example',
    });
  });

  test('the emails of a deleted shop end with it', async () => {
    await givenShop(service, 'Gone');
    await service.db.transaction((tx) =>
      queueEmails(tx, 'Gone', availabilityEmail, [
        {
          to: 'ada@mail.example',
          locale: 'en_GB',
          facts: { productName: 'Tea', productNumber: '1' },
        },
      ]),
    );
    await service.db.transaction((tx) => deleteShop(tx, 'Gone'));
    start();
    await waitFor(isIdle);
    expect(await files()).toEqual([]);
  });
});

describe('with SMTP_URL', () => {
  let smtp: SmtpServer;
  beforeEach(async () => {
    smtp = await startSmtp();
  });
  afterEach(() => smtp.close());

  test('emails go to the server', async () => {
    start({ SMTP_URL: `smtp://${smtp.host}` });
    const addresses = Array.from({ length: 12 }, (_, index) => `${index}@mail.example`);
    await queue(...addresses);
    await waitFor(isIdle);
    expect(smtp.taken.flatMap(({ to }) => to).toSorted()).toEqual(addresses.toSorted());
    expect(smtp.taken[0]!.from).toBe('hello@harbour.example');
    expect(headersOf(smtp.taken[0]!.text)).toMatchObject({
      From: '"Harbour & Hearth" <hello@harbour.example>',
      'Message-ID': expect.stringMatching(/^<[0-9a-f-]{36}@shop\.example>$/),
    });
    expect(await files()).toEqual([]);
  });

  test('they come from MAIL_FROM, and answers go to the shop', async () => {
    start({ SMTP_URL: `smtp://${smtp.host}`, MAIL_FROM: 'noreply@host.example' });
    await queue('ada@mail.example');
    await waitFor(isIdle);
    expect(smtp.taken[0]!.from).toBe('noreply@host.example');
    expect(headersOf(smtp.taken[0]!.text)).toMatchObject({
      From: '"Harbour & Hearth" <noreply@host.example>',
      'Reply-To': 'hello@harbour.example',
    });
  });

  test('an invoice comes with its file', async () => {
    const { shop, documentId } = await givenInvoice();
    start({ SMTP_URL: `smtp://${smtp.host}` });
    await queueInvoice(shop.shopId, documentId);
    await waitFor(isIdle);
    expect(smtp.taken).toHaveLength(1);
    expect(smtp.taken[0]!.text).toContain('multipart/alternative');
    expect(attachedTo(smtp.taken[0]!.text)).toEqual([
      { type: 'application/pdf', name: expect.stringMatching(/1001\.pdf$/), bytes: PDF },
    ]);
  });

  test('an email that is refused is tried again, as the same email', async () => {
    smtp.refusals = ['451 ada@mail.example is greylisted'];
    start({ SMTP_URL: `smtp://${smtp.host}` });
    await queue('ada@mail.example');
    await waitFor(async () => (await jobs())[0]?.state === 'retry');
    const [job] = await jobs();
    expect(job).toMatchObject({ attempts: 1 });
    expect(job!.wait).toBeGreaterThan(20);
    expect(job!.wait).toBeLessThanOrEqual(60);
    expect(smtp.taken).toEqual([]);
    expect(log.at(-1)).toMatchObject({
      level: 40,
      queue: 'mail',
      job: job!.id,
      attempt: 1,
      code: 'EMESSAGE',
      responseCode: 451,
      msg: 'job failed, it will be tried again',
    });
    expect(JSON.stringify(log)).not.toContain('ada@');

    await service.db.run(sql`update job set run_at = created_at`);
    await waitFor(isIdle);
    expect(smtp.taken).toHaveLength(1);
    expect(headersOf(smtp.taken[0]!.text)['Message-ID']).toBe(`<${job!.id}@shop.example>`);
  });

  test('after the last try it stays as failed, and the log says so once', async () => {
    smtp.refusals = ['550 no such user', '550 no such user'];
    await queue('ada@mail.example');
    await service.db.run(sql`update job set attempts = 10`);
    start({ SMTP_URL: `smtp://${smtp.host}` });
    await waitFor(async () => smtp.ends === 1 && (await jobs())[0]?.state === 'retry');
    await service.db.run(sql`update job set run_at = created_at`);
    await waitFor(async () => (await jobs())[0]?.state === 'failed');
    const [job] = await jobs();
    expect(log.filter(({ level }) => level === 50)).toEqual([
      expect.objectContaining({
        job: job!.id,
        attempt: 12,
        responseCode: 550,
        msg: 'job failed for the last time',
      }),
    ]);
    expect(smtp.ends).toBe(2);
  });

  test('a password is not sent in clear, unless the address allows it, and never logged', async () => {
    start({ SMTP_URL: `smtp://kontor:s3cret@${smtp.host}` });
    await queue('ada@mail.example');
    await waitFor(async () => (await jobs())[0]?.state === 'retry');
    expect(log.at(-1)).toMatchObject({ code: 'ETLS' });
    expect(smtp.credentials).toEqual([]);
    for (const worker of workers.splice(0)) await worker.stop();

    start({ SMTP_URL: `smtp://kontor:s3cret@${smtp.host}/?requireTLS=false` });
    await service.db.run(sql`update job set run_at = created_at`);
    await waitFor(isIdle);
    expect(smtp.credentials).toEqual(['\0kontor\0s3cret']);
    expect(smtp.taken).toHaveLength(1);
    expect(JSON.stringify(log)).not.toContain('s3cret');
  });

  test('a server that is away is no loss', async () => {
    const { host } = smtp;
    await smtp.close();
    start({ SMTP_URL: `smtp://${host}` });
    await queue('ada@mail.example');
    await waitFor(async () => (await jobs())[0]?.state === 'retry');
    expect(log.at(-1)).toMatchObject({ code: 'ESOCKET', msg: 'job failed, it will be tried again' });
    smtp = await startSmtp();
  });

  test('a server that keeps an email waiting does not delay the next ones', async () => {
    smtp.refusals = [''];
    const delivery = smtpDelivery(`smtp://${smtp.host}`, 100);
    await expect(delivery.deliver(message)).rejects.toMatchObject({ code: expect.any(String) });
    await delivery.deliver(message);
    delivery.close();
    expect(smtp.taken).toHaveLength(1);
  });

  test('nothing of a header can begin another one', async () => {
    const delivery = smtpDelivery(`smtp://${smtp.host}`);
    for (const change of [
      { to: 'ada@mail.example\r\nBcc: all@mail.example' },
      { subject: 'Hello\nBcc: all@mail.example' },
      { from: { name: 'Harbour\r\nBcc: all@mail.example', address: 'hello@harbour.example' } },
      { from: { name: 'Harbour', address: 'hello@harbour.example\r\nBcc: all@mail.example' } },
      { replyTo: 'hello@harbour.example\rBcc: all@mail.example' },
      {
        attachments: [
          { name: 'a.pdf\r\nBcc: all@mail.example', type: 'application/pdf' as const, bytes: PDF },
        ],
      },
    ]) {
      await expect(delivery.deliver({ ...message, ...change })).rejects.toThrow('control character');
    }
    delivery.close();
    expect(smtp.ends).toBe(0);
  });

  test('an address that is none is said without its password', () => {
    expect(() => deliveryPlace({ SMTP_URL: 'smtp://kontor:s3cret@host:port', KONTOR_DATA: folder })).toThrow(
      /^SMTP_URL is not an address such as smtp:\/\/user:password@host:587$/,
    );
    expect(() => smtpDelivery('smtp://kontor:s3cret@host:port')).toThrow(
      /^SMTP_URL is not an address such as smtp:\/\/user:password@host:587$/,
    );
    expect(() => readConfig({ SMTP_URL: 'http://kontor:s3cret@host' })).toThrow(/^SMTP_URL (?!.*s3cret)/);
  });
});

import { createHash, createPublicKey, verify } from 'node:crypto';
import dns from 'node:dns';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenDomains, givenShop } from '../../../test/builders.ts';
import { changesNothing } from '../../../test/carts.ts';
import { startDnsServer, type DnsServer } from '../../../test/dns-server.ts';
import { waitFor } from '../../../test/process.ts';
import { startService, type Service } from '../../../test/service.ts';
import { startSmtp, type SmtpServer } from '../../../test/smtp.ts';
import { availabilityEmail } from '../../catalogue/products/availability-email.ts';
import { startEmails } from '../../composition/emails.ts';
import { readConfig } from '../../config.ts';
import { sql } from '../../db/sql.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import { checkDueDkimKeys } from './dkim.ts';

const PATH = '/settings/emails/signature';
const MINUTE = 60_000;
const systemServers = dns.getServers();

let service: Service;
let owner: Merchant;
let names: DnsServer;
let smtp: SmtpServer;
let worker: { stop: () => Promise<void> } | undefined;

beforeAll(async () => {
  names = await startDnsServer();
  dns.setServers([names.address]);
  service = await startService({ RATE_LIMIT_ANONYMOUS: '0', TRUST_PROXY: '127.0.0.1' });
});
beforeEach(async () => {
  names.clear();
  smtp = await startSmtp();
  await service.db.run(sql`delete from shop`);
  await service.db.run(sql`delete from shop_domain`);
  await service.db.run(sql`delete from rate_window`);
  await givenShop(service, 'DemoShop', { name: 'Tea', email: 'hello@tea.example' });
  owner = await givenMerchant(service, 'owner', 'DemoShop', 'owner@tea.example');
  await givenDomains(service, 'DemoShop', ['www.tea.example']);
  await service.db.run(sql`update shop_domain set proof = 'TXT'`);
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  service.setClock(undefined);
  await smtp.close();
});
afterAll(async () => {
  dns.setServers(systemServers);
  names.close();
  await service.close();
});

const keys = () =>
  service.db.many<{
    selector: string;
    domain: string;
    publicKey: string;
    isSeen: boolean;
    found: string | null;
  }>(sql`
    select selector, domain, public_key as "publicKey", seen_at is not null as "isSeen", found
    from dkim_key where shop_id = 'DemoShop' order by created_at`);

const create = async () => {
  expect((await owner.post(`${PATH}/create`)).status).toBe(303);
  return (await keys()).at(-1)!;
};

const publish = ({ selector, domain, publicKey }: { selector: string; domain: string; publicKey: string }) =>
  names.set('TXT', `${selector}._domainkey.${domain}`, `v=DKIM1; k=rsa; p=${publicKey}`);

const check = ({ selector }: { selector: string }) => owner.post(`${PATH}/check`, { selector });

/** Sends an email, and returns what the server has got. */
async function received(environment: Record<string, string> = {}) {
  const config = readConfig({
    SMTP_URL: `smtp://${smtp.host}`,
    MAIL_FROM: 'noreply@host.example',
    ...environment,
  });
  worker ??= startEmails({
    db: service.db,
    config: { ...config, KONTOR_DATA: service.config.KONTOR_DATA },
    log: pino({ level: 'silent' }),
    origin: 'https://shop.example',
    pause: 10,
  });
  const before = smtp.taken.length;
  await service.db.transaction((tx) =>
    queueEmails(tx, 'DemoShop', availabilityEmail, [
      { to: 'ada@mail.example', locale: 'en_GB', facts: { productName: 'Grüner  Tee', productNumber: '1' } },
    ]),
  );
  await waitFor(async () => smtp.taken.length > before);
  return smtp.taken.at(-1)!;
}

/**
 * Verifies the signature of an email (RFC 6376, relaxed/relaxed) with the key in the DNS, and returns its domain and
 * selector.
 */
function verified(email: string): { domain: string; selector: string } {
  const end = email.indexOf('\r\n\r\n');
  const headers = email
    .slice(0, end)
    .split(/\r\n(?![ \t])/)
    .map((field) => ({
      name: field.slice(0, field.indexOf(':')).trim().toLowerCase(),
      value: field.slice(field.indexOf(':') + 1),
    }));
  const signature = headers.find(({ name }) => name === 'dkim-signature')!;
  const tags = Object.fromEntries(
    signature.value
      .replaceAll(/\s+/g, '')
      .split(';')
      .filter((tag) => tag !== '')
      .map((tag) => [tag.slice(0, tag.indexOf('=')), tag.slice(tag.indexOf('=') + 1)]),
  ) as Record<'v' | 'a' | 'c' | 'd' | 's' | 'h' | 'bh' | 'b', string>;
  expect(tags).toMatchObject({ v: '1', a: 'rsa-sha256', c: 'relaxed/relaxed' });
  // Section 3.4.4: no blanks at the ends of lines, one between words, no empty lines at the end.
  // The mark that ends a message in SMTP has taken its last line break.
  const body = `${email.slice(end + 4)}\r\n`
    .replaceAll(/^\.\./gm, '.')
    .replaceAll(/[ \t]+(?=\r\n)/g, '')
    .replaceAll(/[ \t]+/g, ' ')
    .replace(/(?:\r\n)*$/, '\r\n');
  expect(createHash('sha256').update(body, 'utf8').digest('base64')).toBe(tags.bh);
  // Section 3.4.2, and the signature itself without its value.
  const line = ({ name, value }: { name: string; value: string }) =>
    `${name}:${value
      .replaceAll('\r\n', '')
      .replaceAll(/[ \t]+/g, ' ')
      .trim()}`;
  const signed = tags.h
    .split(':')
    .map((name) => headers.find((header) => header.name === name.toLowerCase()))
    .filter((header) => header !== undefined);
  const unsigned = { name: signature.name, value: signature.value.replace(/(\bb=)[^;]*$/, '$1') };
  const text = [...signed.map(line), line(unsigned)].join('\r\n');
  const { publicKey } = record(tags.s, tags.d);
  expect(verify('sha256', Buffer.from(text), publicKey, Buffer.from(tags.b, 'base64'))).toBe(true);
  expect(signed.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['from', 'to', 'subject', 'message-id']),
  );
  return { domain: tags.d, selector: tags.s };
}

const published = new Map<string, string>();
const record = (selector: string, domain: string) => ({
  publicKey: createPublicKey({
    key: Buffer.from(published.get(`${selector}.${domain}`)!, 'base64'),
    format: 'der',
    type: 'spki',
  }),
});

test('emails are signed for the domain of the shop, once its record stands', async () => {
  const key = await create();
  expect(key).toMatchObject({ domain: 'tea.example', isSeen: false });
  const page = await owner.get(PATH);
  expect(page.text).toContain(`${key.selector}._domainkey.tea.example`);
  expect(page.text).toContain(`data-copy-value="v=DKIM1; k=rsa; p=${key.publicKey}"`);
  expect((await received()).text).not.toContain('DKIM-Signature');
  await check(key);
  expect((await keys())[0]).toMatchObject({ isSeen: false, found: 'missing' });

  publish(key);
  published.set(`${key.selector}.tea.example`, key.publicKey);
  await check(key);
  expect((await keys())[0]).toMatchObject({ isSeen: true, found: 'found' });
  const { from, text } = await received();
  expect(verified(text)).toEqual({ domain: 'tea.example', selector: key.selector });
  expect(text).toContain('From: Tea <hello@tea.example>');
  expect(from).toBe('noreply@host.example');
  const changed = text.replace('hello@tea.example', 'other@tea.example');
  expect(() => verified(changed)).toThrow();
});

test('the private key is sealed, and nowhere on the pages', async () => {
  await create();
  const row = await service.db.one<{ sealed: Buffer }>(sql`select private_sealed as sealed from dkim_key`);
  expect(row!.sealed.includes('PRIVATE')).toBe(false);
  expect((await owner.get(PATH)).text).not.toContain('PRIVATE');
});

test('only for a domain that the shop has proved', async () => {
  for (const change of [
    sql`update shop_domain set proof = null`,
    sql`update shop_domain set proof = 'TXT', host = 'www.coffee.example'`,
    sql`delete from shop_domain`,
  ]) {
    await service.db.run(change);
    await changesNothing(service, async () => {
      const { headers } = await owner.post(`${PATH}/create`);
      expect(String(headers['set-cookie'])).not.toBe('undefined');
    });
  }
  expect(await keys()).toEqual([]);
});

test('a new key takes over when its record stands, and the old one signs until then', async () => {
  const old = await create();
  publish(old);
  await check(old);
  service.setClock(new Date(Date.now() + MINUTE));
  const next = await create();
  for (const key of [old, next]) published.set(`${key.selector}.tea.example`, key.publicKey);
  expect((await keys()).map(({ selector }) => selector)).toEqual([old.selector, next.selector]);
  expect(verified((await received()).text).selector).toBe(old.selector);
  publish(next);
  await check(next);
  expect((await keys()).map(({ selector }) => selector)).toEqual([next.selector]);
  expect(verified((await received()).text).selector).toBe(next.selector);
});

test('a record that is gone or another ends it, and silence does not', async () => {
  const log = pino({ level: 'silent' });
  const key = await create();
  publish(key);
  await checkDueDkimKeys(service.db, log);
  expect((await keys())[0]).toMatchObject({ isSeen: true });
  const later = async (days: number) => {
    service.setClock(new Date(Date.now() + days * 24 * 60 * MINUTE));
    await checkDueDkimKeys(service.db, log);
    const [found] = await keys();
    return [found!.isSeen, found!.found];
  };
  names.isAnswering = false;
  expect(await later(1.1)).toEqual([true, 'unknown']);
  names.isAnswering = true;
  names.set('TXT', `${key.selector}._domainkey.tea.example`, 'v=DKIM1; k=rsa; p=AAAA');
  expect(await later(3)).toEqual([false, 'other']);
  publish(key);
  expect(await later(5)).toEqual([true, 'found']);
  await service.db.run(sql`delete from shop_domain`);
  expect(await later(7)).toEqual([false, 'found']);
});

test('emails from another address, and those of a mail server of its own, are not signed', async () => {
  const key = await create();
  publish(key);
  await check(key);
  await service.db.run(sql`
    update shop set settings = settings || '{"email": "hello@coffee.example"}', settings_version = settings_version + 1
    where shop_id = 'DemoShop'`);
  const { text } = await received();
  expect(text).not.toContain('DKIM-Signature');
  expect(text).toContain('From: Tea <noreply@host.example>');
});

test('keys are made and removed by who may change settings', async () => {
  const key = await create();
  const reader = await givenMerchant(service, 'orders', 'DemoShop', 'reader@tea.example');
  await changesNothing(service, async () => {
    for (const path of ['create', 'check', 'remove']) {
      expect((await reader.post(`${PATH}/${path}`, { selector: key.selector })).status).toBe(403);
    }
    expect((await owner.post(`${PATH}/check`, { selector: 'other' })).status).toBe(404);
  });
  expect((await owner.post(`${PATH}/remove`)).status).toBe(303);
  expect(await keys()).toEqual([]);
});

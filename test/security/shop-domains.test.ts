import dns from 'node:dns';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { deleteShop } from '../../src/shops/shop/queries.ts';
import { givenMerchant, type Merchant } from '../admin.ts';
import { givenDomains, givenShop } from '../builders.ts';
import { kontorHere } from '../command.ts';
import { shopFingerprint } from '../demo.ts';
import { startDnsServer, type DnsServer } from '../dns-server.ts';
import { ofTheDay } from '../seed.ts';
import { databaseEnvironment, startService, type Service } from '../service.ts';

/**
 * A shop once took the service's own host by naming it as its domain, so that admin and API answered 404 there, and it
 * could take any other name before its owner did. Now the hosts of the service are refused in every way in, and where
 * others can call, a domain is used only after a record in the DNS has proved it.
 */
const ENVIRONMENT = { TRUST_PROXY: '127.0.0.1' };
const SERVICE_HOST = 'kontor.example';

let service: Service;
let names: DnsServer;
let folder: string;
const systemServers = dns.getServers();
const owners = new Map<string, Merchant>();

beforeAll(async () => {
  names = await startDnsServer();
  dns.setServers([names.address]);
  folder = await mkdtemp(path.join(tmpdir(), 'kontor-domains-'));
  service = await startService(ENVIRONMENT);
  for (const shopId of ['Alpha', 'Beta']) {
    await givenShop(service, shopId);
    owners.set(shopId, await givenMerchant(service, 'owner', shopId));
  }
});
beforeEach(async () => {
  names.clear();
  for (const shopId of ['Alpha', 'Beta']) await givenDomains(service, shopId, []);
});
afterAll(async () => {
  dns.setServers(systemServers);
  names.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** A request of the owner, whose browser is at the service's host. */
async function sent(
  shopId: string,
  url: string,
  fields?: Record<string, string>,
  { at = service, host = SERVICE_HOST, scheme = 'http' } = {},
) {
  const token = owners.get(shopId)!.cookie.split('=')[1]!;
  const response = await at.app.inject({
    method: fields ? 'POST' : 'GET',
    url: `/admin/shops/${shopId}${url}`,
    headers: {
      host,
      cookie: `admin=${token}; __Host-admin=${token}`,
      ...(fields && {
        origin: `${scheme}://${host}`,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
      }),
    },
    ...(fields && { payload: new URLSearchParams(fields).toString() }),
  });
  expect(response.statusCode).toBeLessThan(500);
  return { status: response.statusCode, text: response.body, cookies: response.cookies };
}

const byFile = (shopId: string, domains: string[], options?: Parameters<typeof sent>[3]) =>
  sent(shopId, '/settings/file', { action: 'apply', text: `domains: ${JSON.stringify(domains)}\n` }, options);

async function byForm(shopId: string, domains: string[], options?: Parameters<typeof sent>[3]) {
  const page = await sent(shopId, '/settings/domains', undefined, options);
  const version = /name="version"[^>]*value="([^"]*)"/.exec(page.text)![1]!;
  return sent(shopId, '/settings/domains', { version, domains: domains.join('\n') }, options);
}

async function kontor(words: string[], environment: Record<string, string> = {}) {
  return kontorHere(words, {
    ...databaseEnvironment(service.database),
    KONTOR_DATA: service.config.KONTOR_DATA,
    ...ENVIRONMENT,
    ...environment,
  });
}

async function byCommand(shopId: string, domains: string[], environment: Record<string, string> = {}) {
  const file = path.join(folder, 'shop.yaml');
  await writeFile(file, `domains: ${JSON.stringify(domains)}\n`);
  return kontor(['shop', 'apply', shopId, file], environment);
}

/** What answers at this host: the shop whose page it is, or the service. */
async function shopAt(host: string, at = service): Promise<string> {
  await at.app.shopHosts.refresh();
  const { body } = await at.app.inject({ url: '/', headers: { host } });
  return /<h1>(Alpha|Beta|Gamma)<\/h1>/.exec(body)?.[1] ?? 'the service';
}

const storefrontOf = async (shopId: string) =>
  (await service.call('GET', `/${shopId}`, { headers: { host: SERVICE_HOST } })).body.sfUrl as string;

const usedDomains = () =>
  service.db.many<{ host: string; shopId: string; proof: string | null }>(sql`
    select host, shop_id as "shopId", proof from shop_domain order by shop_id, position`);

const pendingDomains = () =>
  service.db.many<{ host: string; shopId: string }>(sql`
    select host, shop_id as "shopId" from pending_domain order by shop_id, position`);

/** What the admin tells to enter at the domain provider. */
async function challengeOf(shopId: string, host: string) {
  const { text } = await sent(shopId, '/settings/domains');
  const [, card] = new RegExp(`data-pending="${host}"(.*?)</section>`, 's').exec(text)!;
  const cells = [...card!.matchAll(/<td>([^<]*)<\/td>/g)].map(([, cell]) => cell!);
  return { name: cells[0]!, text: cells[2]!, target: cells[5]!, rows: cells };
}

const check = (shopId: string, host: string) => sent(shopId, '/settings/domains/check', { host });

/** The notice that the next page shows. */
async function noticeAfter(shopId: string, { cookies }: Awaited<ReturnType<typeof sent>>) {
  const token = owners.get(shopId)!.cookie;
  const all = [
    token,
    ...(cookies as { name: string; value: string }[]).map(
      ({ name, value }) => `${name}=${encodeURIComponent(value)}`,
    ),
  ];
  const { body } = await service.app.inject({
    url: `/admin/shops/${shopId}/settings/domains`,
    headers: { host: SERVICE_HOST, cookie: all.join('; ') },
  });
  return body;
}

describe('a host of the service', () => {
  test.each(ofTheDay([SERVICE_HOST, 'KONTOR.example', `${SERVICE_HOST}:8443`], 1))(
    'is refused by form and by file where the person is there: %s',
    async (host) => {
      const before = await shopFingerprint(service, 'Alpha');
      for (const answer of [await byFile('Alpha', ['own.example', host]), await byForm('Alpha', [host])]) {
        expect(answer.status).toBe(422);
        expect(answer.text).toContain('is the address of this service itself');
      }
      expect(await shopFingerprint(service, 'Alpha')).toEqual(before);
      expect((await sent('Alpha', '/settings/domains')).status).toBe(200);
      expect(await storefrontOf('Alpha')).toBe(`http://${SERVICE_HOST}/shop/Alpha`);
    },
  );

  test('is refused where PUBLIC_URL names it, by form, file and command', async () => {
    const named = await startService({ PUBLIC_URL: 'https://shops.example' }, service);
    try {
      const options = { at: named, host: 'shops.example', scheme: 'https' };
      const before = await shopFingerprint(service, 'Alpha');
      expect((await byFile('Alpha', ['shops.example'], options)).status).toBe(422);
      expect((await byForm('Alpha', ['shops.example'], options)).status).toBe(422);
      // A browser that has reached it by another name.
      const inside = { at: named, host: 'inside.example', scheme: 'https' };
      expect((await byFile('Alpha', ['inside.example'], inside)).status).toBe(422);
      const command = await byCommand('Alpha', ['shops.example'], { PUBLIC_URL: 'https://shops.example' });
      expect(command).toMatchObject({ code: 1, stdout: '' });
      expect(command.stderr).toContain('domains[0]: is shops.example, where this service itself is');
      expect(await shopFingerprint(service, 'Alpha')).toEqual(before);
    } finally {
      await named.close();
    }
  });

  const LOCAL_HOSTS = [
    'localhost',
    'localhost:18100',
    'beta.localhost',
    'beta.localhost:8080',
    '127.0.0.1:8080',
  ];
  test.each([...ofTheDay(LOCAL_HOSTS, 1), SERVICE_HOST])(
    'is refused in a backup, in one line: %s',
    async (host) => {
      const file = await givenBackup('Gamma', [host]);
      const restored = await kontor(['shop', 'restore', file], { PUBLIC_URL: `https://${SERVICE_HOST}` });
      expect(restored).toMatchObject({ code: 1 });
      expect(restored.stderr).toMatch(
        /^kontor: The backup has a domain that no shop can have \(domains\[0\]: [^\n]*\)[^\n]*\n$/,
      );
      expect(await usedDomains()).toEqual([]);
      expect(await service.db.one(sql`select from shop where shop_id = 'Gamma'`)).toBeUndefined();
    },
  );

  test('in the table of domains from before leads nowhere but to the service', async () => {
    await service.db.run(sql`
      insert into shop_domain (host, shop_id, position, added_at) values ('localhost:18100', 'Alpha', 0, ${service.db.now})`);
    expect(await shopAt('localhost:18100')).toBe('the service');
  });
});

/** A backup of a shop that uses these domains, which is deleted after that. */
async function givenBackup(shopId: string, domains: string[]): Promise<string> {
  await givenShop(service, shopId);
  for (const [position, host] of domains.entries()) {
    await service.db.run(sql`
      insert into shop_domain (host, shop_id, position, added_at, proved_at, proof)
      values (${host}, ${shopId}, ${position}, ${service.db.now}, ${service.db.now}, 'TXT')`);
  }
  const file = path.join(folder, `${shopId}-${Date.now()}.backup`);
  expect(await kontor(['shop', 'backup', shopId, file])).toMatchObject({ code: 0 });
  await service.db.transaction((tx) => deleteShop(tx, shopId));
  return file;
}

describe('a domain where others can call', () => {
  test.each([
    ['form', async () => (await byForm('Alpha', ['tea.example', 'www.tea.example'])).status === 303],
    ['file', async () => (await byFile('Alpha', ['tea.example', 'www.tea.example'])).status === 303],
    ['command', async () => (await byCommand('Alpha', ['tea.example', 'www.tea.example'])).code === 0],
  ] as const)('that is named by %s waits for its proof, and leads nowhere', async (_, name) => {
    expect(await name()).toBe(true);
    expect(await usedDomains()).toEqual([]);
    expect(await pendingDomains()).toEqual([
      { host: 'tea.example', shopId: 'Alpha' },
      { host: 'www.tea.example', shopId: 'Alpha' },
    ]);
    expect(await shopAt('tea.example')).toBe('the service');
    expect(await storefrontOf('Alpha')).toBe(`http://${SERVICE_HOST}/shop/Alpha`);
    expect((await sent('Alpha', '/settings/domains')).text).toContain('tea.example: verification pending');
  });

  test('is used after its TXT record, and not after that of another shop or another host', async () => {
    await byFile('Alpha', ['tea.example', 'www.tea.example']);
    await byFile('Beta', ['tea.example']);
    const challenge = await challengeOf('Alpha', 'www.tea.example');
    expect(challenge.name).toBe('_kontor-challenge.www.tea.example');
    expect(challenge.text).toMatch(/^kontor-domain-verification=[0-9a-f]{32}$/);
    expect(challenge.target).toMatch(/^[0-9a-f]{32}\.kontor\.example$/);

    const none = await check('Alpha', 'www.tea.example');
    expect(none.status).toBe(303);
    expect(await noticeAfter('Alpha', none)).toContain('The record for www.tea.example is not there yet');
    for (const other of [
      (await challengeOf('Beta', 'tea.example')).text,
      (await challengeOf('Alpha', 'tea.example')).text,
      'v=spf1 -all',
    ]) {
      names.set('TXT', challenge.name, other);
      await check('Alpha', 'www.tea.example');
      expect(await usedDomains()).toEqual([]);
    }

    names.set('TXT', challenge.name, challenge.text);
    const found = await check('Alpha', 'www.tea.example');
    expect(await noticeAfter('Alpha', found)).toContain('www.tea.example is verified');
    expect(await usedDomains()).toEqual([{ host: 'www.tea.example', shopId: 'Alpha', proof: 'TXT' }]);
    expect(await shopAt('www.tea.example')).toBe('Alpha');
    expect(await shopAt('tea.example')).toBe('the service');
    expect(await storefrontOf('Alpha')).toBe('http://www.tea.example');
    // The list stays as it was written, in the file and in the form.
    expect((await sent('Alpha', '/settings/file/download')).text).toContain(
      'domains:\n  - tea.example\n  - www.tea.example\n',
    );
    const entries = await service.db.many<{ object: object }>(sql`
      select object from audit_entry where shop_id = 'Alpha' and route like '%/settings/domains/check'`);
    expect(entries).toEqual([{ object: { host: 'www.tea.example', proof: 'TXT' } }]);
    // Further changes of the list leave it in use.
    await byFile('Alpha', ['www.tea.example', 'shop.tea.example']);
    expect(await usedDomains()).toMatchObject([{ host: 'www.tea.example', proof: 'TXT' }]);
  });

  test('is used after its CNAME record, with the port that it was named with', async () => {
    await byFile('Alpha', ['tea.example:8443']);
    const { name, target } = await challengeOf('Alpha', 'tea.example:8443');
    expect(name).toBe('_kontor-challenge.tea.example');
    // A record that only leads here names no shop, and proves nothing.
    names.set('CNAME', name, SERVICE_HOST);
    names.set('CNAME', 'tea.example', SERVICE_HOST);
    await check('Alpha', 'tea.example:8443');
    expect(await usedDomains()).toEqual([]);
    names.set('CNAME', name, target.toUpperCase());
    await check('Alpha', 'tea.example:8443');
    expect(await usedDomains()).toMatchObject([{ host: 'tea.example:8443', proof: 'CNAME' }]);
    expect(await shopAt('tea.example:8443')).toBe('Alpha');
  });

  test('that is only claimed does not keep out the shop that can prove it', async () => {
    await byFile('Alpha', ['tea.example']);
    expect((await byFile('Beta', ['tea.example'])).status).toBe(303);
    const { name, text } = await challengeOf('Beta', 'tea.example');
    names.set('TXT', name, text);
    await check('Beta', 'tea.example');
    expect(await shopAt('tea.example')).toBe('Beta');

    // The other one is refused while this one uses it, whatever its record says.
    const late = await challengeOf('Alpha', 'tea.example');
    names.set('TXT', late.name, late.text);
    const refused = await check('Alpha', 'tea.example');
    expect(await noticeAfter('Alpha', refused)).toContain('tea.example belongs to another shop');
    await byFile('Alpha', []);
    for (const answer of [await byFile('Alpha', ['tea.example']), await byForm('Alpha', ['tea.example'])]) {
      expect(answer.status).toBe(422);
      expect(answer.text).toContain('tea.example belongs to another shop');
    }
    expect((await byCommand('Alpha', ['tea.example'])).stderr).toContain(
      'tea.example belongs to another shop',
    );
    expect(await usedDomains()).toEqual([{ host: 'tea.example', shopId: 'Beta', proof: 'TXT' }]);

    await byFile('Beta', []);
    await byFile('Alpha', ['tea.example']);
    await check('Alpha', 'tea.example');
    expect(await shopAt('tea.example')).toBe('Alpha');
  });

  test('is checked for those that the shop has named, 30 times an hour, and for five seconds at most', async () => {
    await givenShop(service, 'Delta');
    owners.set('Delta', await givenMerchant(service, 'owner', 'Delta'));
    // Checks are counted by the hour.
    service.setClock(new Date());
    await byFile('Delta', ['tea.example']);
    for (const host of ['beer.example', '', 'Tea.example'])
      expect((await check('Delta', host)).status).toBe(404);
    expect(names.questions).toEqual([]);
    names.isAnswering = false;
    const began = performance.now();
    const silent = await check('Delta', 'tea.example');
    expect(performance.now() - began).toBeLessThan(8_000);
    expect(await noticeAfter('Delta', silent)).toContain('The name servers did not answer');
    names.clear();
    const statuses: number[] = [];
    for (let tries = 0; tries < 31; tries++) statuses.push((await check('Delta', 'tea.example')).status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(29);
    expect(statuses.slice(-2)).toEqual([429, 429]);
    expect(names.questions).toHaveLength(29 * 2);
    service.setClock(undefined);
    await service.db.transaction((tx) => deleteShop(tx, 'Delta'));
  });

  test('may be confirmed by the operator instead', async () => {
    const { stdout } = await byCommand('Alpha', ['tea.example']);
    expect(stdout).toContain(
      'tea.example is not used yet: it waits for the record _kontor-challenge.tea.example TXT',
    );
    expect(stdout).toContain('npx kontor shop confirm-domain Alpha tea.example');
    expect(await kontor(['shop', 'confirm-domain', 'Alpha', 'beer.example'])).toMatchObject({ code: 1 });
    expect(
      await kontor(['shop', 'confirm-domain', 'Alpha', 'tea.example'], { PUBLIC_URL: 'https://tea.example' }),
    ).toMatchObject({ code: 1, stderr: 'kontor: This service itself is at tea.example.\n' });
    expect(await usedDomains()).toEqual([]);
    expect(await kontor(['shop', 'confirm-domain', 'Alpha', 'Tea.example'])).toMatchObject({
      code: 0,
      stdout: 'Shop Alpha uses tea.example, within seconds.\n',
    });
    expect(await usedDomains()).toEqual([{ host: 'tea.example', shopId: 'Alpha', proof: 'command' }]);
    await byFile('Beta', ['beer.example']);
    await byFile('Alpha', ['tea.example', 'beer.example']);
    await kontor(['shop', 'confirm-domain', 'Beta', 'beer.example']);
    const other = await kontor(['shop', 'confirm-domain', 'Alpha', 'beer.example']);
    expect(other).toMatchObject({ code: 1 });
    expect(other.stderr).toContain('beer.example belongs to another shop');
  });

  test('of a backup is used if its record is still there, and waits otherwise', async () => {
    const file = await givenBackup('Gamma', ['tea.example', 'www.tea.example']);
    const restored = await kontor(['shop', 'restore', file]);
    expect(restored.code).toBe(0);
    const [, record] = /the record _kontor-challenge\.tea\.example TXT "([^"]+)"/.exec(restored.stdout)!;
    expect(await usedDomains()).toEqual([]);
    await service.db.transaction((tx) => deleteShop(tx, 'Gamma'));

    names.set('TXT', '_kontor-challenge.tea.example', record!);
    const again = await kontor(['shop', 'restore', file]);
    expect(again.stdout).toContain('www.tea.example is not used yet');
    expect(again.stdout).not.toContain('\ntea.example is not used yet');
    expect(await usedDomains()).toEqual([{ host: 'tea.example', shopId: 'Gamma', proof: 'TXT' }]);
    await service.db.transaction((tx) => deleteShop(tx, 'Gamma'));
    expect(await pendingDomains()).toEqual([]);
  });

  test('from before there were proofs stays in use', async () => {
    await service.db.run(sql`
      insert into shop_domain (host, shop_id, position, added_at) values ('old.example', 'Alpha', 0, ${service.db.now})`);
    expect(await shopAt('old.example')).toBe('Alpha');
    await service.db.run(sql`update shop set settings_version = settings_version + 1`);
    expect((await byFile('Alpha', ['new.example', 'old.example'])).status).toBe(303);
    expect(await usedDomains()).toEqual([{ host: 'old.example', shopId: 'Alpha', proof: null }]);
    expect(await shopAt('old.example')).toBe('Alpha');
    expect((await byFile('Beta', ['old.example'])).status).toBe(422);
  });
});

test('on a private installation a domain is used at once, until somebody else comes', async () => {
  const own = await startService({}, service);
  try {
    const options = { at: own, host: 'localhost:8080' };
    expect((await byFile('Alpha', ['try.example'], options)).status).toBe(303);
    expect(await usedDomains()).toEqual([{ host: 'try.example', shopId: 'Alpha', proof: null }]);
    expect((await byFile('Beta', ['try.example'], options)).status).toBe(422);
    expect(await shopAt('try.example', own)).toBe('Alpha');
    // The request for that host was the sign of others.
    expect((await byFile('Beta', ['beta.example'], options)).status).toBe(303);
    expect(await pendingDomains()).toEqual([{ host: 'beta.example', shopId: 'Beta' }]);
    expect(await shopAt('beta.example', own)).toBe('the service');
  } finally {
    await own.close();
  }
});

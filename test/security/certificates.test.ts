import dns from 'node:dns';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { certificateAskServer, createAskDecision } from '../../src/shops/domains/ask-server.ts';
import { applySettings } from '../../src/shops/settings/file.ts';
import { createServiceAddresses } from '../../src/shops/domains/service-addresses.ts';
import { checkDueDomains } from '../../src/shops/domains/worker.ts';
import { domainChallenges } from '../../src/shops/shop/domain-challenge.ts';
import { deleteShop, updateDeletion, updateSuspension } from '../../src/shops/shop/queries.ts';
import { installationKey } from '../../src/platform/sealing.ts';
import { givenDomains, givenShop, givenToken } from '../builders.ts';
import { startDnsServer, type DnsServer } from '../dns-server.ts';
import { startService, type Service } from '../service.ts';

/** A certificate vouches for a name: only names that a shop has proved may get one, and nobody may ask for it by a header. */

let service: Service;
let asks: FastifyInstance;
let names: DnsServer;
const systemServers = dns.getServers();

beforeAll(async () => {
  names = await startDnsServer();
  dns.setServers([names.address]);
  service = await startService({
    PUBLIC_URL: 'https://shops.example',
    PUBLIC_ADDRESSES: '203.0.113.5, 2001:DB8::5',
    TRUST_PROXY: '127.0.0.1',
  });
  await givenShop(service, 'Alpha');
  await givenShop(service, 'Beta');
});
beforeEach(async () => {
  names.clear();
  await asks?.close();
  asks = certificateAskServer(service.app.shopHosts, pino({ level: 'silent' }));
  for (const shopId of ['Alpha', 'Beta']) await givenDomains(service, shopId, []);
});
afterAll(async () => {
  dns.setServers(systemServers);
  names.close();
  await asks.close();
  await service.close();
});

const ask = async (domain: string, headers: Record<string, string> = {}) =>
  (await asks.inject({ url: '/ask', query: { domain }, headers })).statusCode;

async function givenProved(shopId: string, host: string) {
  await givenDomains(service, shopId, [host]);
  await service.db.run(
    sql`update shop_domain set proof = 'TXT', added_at = ${service.db.now} where host = ${host}`,
  );
}

describe('the question whether a name may have a certificate', () => {
  test('is answered with yes for a proved domain and the host of the service, however they are written', async () => {
    await givenProved('Alpha', 'www.tea.example:8443');
    for (const name of ['www.tea.example', 'WWW.Tea.Example.', 'shops.example', 'Shops.example']) {
      expect([name, await ask(name)]).toEqual([name, 200]);
    }
    for (const name of ['tea.example', 'x.www.tea.example', '*.tea.example', 'xshops.example']) {
      expect([name, await ask(name)]).toEqual([name, name.startsWith('*') ? 400 : 404]);
    }
  });

  test.each([
    '',
    'localhost',
    'shops.example:443',
    '203.0.113.5',
    '2001:db8::5',
    'shops.example/',
    'shops.example..',
    ' shops.example',
    'shops.example\0',
    `${'a.'.repeat(200)}example`,
    'a'.repeat(200_000),
    'xn--\u00e4.example',
  ])('is refused where it is no name: %#', async (domain) => {
    expect(await ask(domain)).toBe(400);
  });

  test('is refused without a name, with two, at another path and by another method', async () => {
    expect((await asks.inject('/ask')).statusCode).toBe(400);
    expect((await asks.inject('/ask?domain=shops.example&domain=evil.example')).statusCode).toBe(400);
    expect((await asks.inject('/?domain=shops.example')).statusCode).toBe(404);
    expect((await asks.inject({ method: 'POST', url: '/ask?domain=shops.example' })).statusCode).toBe(404);
  });

  test('is not changed by a header', async () => {
    const headers = {
      host: 'shops.example',
      'x-forwarded-host': 'shops.example',
      'x-forwarded-for': '127.0.0.1',
      'x-original-url': '/ask?domain=shops.example',
    };
    expect(await ask('evil.example', headers)).toBe(404);
    expect(await ask('shops.example', { 'x-forwarded-host': 'evil.example' })).toBe(200);
  });

  test('has no route in the service, under any of its hosts', async () => {
    await givenProved('Alpha', 'tea.example');
    for (const host of ['shops.example', 'tea.example', 'localhost']) {
      const answer = await service.app.inject({ url: '/ask?domain=tea.example', headers: { host } });
      expect([host, answer.statusCode]).toEqual([host, 404]);
    }
  });

  test('is answered with no for a domain that is claimed, or in use without a proof', async () => {
    await givenDomains(service, 'Alpha', ['old.example']);
    expect(await ask('old.example')).toBe(404);
    await service.db.run(sql`
      insert into pending_domain (shop_id, host, position, added_at) values ('Beta', 'claim.example', 0, ${service.db.now})`);
    expect(await ask('claim.example')).toBe(404);
    await service.db.run(sql`delete from pending_domain where shop_id = 'Beta'`);
  });

  test('follows what another process writes, and a removed domain is lost at once', async () => {
    await givenDomains(service, 'Alpha', ['tea.example']);
    // As another process does: nobody tells this one.
    await service.db.run(sql`
      update shop_domain set proof = 'TXT', added_at = ${new Date()} where host = 'tea.example'`);
    expect(await ask('tea.example')).toBe(200);
    await givenDomains(service, 'Alpha', []);
    expect(await ask('tea.example')).toBe(404);
  });

  test('is answered with no while the shop is suspended, and after it is deleted', async () => {
    await givenShop(service, 'Gamma');
    await givenProved('Gamma', 'gamma.example');
    const { app, db } = service;
    expect(await ask('gamma.example')).toBe(200);
    await db.transaction((tx) => updateSuspension(tx, 'Gamma', tx.now));
    await app.shopHosts.refresh();
    expect(await ask('gamma.example')).toBe(404);
    await db.transaction((tx) => updateSuspension(tx, 'Gamma', null));
    await app.shopHosts.refresh();
    expect(await ask('gamma.example')).toBe(200);
    await db.transaction((tx) => deleteShop(tx, 'Gamma'));
    await app.shopHosts.refresh();
    expect(await ask('gamma.example')).toBe(404);
  });

  test('is answered with no while the deletion of the shop is planned, and its pages are paused', async () => {
    await givenShop(service, 'Delta');
    await givenProved('Delta', 'delta.example');
    const { app, db } = service;
    const page = async () => {
      const { statusCode, headers, body } = await app.inject({
        url: '/',
        headers: { host: 'delta.example' },
      });
      return [statusCode, headers['retry-after'], body.includes('This shop is paused')];
    };
    const planned = async (at: Date | null) => {
      await db.transaction((tx) => updateDeletion(tx, 'Delta', at));
      await app.shopHosts.refresh();
      return ask('delta.example');
    };
    expect(await planned(null)).toBe(200);
    expect(await page()).toEqual([200, undefined, false]);
    expect(await planned(new Date(Date.now() + 86_400_000))).toBe(404);
    expect(await page()).toEqual([503, '3600', true]);
    expect(await planned(null)).toBe(200);
    expect(await page()).toEqual([200, undefined, false]);
    await db.transaction((tx) => deleteShop(tx, 'Delta'));
    await app.shopHosts.refresh();
  });

  test('reads the database for unknown names once a second, and refuses a flood of them without', async () => {
    let reads = 0;
    let time = 1_000;
    const hosts = {
      mayHaveCertificate: (name: string) => name === 'tea.example',
      refreshQuietly: async () => void reads++,
    };
    const statusOf = createAskDecision(hosts, () => time);
    const statuses = new Map<number, number>();
    for (let number = 0; number < 5_000; number++) {
      const status = await statusOf(`a${number}.example`);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([Object.fromEntries(statuses), reads]).toEqual([{ 404: 100, 429: 4_900 }, 1]);
    expect(await statusOf('tea.example')).toBe(200);
    time = 2_500;
    expect([await statusOf('a1.example'), reads]).toEqual([404, 1]);
    expect([await statusOf('b.example'), reads]).toEqual([404, 2]);
    time = 5_000;
    expect([await statusOf('a1.example'), reads]).toEqual([404, 3]);
  });
});

describe('the check in the background', () => {
  const log = pino({ level: 'silent' });
  const checkAll = async () =>
    checkDueDomains(
      {
        db: service.db,
        service: createServiceAddresses({ ...service.config, PUBLIC_URL: 'http://shops.example' }),
        hosts: service.app.shopHosts,
        challengeOf: domainChallenges(await installationKey(service.config)),
      },
      log,
    );
  const claim = (shopId: string, domains: string[]) =>
    service.db.transaction((tx) => applySettings(tx, shopId, { domains }));
  const stepsOf = async (shopId: string) => {
    const token = await givenToken(service, shopId, ['orders_read']);
    const { body } = await service.call('GET', `/manage/shops/${shopId}/domains`, { token });
    return (body.items as { host: string; steps: { reason: string; choices: object[] }[] }[]).map(
      ({ host, steps }) => ({ host, reasons: steps.map(({ reason }) => reason), choices: steps[1]!.choices }),
    );
  };
  const dueIn = async (host: string) => {
    const row = await service.db.one<{ dueAt: Date; attempts: number }>(sql`
      select due_at as "dueAt", attempts from domain_status where host = ${host}`);
    return [Math.round((row!.dueAt.getTime() - service.db.now.getTime()) / 60_000), row!.attempts];
  };

  test('proves a domain by itself, with pauses that double, and looks at the done ones once a day', async () => {
    const start = new Date('2026-11-19T10:00:00Z');
    service.setClock(start);
    await claim('Alpha', ['tea.example', 'www.tea.example']);
    const apex = [
      { type: 'A', name: 'tea.example', value: '203.0.113.5' },
      { type: 'AAAA', name: 'tea.example', value: '2001:db8::5' },
    ];
    expect(await stepsOf('Alpha')).toEqual([
      {
        host: 'tea.example',
        reasons: ['notProved', 'notChecked', 'afterProof'],
        choices: [{ records: apex }],
      },
      {
        host: 'www.tea.example',
        reasons: ['notProved', 'notChecked', 'afterProof'],
        choices: [
          { records: [{ type: 'CNAME', name: 'www.tea.example', value: 'shops.example' }] },
          { records: apex.map((record) => ({ ...record, name: 'www.tea.example' })) },
        ],
      },
    ]);

    names.set('A', 'www.tea.example', '198.51.100.7');
    for (const [minutes, attempts] of [
      [1, 1],
      [2, 2],
      [4, 3],
    ] as const) {
      await checkAll();
      expect(await dueIn('www.tea.example')).toEqual([minutes, attempts]);
      // Not due, so nobody asks.
      names.questions.length = 0;
      await checkAll();
      expect(names.questions).toEqual([]);
      service.setClock(new Date(service.db.now.getTime() + minutes * 60_000));
    }
    expect((await stepsOf('Alpha')).map(({ reasons }) => reasons)).toEqual([
      ['notProved', 'pointsNowhere', 'afterProof'],
      ['notProved', 'pointsElsewhere', 'afterProof'],
    ]);

    const challenge = domainChallenges(await installationKey(service.config))('Alpha', 'www.tea.example');
    names.set('TXT', challenge.name, challenge.text);
    names.set('A', 'www.tea.example', '203.0.113.5');
    names.set('AAAA', 'www.tea.example', '2001:db8:0::5');
    await checkAll();
    expect((await stepsOf('Alpha'))[0]).toMatchObject({
      host: 'www.tea.example',
      reasons: ['proved', 'pointsHere', 'notChecked'],
      choices: [],
    });
    await service.app.shopHosts.refresh();
    expect(await ask('www.tea.example')).toBe(200);
    expect(await ask('tea.example')).toBe(404);

    // Not done without a certificate; with one it waits for a day.
    await service.db.run(
      sql`update domain_status set attempts = 20, due_at = ${start} where host = 'tea.example'`,
    );
    await checkAll();
    expect(await dueIn('tea.example')).toEqual([1_440, 21]);
    service.setClock(undefined);
  });

  test('keeps nothing of a domain that was removed, and does not take one from another shop', async () => {
    await claim('Alpha', ['tea.example']);
    await claim('Beta', ['tea.example']);
    const challengeOf = domainChallenges(await installationKey(service.config));
    for (const shopId of ['Alpha', 'Beta']) {
      const { name, text } = challengeOf(shopId, 'tea.example');
      names.set('TXT', name, text);
      await checkAll();
      await service.db.run(sql`update domain_status set due_at = ${service.db.now}`);
    }
    await checkAll();
    const used = await service.db.many(sql`select host, shop_id as "shopId", proof from shop_domain`);
    expect(used).toEqual([{ host: 'tea.example', shopId: 'Alpha', proof: 'TXT' }]);
    expect((await stepsOf('Beta'))[0]).toMatchObject({
      reasons: ['notProved', 'pointsNowhere', 'afterProof'],
    });
    await claim('Alpha', []);
    expect(await stepsOf('Alpha')).toEqual([]);
    const rows = await service.db.many(sql`select shop_id as "shopId" from domain_status`);
    expect(rows).toEqual([{ shopId: 'Beta' }]);
  });

  test('keeps what it knows when no name server answers, for five seconds at most', async () => {
    await claim('Alpha', ['tea.example']);
    names.isAnswering = false;
    const began = performance.now();
    await checkAll();
    expect(performance.now() - began).toBeLessThan(8_000);
    expect((await stepsOf('Alpha'))[0]).toMatchObject({ reasons: ['notProved', 'noAnswer', 'afterProof'] });
  });
});

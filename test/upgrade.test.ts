import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readConfig } from '../src/config.ts';
import { migrate } from '../src/db/migrate.ts';
import { demoShop, startDemo } from './demo.ts';
import { readsOf, type Request } from './reads.ts';
import { asRecorded, loadRecording, type Recording } from './recording.ts';
import { startService, type Service } from './service.ts';

/*
 * An installation that an earlier version has made comes up unchanged: the demo shop of that version, row by row, and
 * what that version answered. A release records itself, once and for good, with
 * `KONTOR_RECORD=1 npx vitest run test/upgrade.test.ts`, under the number of its last migration.
 */

const folder = new URL('upgrade/', import.meta.url);
const migrations = new URL('../migrations/', import.meta.url);

if (process.env['KONTOR_RECORD']) await record();
const files = (await readdir(folder)).filter((file) => file.endsWith('.json.gz'));

test.each(files)(
  'the installation of %s comes up unchanged: it answers what its own version answered, and sells on',
  async (file) => {
    const recording = JSON.parse(gunzipSync(await readFile(new URL(file, folder))).toString()) as Recording;
    const service = await startRestored(recording);
    const requests = recording.answers.map(({ request }) => request);
    const answers = await answersOf(service, requests);
    await service.close();
    expect(answers.length).toBeGreaterThan(200);
    for (const [index, answer] of answers.entries()) {
      const recorded = recording.answers[index]!;
      expect({ ...answer, text: asRecorded(answer.text) }).toEqual({
        ...recorded,
        text: asRecorded(recorded.text),
      });
    }
  },
  120_000,
);

async function record(): Promise<void> {
  const now = new Date('2026-11-16T12:00:00Z');
  const service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' }, now);
  const tables = await tablesOf(service);
  const sequences = await sequencesOf(service);
  const answers = await answersOf(service, [
    ...(await readsOf(demoShop(service))),
    ...(await writesOf(service)),
  ]);
  const lastMigration = (await readdir(migrations)).toSorted().at(-1)!;
  const recording: Recording = { now: now.toISOString(), lastMigration, tables, sequences, answers };
  const name = `${lastMigration.slice(0, 4)}.json.gz`;
  await writeFile(new URL(name, folder), gzipSync(JSON.stringify(recording), { level: 9 }));
  await service.close();
}

const SHOP = '/DemoShop';
const get = (path: string): Request => ({ method: 'GET', path: SHOP + path });

/** A cart of that version goes on and becomes an order, and a product gets another price. */
async function writesOf(service: Service): Promise<Request[]> {
  const { body } = await service.call('GET', `${SHOP}/carts`, { token: 'demo-all' });
  const cart = `${SHOP}/carts/${body.items[0].cartId}`;
  const cartToken = 'demo-cart-a';
  const { productId } = body.items[0].lineItemContainer.productLineItems[0];
  const address = {
    firstName: 'Ada',
    lastName: 'Brennan',
    street: 'Speicherweg 4',
    zipCode: '20457',
    city: 'Hamburg',
    country: 'DE',
    emailAddress: 'ada@pelican.example',
  };
  return [
    { method: 'GET', path: cart, cartToken },
    { method: 'POST', path: `${cart}/line-items`, cartToken, body: { productId, quantity: 1 } },
    { method: 'PUT', path: `${cart}/billing-address`, cartToken, body: address },
    { method: 'POST', path: `${cart}/coupon`, cartToken, body: { code: 'SUMMER20' } },
    { method: 'POST', path: `${cart}/order`, cartToken },
    { method: 'GET', path: cart, cartToken },
    get(`/products/${productId}`),
    {
      method: 'PATCH',
      path: `${SHOP}/products/${productId}`,
      body: [{ op: 'add', path: '/priceInfo/price/amount', value: 12.34 }],
    },
    get(`/products/${productId}/lowest-price`),
    get('/sales'),
  ];
}

async function answersOf(service: Service, requests: readonly Request[]): Promise<Recording['answers']> {
  const answers: Recording['answers'] = [];
  const known = JSON.stringify(requests);
  for (const request of requests) {
    const { method, path, body, cartToken } = request;
    const { status, text } = await service.call(method, path, {
      token: 'demo-all',
      ...(body !== undefined && { body }),
      ...(cartToken !== undefined && { cartToken }),
    });
    answers.push({ request, status, text: withoutNewIds(text, known) });
  }
  return answers;
}

/** Ids and tokens that are made while the test runs are others every time. */
function withoutNewIds(text: string, known: string): string {
  return text
    .replaceAll(/[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}/g, (id) => (known.includes(id) ? id : 'ID'))
    .replaceAll(/"pickupToken":"[^"]*"|PickupToken=[^"]*/g, 'TOKEN');
}

/** A service on a database with these rows, which it has brought up to date as any start does. */
async function startRestored(recording: Recording): Promise<Service> {
  const { database, drop } = await loadRecording(recording);
  const data = await mkdtemp(path.join(tmpdir(), 'kontor-upgrade-'));
  const config = readConfig({ LOG_LEVEL: 'silent', KONTOR_DATA: data });
  const service = await startService({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' }, {
    database,
    config,
  } as Service);
  await migrate(service.db, () => {});
  service.setClock(new Date(recording.now));
  await service.app.shopHosts.refresh();
  return {
    ...service,
    close: async () => {
      await service.close();
      await drop();
      await rm(data, { recursive: true, force: true });
    },
  };
}

async function tablesOf({ db }: Service): Promise<Recording['tables']> {
  const { rows } = await db.pool.query<{ name: string; columns: string }>(`
    select table_name as name, string_agg(format('%I', column_name), ',' order by ordinal_position) as columns
    from information_schema.columns
    join pg_tables on tablename = table_name and schemaname = table_schema
    where table_schema = 'public' and is_generated = 'NEVER'
    group by 1 order by 1`);
  const tables: Recording['tables'] = {};
  for (const { name, columns } of rows) {
    const answer = await db.pool.query<{ rows: object[] }>(
      `select coalesce(json_agg(entry), '[]') as rows from (select ${columns} from ${name}) as entry`,
    );
    tables[name] = answer.rows[0]!.rows;
  }
  return tables;
}

async function sequencesOf({ db }: Service): Promise<Recording['sequences']> {
  const { rows } = await db.pool.query<{ name: string; value: string }>(
    `select sequencename as name, last_value as value from pg_sequences
     where schemaname = 'public' and last_value is not null`,
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, Number(value)]));
}

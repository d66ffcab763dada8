import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openDatabase, type Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { cleanUp, kontor, newFolder, startKontor, waitFor, type Running } from './process.ts';
import { cloneDatabase, databaseEnvironment, databaseOptions } from './service.ts';

/** A demo (KONTOR_DEMO=1) as real processes run it: the reset at the full hour by one of several, also after kill -9. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 90_000 });

let environment: Record<string, string>;
let db: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await cloneDatabase();
  drop = database.drop;
  db = openDatabase(databaseOptions(database.name));
  environment = {
    ...databaseEnvironment(database.name),
    KONTOR_DATA: await newFolder(),
    KONTOR_SECRET: 'x'.repeat(32),
    KONTOR_DEMO: '1',
    LOG_LEVEL: 'info',
  };
});
afterAll(async () => {
  await cleanUp();
  await db.close();
  await drop();
});

const page = ({ address }: Running) => fetch(`${address}/shop/DemoShop`);
const versions = () =>
  db.many<{ shopId: string; createdAt: Date; isClosed: boolean }>(sql`
    select shop_id as "shopId", created_at as "createdAt", suspended_at is not null as "isClosed" from shop
    order by shop_id desc`);
/** As if the full hour had come since the shops were created. */
const letAnHourPass = () => db.run(sql`update shop set created_at = created_at - interval '1 hour'`);
const resetsOf = (service: Running) => service.stderr().match(/a shop of the demo is reset/g)?.length ?? 0;
const areNew = async (before: { createdAt: Date }[]) => {
  const now = await versions();
  return now.every(({ createdAt, isClosed }, index) => !isClosed && createdAt > before[index]!.createdAt);
};

test('two processes reset the shops once; one that is killed in between is followed by the next', async () => {
  const first = await startKontor(environment);
  const second = await startKontor(environment);
  expect(first.stdout()).not.toContain('Become the owner');
  expect(first.stdout()).not.toContain('demo-all');
  expect((await page(first)).status).toBe(200);
  const made = await versions();
  expect(made.map(({ shopId }) => shopId)).toEqual(['DemoShop', 'DemoOffice']);

  const cart = await fetch(`${first.address}/rs/shops/DemoShop/carts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const { cartId } = (await cart.json()) as { cartId: string };
  const cartHeaders = { 'x-epages-cart-token': cart.headers.get('x-epages-cart-token')! };
  const findCart = () =>
    fetch(`${second.address}/rs/shops/DemoShop/carts/${cartId}`, { headers: cartHeaders });
  expect((await findCart()).status).toBe(200);

  await letAnHourPass();
  const statuses = new Set<number>();
  await waitFor(
    async () => {
      for (const service of [first, second]) statuses.add((await page(service)).status);
      return areNew(made);
    },
    60_000,
    100,
  );
  expect(statuses).toEqual(new Set([200, 503]));
  expect((await findCart()).status).toBe(404);
  await waitFor(() => resetsOf(first) + resetsOf(second) === 2);

  // Killed while the shops are closed; nobody else is there.
  await second.stop();
  const before = await versions();
  await letAnHourPass();
  await waitFor(async () => (await versions()).every(({ isClosed }) => isClosed), 20_000, 5);
  first.kill('SIGKILL');
  await first.ended;
  expect((await versions()).map(({ isClosed }) => isClosed)).toContain(true);
  const third = await startKontor(environment);
  await waitFor(() => areNew(before), 60_000, 250);
  expect((await page(third)).status).toBe(200);
  await waitFor(() => resetsOf(third) === 2);
  expect(resetsOf(first) + resetsOf(second)).toBe(2);
  expect((await third.stop()).code).toBe(0);
});

test('does not start beside the shop of somebody else, and says what to do', async () => {
  expect(
    await kontor(['shop', 'create', 'TeaHouse', '--demo'], { ...environment, KONTOR_DEMO: '0' }),
  ).toMatchObject({ code: 0 });
  const { code, stderr } = await kontor(['serve'], { ...environment, PORT: '0', LOG_LEVEL: 'silent' });
  expect(code).toBe(1);
  expect(stderr).toContain(
    'kontor: KONTOR_DEMO=1 deletes its shops at every full hour, and this database has the shop TeaHouse: set KONTOR_DATA',
  );
});

import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from '../bench/client.ts';
import { asBulk, copyShop } from '../bench/many-shops.ts';
import { createBareShop, stockUp as stockUpBench } from '../bench/shop.ts';
import type { Call } from '../bench/targets.ts';
import { percentile } from '../bench/timing.ts';
import { findOrCreateUser, insertAdminSession, updateHost } from '../src/admin/users/queries.ts';
import { ensureApp, insertToken } from '../src/apps/queries.ts';
import { sql } from '../src/db/sql.ts';
import { createHostToken } from '../src/host/tokens.ts';
import { HOST_SCOPES, SCOPES } from '../src/http/scopes.ts';
import { newId, newSecret, secretHash } from '../src/kernel/ids.ts';
import type { ProofService } from './service.ts';
import { allAtOnce, many, must, mustEqual, sum, times, type Check } from './stage.ts';

const SHOPS = 1_000;
const OTHERS = 10_000;
/** Calls at the same time, as an order system sends them. */
const AT_ONCE = 8;
/** The page of all shops, at 10,000 of them. */
const PAGE_GOAL_MS = 100;
const MAX_MEGABYTES = 600;
/** The plan of the file that the service of the proofs has. */
const PLAN = { name: 'life', products: 2, orders: 3 };

interface Tenant {
  shopId: string;
  token: string;
  productId: string;
  gross: number;
}

/** Whole lives of shops by the API of the host: made, sold, limited, closed, deleted, restored and billed. */
export const hostLife: Check<ProofService> = {
  name: 'host-life',
  summary: `${many(SHOPS)} shops live by the host API beside ${many(OTHERS)} others, which notice nothing`,
  endsWithin: 3 * 3_600_000,
  async run(stage) {
    const others = Math.min(OTHERS, stage.size(10 * OTHERS));
    const { hostToken, cookie } = await givenOthers(stage, others);
    const before = await lookAtOthers(stage);
    const clock = stopwatch(stage);
    const host = (name: string, method: Call['method'], path: string, body?: unknown) =>
      clock.timed(name, {
        method,
        path: `/host${path}`,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        headers: { authorization: `Bearer ${hostToken}` },
      });
    const shopIds = times(stage.size(SHOPS), (index) => `Life-${String(index).padStart(5, '0')}`);

    const page = await lookAtPages(stage, clock, { hostToken, cookie, count: others });
    await allAtOnce(
      stage,
      'shops to create',
      shopIds,
      async (shopId) => {
        const made = await host('create', 'POST', '/shops', newShopOf(shopId));
        mustEqual(`the creation of ${shopId}`, [made.status, bodyOf(made)['plan']], [201, PLAN.name]);
      },
      AT_ONCE,
    );
    const tokens = await givenTokens(stage, shopIds);
    const tenants = await allAtOnce(
      stage,
      'shops that sell',
      shopIds,
      (shopId, index) => sell(clock, { shopId, token: tokens[index]! }),
      AT_ONCE,
    );
    await allAtOnce(
      stage,
      'neighbours',
      tenants,
      (tenant, index) => mustBeApart(clock, tenant, tenants[(index + 1) % tenants.length]!, hostToken),
      AT_ONCE,
    );
    await allAtOnce(
      stage,
      'shops to suspend',
      tenants.filter((_, index) => index % 5 === 0),
      async ({ shopId, token }) => {
        const statusOf = async () =>
          (await clock.timed('refused call', ofShop(shopId, token, 'GET', '/products'))).status;
        mustEqual(
          shopId,
          bodyOf(await host('suspend', 'POST', `/shops/${shopId}/suspend`))['state'],
          'suspended',
        );
        mustEqual(`calls of ${shopId} while it is suspended`, await statusOf(), 403);
        await host('resume', 'POST', `/shops/${shopId}/resume`);
        mustEqual(`calls of ${shopId} after that`, await statusOf(), 200);
      },
      AT_ONCE,
    );
    await mustBeBilled(stage, host, tenants);
    // The deletion takes minutes: the background has much to count for the others.
    process.stderr.write(`p50/p95 in ms: ${clock.summary()}, ${(await stage.memory()).toFixed(0)} MB\n`);
    const deleted = await deleteSome(stage, host, tenants);
    mustEqual('the rows of the other shops', await lookAtOthers(stage), before);
    const megabytes = await stage.memory();
    must(megabytes < MAX_MEGABYTES, `the service takes ${megabytes.toFixed(0)} MB`);
    must(page < PAGE_GOAL_MS, `the page of all shops takes ${page.toFixed(0)} ms (p95)`);
    const facts = `${many(shopIds.length)} shops beside ${many(others)}, ${many(deleted)} deleted, ${megabytes.toFixed(0)} MB`;
    return `${facts}; p50/p95 in ms: ${clock.summary()}`;
  },
};

/** Small shops that differ by their id only, the token of a host, and somebody who is signed in as one. */
async function givenOthers(stage: ProofService, count: number) {
  return stage.look(async (db) => {
    await createBareShop(db, 'Other');
    await stockUpBench(db, 'Other');
    const progress = stage.progress('other shops', count);
    await asBulk(db, async (client, tables) => {
      const atOnce = 500;
      for (let from = 1; from < count; from += atOnce) {
        const until = Math.min(from + atOnce - 1, count - 1);
        await copyShop(client, tables, 'Other', from, until);
        progress.advance(until - from + 1);
      }
    });
    progress.end();
    return db.transaction(async (tx) => {
      const userId = await findOrCreateUser(tx, 'host@life.example');
      await updateHost(tx, userId, true);
      return {
        hostToken: await createHostToken(tx, { name: 'order system', scopes: HOST_SCOPES }),
        cookie: `admin=${await insertAdminSession(tx, userId, 'Mozilla/5.0')}`,
      };
    });
  });
}

/** What must not change: the shops and products of the others, and the time of their last change. */
function lookAtOthers(stage: ProofService) {
  return stage.look(async (db) => {
    const [shops, products, orders] = await Promise.all([
      db.one(sql`
        select count(*) as shops, sum(settings_version)::text as versions, count(plan) as plans,
          count(suspended_at) + count(deletion_at) as closed
        from shop where starts_with(shop_id, 'Other')`),
      db.one(sql`
        select count(*) as products, sum(version)::text as versions from product where starts_with(shop_id, 'Other')`),
      db.one(sql`select count(*) as orders from customer_order where starts_with(shop_id, 'Other')`),
    ]);
    return { shops, products, orders };
  });
}

/** The times of calls by their name. */
function stopwatch(stage: ProofService) {
  const taken = new Map<string, number[]>();
  return {
    async timed(name: string, call: Call): Promise<Reply> {
      const began = performance.now();
      const reply = await stage.send(call);
      taken.set(name, [...(taken.get(name) ?? []), performance.now() - began]);
      must(reply.status < 500, `${name} got ${reply.status}: ${reply.text.slice(0, 200)}`);
      return reply;
    },
    of: (name: string, share: number) => percentile(taken.get(name)!, share),
    summary: () =>
      [...taken]
        .map(
          ([name, all]) => `${name} ${percentile(all, 0.5).toFixed(1)}/${percentile(all, 0.95).toFixed(1)}`,
        )
        .join(', '),
  };
}

type Stopwatch = ReturnType<typeof stopwatch>;

const bodyOf = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>;

const ofShop = (
  shopId: string,
  token: string,
  method: Call['method'],
  path: string,
  body?: unknown,
): Call => ({
  method,
  path: `/rs/shops/${shopId}${path}`,
  ...(body !== undefined && { body: JSON.stringify(body) }),
  headers: { authorization: `Bearer ${token}` },
});

/** Reads all shops page by page, and opens the page of the admin. Returns the p95 of that in milliseconds. */
async function lookAtPages(
  stage: ProofService,
  clock: Stopwatch,
  { hostToken, cookie, count }: { hostToken: string; cookie: string; count: number },
): Promise<number> {
  const headers = { authorization: `Bearer ${hostToken}` };
  for (let round = 0; round < 5; round++) {
    let found = 0;
    for (let after: string | null = ''; after !== null;) {
      const reply: Reply = await clock.timed('list of 500', {
        method: 'GET',
        path: `/host/shops?limit=500&after=${after}`,
        headers,
      });
      const { items, next } = bodyOf(reply) as { items: { shopId: string }[]; next: string | null };
      found += items.filter(({ shopId }) => shopId.startsWith('Other')).length;
      after = next;
    }
    mustEqual('the shops in the list', found, count);
  }
  const progress = stage.progress('pages', 20);
  for (let turn = 0; turn < 20; turn++) {
    const page = await clock.timed('admin page', {
      method: 'GET',
      path: '/admin/host',
      headers: { cookie, host: 'localhost' },
    });
    mustEqual('the page of all shops', [page.status, page.text.includes('Other')], [200, true]);
    await clock.timed('search', { method: 'GET', path: '/host/shops?q=other-77&limit=100', headers });
    progress.advance(1);
  }
  progress.end();
  return Math.max(clock.of('admin page', 0.95), clock.of('list of 500', 0.95));
}

const newShopOf = (shopId: string) => ({
  shopId,
  name: `Shop ${shopId}`,
  country: 'DE',
  email: 'shop@life.example',
  plan: PLAN.name,
  settings: {
    invoicing: {
      street: 'Kai 1',
      zipCode: '20457',
      city: 'Hamburg',
      vatId: 'DE123456789',
      bank: { iban: 'DE02120300000000202051' },
    },
  },
});

function givenTokens(stage: ProofService, shopIds: readonly string[]): Promise<string[]> {
  return stage.look(async (db) => {
    const tokens: string[] = [];
    for (const shopId of shopIds) {
      const token = newSecret(32);
      await db.transaction(async (tx) => {
        const appId = await ensureApp(tx, shopId, { appId: newId(tx.now), name: 'life', scopes: SCOPES });
        await insertToken(tx, shopId, { tokenHash: secretHash(token), appId, scopes: SCOPES });
      });
      tokens.push(token);
    }
    return tokens;
  });
}

/** Fills the shop up to the limits of its plan, and once beyond them. */
async function sell(clock: Stopwatch, { shopId, token }: Pick<Tenant, 'shopId' | 'token'>): Promise<Tenant> {
  const product = (name: string) =>
    clock.timed('product', ofShop(shopId, token, 'POST', '/products', { name, price: 5, visible: true }));
  const first = await product('Tea');
  const created = [first.status, (await product('Cup')).status, (await product('Pot')).status];
  mustEqual(`products of ${shopId}`, created, [201, 201, 402]);
  const productId = String(bodyOf(first)['productId']);
  let gross = 0;
  for (let number = 1; number <= PLAN.orders + 1; number++) {
    const cart = await clock.timed(
      'cart',
      ofShop(shopId, token, 'POST', '/carts', {
        lineItems: [{ productId, quantity: number }],
        billingAddress: {
          lastName: 'Lindqvist',
          street: 'Kai 7',
          zipCode: '20457',
          city: 'Hamburg',
          country: 'DE',
          emailAddress: 'ada@life.example',
        },
      }),
    );
    mustEqual(`a cart of ${shopId}`, cart.status, 201);
    const call = ofShop(shopId, token, 'POST', `/carts/${String(bodyOf(cart)['cartId'])}/order`);
    const cartToken = String(cart.headers['x-epages-cart-token']);
    const order = await clock.timed('order', {
      ...call,
      headers: { ...call.headers, 'x-epages-cart-token': cartToken },
    });
    mustEqual(`order ${number} of ${shopId}`, order.status, number <= PLAN.orders ? 201 : 402);
    if (order.status === 201) gross += Number(bodyOf(order)['grandTotal']);
  }
  return { shopId, token, productId, gross };
}

/** Neither the token nor the ids of a shop open anything of its neighbour, nor does the token of a shop open the host. */
async function mustBeApart(clock: Stopwatch, one: Tenant, other: Tenant, hostToken: string): Promise<void> {
  if (one.shopId === other.shopId) return;
  const statusOf = async (call: Call) => (await clock.timed('stranger', call)).status;
  const statuses = [
    await statusOf(ofShop(other.shopId, one.token, 'GET', '/products')),
    await statusOf(ofShop('Other-1', one.token, 'GET', '/orders')),
    await statusOf(ofShop(one.shopId, one.token, 'GET', `/products/${other.productId}`)),
    await statusOf(ofShop(one.shopId, hostToken, 'GET', '/orders')),
    await statusOf({ ...ofShop('', one.token, 'GET', ''), path: `/host/shops/${one.shopId}` }),
  ];
  mustEqual(`what ${one.shopId} opens elsewhere`, statuses, [401, 401, 404, 401, 401]);
}

type HostCall = (name: string, method: Call['method'], path: string, body?: unknown) => Promise<Reply>;

/** Orders and turnover of the bills are those that the shops have had. */
async function mustBeBilled(stage: ProofService, host: HostCall, tenants: readonly Tenant[]): Promise<void> {
  const now = Date.now();
  const [from, to] = [now - 86_400_000, now].map((time) => new Date(time).toISOString().slice(0, 10));
  const orders = new Map<string, number>();
  const gross = new Map<string, number>();
  const progress = stage.progress('shops on bills', tenants.length);
  for (let after: string | null = ''; after !== null;) {
    const reply = await host('usage of 200', 'GET', `/usage?from=${from}&to=${to}&limit=200&after=${after}`);
    const { items, next } = bodyOf(reply) as {
      items: { shopId: string; orders: number; turnover: { gross: string }[] }[];
      next: string | null;
    };
    for (const { shopId, orders: count, turnover } of items) {
      if (count === 0) continue;
      orders.set(shopId, (orders.get(shopId) ?? 0) + count);
      gross.set(
        shopId,
        (gross.get(shopId) ?? 0) + sum(turnover.map((one) => Math.round(Number(one.gross) * 100))),
      );
      progress.advance(1);
    }
    after = next;
  }
  progress.end();
  mustEqual(
    'shops with orders',
    [...orders.keys()].toSorted(),
    tenants.map(({ shopId }) => shopId).toSorted(),
  );
  for (const tenant of tenants) {
    const { shopId } = tenant;
    const billed = [orders.get(shopId), gross.get(shopId)];
    mustEqual(`the bill of ${shopId}`, billed, [PLAN.orders, Math.round(tenant.gross * 100)]);
  }
}

/** Deletes every tenth shop at once, and plans the deletion of as many others, which are restored. Returns how many. */
async function deleteSome(stage: ProofService, host: HostCall, tenants: readonly Tenant[]): Promise<number> {
  const every = (rest: number) => tenants.filter((_, index) => index % 10 === rest);
  await allAtOnce(
    stage,
    'shops to restore',
    every(1),
    async ({ shopId }) => {
      const planned = bodyOf(await host('delete', 'DELETE', `/shops/${shopId}?days=1`))['state'];
      const restored = bodyOf(await host('restore', 'POST', `/shops/${shopId}/restore`))['state'];
      mustEqual(shopId, [planned, restored], ['deletionPlanned', 'notOpen']);
    },
    AT_ONCE,
  );
  const deleted = every(0);
  await allAtOnce(
    stage,
    'shops to delete',
    deleted,
    ({ shopId }) => host('delete', 'DELETE', `/shops/${shopId}?days=0`),
    AT_ONCE,
  );
  const left = () =>
    stage.look(async (db) => {
      const row = await db.one<{ shops: number }>(sql`
        select count(*) as shops from shop where starts_with(shop_id, 'Life')`);
      return row!.shops;
    });
  while ((await left()) > tenants.length - deleted.length) await sleep(2_000);
  const log = await stage.look((db) =>
    db.many<{ type: string; events: number }>(sql`
      select type, count(*) as events from host_event where starts_with(shop, 'Life') group by type`),
  );
  const events = Object.fromEntries(log.map(({ type, events: count }) => [type, count]));
  mustEqual(
    'the log of the host',
    [events['SHOP_CREATED'], events['SHOP_RESTORED'], events['SHOP_DELETED']],
    [tenants.length, every(1).length || undefined, deleted.length],
  );
  mustEqual(
    'rows of deleted shops',
    await stage.look((db) =>
      db.many(sql`
        select shop_id from product where shop_id = any (${deleted.map(({ shopId }) => shopId)}::text[])
        union all select shop_id from customer_order where shop_id = any (${deleted.map(({ shopId }) => shopId)}::text[])`),
    ),
    [],
  );
  return deleted.length;
}

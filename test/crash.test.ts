import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { MAX_EDITED_PRODUCTS } from '../src/catalogue/products/bulk-edit.ts';
import { insertBulkEdit } from '../src/catalogue/products/bulk-edit-queries.ts';
import { openDatabase } from '../src/db/database.ts';
import { attachEmbedded } from '../src/db/embedded.ts';
import { sql } from '../src/db/sql.ts';
import { UCP_VERSION } from '../src/assistants/capabilities.ts';
import { EVERYTHING, profileFile, startFakeAssistant } from './fake-assistant.ts';
import { newStartedFolder } from './first-start.ts';
import { cleanUp, killPostgres, startKontor, waitFor, type Running } from './process.ts';
import { startReceiver } from './receiver.ts';
import { sendTo } from './send-to.ts';

/**
 * kill -9 at a random moment while writers write as fast as they can, in turns of the service, of PostgreSQL and of
 * both. What a client has seen acknowledged is there afterwards, once; a write whose answer was lost is repeated
 * with its Idempotency-Key and has one effect. PostgreSQL has the settings of production. `npm run proof -- --only
 * crash` goes on for longer.
 */

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
afterAll(cleanUp);

const WRITERS = 6;
const VICTIMS = ['the service', 'PostgreSQL', 'both'] as const;
const rounds = VICTIMS.map((victim, index) => ({ round: index + 1, victim }));

interface Customer {
  customerNumber: string;
  internalNote: string | null;
}

describe('kill -9', () => {
  let data: string;
  let service: Running;
  /** The number that each acknowledged note was given. */
  const acknowledged = new Map<string, string>();
  /** Notes of writes whose fate the client does not know. */
  const unknown = new Set<string>();

  const start = () => startKontor({ KONTOR_DATA: data, RATE_LIMIT: '0', LOG_LEVEL: 'fatal' });
  beforeAll(async () => {
    data = await newStartedFolder();
    service = await start();
  });

  async function write(note: string, key?: string): Promise<Response> {
    return fetch(`${service.address}/rs/shops/DemoShop/customers`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer demo-all',
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      body: JSON.stringify({ internalNote: note, billingAddress: { lastName: 'Brennan' } }),
    });
  }

  /** Writes until something goes wrong; every other write carries its note as its key. */
  async function keepWriting(name: string, signal: AbortSignal): Promise<void> {
    for (let count = 0; !signal.aborted; count++) {
      const note = `${count % 2 === 0 ? 'keyed' : 'plain'} ${name} ${count}`;
      unknown.add(note);
      try {
        const response = await write(note, keyOf(note));
        if (response.status !== 201) {
          expect(response.status).toBe(503);
          return;
        }
        const { customerNumber } = (await response.json()) as Customer;
        acknowledged.set(note, customerNumber);
        unknown.delete(note);
      } catch (error) {
        // The connection broke before the whole answer was here.
        expect(error).toBeInstanceOf(TypeError);
        return;
      }
    }
  }

  const keyOf = (note: string) => (note.startsWith('keyed') ? note.replaceAll(' ', '-') : undefined);

  async function strike(victim: (typeof VICTIMS)[number]): Promise<void> {
    if (victim !== 'PostgreSQL') service.kill('SIGKILL');
    if (victim !== 'the service') await killPostgres(data);
    if (victim !== 'PostgreSQL') {
      await service.ended;
      service = await start();
    }
    await waitFor(async () => (await fetch(`${service.address}/ready`)).status === 200);
  }

  async function allCustomers(): Promise<Customer[]> {
    const found: Customer[] = [];
    for (let page = 1; ; page++) {
      const response = await fetch(
        `${service.address}/rs/shops/DemoShop/customers?resultsPerPage=100&page=${page}`,
        { headers: { authorization: 'Bearer demo-all' } },
      );
      expect(response.status).toBe(200);
      const { items, results } = (await response.json()) as { items: Customer[]; results: number };
      found.push(...items);
      if (items.length === 0) {
        expect(found).toHaveLength(results);
        return found;
      }
    }
  }

  /** Everything acknowledged is there once, under its number; nothing is there twice. */
  async function checkCustomers(): Promise<void> {
    const customers = await allCustomers();
    const numbers = new Set(customers.map(({ customerNumber }) => customerNumber));
    expect(numbers.size).toBe(customers.length);
    const notes = customers.flatMap(({ internalNote }) => internalNote ?? []);
    expect(new Set(notes).size).toBe(notes.length);
    const numberOf = new Map(
      customers.map(({ internalNote, customerNumber }) => [internalNote, customerNumber]),
    );
    const lost = [...acknowledged].filter(([note, number]) => numberOf.get(note) !== number);
    expect(lost).toEqual([]);
    const invented = notes.filter(
      (note) => /^(keyed|plain) /.test(note) && !acknowledged.has(note) && !unknown.has(note),
    );
    expect(invented).toEqual([]);
  }

  test.each(rounds)('$round: $victim', async ({ round, victim }) => {
    const before = acknowledged.size;
    const over = new AbortController();
    const writers = Array.from({ length: WRITERS }, (_, index) =>
      keepWriting(`${round}.${index}`, over.signal),
    );
    await waitFor(() => acknowledged.size > before + WRITERS, 20_000, 1);
    await sleep(Math.random() * 700);
    await strike(victim);
    over.abort();
    await Promise.all(writers);
    await checkCustomers();

    const keyed = [...unknown].filter((note) => keyOf(note) !== undefined);
    for (const note of keyed) {
      const response = await write(note, keyOf(note));
      expect(response.status).toBe(201);
      const { customerNumber } = (await response.json()) as Customer;
      acknowledged.set(note, customerNumber);
      unknown.delete(note);
    }
    await checkCustomers();
  });

  test('in the middle of a bulk edit: it goes on, and no product is changed twice', async () => {
    const embedded = await attachEmbedded(data, { log: () => {} });
    const db = openDatabase({ connection: embedded.connection });
    const stocks = () =>
      db.many<{ id: string; stock: number }>(sql`
        select upper(product_id::text) as id, stock::float8 as stock from product
        where shop_id = 'DemoShop' and stock is not null order by product_id limit ${MAX_EDITED_PRODUCTS}`);
    const before = await stocks();
    const productIds = before.map(({ id }) => id);
    expect(productIds.length).toBeGreaterThan(20);
    const editId = await db.transaction((tx) =>
      insertBulkEdit(tx, 'DemoShop', {
        author: 'ada@mail.example',
        action: { kind: 'addStock', amount: 3 },
        productIds,
      }),
    );
    const edit = async () =>
      (await db.one<{ state: string; done: number; changed: number }>(sql`
        select state, items_done as done, changed from bulk_edit where edit_id = ${editId}`))!;
    // The second piece waits for this product, so the edit stands in the middle of it.
    await db.transaction(async (tx) => {
      await tx.run(sql`
        select from product where shop_id = 'DemoShop' and product_id = ${productIds[20]!} for update`);
      await waitFor(async () => (await edit()).done > 0);
      await waitFor(
        async () =>
          (
            await db.many(sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
          ).length > 0,
      );
      service.kill('SIGKILL');
      await service.ended;
    });
    const half = await edit();
    expect(half).toEqual({ state: 'running', done: 20, changed: 20 });
    const added = (await stocks()).filter(({ stock }, index) => stock !== before[index]!.stock);
    expect(added).toHaveLength(20);

    service = await start();
    // A minute later its lease has expired.
    await db.run(sql`update bulk_edit set run_at = ${db.now} where edit_id = ${editId}`);
    await waitFor(async () => (await edit()).state === 'done');
    expect(await edit()).toEqual({ state: 'done', done: before.length, changed: before.length });
    expect(await stocks()).toEqual(before.map(({ id, stock }) => ({ id, stock: stock + 3 })));
    await db.close();
    await embedded.stop();
  });

  test('around the run of a rule: after its event, in its middle, and during its call', async () => {
    const embedded = await attachEmbedded(data, { log: () => {} });
    const db = openDatabase({ connection: embedded.connection });
    const callIds: string[] = [];
    let isAnswered = false;
    const receiver = http
      .createServer((request, response) => {
        callIds.push(String(request.headers['webhook-id']));
        if (isAnswered) response.end();
      })
      .listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/rule`;
    const made = await fetch(`${service.address}/manage/shops/DemoShop/rules`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-all', 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'Welcome',
        isActive: true,
        event: 'CUSTOMER_CREATE',
        needsAll: true,
        conditions: [],
        actions: [
          { kind: 'task', text: 'Welcome {number}' },
          { kind: 'call', address },
          { kind: 'tagCustomer', text: 'new' },
        ],
      }),
    });
    expect(made.status).toBe(201);
    const effects = async () => {
      const row = await db.one<{ tasks: number; tags: number; runs: number; jobs: number }>(sql`
        select (select count(*) from task where text like 'Welcome %') as tasks,
          (select count(*) from customer_tag where tag = 'new') as tags,
          (select count(*) from rule_run) as runs, (select count(*) from job where queue = 'rule call') as jobs`);
      return row!;
    };
    const hasWaiting = async () => {
      const rows = await db.many(sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
      return rows.length > 0;
    };
    const kill = async () => {
      service.kill('SIGKILL');
      await service.ended;
    };
    /** As if a minute had passed: what the killed process had taken is free. */
    const restart = async () => {
      await waitFor(async () => !(await hasWaiting()));
      await db.run(sql`update rule set leased_until = null`);
      await db.run(sql`update job set run_at = ${db.now} where queue = 'rule call'`);
      service = await start();
    };
    const nothing = { tasks: 0, tags: 0, runs: 0, jobs: 0 };

    // The rule is held, so its event is there and it has not run.
    await db.transaction(async (tx) => {
      await tx.run(sql`select from rule for update`);
      expect((await write('welcome')).status).toBe(201);
      await waitFor(hasWaiting);
      await kill();
    });
    expect(await effects()).toEqual(nothing);
    // The customer is held, so the run stands before its last action.
    await db.transaction(async (tx) => {
      await tx.run(sql`select from customer where internal_note = 'welcome' for update`);
      await restart();
      await waitFor(hasWaiting);
      expect(await effects()).toEqual(nothing);
      await kill();
    });
    await waitFor(async () => !(await hasWaiting()));
    expect(await effects()).toEqual(nothing);
    // Its call is on the way.
    await restart();
    await waitFor(() => callIds.length === 1, 30_000);
    await kill();
    expect(await effects()).toEqual({ tasks: 1, tags: 1, runs: 1, jobs: 1 });
    isAnswered = true;
    await restart();
    await waitFor(async () => (await effects()).jobs === 0, 30_000);
    expect(await effects()).toEqual({ tasks: 1, tags: 1, runs: 1, jobs: 0 });
    expect([callIds.length, new Set(callIds).size]).toEqual([2, 1]);
    const [run] = await db.many<{ outcomes: string[] }>(sql`
      select array(select action ->> 'outcome' from jsonb_array_elements(actions) action) as outcomes from rule_run`);
    expect(run).toEqual({ outcomes: ['done', 'done', 'done'] });
    receiver.closeAllConnections();
    receiver.close();
    await db.close();
    await embedded.stop();
  }, 120_000);

  test('while a buyer of an assistant orders: one order, and the assistant hears of it', async () => {
    const [assistant, receiver] = await Promise.all([startFakeAssistant(), startReceiver()]);
    const order = 'dev.ucp.shopping.order';
    const file = profileFile(EVERYTHING) as { ucp: { capabilities: Record<string, object[]> } };
    file.ucp.capabilities[order] = [{ version: UCP_VERSION, config: { webhook_url: receiver.url } }];
    assistant.file = file;
    const call = (method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
      sendTo(service.address, method, path, body, {
        host: `demoshop.localhost:${new URL(service.address).port}`,
        'ucp-agent': `profile="${assistant.profile}"`,
        ...headers,
      });
    const api = (
      method: string,
      path: string,
      body: unknown,
      token: string,
      key: Record<string, string> = {},
    ) =>
      sendTo(service.address, method, `/rs/shops/DemoShop/carts/${path}`, body, {
        authorization: 'Bearer demo-all',
        'x-epages-cart-token': token,
        ...key,
      });
    try {
      const found = await call('POST', '/ucp/catalog/search', { query: 'kettle' });
      const variant = found.body.products[0].variants[0].id as string;
      const lines = [{ item: { id: variant }, quantity: 1 }];
      const { body: cart } = await call('POST', '/ucp/carts', { line_items: lines });
      const { body: session } = await call('POST', '/ucp/checkout-sessions', {
        cart_id: cart.id,
        line_items: [],
      });
      const [cartId, token] = cart.id.split('.') as [string, string];
      const address = { lastName: 'Lindqvist', country: 'DE', emailAddress: 'ada@mail.example' };
      const addressed = await api('PUT', `${cartId}/billing-address`, address, token);
      expect(addressed.status).toBe(200);
      // The answer to the order is lost, wherever the service was at that moment.
      const key = { 'idempotency-key': 'order-of-an-assistant' };
      const lost = api('POST', `${cartId}/order`, {}, token, key).catch(() => undefined);
      await sleep(Math.random() * 60);
      await strike('the service');
      await lost;
      await waitFor(async () => (await api('POST', `${cartId}/order`, {}, token, key)).status === 201);

      const shown = await call('GET', `/ucp/checkout-sessions/${session.id}`, undefined);
      expect(shown.body).toMatchObject({ status: 'completed', order: { id: expect.any(String) } });
      const [told] = await receiver.until(1);
      expect(told!.body).toMatchObject({ id: shown.body.order.id, checkout_id: session.id });
      // Nothing but a repetition of the same notice may follow.
      const ids = new Set(receiver.calls.map(({ headers }) => headers['webhook-id']));
      expect(ids.size).toBe(1);
    } finally {
      await Promise.all([assistant.close(), receiver.close()]);
    }
  });

  test('and a stop in order ends it', async () => {
    expect(await service.stop()).toMatchObject({ code: 0 });
    service = await start();
    await checkCustomers();
    expect(acknowledged.size).toBeGreaterThan(rounds.length * WRITERS);
    await service.stop();
  });
});

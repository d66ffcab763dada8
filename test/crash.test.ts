import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { MAX_ITEMS } from '../src/catalogue/products/bulk-edit.ts';
import { insertBulkEdit } from '../src/catalogue/products/bulk-edit-queries.ts';
import { openDatabase } from '../src/db/database.ts';
import { attachEmbedded } from '../src/db/embedded.ts';
import { sql } from '../src/db/sql.ts';
import { UCP_VERSION } from '../src/assistants/capabilities.ts';
import { EVERYTHING, profileFile, startFakeAssistant } from './fake-assistant.ts';
import { newStartedFolder } from './first-start.ts';
import { cleanUp, killPostgres, startKontor, waitFor, type Running } from './process.ts';
import { startReceiver } from './receiver.ts';

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

/** A request with a name of the host of its own, which fetch does not allow. */
async function sendTo(
  address: string,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
  // oxlint-disable-next-line typescript/no-explicit-any
): Promise<{ status: number; body: any }> {
  const request = http.request(address + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
  });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode!, body: JSON.parse(text) };
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
        where shop_id = 'DemoShop' and stock is not null order by product_id limit ${MAX_ITEMS}`);
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

import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { FRESH_FOR } from '../../http/callers.ts';
import { newId } from '../../kernel/ids.ts';
import { recordEvents, stampAtCommit, takeTimeOfCommit, timeOfCommit, type NewEvent } from './log.ts';
import { eventCleanup } from './queries.ts';

let service: Service;
let token: string;
let shopId: string;
let count = 0;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.close());

beforeEach(async () => {
  service.setClock(undefined);
  shopId = `Events${(count += 1)}`;
  await givenShop(service, shopId);
  token = await givenToken(service, shopId);
  // What creating the shop has left is not of interest here.
  await service.db.run(sql`delete from event where shop_id = ${shopId}`);
  await service.db.run(
    sql`update counter set value = 0, at = null where shop_id = ${shopId} and name = 'event'`,
  );
});

const record = (...events: NewEvent[]) =>
  service.db.transaction(async (tx) => recordEvents(tx, shopId, events));
const order = (): NewEvent => ({ type: 'ORDER_CREATE', resourceId: newId(new Date()) });

interface Item {
  position: number;
  eventType: string;
}

const read = (query = '', caller = token) =>
  service.call('GET', `/manage/shops/${shopId}/events${query}`, { token: caller });

const read200 = async (query = '', caller = token) => {
  const { status, body } = await read(query, caller);
  expect(status).toBe(200);
  return body as { items: Item[]; next: number };
};

describe('the log', () => {
  test('numbers what is committed, in its order and without gaps', async () => {
    service.setClock(new Date('2026-11-16T10:00:00Z'));
    const [first, second] = [order(), order()];
    await record(first);
    await expect(
      service.db.transaction(async (tx) => {
        recordEvents(tx, shopId, [order(), order()]);
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    await record(
      { type: 'PRODUCT_UPDATE', resourceId: second.resourceId, data: { changed: ['price'] } },
      second,
    );
    const { items, next } = await read200();
    const base = `http://localhost:80/rs/shops/${shopId}`;
    expect(next).toBe(3);
    expect(items).toEqual([
      {
        position: 1,
        eventType: 'ORDER_CREATE',
        createdOn: '2026-11-16T10:00:00.000Z',
        resource: 'order',
        resourceId: first.resourceId,
        entityUrl: `${base}/orders/${first.resourceId}`,
        appId: null,
        data: {},
      },
      {
        position: 2,
        eventType: 'PRODUCT_UPDATE',
        // A millisecond later than the last one, because the clock stands still.
        createdOn: '2026-11-16T10:00:00.001Z',
        resource: 'product',
        resourceId: second.resourceId,
        entityUrl: `${base}/products/${second.resourceId}`,
        appId: null,
        data: { changed: ['price'] },
      },
      {
        position: 3,
        eventType: 'ORDER_CREATE',
        createdOn: '2026-11-16T10:00:00.001Z',
        resource: 'order',
        resourceId: second.resourceId,
        entityUrl: `${base}/orders/${second.resourceId}`,
        appId: null,
        data: {},
      },
    ]);
  });

  test('positions and times follow the commits, not the beginnings', async () => {
    const slow = order();
    const fast = order();
    service.setClock(new Date('2026-11-16T10:00:00Z'));
    await service.db.transaction(async (tx) => {
      recordEvents(tx, shopId, [slow]);
      service.setClock(new Date('2026-11-16T10:00:02Z'));
      await record(fast);
      expect((await read200()).items).toMatchObject([{ position: 1, resourceId: fast.resourceId }]);
    });
    expect((await read200('?after=1')).items).toMatchObject([
      { position: 2, resourceId: slow.resourceId, createdOn: '2026-11-16T10:00:02.001Z' },
    ]);
  });

  test('who needs the time before the commit gets it, and others wait for it', async () => {
    service.setClock(new Date('2026-11-16T10:00:00Z'));
    await record(order());
    let done = false;
    let waiting: Promise<void> | undefined;
    await service.db.transaction(async (tx) => {
      expect(await takeTimeOfCommit(tx, shopId)).toEqual(new Date('2026-11-16T10:00:00.001Z'));
      recordEvents(tx, shopId, [order()]);
      waiting = record(order()).then(() => void (done = true));
      await sleep(100);
      expect(done).toBe(false);
    });
    await waiting;
    const times = (await read200()).items.map((item) => (item as Item & { createdOn: string }).createdOn);
    expect(times).toEqual([
      '2026-11-16T10:00:00.000Z',
      '2026-11-16T10:00:00.001Z',
      '2026-11-16T10:00:00.002Z',
    ]);
  });

  test('a stamp writes the time of the commit, with or without an event', async () => {
    await record(order());
    const before = (await service.db.one<{ at: number }>(
      sql`select at from counter where shop_id = ${shopId} and name = 'event'`,
    ))!.at;
    service.setClock(new Date(before - 5_000));
    await service.db.transaction(async (tx) =>
      stampAtCommit(tx, shopId, () =>
        tx.run(sql`update app set created_at = ${timeOfCommit(shopId)} where shop_id = ${shopId}`),
      ),
    );
    const row = await service.db.one(sql`select created_at as at from app where shop_id = ${shopId}`);
    expect(row).toEqual({ at: new Date(before + 1) });
  });

  test('a clock that is wrong by more than a minute is not followed', async () => {
    service.setClock(new Date('2026-11-16T10:00:00Z'));
    await record(order());
    service.setClock(new Date('2026-11-16T09:58:00Z'));
    await record(order());
    const { items } = await read200();
    expect(items).toMatchObject([
      { createdOn: '2026-11-16T10:00:00.000Z' },
      { createdOn: '2026-11-16T09:58:00.000Z' },
    ]);
  });

  test('a transaction writes the events of one shop', async () => {
    await expect(
      service.db.transaction(async (tx) => {
        recordEvents(tx, shopId, [order()]);
        recordEvents(tx, 'Another', [order()]);
      }),
    ).rejects.toThrow('one shop');
    expect((await read200()).items).toEqual([]);
  });
});

describe('reading', () => {
  test('goes on from a position, and skips other types', async () => {
    await record(...Array.from({ length: 5 }, order));
    await record({ type: 'SETTINGS_CHANGED', resourceId: null });
    await record(order());
    const page = await read200('?limit=2');
    expect([page.items.map(({ position }) => position), page.next]).toEqual([[1, 2], 2]);
    expect((await read200('?after=4')).items.map(({ position }) => position)).toEqual([5, 6, 7]);
    expect(await read200('?after=7')).toEqual({ items: [], next: 7 });
    const others = await read200('?types=SETTINGS_CHANGED,%20PRODUCT_CREATE');
    expect([others.items.map(({ position }) => position), others.next]).toEqual([[6], 7]);
    expect(others.items[0]).toMatchObject({
      resourceId: null,
      entityUrl: `http://localhost:80/rs/shops/${shopId}`,
    });
  });

  test('an empty log', async () => {
    expect(await read200()).toEqual({ items: [], next: 0 });
    expect(await read200('?after=0')).toEqual({ items: [], next: 0 });
  });

  test('needs a token, and shows what its scopes allow', async () => {
    await record(order(), { type: 'CUSTOMER_CREATE', resourceId: newId(new Date()) });
    await record({ type: 'SETTINGS_CHANGED', resourceId: null });
    const types = async (caller: string) =>
      (await read200('', caller)).items.map(({ eventType }) => eventType);
    expect(await types(await givenToken(service, shopId, ['customers_read']))).toEqual([
      'CUSTOMER_CREATE',
      'SETTINGS_CHANGED',
    ]);
    const none = await givenToken(service, shopId, []);
    expect(await types(none)).toEqual(['SETTINGS_CHANGED']);
    const refused = await read('?types=ORDER_CREATE', none);
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain('The token lacks the scope orders_read');
    expect((await service.call('GET', `/manage/shops/${shopId}/events`)).status).toBe(401);
    const other = `${shopId}Other`;
    await givenShop(service, other);
    expect((await read('', await givenToken(service, other))).status).toBe(401);
  });

  test.each([
    ['?types=ORDER_CREATED', 'UNKNOWN_VALUE on field types'],
    ['?types=', 'UNKNOWN_VALUE on field types'],
    ['?after=-1', 'OUT_OF_RANGE on field after'],
    ['?after=x', 'WRONG_TYPE on field after'],
    ['?after=3', 'OUT_OF_RANGE on field after'],
    ['?limit=0', 'OUT_OF_RANGE on field limit'],
    ['?limit=1001', 'OUT_OF_RANGE on field limit'],
    ['?wait=26', 'OUT_OF_RANGE on field wait'],
  ])('%s is refused', async (query, problem) => {
    await record(order(), order());
    const { status, body } = await read(query);
    expect([status, body.message]).toEqual([400, expect.stringContaining(problem)]);
  });

  test('old events go, and who has not read them hears of it', async () => {
    service.setClock(new Date('2026-10-01T00:00:00Z'));
    await record(order(), order());
    service.setClock(new Date('2026-10-02T00:00:00Z'));
    await record(order());
    service.setClock(new Date('2026-10-31T12:00:00Z'));
    expect(await eventCleanup(30).run(service.db, 500)).toBe(2);
    const { status, body } = await read('?after=1');
    expect([status, body.message]).toEqual([
      410,
      expect.stringContaining('The events after 1 are gone; the oldest position is 3'),
    ]);
    expect((await read200('?after=2')).items.map(({ position }) => position)).toEqual([3]);
    expect((await read200()).items.map(({ position }) => position)).toEqual([3]);
    service.setClock(new Date('2026-11-30T12:00:00Z'));
    expect(await eventCleanup(30).run(service.db, 500)).toBe(1);
    expect((await read('?after=2')).status).toBe(410);
    expect(await read200()).toEqual({ items: [], next: 3 });
  });
});

describe('waiting', () => {
  test('answers as soon as there is something new', async () => {
    const began = performance.now();
    const waiting = read200('?wait=20');
    await sleep(200);
    await record(order());
    expect((await waiting).items).toHaveLength(1);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test('hears of what another process has written', async () => {
    const waiting = read200('?wait=20&types=ORDER_CREATE');
    await sleep(200);
    // Written around the log, so that this process is not told.
    await service.db.run(sql`
      update counter set value = 1, at = ${Date.now()} where shop_id = ${shopId} and name = 'event'`);
    await service.db.run(sql`
      insert into event (shop_id, position, at, type, resource_id, data)
      values (${shopId}, 1, ${new Date()}, 'ORDER_CREATE', ${newId(new Date())}, '{}')`);
    expect((await waiting).items).toMatchObject([{ position: 1 }]);
  });

  test('ends with an empty list', async () => {
    await record({ type: 'PRODUCT_CREATE', resourceId: newId(new Date()) });
    expect(await read200('?wait=1&types=ORDER_CREATE')).toEqual({ items: [], next: 1 });
  });

  test('shows nothing more to a token that was revoked meanwhile', async () => {
    const revoked = await givenToken(service, shopId, undefined, 'revoked');
    const waiting = read200('?wait=20', revoked);
    await sleep(100);
    await service.db.run(sql`
      delete from token where shop_id = ${shopId}
        and app_id = (select app_id from app where shop_id = ${shopId} and name = 'revoked')`);
    await sleep(FRESH_FOR);
    await record(order());
    expect(await waiting).toEqual({ items: [], next: 0 });
  });
});

describe('a stream', () => {
  /** Reads a stream until it has brought so many events. */
  const stream = async (events: number, query = '', headers: Record<string, string> = {}) => {
    const origin = await listening;
    const response = await fetch(`${origin}/manage/shops/${shopId}/events${query}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers },
    });
    if (response.status !== 200) return { status: response.status, text: await response.text() };
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while ((text.match(/^data: /gm) ?? []).length < events) {
      const { value, done } = await reader.read();
      if (done) break;
      text += value;
    }
    await reader.cancel();
    return { status: response.status, text };
  };
  let listening: Promise<string>;

  beforeAll(() => {
    listening = service.app.listen({ port: 0, host: '127.0.0.1' });
  });

  test('brings what is there and what comes, each with its position', async () => {
    await record(order());
    const reading = stream(3);
    await sleep(300);
    await record(order(), { type: 'SETTINGS_CHANGED', resourceId: null });
    const { text } = await reading;
    const parts = text.split('\n\n').filter((part) => part.startsWith('id: '));
    expect(parts.map((part) => part.split('\n').slice(0, 2))).toEqual([
      ['id: 1', 'event: ORDER_CREATE'],
      ['id: 2', 'event: ORDER_CREATE'],
      ['id: 3', 'event: SETTINGS_CHANGED'],
    ]);
    const { items } = await read200();
    expect(parts.map((part) => JSON.parse(part.split('\n')[2]!.slice('data: '.length)))).toMatchObject(
      items.map(({ position, eventType }) => ({ position, eventType })),
    );
  });

  test('goes on behind the last event of the client', async () => {
    await record(order(), order(), order());
    const { text } = await stream(1, '', { 'last-event-id': '2' });
    expect(text).toMatch(/^id: 3\n/);
    expect((await stream(1, '', { 'last-event-id': 'two' })).status).toBe(400);
    expect((await stream(1, '?after=9')).status).toBe(400);
  });

  test('HEAD is answered at once', async () => {
    const response = await fetch(`${await listening}/manage/shops/${shopId}/events`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream, application/json' },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('application/json');
  });

  test('a hundred readers of a shop may wait, and no more; one that leaves makes room', async () => {
    const { port } = new URL(await listening);
    const open = async () => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(
        `GET /manage/shops/${shopId}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`,
      );
      const [head] = (await once(socket, 'data')) as [Buffer];
      return { socket, status: Number(head.toString().split(' ')[1]) };
    };
    const readers = await Promise.all(Array.from({ length: 100 }, open));
    expect(readers.map(({ status }) => status)).toEqual(readers.map(() => 200));
    expect((await read('?wait=1')).status).toBe(429);
    // Without waiting, everybody reads.
    expect((await read()).status).toBe(200);
    // That a reader has left is noticed when something happens, or after 15 seconds.
    readers.pop()!.socket.destroy();
    await expect
      .poll(async () => {
        await record(order());
        const { next } = await read200();
        return (await read(`?wait=1&after=${next}`)).status;
      })
      .toBe(200);
    for (const { socket } of readers) socket.destroy();
  });

  test('ends when the service ends', async () => {
    const other = await startService({}, service);
    const origin = await other.app.listen({ port: 0, host: '127.0.0.1' });
    const response = await fetch(`${origin}/manage/shops/${shopId}/events`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    });
    const began = performance.now();
    const longPoll = fetch(`${origin}/manage/shops/${shopId}/events?wait=25`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await sleep(300);
    const [text, polled] = await Promise.all([response.text(), longPoll, other.close()]);
    expect(text).toBe(': waiting\n\n');
    expect(await polled.json()).toEqual({ items: [], next: 0 });
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

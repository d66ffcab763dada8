import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { atEnd } from '../bench/processes.ts';
import { sql } from '../src/db/sql.ts';
import type { Order } from '../src/orders/schema.ts';
import { waitFor } from '../test/process.ts';
import { VICTIMS, type ProofService } from './service.ts';
import { done, fillCart, openShop, orderCart, Refused, stockUp, type Goods, type ProofShop } from './shop.ts';
import { many, must, mustEqual, Refuted, times, type Check } from './stage.ts';

const WRITERS = 50;
const READERS = 5;
const KILLS = 20;
const ORDERS = 10_000;
const DELIVERED_WITHIN = 5 * 60_000;

interface LoggedEvent {
  position: number;
  eventType: string;
  resourceId: string | null;
}

/** What a receiver of webhooks has got. */
interface Received {
  /** By their ids, in the order of their first arrival: a notification may come again. */
  first: Map<string, { eventType: string; entityUrl: string }>;
  again: number;
}

export const events: Check<ProofService> = {
  name: 'events',
  summary:
    'kill -9 under load: every change has its event once, in order, for every reader and every webhook',
  async run(service) {
    const shop = await openShop(service, 'Events');
    const goods = await Promise.all(
      times(5, (index) => stockUp(shop, { number: `EVENT-${index}`, stock: 1_000_000, price: 5 + index })),
    );
    const { received, url } = await startReceiver();
    for (const eventType of ['ORDER_CREATE', 'ORDER_UPDATE']) {
      done(await shop.call('POST', '/webhooks', { body: { callbackUrl: url, eventType } }), 'POST webhooks');
    }

    const over = new AbortController();
    const readers = times(READERS, () => startReader(shop, over.signal));
    const orders = service.size(ORDERS);
    const kills = Math.max(VICTIMS.length, service.size(KILLS));
    const written = { orders: 0, changes: 0 };
    const progress = service.progress('orders', orders);
    for (let round = 0; round < kills; round++) {
      const before = written.orders;
      await writeUntilStruck(service, shop, goods, written, {
        orders: Math.ceil((orders * (round + 1)) / kills),
        victim: VICTIMS[round % VICTIMS.length]!,
      });
      progress.advance(written.orders - before);
    }
    progress.end();

    const log = await readLog(service, shop);
    await mustTellTheTruth(service, shop, log, written);
    await waitFor(() => readers.every(({ seen }) => seen.length === log.length), DELIVERED_WITHIN, 200);
    over.abort();
    for (const reader of readers) {
      await reader.ended;
      mustEqual('what a reader has seen', JSON.stringify(reader.seen), JSON.stringify(log));
    }
    const ofWebhooks = log.filter(({ eventType }) => ['ORDER_CREATE', 'ORDER_UPDATE'].includes(eventType));
    await waitFor(() => received.first.size >= ofWebhooks.length, DELIVERED_WITHIN, 200);
    mustBeDelivered(received, ofWebhooks);
    return `${kills} times kill -9 while ${WRITERS} writers placed ${many(written.orders)} orders and changed ${many(written.changes)}: ${many(log.length)} events, each once and of a change that is there; ${READERS} readers saw all of them once and in order; ${many(ofWebhooks.length)} notifications came, ${many(received.again)} of them again`;
  },
};

async function startReceiver(): Promise<{ received: Received; url: string }> {
  const received: Received = { first: new Map(), again: 0 };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const id = String(request.headers['webhook-id']);
      if (received.first.has(id)) received.again += 1;
      else received.first.set(id, JSON.parse(body) as { eventType: string; entityUrl: string });
      response.end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { received, url: `http://127.0.0.1:${port}/events` };
}

/** Reads on from its last position until it is told to end, through all that happens to the service. */
function startReader(shop: ProofShop, signal: AbortSignal) {
  const seen: LoggedEvent[] = [];
  const read = async () => {
    let after = 0;
    while (!signal.aborted) {
      try {
        const reply = await shop.call(
          'GET',
          `/manage/shops/${shop.shopId}/events?after=${after}&wait=2&limit=1000`,
        );
        const page = done<{ items: LoggedEvent[]; next: number }>(reply, 'GET events');
        for (const { position, eventType, resourceId } of page.items) {
          seen.push({ position, eventType, resourceId });
        }
        after = page.next;
      } catch (error) {
        if (!isAway(error)) throw error;
      }
    }
  };
  const ended = read();
  // It is reported when all is over.
  ended.catch(() => {});
  return { seen, ended };
}

/** Without an answer nothing is known; with one it says that the database is away, and nothing else. */
function isAway(error: unknown): boolean {
  return !(error instanceof Refuted) || (error instanceof Refused && error.status === 503);
}

async function writeUntilStruck(
  service: ProofService,
  shop: ProofShop,
  goods: readonly Goods[],
  written: { orders: number; changes: number },
  { orders, victim }: { orders: number; victim: (typeof VICTIMS)[number] },
): Promise<void> {
  const over = new AbortController();
  const writers = Promise.all(times(WRITERS, () => keepWriting(shop, goods, written, over.signal)));
  try {
    await Promise.race([writers, waitFor(() => written.orders >= orders, 10 * 60_000, 20)]);
    await service.strike(victim);
  } finally {
    over.abort();
    await writers;
  }
}

/** Orders something and changes the order, again and again; ends when its service does. */
async function keepWriting(
  shop: ProofShop,
  goods: readonly Goods[],
  written: { orders: number; changes: number },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { productId } = goods[Math.floor(Math.random() * goods.length)]!;
      const cart = await fillCart(shop, [{ productId, quantity: 1 }], {
        buyer: `events-${Math.floor(Math.random() * 200)}`,
      });
      const { orderId } = done<Order>(await orderCart(shop, cart, undefined), 'POST order');
      written.orders += 1;
      for (const value of ['packed', 'sent']) {
        const body = [{ op: 'add', path: '/internalNote', value }];
        done(await shop.call('PATCH', `/orders/${orderId}`, { body }), 'PATCH order');
        written.changes += 1;
      }
    } catch (error) {
      if (!isAway(error)) throw error;
      return;
    }
  }
}

function readLog(service: ProofService, { shopId }: ProofShop) {
  return service.look((db) =>
    db.many<LoggedEvent>(sql`
      select position, type as "eventType", upper(resource_id::text) as "resourceId" from event
      where shop_id = ${shopId} order by position`),
  );
}

/** Every order and every change has one event, and every event is of an order or a change that is there. */
async function mustTellTheTruth(
  service: ProofService,
  { shopId }: ProofShop,
  log: readonly LoggedEvent[],
  written: { orders: number; changes: number },
): Promise<void> {
  mustEqual(
    'positions',
    log.map(({ position }) => position).join(),
    times(log.length, (index) => index + 1).join(),
  );
  const rows = await service.look((db) =>
    db.many<{ orderId: string; changes: number }>(sql`
      select upper(order_id::text) as "orderId", (
        select count(*) from order_event where shop_id = ${shopId} and order_event.order_id = placed.order_id and kind = 'patched'
      ) as changes
      from customer_order placed where shop_id = ${shopId}`),
  );
  const idsOf = (type: string) =>
    log.flatMap(({ eventType, resourceId }) => (eventType === type ? [resourceId] : []));
  mustEqual(
    'orders with an event',
    idsOf('ORDER_CREATE').map(String).toSorted(),
    rows.map(({ orderId }) => orderId).toSorted(),
  );
  const changed = rows.flatMap(({ orderId, changes }) => times(changes, () => orderId));
  mustEqual('changes with an event', idsOf('ORDER_UPDATE').map(String).toSorted(), changed.toSorted());
  must(rows.length >= written.orders, `${rows.length} orders of ${written.orders} that were acknowledged`);
  must(
    changed.length >= written.changes,
    `${changed.length} changes of ${written.changes} that were acknowledged`,
  );
}

/** Everything came, and what is about one order came in its order. */
function mustBeDelivered({ first }: Received, expected: readonly LoggedEvent[]): void {
  const count = (types: readonly string[], type: string) => types.filter((each) => each === type).length;
  const came = [...first.values()];
  for (const type of ['ORDER_CREATE', 'ORDER_UPDATE']) {
    const types = came.map(({ eventType }) => eventType);
    mustEqual(
      `notifications of ${type}`,
      count(types, type),
      count(
        expected.map(({ eventType }) => eventType),
        type,
      ),
    );
  }
  const lastOf = new Map<string, number>();
  for (const [id, { eventType, entityUrl }] of first) {
    const key = `${eventType} ${entityUrl}`;
    // An id ends with the position of its event.
    const position = Number.parseInt(id.slice(-12), 16);
    const last = lastOf.get(key) ?? 0;
    must(last < position, `${key}: ${position} came after ${last}`);
    lastOf.set(key, position);
  }
}

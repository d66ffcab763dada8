/**
 * `npx tsx bench/mixed.ts [REQUESTS] [SNAPSHOT_FOLDER]`: the memory of a service with the demo shop before, after and two
 * minutes after so many mixed requests (default: 10,000) on 32 connections. With a folder, the service writes its heap
 * snapshot there after the load. Needs nothing but `npm ci`, and Linux.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attachEmbedded } from '../src/db/embedded.ts';
import { openConnections, type Connections } from './client.ts';
import { install } from './installation.ts';
import { snapshotOptions } from './memory.ts';
import { atEnd, endEverything, endOnSignals, startServer } from './processes.ts';
import { picturesDrawn } from './pages.ts';
import { residentMegabytes } from './start-times.ts';
import { checkout, type Call, type Memory } from './targets.ts';

const REQUESTS = Number(process.argv[2] ?? 10_000);
const SNAPSHOTS = process.argv[3];
const CONNECTIONS = 32;
/** Milliseconds: a machine that does other work makes the demo shop slowly. */
const STARTS_WITHIN = 180_000;
const IDLE_SECONDS = 10;
/** The thread of the emails ends, and caches are emptied, within two minutes without use. */
const QUIET_SECONDS = 125;
/** One visit in so many ends with an order: the demo shop has few of each product. */
const VISITS_PER_ORDER = 10;

const ROOT = '/rs/shops/DemoShop';
const get = (path: string): Call => ({ method: 'GET', path });

const say = (line: string) => void process.stdout.write(`${line}\n`);

interface Sold {
  products: { productId: string; productNumber: string }[];
  checkout: ReturnType<typeof checkout>;
}

/** The shop's products that are sold without a choice, and how they are ordered. Some sell out: carts then answer 400. */
async function readShop(connections: Connections): Promise<Sold> {
  const read = async (path: string) => JSON.parse((await connections.send(get(ROOT + path))).text);
  const { items } = await read('/products?resultsPerPage=100');
  const products = items.filter(
    ({ productVariationType, forSale }: { productVariationType: string; forSale: boolean }) =>
      productVariationType === 'regular' && forSale,
  );
  const [{ shippingMethodId }] = await read('/shipping-methods');
  const saleIds = products.map(({ productId }: { productId: string }) => productId);
  return { products, checkout: checkout({ root: ROOT, saleIds, shippingMethodId }) };
}

let visits = 0;

/** What a shopper and a client of the API read, and at times what is bought. */
async function visit(
  { products, checkout }: Sold,
  send: (call: Call) => Promise<{ text: string; headers: object }>,
): Promise<void> {
  const number = visits++;
  const product = (step: number) => products[(number * 7 + step) % products.length]!;
  await send(get(`${ROOT}/products?resultsPerPage=20&page=${1 + (number % 2)}`));
  await send(get('/shop/DemoShop/'));
  for (let step = 0; step < 4; step++) {
    await send(get(`${ROOT}/products/${product(step).productId}`));
    await send(get(`/shop/DemoShop/Products/${encodeURIComponent(product(step).productNumber)}`));
  }
  await send(get(`${ROOT}/products?q=${encodeURIComponent(product(1).productNumber.slice(0, 2))}`));
  await send(get(`${ROOT}/currencies`));
  const memory: Memory = {};
  const steps = number % VISITS_PER_ORDER === 0 ? checkout : checkout.slice(0, 3);
  for (const { call, note } of steps) {
    const { text, headers } = await send(call(memory));
    note?.(memory, text, headers as Record<string, string>);
  }
}

endOnSignals();
const folder = await mkdtemp(path.join(tmpdir(), 'kontor-bench-'));
try {
  if (SNAPSHOTS !== undefined) await mkdir(SNAPSHOTS, { recursive: true });
  const installation = path.join(folder, 'installation');
  await install(installation);
  const data = path.join(folder, 'data');
  atEnd(() => attachEmbedded(data, { log: () => {} }).then((embedded) => embedded.stop()));
  const options = SNAPSHOTS === undefined ? [] : snapshotOptions(path.resolve(SNAPSHOTS));
  const start = () =>
    startServer({
      name: 'Kontor',
      words: [...options, 'bin/kontor.js', 'serve'],
      folder: installation,
      environment: { KONTOR_DATA: data, RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' },
      logFile: path.join(folder, 'service.log'),
      probe: `${ROOT}/currencies`,
      startsWithin: STARTS_WITHIN,
    });
  // The first start makes the database and draws the pictures, which later ones do not.
  const first = await start();
  await picturesDrawn(first.origin);
  await first.stop();
  const { origin, pid } = await start();
  await sleep(1_000 * IDLE_SECONDS);
  say(`idle: ${Math.round(await residentMegabytes(pid))} MB`);

  const connections = openConnections(origin, CONNECTIONS);
  const shop = await readShop(connections);
  const answers = new Map<number, number>();
  let sent = 0;
  const send = async (call: Call) => {
    sent++;
    const reply = await connections.send({
      ...call,
      headers: { authorization: 'Bearer demo-all', ...call.headers },
    });
    answers.set(reply.status, (answers.get(reply.status) ?? 0) + 1);
    return reply;
  };
  const isEnough = () => sent >= REQUESTS;
  const shopper = async () => {
    while (!isEnough()) await visit(shop, send);
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, shopper));
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  connections.close();
  const kinds = [...answers].map(([status, count]) => `${count} of ${status}`).join(', ');
  say(`${sent} requests in ${seconds} s, answers: ${kinds}`);
  say(`after the load: ${Math.round(await residentMegabytes(pid))} MB`);
  if (SNAPSHOTS !== undefined) {
    process.kill(pid, 'SIGUSR2');
    // It is written before the next request is answered.
    await fetch(`${origin}/ready`);
  }
  await sleep(1_000 * QUIET_SECONDS);
  say(`${QUIET_SECONDS} s later: ${Math.round(await residentMegabytes(pid))} MB`);
} finally {
  await endEverything();
  await rm(folder, { recursive: true });
}

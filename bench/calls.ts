import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { createApp } from '../src/apps/apps.ts';
import { insertManifest, updateManifest } from '../src/apps/manifest/queries.ts';
import type { CallKind as AnyCall, Manifest } from '../src/apps/manifest/schema.ts';
import { generateProducts } from '../src/commands/demo/generate.ts';
import type { Database } from '../src/db/database.ts';
import { shopSettings } from '../src/shops/settings/settings.ts';
import { interleavedRounds, tryOnce, type Subject } from './load.ts';
import type { Verdict } from './report.ts';
import { applyDelivery, createBareShop, stockUp } from './shop.ts';
import { checkout } from './targets.ts';

/**
 * What a checkout costs when an app is asked while the customer waits: the same steps in a shop without an app, and in
 * shops with one that answers at once, on this machine. What an app itself takes comes on top.
 */
export interface CallOptions {
  rounds: number;
  seconds: number;
}

/** Payments are no part of a checkout: the customer is on the way to the bank then. */
type CallKind = Exclude<AnyCall, 'payment'>;

interface BenchApp {
  origin: string;
  /** Of the apps of the shops, by their shop. */
  secrets: Map<string, string>;
  close(): void;
}

/** Clients at the same time: an app takes twenty calls at once. */
const CONNECTIONS = 8;
const PRODUCTS = 200;
/** Milliseconds that asking may add to the order, p95. */
const MAX_ADDED = 100;

const SHOPS: Readonly<Record<string, readonly CallKind[]>> = {
  'no app': [],
  'a check': ['checkoutValidation'],
  'prices, taxes and a check': ['linePrices', 'taxes', 'checkoutValidation'],
};

export async function measureAppCalls(
  db: Database,
  origin: string,
  key: Buffer,
  { rounds, seconds }: CallOptions,
  say: (line: string) => void,
): Promise<Verdict[]> {
  const app = await startApp();
  try {
    const subjects: Subject[] = [];
    for (const [index, [name, kinds]] of Object.entries(SHOPS).entries()) {
      const shopId = `Calls${index}`;
      const token = await createBareShop(db, shopId);
      await generateProducts(db, { shopId, products: PRODUCTS, seed: index }, () => {});
      const saleIds = (await stockUp(db, shopId)).map(({ id }) => id);
      await applyDelivery(db, shopId);
      if (kinds.length > 0) await installApp(db, key, shopId, app, kinds);
      const { shippingMethods } = await shopSettings(db, shopId);
      const { shippingMethodId } = shippingMethods[0]!;
      const flow = checkout({ root: `/rs/shops/${shopId}`, saleIds, shippingMethodId });
      subjects.push({ name, origin, token, calls: [], flow, connections: CONNECTIONS });
    }
    await db.pool.query('vacuum analyze');
    for (const subject of subjects) await tryOnce(subject);
    const measured = await interleavedRounds(subjects, { rounds, seconds, settle: async () => {} }, say);
    const p95s = subjects.map((subject) => {
      const all = measured.get(subject)!;
      // Percentiles of nothing would look like a very fast service.
      if (all.some(({ stepMs }) => !stepMs?.['order'] || !(stepMs['order'].p95 > 0))) {
        throw new Error(`A round of ${subject.name} has placed no order`);
      }
      const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
      const order = median(all.map(({ stepMs }) => stepMs!['order']!.p95));
      const line = median(all.map(({ stepMs }) => stepMs!['second line']!.p95));
      const rate = median(all.map(({ requestsPerSecond }) => requestsPerSecond)) / subject.flow!.length;
      say(
        `${subject.name}: p95 of POST order ${order.toFixed(0)} ms, of a line ${line.toFixed(0)} ms, ${rate.toFixed(0)} checkouts a second`,
      );
      return order;
    });
    return subjects.slice(1).map(({ name }, index) => {
      const added = Math.round(p95s[index + 1]! - p95s[0]!);
      return {
        name: `ms more for POST order, p95, ${name}`,
        value: added,
        goal: MAX_ADDED,
        ok: added < MAX_ADDED,
      };
    });
  } finally {
    app.close();
  }
}

/** An app that answers every question at once, and changes nothing. */
async function startApp(): Promise<BenchApp> {
  const secrets = new Map<string, string>();
  const server: Server = createServer((request, response) => {
    void buffer(request).then((bytes) => {
      const { kind, shop, currency } = JSON.parse(bytes.toString()) as Record<string, string>;
      const body = JSON.stringify(answerTo(kind as CallKind, currency));
      const id = String(request.headers['webhook-id']);
      const at = new Date();
      response.writeHead(200, {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(secrets.get(shop!)!, { format: 'raw' }).sign(id, at, body),
      });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secrets,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answerTo(kind: CallKind, currency: string | undefined): object {
  switch (kind) {
    case 'deliveryOptions':
      return { options: [] };
    case 'linePrices':
      return { currency, prices: [] };
    case 'taxes':
      return { taxes: [{ name: 'VAT', rate: 1_900 }], lines: [], delivery: 0, payment: 0 };
    case 'checkoutValidation':
      return { ok: true };
  }
}

/** As if the merchant had agreed to its manifest. */
async function installApp(
  db: Database,
  key: Buffer,
  shopId: string,
  { origin, secrets }: BenchApp,
  kinds: readonly CallKind[],
): Promise<void> {
  const manifest: Manifest = {
    name: 'Asked',
    description: null,
    icon: null,
    registerUrl: `${origin}/register`,
    installUrl: `${origin}/install`,
    scopes: ['carts_read'],
    webhooks: [],
    pages: [],
    blocks: [],
    actions: [],
    calls: kinds.map((kind) => ({
      kind,
      url: `${origin}/call`,
      timeoutMs: 800,
      cacheSeconds: 0,
      onFailure: 'refuse',
    })),
    settings: [],
  };
  await db.transaction(async (tx) => {
    const { name, installUrl: callbackUrl, scopes } = manifest;
    const { clientId: appId, clientSecret } = await createApp(tx, key, shopId, { name, callbackUrl, scopes });
    secrets.set(shopId, clientSecret);
    const dueAt = new Date(tx.now.getTime() + 86_400_000);
    await insertManifest(tx, shopId, {
      appId,
      address: `${origin}/manifest`,
      offered: manifest,
      icon: null,
      dueAt,
    });
    await updateManifest(tx, shopId, { appId, agreed: manifest, offered: null, icon: null });
  });
}

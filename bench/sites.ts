import type { Database } from '../src/db/database.ts';
import { openConnections } from './client.ts';
import type { Pattern } from './many-shops.ts';
import type { Server } from './processes.ts';
import type { Verdict } from './report.ts';
import { checkout, type Call, type Memory } from './targets.ts';

/** An installation, one of those that are asked the same in turn, and the shops in it that are called. */
export interface Site {
  /** Which one it is; the name of its files. */
  name: string;
  server: Server;
  db: Database;
  pattern: Pattern;
  shopIds: readonly string[];
}

export const rootOf = (shopId: string) => `/rs/shops/${shopId}`;
export const get = (where: string): Call => ({ method: 'GET', path: where });

/** How many times the first figure the second one is. */
export function ratioOf(name: string, unit: string, first: number, second: number, goal: number): Verdict {
  const ratio = second / first;
  return {
    name: `${name}: ${first.toFixed(2)} -> ${second.toFixed(2)} ${unit}, times`,
    value: Math.round(100 * ratio) / 100,
    goal,
    ok: ratio < goal,
  };
}

/** The calls that shops get most: what `timeCalls` names them, and their names for people. */
export const CALLS = [
  { kind: 'get', name: 'GET product' },
  { kind: 'list', name: 'GET products' },
  { kind: 'second line', name: 'POST line item' },
  { kind: 'order', name: 'POST order' },
] as const;

/** Milliseconds by kind of call. */
type Times = Partial<Record<string, number[]>>;

/** Visits shops of each installation in turn, first to look and then to buy; the times of one stand at its place. */
export async function timeCalls(
  sites: readonly Site[],
  { busy, calls }: { busy: number; calls: number },
): Promise<Times[]> {
  const visitors = sites.map((site) => newVisitor(site, busy));
  try {
    for (const step of ['look', 'buy'] as const) {
      // Warm, and in turn: every shop is visited once before it counts.
      for (let index = -busy; index < calls; index++) {
        for (const visitor of visitors) await visitor[step](index + busy, index >= 0);
      }
    }
  } finally {
    for (const visitor of visitors) visitor.close();
  }
  return visitors.map(({ times }) => times);
}

function newVisitor({ server, pattern, shopIds }: Site, busy: number) {
  const connection = openConnections(server.origin, 1);
  const visited = shopIds.slice(0, busy);
  const times: Times = {};
  const send = async (kind: string, call: Call, isCounted: boolean) => {
    const began = performance.now();
    const reply = await connection.send({
      ...call,
      headers: { authorization: `Bearer ${pattern.token}`, ...call.headers },
    });
    if (reply.status >= 300) {
      throw new Error(`${call.method} ${call.path} answers ${reply.status} ${reply.text.slice(0, 500)}`);
    }
    if (isCounted) (times[kind] ??= []).push(performance.now() - began);
    return reply;
  };
  const rootAt = (index: number) => rootOf(visited[index % visited.length]!);
  // The same ones of a shop every time, so that they are in memory in each of the installations.
  const ofShop = (ids: readonly string[], index: number, place = 0) =>
    ids[(2 * (index % busy) + place) % ids.length]!;
  return {
    times,
    close: () => connection.close(),
    async look(index: number, isCounted: boolean) {
      const root = rootAt(index);
      await send('get', get(`${root}/products/${ofShop(pattern.productIds, index)}`), isCounted);
      await send('list', get(`${root}/products?resultsPerPage=20`), isCounted);
    },
    async buy(index: number, isCounted: boolean) {
      const { shippingMethodId } = pattern;
      const saleIds = [0, 1].map((place) => ofShop(pattern.saleIds, index, place));
      const memory: Memory = {};
      for (const { name, call, note } of checkout({ root: rootAt(index), saleIds, shippingMethodId })) {
        const { text, headers } = await send(name, call(memory), isCounted);
        note?.(memory, text, headers as Record<string, string>);
      }
    },
  };
}

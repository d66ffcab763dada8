import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { CITUS_URL } from '../test/cluster.ts';
import { waitFor } from '../test/process.ts';
import { keepOrdering, mustHoldAll, settle, type Sent } from './crash.ts';
import type { ProofService } from './service.ts';
import { openShop, stockUp, type Goods, type ProofShop } from './shop.ts';
import { countOf, many, must, mustEqual, sum, tally, times, type Check } from './stage.ts';

/**
 * How a worker is killed and started is known only to whoever runs the cluster: a command that is called with `kill` or
 * `start` and with the node (`host:port`), and ends when that is done.
 */
const COMMAND = process.env['KONTOR_PROOF_WORKER'];

const WRITERS = 4;
const ORDERS = 100;
/** How long the worker is away. */
const AWAY_MS = 20_000;

/** A shop, and what its customers have sent and seen. */
interface Selling {
  node: string;
  shop: ProofShop;
  goods: Goods[];
  sent: Sent[];
  /** Of all answers since somebody looked last. */
  statuses: number[];
}

export const worker: Check<ProofService> = {
  name: 'worker',
  summary:
    'kill -9 of a worker of a Citus cluster under load: only its shops answer 503, and no order is lost',
  skip() {
    if (CITUS_URL === undefined) return 'it needs a cluster; set KONTOR_TEST_CITUS_URL';
    if (COMMAND === undefined) return 'set KONTOR_PROOF_WORKER, see docs/operations/citus.md';
    return undefined;
  },
  async run(service) {
    const shops = await openShopOnEachNode(service);
    const [victim, ...others] = shops as [Selling, ...Selling[]];
    must(others.length > 0, 'the cluster has one worker only, and this needs two');
    const orders = service.size(ORDERS);
    const over = new AbortController();
    const writers = Promise.all(
      shops.flatMap((selling) => times(WRITERS, () => orderUntil(selling, over.signal))),
    );
    let refused: number;
    let meanwhile: number;
    try {
      await orderMore(shops, orders);
      mustSell(shops);

      await callCommand('kill', victim.node);
      try {
        // An order that was under way while the worker died may have had any of two answers.
        const dying = takeStatuses(victim);
        must(
          dying.every((status) => isSuccess(status) || status === 503),
          `while its worker died the shop answered ${tally(dying)}`,
        );
        const before = acknowledged(others);
        await sleep(service.size(AWAY_MS));
        await orderMore(others, orders);
        meanwhile = acknowledged(others) - before;
        const away = takeStatuses(victim);
        refused = countOf(away, 503);
        must(refused > 0, 'nobody asked the shop whose worker was away');
        mustEqual('answers of the shop whose worker was away', tally(away), tally(times(refused, () => 503)));
        mustSell(others);
      } finally {
        await callCommand('start', victim.node);
      }

      await orderMore(shops, orders);
      mustSell(others);
    } finally {
      over.abort();
      await writers;
    }

    let unanswered = 0;
    let kept = 0;
    for (const { shop, goods, sent } of shops) {
      await mustHoldAll(shop, goods, sent);
      unanswered += await settle(shop, sent);
      kept += (await mustHoldAll(shop, goods, sent)).length;
    }
    mustEqual('orders in the tables', kept, sum(shops.map(({ sent }) => sent.length)));
    return `kill -9 of ${victim.node} while ${shops.length} shops on as many workers sold: ${many(refused)} calls of its shop were answered 503 and nothing else, the others placed ${many(meanwhile)} orders meanwhile and refused none; ${many(kept)} orders, each there once and whole, ${many(unanswered)} of them sent again because the answer was 503`;
  },
};

/** The node of a shop follows from its id, so that ids are tried until every node has one. */
async function openShopOnEachNode(service: ProofService): Promise<Selling[]> {
  const found = await service.look(async (db) => {
    const { rows } = await db.pool.query<{ node: string; shopId: string }>(
      `select distinct on (node) nodename || ':' || nodeport as node, shop_id as "shopId"
       from unnest($1::text[]) as shop_id
       join pg_dist_placement on shardid = get_shard_id_for_distribution_column('shop', shop_id)
       join pg_dist_node using (groupid)
       where noderole = 'primary' order by node, shop_id`,
      [times(100, (index) => `Worker${index}`)],
    );
    return rows;
  });
  const shops: Selling[] = [];
  for (const { node, shopId } of found) {
    const statuses: number[] = [];
    const opened = await openShop(service, shopId);
    const shop: ProofShop = {
      ...opened,
      call: async (...request) => {
        const reply = await opened.call(...request);
        statuses.push(reply.status);
        return reply;
      },
    };
    const goods = [await stockUp(shop, { number: 'SACK', stock: 1_000_000 })];
    shops.push({ node, shop, goods, sent: [], statuses });
  }
  return shops;
}

/** Orders, and comes again after a refusal. */
async function orderUntil({ shop, goods, sent }: Selling, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await keepOrdering(shop, goods, sent, signal);
    await sleep(50);
  }
}

const acknowledged = (shops: readonly Selling[]) =>
  sum(shops.map(({ sent }) => sent.filter(({ answer }) => answer).length));

/** Returns when each of these shops has so many orders more. */
async function orderMore(shops: readonly Selling[], orders: number): Promise<void> {
  await Promise.all(
    shops.map((selling) => {
      const before = acknowledged([selling]);
      return waitFor(() => acknowledged([selling]) >= before + orders, 120_000, 50);
    }),
  );
}

const isSuccess = (status: number) => status >= 200 && status < 300;

/** All answers of these shops were successes. */
function mustSell(shops: readonly Selling[]): void {
  for (const selling of shops) {
    const statuses = takeStatuses(selling);
    must(statuses.every(isSuccess), `a shop whose worker was there answered ${tally(statuses)}`);
  }
}

function takeStatuses({ statuses }: Selling): number[] {
  return statuses.splice(0);
}

async function callCommand(deed: 'kill' | 'start', node: string): Promise<void> {
  // What it starts may hold on to its output, so nobody waits for the end of that.
  const child = spawn('sh', ['-c', `${COMMAND} "$@"`, 'sh', deed, node], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  must(code === 0, `the command of KONTOR_PROOF_WORKER failed: ${COMMAND} ${deed} ${node}`);
}

import { dayOf } from '../http/dates.ts';
import type { FastifyBaseLogger } from 'fastify';
import { Gauge, type Registry } from 'prom-client';
import type { Database, Queries } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { stateOfShop, type ShopState } from './queries.ts';

/** Totals over all shops, without a label per shop: thousands of them would be too many series. */
export function hostMetrics(registry: Registry, db: Database, log: FastifyBaseLogger): void {
  /** While the database is away there are no values, and the other metrics are served all the same. */
  const collected = (gauge: Gauge, work: () => Promise<void>) =>
    work().catch((error: unknown) => {
      gauge.reset();
      log.warn({ err: error }, 'the totals of the shops could not be read');
    });
  registry.registerMetric(
    new Gauge({
      name: 'shops',
      help: 'Shops of the installation by state',
      labelNames: ['state'],
      registers: [],
      collect() {
        return collected(this, async () => {
          const rows = await countShopStates(db);
          this.reset();
          for (const { state, shops } of rows) this.set({ state }, shops);
        });
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'shops_used_today',
      help: 'What all shops together have used today (UTC): calls of the API, emails',
      labelNames: ['what'],
      registers: [],
      collect() {
        return collected(this, async () => {
          const { requests, emails } = (await sumToday(db))!;
          this.set({ what: 'requests' }, requests);
          this.set({ what: 'emails' }, emails);
        });
      },
    }),
  );
}

function countShopStates(db: Queries) {
  return db.many<{ state: ShopState; shops: number }>(sql`
    select ${stateOfShop} as state, count(*) as shops from shop group by 1`);
}

function sumToday(db: Queries) {
  return db.one<{ requests: number; emails: number }>(sql`
    select coalesce(sum(requests), 0)::bigint as requests, coalesce(sum(emails), 0)::bigint as emails
    from shop_day where day = ${dayOf(db.now)}::date`);
}

import type { FastifyBaseLogger } from 'fastify';
import { Gauge, type Registry } from 'prom-client';
import type { Database, Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/** A day and half of the next one: a shop whose turn was missed is late. */
const LATE_AFTER = 36 * 3_600_000;

/** Totals of the backups that the service makes, without a label per shop. */
export function hostBackupMetrics(registry: Registry, db: Database, log: FastifyBaseLogger): void {
  const gauge = (
    name: string,
    help: string,
    labelNames: string[],
    collect: (gauge: Gauge) => Promise<void>,
  ) =>
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames,
        registers: [],
        async collect() {
          this.reset();
          // While the database is away there are no values, and the other metrics are served all the same.
          await collect(this).catch((error: unknown) => {
            this.reset();
            log.warn({ err: error }, 'the totals of the backups could not be read');
          });
        },
      }),
    );
  gauge(
    'backup_shops',
    'Shops by their last whole backup: good, late (older than 36 hours), none; failing: the last attempt failed',
    ['state'],
    async (shops) => {
      const counts = (await countBackups(db))!;
      for (const [state, count] of Object.entries(counts)) shops.set({ state }, count);
    },
  );
  gauge(
    'backup_verified_timestamp_seconds',
    'When a backup was last restored to try it, by its result: ok, failed',
    ['result'],
    async (verified) => {
      const { ok, failed } = (await findVerifications(db))!;
      if (ok) verified.set({ result: 'ok' }, ok.getTime() / 1_000);
      if (failed) verified.set({ result: 'failed' }, failed.getTime() / 1_000);
    },
  );
}

function countBackups(db: Queries) {
  const late = new Date(db.now.getTime() - LATE_AFTER);
  return db.one<{ good: number; late: number; none: number; failing: number }>(sql`
    select count(*) filter (where good_at >= ${late}) as good, count(*) filter (where good_at < ${late}) as late,
      count(*) filter (where good_at is null) as none, count(*) filter (where attempts > 0) as failing
    from backup_plan where gone_at is null`);
}

function findVerifications(db: Queries) {
  return db.one<{ ok: Date | null; failed: Date | null }>(sql`
    select max(verified_at) filter (where verify_error is null) as ok,
      max(verified_at) filter (where verify_error is not null) as failed
    from shop_backup where verified_at is not null`);
}

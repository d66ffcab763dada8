import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenShop } from '../../../test/builders.ts';
import { startService, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { runCleanup } from '../cleanup.ts';
import { pgBossCleanup } from './pg-boss.ts';
import { JOB_STATE } from './queries.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NOW = new Date('2026-11-16T08:00:00Z');
const before = (milliseconds: number) => new Date(NOW.getTime() - milliseconds);

let service: Service;
beforeAll(async () => {
  service = await startService();
  await givenShop(service, 'Harbour');
  // What pg-boss 10 makes, as far as anybody reads it.
  await service.db.pool.query(`
    create schema pgboss;
    create type pgboss.job_state as enum ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
    create table pgboss.job (
      id uuid not null, name text not null, data jsonb, state pgboss.job_state not null, retry_count integer not null,
      start_after timestamptz not null, started_on timestamptz, expire_in interval not null,
      created_on timestamptz not null, completed_on timestamptz, output jsonb, primary key (name, id)
    ) partition by list (name);
    create table pgboss.mail_jobs partition of pgboss.job for values in ('mail');
    create table pgboss.archive (like pgboss.job);
    insert into pgboss.archive select gen_random_uuid(), 'mail', '{}', 'failed', 11, now(), now(), '60 s', now(), now()`);
});
afterAll(() => service.close());

async function insertOldJob(state: string, shopId: string, age: number, tries = 0): Promise<void> {
  const at = before(age);
  await service.db.run(sql`
    insert into pgboss.job (id, name, data, state, retry_count, start_after, started_on, expire_in, created_on,
      completed_on, output)
    values (${newId(at)}, 'mail', ${{ shopId, to: `${state}@mail.example`, facts: {} }}, ${state}::pgboss.job_state,
      ${tries}, ${at}, ${state === 'created' ? null : at}, '60 s', ${at}, ${state === 'failed' ? at : null},
      ${tries > 0 ? { message: '550 no such user' } : null})`);
}

async function cleanUp(after: number): Promise<void> {
  service.setClock(new Date(NOW.getTime() + after));
  await runCleanup(service.db, [pgBossCleanup], { log: pino({ level: 'silent' }) });
}

const jobs = () =>
  service.db.many(sql`
    select content ->> 'to' as to, ${JOB_STATE} as state, attempts, created_at as "createdAt", run_at as "runAt",
      failed_at as "failedAt", error
    from job where shop_id = 'Harbour' order by created_at`);

const left = async () => (await service.db.pool.query('select state::text, data from pgboss.job')).rows;

test('what waits in the schema of pg-boss is moved, and the schema is dropped a day after the migration', async () => {
  await service.db.run(sql`update migration set applied_at = ${NOW} where name = '0012_job.sql'`);
  await insertOldJob('failed', 'Harbour', 5 * DAY, 11);
  await insertOldJob('retry', 'Harbour', 3 * MINUTE, 1);
  await insertOldJob('active', 'Harbour', 2 * MINUTE);
  await insertOldJob('created', 'Harbour', MINUTE);
  await insertOldJob('created', 'Gone', MINUTE);
  // An old process runs this one.
  await insertOldJob('active', 'Harbour', 0);
  await cleanUp(0);
  const moved = [
    {
      to: 'failed@mail.example',
      state: 'failed',
      attempts: 12,
      createdAt: before(5 * DAY),
      runAt: null,
      failedAt: before(5 * DAY),
      error: '550 no such user',
    },
    {
      to: 'retry@mail.example',
      state: 'retry',
      attempts: 2,
      createdAt: before(3 * MINUTE),
      runAt: before(3 * MINUTE),
      failedAt: null,
      error: '550 no such user',
    },
    {
      to: 'active@mail.example',
      state: 'retry',
      attempts: 1,
      createdAt: before(2 * MINUTE),
      runAt: before(2 * MINUTE),
      failedAt: null,
      error: null,
    },
    {
      to: 'created@mail.example',
      state: 'created',
      attempts: 0,
      createdAt: before(MINUTE),
      runAt: before(MINUTE),
      failedAt: null,
      error: null,
    },
  ];
  expect(await jobs()).toEqual(moved);
  expect(await left()).toEqual([
    { state: 'active', data: { shopId: 'Harbour', to: 'active@mail.example', facts: {} } },
  ]);
  expect((await service.db.pool.query('select from pgboss.archive')).rowCount).toBe(0);

  // The old process has ended without a word.
  await cleanUp(2 * MINUTE);
  expect(await jobs()).toHaveLength(5);
  expect(await left()).toEqual([]);

  const hasSchema = async () =>
    (await service.db.pool.query("select to_regnamespace('pgboss') is not null as there")).rows[0].there;
  await cleanUp(DAY);
  expect(await hasSchema()).toBe(true);
  await cleanUp(DAY + 2 * MINUTE);
  expect(await hasSchema()).toBe(false);
  await cleanUp(DAY + 4 * MINUTE);
  expect(await jobs()).toHaveLength(5);
});

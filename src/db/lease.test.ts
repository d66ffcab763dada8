import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startService, type Service } from '../../test/service.ts';
import { newId } from '../kernel/ids.ts';
import { createLease, LEASE, renewWhile } from './lease.ts';
import { sql } from './sql.ts';

const NOW = new Date('2026-11-15T08:00:00Z');
const [ONE, OTHER] = [newId(NOW), newId(NOW)];

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

describe('a lease', () => {
  const lease = createLease(sql`cleanup`);
  const ROW = sql`name = ${'leased'}`;
  const take = (holder: string) => lease.take<{ name: string }>(service.db, ROW, holder, sql`name`);
  const after = (milliseconds: number) => service.setClock(new Date(NOW.getTime() + milliseconds));
  const holderOf = () => service.db.one(sql`select holder from cleanup where ${ROW}`);

  beforeEach(async () => {
    after(0);
    await service.db.run(sql`delete from cleanup`);
    await service.db.run(sql`
      insert into cleanup (name, due_at, leased_until) values ('leased', ${NOW}, ${NOW}), ('other', ${NOW}, ${NOW})`);
  });

  test('is taken by one of many processes', async () => {
    const holders = Array.from({ length: 8 }, () => newId(NOW));
    const taken = await Promise.all(holders.map(take));
    const winner = taken.findIndex((rows) => rows.length > 0);
    expect(taken.flat()).toEqual([{ name: 'leased' }]);
    expect(await holderOf()).toEqual({ holder: holders[winner]!.toLowerCase() });
    const others = await service.db.many(sql`select name from cleanup where holder is null`);
    expect(others).toEqual([{ name: 'other' }]);
  });

  test('expires unless it is renewed, and then belongs to the process that takes it', async () => {
    await take(ONE);
    after(LEASE - 1);
    expect(await take(OTHER)).toEqual([]);
    expect(await lease.renew(service.db, ROW, ONE)).toBe(true);
    after(2 * LEASE - 2);
    expect(await take(OTHER)).toEqual([]);
    after(2 * LEASE - 1);
    expect(await take(OTHER)).toEqual([{ name: 'leased' }]);
    // The first process was only slow. It can neither renew nor release the lease of the other one.
    expect(await lease.renew(service.db, ROW, ONE)).toBe(false);
    await lease.release(service.db, ROW, ONE);
    expect(await take(ONE)).toEqual([]);
    expect(await holderOf()).toEqual({ holder: OTHER.toLowerCase() });
  });

  test('is free at once when it is released, also for a process whose clock is slow', async () => {
    await take(ONE);
    await lease.release(service.db, ROW, ONE);
    // A renewal that was under way comes too late.
    expect(await lease.renew(service.db, ROW, ONE)).toBe(false);
    after(-5_000);
    expect(await take(OTHER)).toEqual([{ name: 'leased' }]);
  });

  test('has another name for its holder in the table of webhooks, where null means that it is free', async () => {
    const { db } = service;
    const webhooks = createLease(sql`webhook`, { holder: sql`lease_id` });
    await db.run(sql`alter table webhook drop constraint webhook_shop, drop constraint webhook_app`);
    const webhookId = newId(NOW);
    await db.run(sql`
      insert into webhook (shop_id, webhook_id, app_id, event_type, callback_url, active, created_at, updated_at, position)
      values ('Shop', ${webhookId}, ${webhookId}, 'ORDER_CREATE', 'https://a.example', true, ${NOW}, ${NOW}, 0)`);
    const row = sql`shop_id = 'Shop' and webhook_id = ${webhookId}`;
    expect(await webhooks.take(db, row, ONE, sql`event_type`)).toEqual([{ event_type: 'ORDER_CREATE' }]);
    expect(await webhooks.take(db, row, OTHER, sql`event_type`)).toEqual([]);
    await webhooks.release(db, row, ONE);
    expect(await webhooks.take(db, row, OTHER, sql`event_type`)).toEqual([{ event_type: 'ORDER_CREATE' }]);
  });
});

describe('work under a lease', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  test.each<[string, () => Promise<boolean>]>([
    ['another process has taken it', () => Promise.resolve(false)],
    ['a renewal fails', () => Promise.reject(new Error('no connection'))],
  ])('is renewed three times before the lease expires, and learns that %s', async (_, lose) => {
    let renewals = 0;
    let isLost = false;
    const renew = () => {
      renewals++;
      return isLost ? lose() : Promise.resolve(true);
    };
    const result = await renewWhile(renew, async (isHeld) => {
      await vi.advanceTimersByTimeAsync(LEASE);
      expect([renewals, isHeld()]).toEqual([3, true]);
      isLost = true;
      await vi.advanceTimersByTimeAsync(LEASE / 3);
      expect([renewals, isHeld()]).toEqual([4, false]);
      return 'done';
    });
    expect(result).toBe('done');
    await vi.advanceTimersByTimeAsync(LEASE);
    expect(renewals).toBe(4);
  });

  test('that fails is not renewed any more', async () => {
    let renewals = 0;
    const renew = () => Promise.resolve(++renewals > 0);
    await expect(renewWhile(renew, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await vi.advanceTimersByTimeAsync(LEASE);
    expect(renewals).toBe(0);
  });
});

import { expect, test } from 'vitest';
import { minuteOf, nextAttempt, nextTurn, outdated, parseKeep } from './schedule.ts';

const NOW = new Date('2026-11-19T10:00:00Z');
const DAY = 86_400_000;

test('shops have their turns all over the day, each at the same minute', () => {
  const hours = new Set(
    Array.from({ length: 1_000 }, (_, index) => Math.floor(minuteOf(`shop-${index}`) / 60)),
  );
  expect(hours.size).toBe(24);
  for (let index = 0; index < 50; index++) {
    const shopId = `shop-${index}`;
    const first = nextTurn(shopId, NOW);
    expect(first.getTime() - NOW.getTime()).toBeGreaterThan(0);
    expect(first.getTime() - NOW.getTime()).toBeLessThanOrEqual(DAY);
    expect(nextTurn(shopId, first).getTime() - first.getTime()).toBe(DAY);
  }
});

test('a failure is tried again after five minutes, and never later than after six hours', () => {
  const minutes = [1, 2, 3, 7, 8, 1_000].map(
    (failures) => (nextAttempt(failures, NOW).getTime() - NOW.getTime()) / 60_000,
  );
  expect(minutes).toEqual([5, 10, 20, 320, 360, 360]);
});

const backup = (time: string) => ({ backupId: time, createdAt: new Date(time) });

test('the last backup of each of seven days, four weeks and twelve months stays', () => {
  const everyDay = Array.from({ length: 800 }, (_, day) =>
    backup(new Date(NOW.getTime() - day * DAY).toISOString()),
  );
  const gone = new Set(outdated(everyDay, parseKeep('7/4/12'), NOW));
  const left = everyDay.filter((one) => !gone.has(one)).map(({ createdAt }) => createdAt.toISOString());
  expect(left.map((time) => time.slice(0, 10))).toEqual([
    // Seven days; the 15th is a Sunday, the last day of its week.
    '2026-11-19',
    '2026-11-18',
    '2026-11-17',
    '2026-11-16',
    '2026-11-15',
    '2026-11-14',
    '2026-11-13',
    '2026-11-08',
    '2026-11-01',
    '2026-10-31',
    '2026-09-30',
    '2026-08-31',
    '2026-07-31',
    '2026-06-30',
    '2026-05-31',
    '2026-04-30',
    '2026-03-31',
    '2026-02-28',
    '2026-01-31',
    '2025-12-31',
  ]);
});

test('of a day only the last backup stays, and the last of all however old it is', () => {
  const [morning, noon] = [backup('2026-11-18T06:00:00Z'), backup('2026-11-18T12:00:00Z')];
  expect(outdated([noon, morning], parseKeep('7/0/0'), NOW)).toEqual([morning]);
  expect(outdated([backup('2019-01-01T00:00:00Z')], parseKeep('1/0/0'), NOW)).toEqual([]);
  const years = [backup('2019-01-01T00:00:00Z'), backup('2020-01-01T00:00:00Z')];
  expect(outdated(years, parseKeep('7/4/12'), NOW)).toEqual([years[0]]);
  expect(outdated([], parseKeep('7/4/12'), NOW)).toEqual([]);
});

test('every set keeps its newest, and pruning again removes nothing more', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const backups = Array.from({ length: seed % 40 }, (_, index) =>
      backup(new Date(NOW.getTime() - ((index * seed * 7_919) % 500) * DAY - index * 1_000).toISOString()),
    );
    const keep = { days: 1 + (seed % 9), weeks: seed % 5, months: seed % 13 };
    const gone = new Set(outdated(backups, keep, NOW));
    const left = backups.filter((one) => !gone.has(one));
    expect(left.length).toBeLessThanOrEqual(1 + keep.days + keep.weeks + keep.months);
    expect(outdated(left, keep, NOW)).toEqual([]);
    const newest = Math.max(...backups.map(({ createdAt }) => createdAt.getTime()));
    expect(left.some(({ createdAt }) => createdAt.getTime() === newest)).toBe(backups.length > 0);
  }
});

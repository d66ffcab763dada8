import type { Database } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { tooManyRequests } from './errors.ts';

const HOUR = 3_600_000;
const MAX_IDLE = 10_000;

/** One caller's calls in one hour. */
interface Window {
  /** The count of all processes, as last read from the database. */
  shared: number;
  /** The count of this process since then. */
  fresh: number;
  startsAt: number;
}

export interface Allowance {
  /** Calls in this hour, this one included. */
  used: number;
  /** When the hour ends, ISO 8601. */
  resetsAt: string;
  secondsLeft: number;
}

/**
 * Counts calls per caller in fixed hours. Calls are traffic: counting them is exact in this process and costs no
 * statement; about once a second they are added to the database, which answers with the sum over all processes. Tries,
 * which can be used to guess or to cause emails, are counted in the database one by one.
 */
export function rateLimiter(db: Database, onFailure: (error: unknown) => void) {
  const windows = new Map<string, Window>();
  let flushing: Promise<void> | undefined;

  const hourOf = (now: Date) => now.getTime() - (now.getTime() % HOUR);

  /** Counts one call; undefined when this process does not know the caller: `load` first. */
  const count = (caller: string): Allowance | undefined => {
    const now = db.serviceNow;
    const startsAt = hourOf(now);
    const window = windows.get(caller);
    if (!window || window.startsAt !== startsAt) return undefined;
    window.fresh++;
    return {
      used: window.shared + window.fresh,
      resetsAt: resetText(startsAt),
      secondsLeft: Math.ceil((startsAt + HOUR - now.getTime()) / 1000),
    };
  };

  /** Takes back one call that was counted in this hour. */
  const uncount = (caller: string): void => {
    const window = windows.get(caller);
    if (window?.startsAt === hourOf(db.serviceNow)) window.fresh--;
  };

  /**
   * Counts one try in the database at once, so concurrent tries in several processes can't pass a limit. It costs a
   * statement, except for a caller whose tries are used up as far as this process knows: further guesses are refused
   * without one.
   */
  const countTry = async (caller: string, perHour: number): Promise<Allowance> => {
    const now = db.serviceNow;
    const startsAt = hourOf(now);
    const window = windows.get(caller);
    const isUsedUp = window?.startsAt === startsAt && window.shared >= perHour;
    const used = isUsedUp ? window.shared + 1 : await addTry(caller, startsAt, 1);
    return {
      used,
      resetsAt: resetText(startsAt),
      secondsLeft: Math.ceil((startsAt + HOUR - now.getTime()) / 1000),
    };
  };

  const addTry = async (caller: string, startsAt: number, tries: 1 | -1): Promise<number> => {
    const [sum] = await addCalls(db, [caller], [new Date(startsAt)], [tries]);
    windows.set(caller, { shared: sum!.calls, fresh: 0, startsAt });
    return sum!.calls;
  };

  /** Takes back one try that was counted in this hour. */
  const uncountTry = async (caller: string): Promise<void> => {
    await addTry(caller, hourOf(db.serviceNow), -1);
  };

  // The same text for every call of an hour.
  let reset = { startsAt: 0, text: '' };
  const resetText = (startsAt: number) => {
    if (reset.startsAt !== startsAt) {
      reset = { startsAt, text: new Date(startsAt + HOUR).toISOString() };
    }
    return reset.text;
  };

  /** Reads the earlier count from the database, so a restart or another process forgives nothing. */
  const load = async (caller: string): Promise<void> => {
    const startsAt = hourOf(db.serviceNow);
    const row = await db.one<{ calls: number }>(sql`
      select calls from rate_window where caller = ${caller} and starts_at = ${new Date(startsAt)}`);
    const window = windows.get(caller);
    if (window?.startsAt === startsAt) return;
    windows.set(caller, { shared: row?.calls ?? 0, fresh: 0, startsAt });
  };

  const flush = async (): Promise<void> => {
    const dirty = [...windows].filter(([, window]) => window.fresh !== 0);
    forgetIdle();
    if (dirty.length === 0) return;
    const sent = dirty.map(([, window]) => window.fresh);
    const sums = await addCalls(
      db,
      dirty.map(([caller]) => caller),
      dirty.map(([, window]) => new Date(window.startsAt)),
      sent,
    );
    const sumOf = new Map(sums.map((row) => [`${row.caller} ${row.starts_at.getTime()}`, row.calls]));
    dirty.forEach(([caller, window], index) => {
      window.fresh -= sent[index]!;
      window.shared = sumOf.get(`${caller} ${window.startsAt}`)!;
    });
    await touchTokens(
      db,
      dirty.map(([caller]) => caller),
    );
  };

  /** Drops past hours, and in a flood of addresses those that are quiet: the database still has them. */
  const forgetIdle = () => {
    const startsAt = hourOf(db.serviceNow);
    const crowded = windows.size > MAX_IDLE;
    for (const [caller, window] of windows) {
      if (window.fresh === 0 && (crowded || window.startsAt !== startsAt)) windows.delete(caller);
    }
  };

  const tick = () => {
    flushing ??= flush()
      .catch(onFailure)
      .finally(() => (flushing = undefined));
    return flushing;
  };
  const timer = setInterval(() => void tick(), 1_000).unref();

  return {
    count,
    uncount,
    load,
    countTry,
    uncountTry,
    /** Writes the rest; for the end of the process and for tests. */
    async flush() {
      await flushing;
      await tick();
    },
    close() {
      clearInterval(timer);
    },
  };
}

export type RateLimiter = ReturnType<typeof rateLimiter>;

/** Counts one call and refuses it with 429 when the limit of this hour is exceeded. */
export async function countCall(
  limiter: RateLimiter,
  caller: string,
  perHour: number,
  what?: string,
): Promise<void> {
  let allowance: Allowance | undefined;
  while (!(allowance = limiter.count(caller))) await limiter.load(caller);
  if (allowance.used > perHour) throw tooManyRequests(perHour, allowance.secondsLeft, what);
}

/** Counts one try, over all processes, and refuses it with 429 when the limit of this hour is exceeded. */
export async function countTry(
  limiter: RateLimiter,
  caller: string,
  perHour: number,
  what?: string,
): Promise<void> {
  const { used, secondsLeft } = await limiter.countTry(caller, perHour);
  if (used > perHour) throw tooManyRequests(perHour, secondsLeft, what);
}

/**
 * Runs `work` unless it has failed too often in this hour. A try is counted before it runs, so concurrent tries can't
 * pass the limit, and taken back unless it fails in the way that `isFailure` names.
 */
export async function limitFailures<Result>(
  limiter: RateLimiter,
  { caller, perHour, what, isFailure }: FailureLimit,
  work: () => Promise<Result>,
): Promise<Result> {
  await countTry(limiter, caller, perHour, what);
  let hasFailed = false;
  try {
    return await work();
  } catch (error) {
    hasFailed = isFailure(error);
    throw error;
  } finally {
    if (!hasFailed) await limiter.uncountTry(caller);
  }
}

export interface FailureLimit {
  /** The key that tries are counted by, such as `coupon/address/192.0.2.1`. */
  caller: string;
  perHour: number;
  /** The thing counted, for the message. */
  what: string;
  isFailure: (error: unknown) => boolean;
}

/** The key of a token's calls holds its shop and hash, so the last use can be written with them. */
export const tokenCaller = (shopId: string, tokenHash: string) => `token/${shopId}/${tokenHash}`;

/** The same for a token of the host. */
export const hostTokenCaller = (tokenHash: string) => `host-token/${tokenHash}`;

/** An IPv6 host owns a whole /64; a count per address would give it unlimited tries. */
export function addressCaller(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return `address/${address}`;
  const [left, right = ''] = address.split('::', 2);
  const head = left === '' ? [] : left!.split(':');
  const tail = right === '' ? [] : right.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0');
  return `address/${[...head, ...zeros, ...tail].slice(0, 4).join(':')}`;
}

function addCalls(db: Database, callers: string[], startsAt: Date[], calls: number[]) {
  return db.many<{ caller: string; starts_at: Date; calls: number }>(sql`
    insert into rate_window (caller, starts_at, calls)
    select * from unnest(${callers}::text[], ${startsAt}::timestamptz[], ${calls}::bigint[])
    order by 1
    on conflict (caller, starts_at) do update set calls = rate_window.calls + excluded.calls
    returning caller, starts_at, calls`);
}

/** The last use of the tokens among these callers, to the second. */
async function touchTokens(db: Database, callers: string[]): Promise<void> {
  const hostHashes = callers
    .filter((caller) => caller.startsWith('host-token/'))
    .map((caller) => Buffer.from(caller.slice('host-token/'.length), 'hex'));
  if (hostHashes.length > 0) {
    await db.run(sql`
      update host_token set last_used_at = ${db.now} where token_hash = any (${hostHashes}::bytea[])`);
  }
  const tokens = callers.filter((caller) => caller.startsWith('token/')).map((caller) => caller.split('/'));
  if (tokens.length === 0) return;
  const shopIds = tokens.map((parts) => parts[1]!);
  const hashes = tokens.map((parts) => Buffer.from(parts[2]!, 'hex'));
  await db.run(sql`
    update token set last_used_at = ${db.serviceNow}
    from unnest(${shopIds}::text[], ${hashes}::bytea[]) as used (shop_id, token_hash)
    where token.shop_id = used.shop_id and token.token_hash = used.token_hash`);
}

/** Deletes hours that are over. */
export const windowCleanup = {
  name: 'rate windows',
  run: async (db: Database, limit: number): Promise<number> => {
    const past = await db.many<{ caller: string; startsAt: Date }>(sql`
      select caller, starts_at as "startsAt" from rate_window
      where starts_at < ${new Date(db.serviceNow.getTime() - 2 * HOUR)} order by starts_at limit ${limit}`);
    await db.run(sql`
      delete from rate_window
      using unnest(${past.map(({ caller }) => caller)}::text[],
        ${past.map(({ startsAt }) => startsAt)}::timestamptz[]) as past (caller, starts_at)
      where rate_window.caller = past.caller and rate_window.starts_at = past.starts_at`);
    return past.length;
  },
};

import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Caches, readOnly, type ReadableCaches } from './cache.ts';
import { DatabaseBusy } from './failure.ts';
import { createSharedReads, unsharedReads, type SharedReads } from './shared-reads.ts';
import { createShopClocks, type ShopClocks } from './shop-clocks.ts';
import { createShopShares, type ShopShares } from './shop-shares.ts';
import { toStatement, type Sql, type Statement } from './sql.ts';

/** Passed to query functions: a transaction, or the database itself for a single read. */
export interface Queries {
  /** Caches of data read from this database. */
  readonly caches: ReadableCaches;
  /** The time of the request, by the clock of the shop; SQL gets it as a parameter, so tests can set the clock. */
  readonly now: Date;
  /**
   * The same by the clock of the service, for what no merchant waits for: queues, leases, limits, links that sign in. It
   * differs in sandboxes only.
   */
  readonly serviceNow: Date;
  /** The clocks of shops that have one of their own. */
  readonly clocks: ShopClocks;
  /** Reads that concurrent callers share: one statement for all of them. */
  readonly shared: SharedReads;
  many<Row>(query: Sql): Promise<Row[]>;
  /** Returns the rows of a search. Searches grow with the data, so those of a shop take turns. */
  search<Row>(query: Sql): Promise<Row[]>;
  /** The first row. */
  one<Row>(query: Sql): Promise<Row | undefined>;
  /** How many rows a write touched. */
  run(query: Sql): Promise<number>;
}

export interface Transaction extends Queries {
  readonly inTransaction: true;
  /** The app that asked for it; null: a shopper, a command or the service itself. */
  readonly appId: string | null;
  /**
   * Registers statements that run after all others. They are sent together with the commit, so they must not depend on
   * each other's results; a lock that they take is held only briefly.
   */
  beforeCommit(statements: () => Promise<unknown>): void;
  /** Notifies other parts of this process after the commit; a rollback notifies no one. */
  notifyAfterCommit(notice: string, shopId: string): void;
}

export interface TransactionOptions {
  /** The shop whose clock the transaction has; absent: that of the service. */
  clockOf?: string | undefined;
  isolation?: 'read committed' | 'repeatable read' | 'serializable';
  appId?: string | null | undefined;
}

/** The database as the requests of one shop use it. */
export interface ShopDatabase extends Queries {
  /**
   * Runs `work` in one transaction and commits what it did, or nothing. A serialisation failure or a deadlock
   * runs it again, so it must not have effects outside of the transaction.
   */
  transaction<Result>(
    work: (tx: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
}

export interface Database extends ShopDatabase {
  /**
   * The same database with the shop's share of the connections, for requests; see `shop-shares.ts`. Code inside a
   * transaction must not use it.
   */
  ofShop(shopId: string): ShopDatabase;
  /** The same database with the clock of a shop, for work in the background and whatever has no request. */
  atClockOf(shopId: string): Database;
  readonly shares: ShopShares;
  readonly caches: Caches;
  /** Notifications from `notifyAfterCommit` in this process: the listeners get the shop's id. */
  readonly notices: EventEmitter;
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  connection: pg.PoolConfig;
  poolSize?: number;
  namedStatements?: boolean;
  /** Connections go through a transaction pooler, which refuses start-up parameters; without names it is assumed. */
  pooler?: boolean;
  /** How often a connection is used before another one takes its place. */
  maxUses?: number;
  clock?: () => Date;
  /** What all caches together may take; see `Caches`. */
  cacheMegabytes?: number;
  /** Called when a statement begins; the returned function is called when it has ended. */
  onStatement?: (text: string) => (error?: unknown) => void;
}

/** How a pool and a client take a finished query; their types know this form only without the callback. */
interface Submitter {
  query(query: pg.Query, values: undefined, done: (error?: Error, result?: pg.QueryResult) => void): void;
}

// bigint columns hold minor units and counters, which stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

// `2026-11-15 02:25:53.123+00` becomes a form that V8 reads directly; pg's own parser takes five times as long.
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => {
  const hasMinutes = text.at(-3) === ':';
  return new Date(`${text.slice(0, 10)}T${text.slice(11)}${hasMinutes ? '' : ':00'}`);
});

/**
 * Gives up on a server that does not answer. The same setting of the pool would also start and stop a timer for
 * every statement that waits for a connection; the length of that queue is bounded instead.
 */
class ImpatientClient extends pg.Client {
  // The types of pg know the pool's client without its argument.
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: 5_000 });
  }
}

/**
 * Sends all statements issued to a connection at the same moment with one system call. Otherwise each statement of a
 * transaction would be its own call, which also wakes the server.
 */
function sendTogether({ connection: { stream } }: pg.PoolClient): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  queueMicrotask(() => stream.uncork());
}

const MAX_WAITING = 2_000;

/** Milliseconds: an expensive request must not hold a connection for ever. */
const STATEMENT_TIMEOUT = 15_000;

/*
 * A connection is replaced now and then, because the memory PostgreSQL holds for it (plans, catalogue entries of every
 * table it has seen) only grows. Counting uses spreads the replacements under load, where all connections are of the
 * same age; the time limit is for a quiet service. A new connection plans its statements again: some 50 ms of work.
 */
const MAX_USES = 50_000;
const MAX_LIFETIME_SECONDS = 3_600;

/*
 * A statement is planned once per connection. Left to itself PostgreSQL plans lists and statements about a few ids
 * anew on every call, because a known limit or array looks cheaper than an unknown one: 0.7 ms instead of 0.3 ms. A
 * plan ages when its tables grow: `refreshStatistics` replaces it. Citus chooses for itself: to find the shard of a
 * join it must know the shop when it plans, and it keeps the plans of simple statements.
 */
const PREPARE_CONNECTION = `
  select set_config('plan_cache_mode', case when found then 'auto' else 'force_generic_plan' end, false),
    -- \`set local lock_timeout\` of a transaction must reach the node that has the locks.
    case when found then set_config('citus.propagate_set_commands', 'local', false) end
  from (select exists (select from pg_extension where extname = 'citus') as found) as citus`;

export function openDatabase(options: DatabaseOptions): Database {
  const clock = options.clock ?? (() => new Date());
  const named = options.namedStatements ?? true;
  const poolSize = options.poolSize ?? 10;
  const pooler = options.pooler ?? !named;
  const pool = new pg.Pool({
    ...options.connection,
    max: poolSize,
    Client: ImpatientClient,
    maxUses: options.maxUses ?? MAX_USES,
    maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    // Statements that a transaction issues without waiting in between are sent at once.
    pipeline: true,
    // With a pooler, each transaction sets it; see `begin`.
    statement_timeout: pooler ? undefined : STATEMENT_TIMEOUT,
    application_name: options.connection.application_name ?? 'kontor',
  });
  // An idle connection that breaks is replaced by the pool; without a listener Node would end the process.
  pool.on('error', () => {});
  // The same goes for one that breaks between two statements of a transaction: the next one reports it.
  pool.on('connect', (client) => {
    client.on('error', () => {});
    // Not awaited: it is sent with the first statement of the connection, which reports any error.
    if (!pooler) client.query(PREPARE_CONNECTION).catch(() => {});
  });

  const clocks = createShopClocks();
  const timeOf = (shopId: string, time: Date) => {
    const offset = clocks.offsetOf(shopId);
    return offset ? new Date(time.getTime() + offset) : time;
  };

  const caches = new Caches(options.cacheMegabytes);
  const cachesInTransaction = readOnly(caches);

  const queries = (target: Submitter) => {
    const send = async ({ name, text, values }: Statement) => {
      if (pool.waitingCount > MAX_WAITING) throw new DatabaseBusy();
      // Built from the text, because pg copies a configuration object property by property on every call.
      const statement = new pg.Query(text, values) as pg.Query & { name?: string };
      if (named && name !== undefined) statement.name = name;
      const ended = options.onStatement?.(text);
      try {
        const result = await new Promise<pg.QueryResult>((resolve, reject) => {
          target.query(statement, undefined, (error, result) => (error ? reject(error) : resolve(result!)));
        });
        ended?.();
        return result;
      } catch (error) {
        ended?.(error);
        // The original stack leads to the socket; this one leads to the statement.
        Error.captureStackTrace(error as Error);
        throw error;
      }
    };
    const many = async <Row>(query: Sql) => (await send(toStatement(query))).rows as Row[];
    return {
      many,
      search: many,
      one: async <Row>(query: Sql) => (await send(toStatement(query))).rows[0] as Row | undefined,
      run: async (query: Sql) => (await send(toStatement(query))).rowCount ?? 0,
    };
  };

  const queriesTogether = (client: pg.PoolClient) =>
    queries({
      query: (statement, values, done) => {
        sendTogether(client);
        (client as Submitter).query(statement, values, done);
      },
    });

  const begin = (isolation: string) =>
    `begin isolation level ${isolation}${pooler ? `; set local statement_timeout = ${STATEMENT_TIMEOUT}` : ''}`;

  /** Runs one statement in its own transaction. All of it is sent at once. */
  const alone = async <Result>(send: (db: ReturnType<typeof queries>) => Promise<Result>) => {
    if (pool.waitingCount > MAX_WAITING) throw new DatabaseBusy();
    const client = await pool.connect();
    sendTogether(client);
    const [, result, ended] = await Promise.allSettled([
      client.query(begin('read committed')),
      send(queriesTogether(client)),
      // After a failed statement it is a rollback, so it fails only with its connection.
      client.query('commit'),
    ]);
    client.release(ended.status === 'rejected' ? (ended.reason as Error) : undefined);
    if (result.status === 'rejected') throw result.reason;
    if (ended.status === 'rejected') throw ended.reason;
    return result.value;
  };
  const direct: ReturnType<typeof queries> = pooler
    ? {
        many: (query) => alone((db) => db.many(query)),
        search: (query) => alone((db) => db.search(query)),
        one: (query) => alone((db) => db.one(query)),
        run: (query) => alone((db) => db.run(query)),
      }
    : queries(pool);

  const notices = new EventEmitter().setMaxListeners(0);

  const attempt = async <Result>(
    work: (tx: Transaction) => Promise<Result>,
    { isolation = 'read committed', appId = null, clockOf }: TransactionOptions = {},
  ) => {
    if (pool.waitingCount > MAX_WAITING) throw new DatabaseBusy();
    const client = await pool.connect();
    let broken: Error | undefined;
    const last: (() => Promise<unknown>)[] = [];
    const announced = new Map<string, Set<string>>();
    try {
      // Not awaited, so it is sent with the first statements of the work.
      sendTogether(client);
      const begun = client.query(begin(isolation));
      begun.catch(() => {});
      const serviceNow = clock();
      const result = await work({
        ...queriesTogether(client),
        caches: cachesInTransaction,
        // Asked for each time: a transaction that reads the settings may learn that the clock was advanced.
        get now() {
          return clockOf === undefined ? serviceNow : timeOf(clockOf, serviceNow);
        },
        serviceNow,
        clocks,
        shared: unsharedReads,
        inTransaction: true,
        appId,
        beforeCommit: (statements) => void last.push(statements),
        notifyAfterCommit: (notice, shopId) => {
          const shops = announced.get(notice) ?? new Set();
          announced.set(notice, shops.add(shopId));
        },
      });
      await begun;
      // After a failed statement the commit is a rollback, and the failure is thrown.
      sendTogether(client);
      await Promise.all([...last.map((statements) => statements()), client.query('commit')]);
      for (const [notice, shops] of announced) for (const shopId of shops) notices.emit(notice, shopId);
      return result;
    } catch (error) {
      await client.query('rollback').catch((failure: Error) => (broken = failure));
      throw error;
    } finally {
      client.release(broken);
    }
  };

  const shares = createShopShares(poolSize);
  const shared = createSharedReads();

  const whole: Database & Attempting = {
    ...direct,
    caches,
    shared,
    attempt,
    get now() {
      return clock();
    },
    get serviceNow() {
      return clock();
    },
    clocks,
    transaction: (work, transactionOptions) => retried(() => attempt(work, transactionOptions)),
    ofShop: (shopId) => new SharedByShop(whole, shopId),
    atClockOf: (shopId) => (clocks.offsetOf(shopId) === undefined ? whole : atClockOf(whole, shopId)),
    shares,
    notices,
    pool,
    close: () => pool.end(),
  };
  return whole;

  function atClockOf(database: Database, shopId: string): Database {
    return Object.create(database, {
      now: { get: () => timeOf(shopId, clock()) },
      transaction: {
        value: <Result>(work: (tx: Transaction) => Promise<Result>, given?: TransactionOptions) =>
          database.transaction(work, { ...given, clockOf: shopId }),
      },
    }) as Database;
  }
}

interface Attempting {
  /** Runs a transaction once. */
  attempt: ShopDatabase['transaction'];
}

/** The database with one shop's share of its connections. Every request makes one, so it holds two fields. */
class SharedByShop implements ShopDatabase {
  readonly #whole: Database & Attempting;
  readonly #shopId: string;

  constructor(whole: Database & Attempting, shopId: string) {
    this.#whole = whole;
    this.#shopId = shopId;
  }

  get caches() {
    return this.#whole.caches;
  }

  get shared() {
    return this.#whole.shared;
  }

  get now() {
    const { serviceNow, clocks } = this.#whole;
    const offset = clocks.offsetOf(this.#shopId);
    return offset ? new Date(serviceNow.getTime() + offset) : serviceNow;
  }

  get serviceNow() {
    return this.#whole.serviceNow;
  }

  get clocks() {
    return this.#whole.clocks;
  }

  many<Row>(query: Sql): Promise<Row[]> {
    return this.#whole.shares.run(this.#shopId, 'statement', () => this.#whole.many<Row>(query));
  }

  search<Row>(query: Sql): Promise<Row[]> {
    return this.#whole.shares.run(this.#shopId, 'search', () => this.#whole.search<Row>(query));
  }

  one<Row>(query: Sql): Promise<Row | undefined> {
    return this.#whole.shares.run(this.#shopId, 'statement', () => this.#whole.one<Row>(query));
  }

  run(query: Sql): Promise<number> {
    return this.#whole.shares.run(this.#shopId, 'statement', () => this.#whole.run(query));
  }

  transaction<Result>(work: (tx: Transaction) => Promise<Result>, options?: TransactionOptions) {
    return retried(() =>
      this.#whole.shares.run(this.#shopId, 'transaction', () =>
        this.#whole.attempt(work, { ...options, clockOf: this.#shopId }),
      ),
    );
  }
}

/** Retries when PostgreSQL asks for it, a little later each time. */
async function retried<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === 10 || !isTransient(error)) throw error;
      await sleep(Math.random() * 5 * 2 ** Math.min(tries, 6));
    }
  }
}

/** Serialisation failure and deadlock: PostgreSQL asks for a retry. */
export function isTransient(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === '40001' || code === '40P01';
}

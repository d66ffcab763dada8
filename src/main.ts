import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { DEMO_OWNER, putDemoOwner } from './admin/users/demo-owner.ts';
import { insertLink, LINK_LIFETIME, linkTokens } from './admin/users/links.ts';
import { hasUsersBeside } from './admin/users/queries.ts';
import { isDemo, isPrivate, type Config } from './config.ts';
import { openDataFolder } from './db/data-folder.ts';
import { openDatabase, type Database, type Transaction } from './db/database.ts';
import { startEmbedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import { sql } from './db/sql.ts';
import { startRefreshingStatistics } from './db/statistics.ts';
import { reachableName, REACHED_AS_LOCALHOST } from './http/links.ts';
import { DEMO_TOKENS_REFUSED } from './http/demo-tokens.ts';
import type { Providers } from './orders/payments/providers.ts';
import type { Background } from './platform/background.ts';
import { createLog } from './platform/log.ts';
import { openBackupStore } from './platform/backup/store.ts';
import { openMediaStorage } from './platform/media/open-storage.ts';
import { startReturningMemory } from './platform/return-memory.ts';
import { terminalLines } from './platform/terminal-log.ts';
import { installationKey } from './platform/sealing.ts';
import { noteVersion } from './platform/version.ts';
import { limitHeap } from './platform/heap-limits.ts';
import type { ProcessPlace } from './composition/processes.ts';
import { countShops, findShop, findShops } from './shops/shop/queries.ts';

/** A problem that the operator can solve: shown as one line, without a stack. */
class StartProblem extends Error {
  override name = 'StartProblem';
}

/** The credentials to try the demo shop: the token that may do everything, and a cart. */
export interface DemoCredentials {
  token: string;
  /** undefined: it was ordered, or was too old. */
  cart: { cartId: string; token: string } | undefined;
}

/** The demo shop that an empty database gets. */
export interface Demo {
  /** undefined: nothing was created. */
  createShops(db: Database, config: Config): Promise<DemoCredentials | undefined>;
  /** The same for a later start, if the tokens are the public ones; undefined: they are not. */
  findAccess(db: Database): Promise<DemoCredentials | undefined>;
  /** Draws the pictures that are still missing. */
  complete(db: Database, config: Config): Promise<void>;
  hasTokens(db: Database): Promise<boolean>;
  /** With KONTOR_DEMO: creates the shops of an empty database, and refuses one with shops of others. */
  openPublic(db: Database): Promise<void>;
  /** With KONTOR_DEMO: deletes the shops and creates them again at every full hour. */
  startResets(db: Database, log: FastifyBaseLogger): Background;
}

export interface ServeOptions {
  /** Payment providers that replace built-in ones. */
  providers?: Partial<Providers>;
  /** undefined: this process is the only one. */
  place?: ProcessPlace | undefined;
}

/** Runs the service until a signal ends it: config, database, app, listen. */
export async function serve(
  config: Config,
  demo: Demo,
  { providers, place }: ServeOptions = {},
): Promise<void> {
  const signals = stopSignals();
  const lines = bufferedLines();
  const destination = process.stderr.isTTY ? terminalLines(lines) : lines;
  const log = createLog(config.LOG_LEVEL, destination);

  let ready = false;
  let onLaunch = () => {};
  const launched = new Promise<void>((resolve) => (onLaunch = resolve));
  const starting =
    config.DATABASE_URL === undefined && !place
      ? startEmbedded(config.KONTOR_DATA, {
          // A later message means that PostgreSQL ended by itself.
          log: (line) => (ready ? log.warn(line) : log.info(line)),
          onLaunch,
        })
      : openDataFolder(config.KONTOR_DATA).then(() => undefined);
  // PostgreSQL starts while the modules are loaded, which leaves this process no time to launch it.
  await Promise.race([launched, starting]);
  const [
    embedded,
    { buildApp },
    { startEmailThread },
    {
      startBackground,
      startCallsOfRules,
      startDomains,
      startNoticesOfOrders,
      startPayments,
      startTransport,
      startWebhooks,
    },
    { areMetricsServed, metricsServer },
    { certificateAskServer },
  ] = await Promise.all([
    starting,
    import('./composition/app.ts'),
    import('./composition/emails.ts'),
    import('./composition/background.ts'),
    import('./platform/metrics.ts'),
    import('./shops/domains/ask-server.ts'),
  ]);
  const tracing =
    config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
      ? undefined
      : (await import('./platform/tracing.ts')).startTracing(log);
  const connection = embedded?.connection ?? place?.connection ?? { connectionString: config.DATABASE_URL };
  const db = openDatabase({
    connection,
    poolSize: config.DATABASE_POOL,
    namedStatements: config.DATABASE_NAMED_STATEMENTS,
    cacheMegabytes: config.CACHE_MB,
    ...(tracing && { onStatement: tracing.traceStatement }),
    ...(config.DATABASE_POOLER !== undefined && { pooler: config.DATABASE_POOLER }),
  });
  try {
    const app = await buildApp({ config, db, log, isMigrated: () => ready, tracing, providers });
    const metrics = config.METRICS_PORT === undefined ? undefined : metricsServer(app, config);
    const asks =
      config.CERTIFICATE_ASK_PORT === undefined ? undefined : certificateAskServer(app.shopHosts, log);
    let emails: Background | undefined;
    let webhooks: Background | undefined;
    let calls: Background | undefined;
    let notices: Background | undefined;
    let payments: Background | undefined;
    let transport: Background | undefined;
    let domains: Background | undefined;
    let resets: Background | undefined;
    let background: Background | undefined;
    let stopRefreshing: (() => Promise<void>) | undefined;
    try {
      // First, so nothing is printed before the line about a database that can't be reached.
      await db.one(sql`select 1`);
      // A process that joins others must not take requests from them before it can serve.
      const joins = place !== undefined && !place.isFirst;
      if (joins) await migrate(db, (line) => log.info(line));
      if (joins) ready = true;
      // Otherwise before the migrations, so /health answers and /ready says no while a long one runs.
      const address = await listen(app, config, 'PORT');
      if (metrics) await listen(metrics, config, 'METRICS_PORT', place);
      if (asks) await listen(asks, config, 'CERTIFICATE_ASK_PORT');
      if (!joins) await migrate(db, (line) => log.info(line));
      stopRefreshing = startRefreshingStatistics(db, (error) =>
        log.warn({ err: error }, 'the statistics of the database could not be refreshed'),
      );
      const origin = config.PUBLIC_URL?.replace(/\/$/, '') ?? address;
      // One of several processes is enough, and another one takes its place when it ends.
      if (place === undefined || place.number === 1) {
        const write = (line: string) => destination.write(line);
        emails = startEmailThread({ db, connection, config, log, write, origin });
      }
      const { demoAccess } = app;
      payments = startPayments({ db, config, demoAccess, log, calls: app.appCalls, providers });
      // A demo sends nothing to anybody.
      if (!isDemo(config)) {
        webhooks = startWebhooks({ db, config, demoAccess, log, origin });
        calls = startCallsOfRules({ db, config, demoAccess, log, origin });
        notices = startNoticesOfOrders({ db, config, demoAccess, log, origin, hosts: app.shopHosts });
        transport = startTransport({ db, config, demoAccess, log });
        domains = await startDomains({ db, config, hosts: app.shopHosts, log });
      }
      const created = await openShops(db, config, demo);
      await app.shopHosts.refresh();
      await demoAccess.refresh();
      ready = true;
      if (place?.isFirst ?? true) {
        // A folder that is not writable is enough to serve from where images and emails are elsewhere.
        await noteVersion(config.KONTOR_DATA).catch((error: unknown) =>
          log.warn({ err: error }, 'the version could not be noted for kontor upgrade --check'),
        );
      }
      background = startBackground(db, config, app.demoAccess, log);
      if (isDemo(config)) resets = demo.startResets(db, log);
      // Not awaited: the shop sells without its pictures, and a store that is down now may be back soon.
      void openMediaStorage(config)
        .problem()
        .then((problem) => problem !== undefined && log.error(`No image can be stored: ${problem}`));
      void openBackupStore(config)
        ?.problem()
        .then((problem) => problem !== undefined && log.error(`No backup can be stored: ${problem}`));
      if (config.DATABASE_URL !== undefined && config.KONTOR_SECRET === undefined) {
        log.info('KONTOR_SECRET is not set: processes that do not share KONTOR_DATA do not know our cookies');
      }
      if (!isPrivate(config) && config.PUBLIC_URL === undefined) {
        log.info(
          'PUBLIC_URL is not set: pages are made anew for callers under names that are not this machine',
        );
      }
      if (!areMetricsServed(config)) {
        const needed = config.PROCESSES === '1' ? 'METRICS_TOKEN or METRICS_PORT' : 'METRICS_PORT';
        log.info(`/metrics is switched off: set ${needed} to let Prometheus read it`);
      }
      if (!isPrivate(config) && (await demo.hasTokens(db))) log.warn(DEMO_TOKENS_REFUSED);
      // It answers from now on; a reader of the lines below finds the pictures of the demo shop too.
      await demo
        .complete(db, config)
        .catch((error: unknown) =>
          log.error({ err: error }, 'the pictures of the demo shop could not be drawn'),
        );
      lines.flush();
      if (place?.isFirst ?? true) {
        const access = created ?? (demoAccess.isOpen() ? await demo.findAccess(db) : undefined);
        const addressOf = (shopId: string) => shopAddress(app, config, address, shopId);
        const text = welcome(address, config, [
          ...(await adminLines(db, origin, access !== undefined && demoAccess.isOpen(), config)),
          ...(demoAccess.isEnded() ? ['  Demo access           closed, see npx kontor help demo open'] : []),
          ...(await nextStep(db, config, { address, addressOf, access })),
        ]);
        process.stdout.write(text);
      }
      place?.ready();
      limitHeap();
      startReturningMemory(db.caches);
      await signals.first;
      log.info('stopping');
    } finally {
      signals.onNext(() => app.server.closeAllConnections());
      await Promise.all([
        closeInTime(app),
        metrics?.close(),
        asks?.close(),
        emails?.stop(),
        webhooks?.stop(),
        notices?.stop(),
        calls?.stop(),
        payments?.stop(),
        transport?.stop(),
        domains?.stop(),
        resets?.stop(),
        background?.stop(),
        stopRefreshing?.(),
      ]);
      await tracing?.stop();
    }
  } finally {
    await db.close();
    await embedded?.stop();
    lines.flush();
  }
}

/** The shops of an empty database; undefined: no access is to be shown. */
async function openShops(db: Database, config: Config, demo: Demo): Promise<DemoCredentials | undefined> {
  if (!isDemo(config)) return (await countShops(db)) === 0 ? demo.createShops(db, config) : undefined;
  await demo.openPublic(db);
  return undefined;
}

/**
 * Lines for machines go to stderr, lines for people to stdout. Many lines are written at once, because a write per
 * request is slow. pino's own buffer measures its whole content with every line, which is slower still, and it tries
 * for ever to write to a terminal that was closed.
 */
function bufferedLines() {
  let text = '';
  const flush = () => {
    if (text === '') return;
    process.stderr.write(text);
    text = '';
  };
  setInterval(flush, 500).unref();
  process.once('exit', flush);
  return {
    write: (line: string) => {
      text += line;
      if (text.length >= 16_384) flush();
    },
    flush,
  };
}

async function listen(
  app: FastifyInstance,
  config: Config,
  variable: 'PORT' | 'METRICS_PORT' | 'CERTIFICATE_ASK_PORT',
  place?: ProcessPlace,
): Promise<string> {
  const hostVariable = variable === 'CERTIFICATE_ASK_PORT' ? 'CERTIFICATE_ASK_HOST' : 'HOST';
  const { [hostVariable]: host } = config;
  const port = config[variable]! + (place ? place.number - 1 : 0);
  try {
    // Exclusive: not shared with the other processes.
    await app.listen({ host, port, exclusive: place !== undefined });
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'EADDRINUSE') {
      throw new StartProblem(
        `Port ${port} is in use. Set ${variable} to another one, e.g. ${variable}=${port + 1} npm start`,
        { cause: error },
      );
    }
    if (code === 'EACCES') {
      throw new StartProblem(
        `Port ${port} may not be opened by this user. Set ${variable} to one above 1023.`,
        { cause: error },
      );
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
      throw new StartProblem(`${hostVariable}=${host} is not an address of this machine.`, { cause: error });
    }
    throw error;
  }
  const address = app.server.address() as AddressInfo;
  return `http://${reachableName(host)}:${address.port}`;
}

/** Browsers resolve names below localhost to this machine, so a shop of a private service has its own host. */
function shopAddress(app: FastifyInstance, { HOST }: Config, address: string, shopId: string): string {
  const host = REACHED_AS_LOCALHOST.includes(HOST) ? app.shopHosts.localHostOf(shopId) : undefined;
  return host === undefined ? `${address}/shop/${shopId}` : address.replace('localhost', host);
}

/** Until the first password is set, the person who sees this output can become the owner of the installation. */
async function adminLines(db: Database, origin: string, hasDemo: boolean, config: Config): Promise<string[]> {
  const admin = `  Admin                 ${origin}/admin`;
  // Nobody becomes the owner of a demo: its forms are refused.
  if (isDemo(config) || (await hasUsersBeside(db, DEMO_OWNER))) return [admin];
  const tokens = linkTokens(await installationKey(config));
  const linkFor = (ownerOf: (tx: Transaction) => Promise<string | null>) =>
    db.transaction(async (tx) =>
      tokens.urlOf(origin, await insertLink(tx, await ownerOf(tx), LINK_LIFETIME.reset)),
    );
  const owner = `  Become the owner      ${await linkFor(async () => null)}`;
  if (!hasDemo) return [admin, owner];
  return [
    `${admin}  (signs you in to the demo shop with one click)`,
    owner,
    // For browsers that do not send the origin of a form, which the button requires.
    `  Be the demo owner     ${await linkFor(putDemoOwner)}`,
  ];
}

/**
 * A first start on an empty database prints the token of the demo shop, and a private service prints it at every
 * start; otherwise the output says how to get one.
 */
async function nextStep(
  db: Database,
  config: Config,
  {
    address,
    addressOf,
    access,
  }: { address: string; addressOf: (shopId: string) => string; access: DemoCredentials | undefined },
): Promise<string[]> {
  if (!access) {
    const shop = (await findShop(db, 'DemoShop')) ?? (await findShops(db, 1))[0];
    return [
      ...(shop ? [`  ${`Shop ${shop.shopId}`.padEnd(20)}  ${addressOf(shop.shopId)}`] : []),
      `  A new access token    npx kontor token create ${shop?.shopId ?? 'ID'} --scopes all`,
    ];
  }
  const { token, cart } = access;
  return [
    `  Demo shop             ${addressOf('DemoShop')}`,
    `  Token (demo shop)     ${token}`,
    '',
    '  Try it:',
    '',
    `    curl -H 'Authorization: Bearer ${token}' ${address}/rs/shops/DemoShop/products`,
    ...(cart
      ? [`    curl -H 'X-ePages-Cart-Token: ${cart.token}' ${address}/rs/shops/DemoShop/carts/${cart.cartId}`]
      : []),
    ...(isPrivate(config) ? [] : ['', '  The tokens are shown this once.']),
  ];
}

function welcome(address: string, { DATABASE_URL, KONTOR_DATA }: Config, nextSteps: string[]): string {
  return [
    '',
    `  Kontor is running     ${address}`,
    `  Documentation         ${address}/docs`,
    ...(DATABASE_URL === undefined ? [`  Data                  ${path.resolve(KONTOR_DATA)}`] : []),
    ...nextSteps,
    '',
    '',
  ].join('\n');
}

const LAST_REQUESTS = 10_000;

/** Finishes open requests; a client that does not finish is cut off. */
async function closeInTime(app: FastifyInstance): Promise<void> {
  // A connection stays open for a next request, which will not come.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
  const limit = setTimeout(() => app.server.closeAllConnections(), LAST_REQUESTS);
  await app.close();
  clearInterval(sweep);
  clearTimeout(limit);
}

const SAME_SIGNAL = 500;

/**
 * The first signal asks for an orderly stop, a further one runs the callback of `onNext`, and when nothing is left to
 * try the process ends at once. npm also passes on the Ctrl-C that the terminal has sent us, so a second one within a
 * moment is the same. SIGHUP is a terminal that closes.
 */
function stopSignals() {
  const steps: (() => void)[] = [];
  const first = new Promise<void>((resolve) => steps.push(resolve));
  let heardAt = -Infinity;
  const hear = () => {
    const isEcho = performance.now() - heardAt < SAME_SIGNAL;
    heardAt = performance.now();
    if (isEcho) return;
    const step = steps.shift() ?? (() => process.exit(1));
    step();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, hear);
  onceLeftByNpm(() => {
    if (heardAt === -Infinity) hear();
  });
  return { first, onNext: (step: () => void) => void steps.push(step) };
}

/** npm runs us through a shell, which ends at a SIGTERM to npm without passing it on: we would run on unseen. */
function onceLeftByNpm(stop: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    stop();
  }, 250).unref();
}

import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { buildApp } from './app.ts';
import type { Config } from './config.ts';
import { openDatabase, type Database } from './db/database.ts';
import { startEmbedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import { sql } from './db/sql.ts';
import { createDemoShops, isLoopback } from './demo/demo-shop.ts';
import { createLog } from './operation/log.ts';
import { countShops, findShop, findShops } from './shop/queries.ts';

/** A problem that the operator can solve: shown as one line, without a stack. */
export class StartProblem extends Error {
  override name = 'StartProblem';
}

/** Runs the service until a signal ends it: config, database, app, listen. */
export async function serve(config: Config): Promise<void> {
  const signals = stopSignals();
  // Lines for machines go to stderr, lines for people to stdout. Buffered, because one write per request is slow.
  const destination = pino.destination({ fd: 2, sync: false, minLength: 4096 });
  // A terminal that was closed takes no more lines; what is left to do is to stop in order.
  destination.on('error', () => {});
  const log = createLog(config.LOG_LEVEL, destination);
  setInterval(() => destination.flush(), 500).unref();

  let ready = false;
  const embedded =
    config.DATABASE_URL === undefined
      ? await startEmbedded(config.KONTOR_DATA, {
          // What it has to say later is that PostgreSQL ended by itself.
          log: (line) => (ready ? log.warn(line) : log.info(line)),
        })
      : undefined;
  const db = openDatabase({
    connection: embedded?.connection ?? { connectionString: config.DATABASE_URL },
    poolSize: config.DATABASE_POOL,
    namedStatements: config.DATABASE_NAMED_STATEMENTS,
  });
  try {
    const app = await buildApp({ config, db, log, isMigrated: () => ready });
    try {
      // First, so that nothing is said before the line about a database that can't be reached.
      await db.one(sql`select 1`);
      // Before the migrations, so that /health answers and /ready says no while a long one runs.
      const address = await listen(app, config);
      await migrate(db, (line) => log.info(line));
      const text = welcome(address, config, await nextStep(db, config, address));
      ready = true;
      destination.flushSync();
      process.stdout.write(text);
      await signals.first;
      log.info('stopping');
    } finally {
      signals.onNext(() => app.server.closeAllConnections());
      await closeInTime(app);
    }
  } finally {
    await db.close();
    await embedded?.stop();
    destination.flushSync();
  }
}

async function listen(app: FastifyInstance, { HOST, PORT }: Config): Promise<string> {
  try {
    await app.listen({ host: HOST, port: PORT });
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'EADDRINUSE') {
      throw new StartProblem(
        `Port ${PORT} is in use. Set PORT to another one, e.g. PORT=${PORT + 1} npm start`,
        { cause: error },
      );
    }
    if (code === 'EACCES') {
      throw new StartProblem(`Port ${PORT} may not be opened by this user. Set PORT to one above 1023.`, {
        cause: error,
      });
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
      throw new StartProblem(`HOST=${HOST} is not an address of this machine.`, { cause: error });
    }
    throw error;
  }
  const { port } = app.server.address() as AddressInfo;
  return `http://${nameOf(HOST)}:${port}`;
}

const REACHED_AS_LOCALHOST = ['127.0.0.1', '::1', '0.0.0.0', '::'];

/** How a browser on this machine calls the address. */
function nameOf(host: string): string {
  if (REACHED_AS_LOCALHOST.includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** An empty database gets the demo shops, and the one who started it a token; else there is a way to get one. */
async function nextStep(db: Database, config: Config, address: string): Promise<string[]> {
  const token = (await countShops(db)) === 0 ? await createDemoShops(db, config) : undefined;
  if (token === undefined) {
    const shop = (await findShop(db, 'DemoShop')) ?? (await findShops(db, 1))[0];
    return [`  A new access token    npx kontor token create ${shop?.shopId ?? 'ID'} --scopes all`];
  }
  return [
    `  Token (demo shop)     ${token}`,
    '',
    '  Try it:',
    '',
    `    curl -H 'Authorization: Bearer ${token}' ${address}/rs/shops/DemoShop/customers`,
    ...(isLoopback(config.HOST) ? [] : ['', '  The token is shown this once.']),
  ];
}

function welcome(address: string, { DATABASE_URL, KONTOR_DATA }: Config, nextSteps: string[]): string {
  return [
    '',
    `  Kontor is running     ${address}`,
    `  API reference         ${address}/docs`,
    ...(DATABASE_URL === undefined ? [`  Data                  ${path.resolve(KONTOR_DATA)}`] : []),
    ...nextSteps,
    '',
    '',
  ].join('\n');
}

const LAST_REQUESTS = 10_000;

/** Finishes the requests that are under way; a client that does not come to an end is cut off. */
async function closeInTime(app: FastifyInstance): Promise<void> {
  // A connection is kept for a next request, which there will not be.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
  const limit = setTimeout(() => app.server.closeAllConnections(), LAST_REQUESTS);
  await app.close();
  clearInterval(sweep);
  clearTimeout(limit);
}

const SAME_SIGNAL = 500;

/**
 * The first signal asks to stop in order, a further one does what `onNext` was given, and when there is nothing
 * left to try the process ends at once. npm passes on the Ctrl-C that the terminal has sent us as well, so what
 * comes within a moment is the same one. SIGHUP is a terminal that closes.
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
  return { first, onNext: (step: () => void) => void steps.push(step) };
}

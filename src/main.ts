import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { buildApp } from './app.ts';
import type { Config } from './config.ts';
import { openDatabase, type Database } from './db/database.ts';
import { startEmbedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import { createDemoShops, isLoopback } from './demo/demo-shop.ts';
import { countShops } from './shop/queries.ts';

/** A problem that the operator can solve: shown as one line, without a stack. */
export class StartProblem extends Error {
  override name = 'StartProblem';
}

/** Runs the service until a signal ends it: config, database, app, listen. */
export async function serve(config: Config): Promise<void> {
  // Lines for machines go to stderr, lines for people to stdout. Buffered, because one write per request is slow.
  const destination = pino.destination({ fd: 2, sync: false, minLength: 4096 });
  const log = pino({ level: config.LOG_LEVEL, base: null }, destination);
  setInterval(() => destination.flush(), 500).unref();

  await mkdir(config.KONTOR_DATA, { recursive: true });
  const embedded =
    config.DATABASE_URL === undefined
      ? await startEmbedded(config.KONTOR_DATA, { log: (line) => log.info(line) })
      : undefined;
  const db = openDatabase({
    connection: embedded?.connection ?? { connectionString: config.DATABASE_URL },
    poolSize: config.DATABASE_POOL,
    namedStatements: config.DATABASE_NAMED_STATEMENTS,
  });

  let migrated = false;
  const app = await buildApp({ config, db, log, isMigrated: () => migrated });
  const stop = stopper(app, async () => {
    await db.close();
    await embedded?.stop();
    destination.flushSync();
  });
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);

  try {
    // Listening first, so that /health answers and /ready says no while a long migration runs.
    const address = await listen(app, config);
    await migrate(db, (line) => log.info(line));
    const demo = await firstShops(db, config);
    migrated = true;
    process.stdout.write(welcome(address, demo));
  } catch (error) {
    await app.close();
    await db.close().catch(() => {});
    await embedded?.stop();
    throw error;
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
      );
    }
    if (code === 'EACCES') throw new StartProblem(`Port ${PORT} may not be opened by this user. Set PORT.`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new StartProblem(`HOST=${HOST} is not an address of this machine.`);
    }
    throw error;
  }
  const { port } = app.server.address() as AddressInfo;
  return `http://${isLoopback(HOST) ? 'localhost' : HOST}:${port}`;
}

/** An empty database gets the demo shops; the one who started it gets a token for them. */
async function firstShops(db: Database, config: Config): Promise<string | undefined> {
  if ((await countShops(db)) > 0) return undefined;
  return createDemoShops(db, config);
}

function welcome(address: string, demoToken: string | undefined): string {
  const lines = [
    '',
    `  Kontor is running.    ${address}`,
    `  API reference         ${address}/docs`,
    '',
    ...(demoToken === undefined
      ? ['  A new access token:   npx kontor token create DemoShop --scopes all']
      : [
          `  Access token of the demo shop: ${demoToken}`,
          '  Try it:',
          '',
          `    curl -H 'Authorization: Bearer ${demoToken}' ${address}/rs/shops/DemoShop/customers`,
        ]),
    '',
    '',
  ];
  return lines.join('\n');
}

/** Finishes the requests that are under way, then lets go of everything. A second signal does not wait. */
function stopper(app: FastifyInstance, release: () => Promise<void>): () => void {
  return () => {
    process.once('SIGTERM', () => process.exit(1));
    process.once('SIGINT', () => process.exit(1));
    app
      .close()
      .then(release)
      .then(
        () => process.exit(0),
        (error: unknown) => {
          process.stderr.write(`kontor: did not stop cleanly: ${String(error)}\n`);
          process.exit(1);
        },
      );
  };
}

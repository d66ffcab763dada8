import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openConnections, type Connections } from '../bench/client.ts';
import { install } from '../bench/installation.ts';
import { atEnd, startServer, type Server } from '../bench/processes.ts';
import { residentMegabytes } from '../bench/start-times.ts';
import { createBareShop } from '../bench/shop.ts';
import { withBareDatabase, withDatabase } from '../src/commands/command.ts';
import { startProgress } from '../src/commands/progress.ts';
import { readConfig } from '../src/config.ts';
import { distribute } from '../src/db/distribute.ts';
import { attachEmbedded } from '../src/db/embedded.ts';
import { installationKey } from '../src/platform/sealing.ts';
import { CITUS_URL, createClusterDatabase, findNodes, dropDatabase } from '../test/cluster.ts';
import { killPostgres, postmasterOf, waitFor } from '../test/process.ts';
import type { Stage } from './stage.ts';

export const VICTIMS = ['the service', 'PostgreSQL', 'both'] as const;
export type Victim = (typeof VICTIMS)[number];

/**
 * The real thing: the service as it is installed, with its embedded database in a folder of its own. With
 * `KONTOR_TEST_CITUS_URL` its database is one of that cluster, distributed; then only the service is killed, because the
 * cluster belongs to somebody else.
 */
export interface ProofService extends Stage {
  /** From the next start on, the payment provider `demo` is the one at this address. */
  useProvider(url: string): Promise<void>;
  /** The key of the installation. */
  key(): Promise<Buffer>;
  /** kill -9, and returns when the service is ready again. */
  strike(victim: Victim): Promise<void>;
  /** Names of the mails that were written, without `.eml`. */
  mailIds(): Promise<string[]>;
  mailText(id: string): Promise<string>;
  /** Megabytes that the service takes. */
  memory(): Promise<number>;
  /** The end of what the service has logged. */
  lastWords(): Promise<string>;
}

const CONNECTIONS = 256;

/** Only shops that the host makes have one: `host-life.ts`. */
const PLANS = 'version: 1\nplans:\n  life: { products: 2, ordersPerMonth: 3 }\n';

export async function startProofService(scale: number): Promise<ProofService> {
  const folder = await mkdtemp(path.join(tmpdir(), 'kontor-proof-'));
  atEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
  // PostgreSQL runs as another user when this runs as root.
  await chmod(folder, 0o755);
  const installation = path.join(folder, 'kontor');
  await install(installation);

  const data = path.join(folder, 'data');
  const database = CITUS_URL === undefined ? {} : { DATABASE_URL: await newClusterDatabase(CITUS_URL) };
  const config = readConfig({ KONTOR_DATA: data, ...database });
  if (CITUS_URL === undefined) atEnd(() => stopForgotten(data));
  await withDatabase(config, async (db) => {
    // A first shop, so that the first start does not make the demo shop.
    await createBareShop(db, 'Proof');
    if (CITUS_URL !== undefined) await distribute(db, { shards: 8, onStart: () => {}, onStep: () => {} });
  });

  const plans = path.join(folder, 'plans.yaml');
  await writeFile(plans, PLANS);
  const logFile = path.join(folder, 'service.log');
  let server: Server;
  let connections: Connections;
  let words = ['bin/kontor.js', 'serve'];
  const start = async () => {
    server = await startServer({
      name: 'kontor',
      words,
      folder: installation,
      environment: {
        KONTOR_DATA: data,
        ...database,
        PLANS_FILE: plans,
        RATE_LIMIT: '0',
        RATE_LIMIT_ANONYMOUS: '0',
        LOG_LEVEL: 'warn',
      },
      logFile,
      probe: '/ready',
    });
    connections = openConnections(server.origin, CONNECTIONS);
  };
  await start();
  atEnd(async () => connections.close());

  return {
    send: (call) => connections.send(call),
    async look(work) {
      let result: Awaited<ReturnType<typeof work>> | undefined;
      await withBareDatabase(config, async (db) => {
        result = await work(db);
      });
      return result!;
    },
    progress: (what, total) => startProgress(what, total),
    size: (full) => Math.max(1, Math.round(full * scale)),
    async useProvider(url) {
      await writeFile(path.join(installation, 'with-provider.mjs'), entryWithProvider(url));
      words = ['with-provider.mjs'];
    },
    key: () => installationKey(config),
    async strike(chosen) {
      const victim = CITUS_URL === undefined ? chosen : 'the service';
      if (victim !== 'PostgreSQL') await server.kill();
      if (victim !== 'the service') await killPostgres(data);
      if (victim !== 'PostgreSQL') {
        connections.close();
        await start();
      }
      await waitFor(async () => (await fetch(`${server.origin}/ready`)).status === 200);
    },
    mailIds: async () =>
      (await readdir(path.join(data, 'mails')).catch(() => []))
        .filter((name) => name.endsWith('.eml') && !name.startsWith('.'))
        .map((name) => name.slice(0, -'.eml'.length)),
    mailText: (id) => readFile(path.join(data, 'mails', `${id}.eml`), 'utf8'),
    memory: () => residentMegabytes(server.pid),
    lastWords: async () => (await readFile(logFile, 'utf8')).slice(-2_000),
  };
}

/** Starts the installed service as `serve` does, with another provider in the place of the demo payment. */
const entryWithProvider = (url: string) => `
import { demo } from './compiled/commands/demo/demo.js';
import { readConfig } from './compiled/config.js';
import { serve } from './compiled/main.js';
import { httpProvider } from './proof/http-provider.js';
await serve(readConfig(process.env), demo, { providers: { demo: httpProvider(${JSON.stringify(url)}) } });
`;

/** A database of the cluster for this proof alone; its address. */
async function newClusterDatabase(url: string): Promise<string> {
  const nodes = await findNodes(url);
  const name = `proof_${process.pid}`;
  await createClusterDatabase(nodes, name);
  atEnd(() => dropDatabase(nodes, name));
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

/** A Kontor that was killed leaves its PostgreSQL running; whoever leaves last stops it. */
async function stopForgotten(data: string): Promise<void> {
  if ((await postmasterOf(data)) === undefined) return;
  const embedded = await attachEmbedded(data, { log: () => {} });
  await embedded.stop();
}

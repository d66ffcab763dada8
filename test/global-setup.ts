import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../src/db/database.ts';
import { attachEmbedded, startEmbedded } from '../src/db/embedded.ts';
import { migrate } from '../src/db/migrate.ts';
import {
  CITUS_URL,
  createClusterDatabase,
  distributeTemplate,
  dropDatabase,
  findNodes,
  type Connection,
} from './cluster.ts';
import { forgottenFolders, newOpenFolder } from './folder.ts';
import { referenceTime } from './reference-time.ts';
import { endForgottenPgbouncer, IS_POOLED, startPgbouncer } from './pgbouncer.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** How to reach the databases of the tests: directly, or through PgBouncer. */
    connection: Connection;
    /** How to reach the server itself, to create and drop databases. */
    server: Connection;
    /** All servers that a database of the tests lies on: the one above, and on Citus the workers. */
    nodes: Connection[];
    /** For what the tests of several files share; it is removed at the end. */
    folder: string;
    /** Milliseconds of a fixed piece of work before the tests began, when the machine was quiet. */
    referenceTime: number;
  }
}

/** Nobody may be connected to a template while it is cloned, so it is a database of its own. */
export const TEMPLATE = 'kontor_template';

/** One PostgreSQL for the whole run, with the schema in a template that each test file clones. */
export default function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide('referenceTime', referenceTime(50));
  return CITUS_URL === undefined ? setUpEmbedded(project) : setUpCluster(project, CITUS_URL);
}

/** A cluster that runs already. */
async function setUpCluster(project: TestProject, url: string): Promise<() => Promise<void>> {
  const nodes = await findNodes(url);
  await createClusterDatabase(nodes, TEMPLATE);
  await migrateTemplate(nodes[0]!);
  await distributeTemplate(nodes, TEMPLATE);
  project.provide('connection', nodes[0]!);
  project.provide('server', nodes[0]!);
  project.provide('nodes', nodes);
  const folder = await newOpenFolder();
  project.provide('folder', folder);
  return async () => {
    await dropDatabase(nodes, TEMPLATE);
    await rm(folder, { recursive: true, force: true });
  };
}

async function migrateTemplate(connection: pg.ClientConfig): Promise<void> {
  const db = openDatabase({ connection: { ...connection, database: TEMPLATE } });
  await migrate(db, () => {});
  await db.close();
}

async function setUpEmbedded(project: TestProject): Promise<() => Promise<void>> {
  await endForgottenServers();
  const folder = await newOpenFolder();
  const server = await startEmbedded(folder, {
    log: () => {},
    settings: {
      // The data is thrown away, so nothing has to survive a crash here.
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      max_wal_size: '128MB',
      // No database lives long enough to need it, and a test that needs statistics gathers them.
      autovacuum: 'off',
      max_connections: '300',
    },
  });
  const admin = new pg.Client(server.connection);
  await admin.connect();
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  await migrateTemplate(server.connection);
  const { host, port, user } = server.connection;
  const connection = {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(user === undefined ? {} : { user }),
  };
  const pooler = IS_POOLED ? await startPgbouncer(folder, connection) : undefined;
  project.provide('connection', pooler?.connection ?? connection);
  project.provide('server', connection);
  project.provide('nodes', [connection]);
  project.provide('folder', folder);
  return async () => {
    await pooler?.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

/** A run that was killed could not stop its server; the next one does it. */
async function endForgottenServers(): Promise<void> {
  for (const folder of await forgottenFolders()) {
    await endForgottenPgbouncer(folder);
    if (existsSync(path.join(folder, 'postgres/postmaster.pid'))) {
      const server = await attachEmbedded(folder, { log: () => {} });
      await server.stop();
    }
    await rm(folder, { recursive: true, force: true });
  }
}

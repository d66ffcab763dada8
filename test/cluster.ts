import pg from 'pg';
import { openDatabase, type Database } from '../src/db/database.ts';
import { distribute } from '../src/db/distribute.ts';

/**
 * The suite on a Citus cluster: `KONTOR_TEST_CITUS_URL` is the address of its coordinator, in a database that knows the
 * workers. The tests make databases of their own on all nodes and drop them.
 */
export const CITUS_URL = process.env['KONTOR_TEST_CITUS_URL'];

/** How to reach a server of the tests. */
export interface Connection {
  host?: string;
  port?: number;
  user?: string;
}

/** Few, because a database with many tables takes long to clone; more than one per worker, because a shard is not a node. */
const SHARDS = 4;

/** All nodes of the cluster, the coordinator first. */
export async function findNodes(url: string): Promise<Connection[]> {
  const coordinator = new pg.Client(url);
  await coordinator.connect();
  const { user = 'postgres' } = coordinator;
  const { rows } = await coordinator.query<{ host: string; port: number }>(
    "select nodename as host, nodeport as port from pg_dist_node where noderole = 'primary' order by groupid",
  );
  await coordinator.end();
  return rows.map(({ host, port }) => ({ host, port, user }));
}

/** On each of these servers, in the database that is always there. */
export async function onServers(nodes: readonly Connection[], text: string): Promise<void> {
  await Promise.all(nodes.map((node) => inDatabase(node, 'postgres', text)));
}

async function inDatabase(node: Connection, database: string, text: string): Promise<void> {
  const client = new pg.Client({ ...node, database });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** How many connections to a database wait for a lock. On a cluster they do so on the node of the shop. */
export async function countLockWaits(nodes: readonly Connection[], database: string): Promise<number> {
  const counts = nodes.map(async (node) => {
    const client = new pg.Client({ ...node, database: 'postgres' });
    await client.connect();
    const { rowCount } = await client.query(
      "select from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'",
      [database],
    );
    await client.end();
    return rowCount!;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

export async function dropDatabase(nodes: readonly Connection[], name: string): Promise<void> {
  if (CITUS_URL !== undefined) await closeDatabase(nodes, name);
  await onServers(nodes, `drop database if exists ${name} with (force)`);
}

/**
 * Lets nobody connect any more, and ends who is connected. To drop it with force is not enough on a cluster: in a database
 * that is a moment old the daemon of Citus is still connecting, and outlives the five seconds that the drop waits for it.
 */
async function closeDatabase(nodes: readonly Connection[], name: string): Promise<void> {
  await onServers(nodes, `update pg_database set datallowconn = false where datname = '${name}'`);
  await onServers(
    nodes,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
  );
}

/** Makes a database of the cluster: each node has its own part under the same name, and knows the others. */
export async function createClusterDatabase(nodes: readonly Connection[], name: string): Promise<void> {
  await dropDatabase(nodes, name);
  await onServers(nodes, `create database ${name}`);
  for (const node of nodes) await inDatabase(node, name, 'create extension citus');
  const [coordinator, ...workers] = nodes;
  await inDatabase(
    coordinator!,
    name,
    `select citus_set_coordinator_host('${coordinator!.host}', ${coordinator!.port})`,
  );
  for (const { host, port } of workers) {
    await inDatabase(coordinator!, name, `select citus_add_node('${host}', ${port})`);
  }
}

export async function distributeDatabase(db: Database): Promise<void> {
  await distribute(db, { shards: SHARDS, onStart: () => {}, onStep: () => {} });
}

/** Distributes the migrated template, and keeps the daemons of Citus out of it, because a template must be unused. */
export async function distributeTemplate(nodes: readonly Connection[], name: string): Promise<void> {
  const db = openDatabase({ connection: { ...nodes[0], database: name } });
  await distributeDatabase(db);
  await db.close();
  await closeDatabase(nodes, name);
}

import type pg from 'pg';
import type { Database } from './database.ts';

/**
 * Citus: the tables of the shops, spread over several database machines by `shop_id`. All rows of a shop are on one
 * node, so a statement with `shop_id = $1` goes to this node alone.
 */

export interface Table {
  name: string;
  placement: 'local' | 'distributed' | 'reference';
  hasShopId: boolean;
  /** `shop_id` is a part of its primary key. */
  isKeyedByShop: boolean;
}

export interface DistributionPlan {
  /** To be distributed by `shop_id`, the shops first, because the others are placed beside them. */
  distributed: string[];
  /** To be copied to every node. */
  references: string[];
}

/**
 * Lists the work for tables that are still on the coordinator alone. A table that names a shop but is not keyed by it
 * (the domains of shops) is read for all shops at once and joined with them, so every node gets a copy. Tables without
 * shops (rate limits, migrations, leases) stay on the coordinator.
 */
export function distributionPlan(tables: readonly Table[]): DistributionPlan {
  const local = tables.filter(({ placement, hasShopId }) => placement === 'local' && hasShopId);
  const names = (isKeyedByShop: boolean) =>
    local.filter((table) => table.isKeyedByShop === isKeyedByShop).map(({ name }) => name);
  const isOther = (name: string) => Number(name !== 'shop');
  return {
    distributed: names(true).toSorted((left, right) => isOther(left) - isOther(right)),
    references: names(false),
  };
}

/** The installation cannot be distributed; the message says what to do. */
class DistributionProblem extends Error {
  override name = 'DistributionProblem';
}

export interface DistributeOptions {
  /** Shards per table; Citus moves them between nodes one by one. It matters only the first time. */
  shards: number;
  /** Receives the number of steps, and then each of them. */
  onStart: (steps: number) => void;
  onStep: () => void;
}

export interface Distribution extends DistributionPlan {
  foreignKeys: number;
}

interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

/**
 * Distributes the remaining tables, with their rows, in one transaction: all or nothing. Citus refuses foreign keys
 * between a distributed table and one that is not yet, so they are dropped before and added after.
 */
export async function distribute(
  db: Database,
  { shards, onStart, onStep }: DistributeOptions,
): Promise<Distribution> {
  await requireWorkers(db);
  return inLongTransaction(db, async (client) => {
    // A process that starts now waits here before its migrations.
    await client.query('lock table migration in access exclusive mode');
    const plan = distributionPlan(await readTables(client));
    const tables = [...plan.references, ...plan.distributed];
    if (tables.length === 0) return { ...plan, foreignKeys: 0 };
    await client.query(`lock table ${tables.join()} in access exclusive mode`);
    const foreignKeys = await readForeignKeys(client, tables);
    onStart(2 * tables.length + foreignKeys.length);
    for (const { table, name } of foreignKeys) {
      await client.query(`alter table ${table} drop constraint ${name}`);
    }
    for (const name of plan.references) {
      await client.query('select create_reference_table($1::regclass)', [name]);
      onStep();
    }
    for (const name of plan.distributed) {
      await distributeTable(client, name, shards);
      onStep();
    }
    for (const { table, name, definition } of foreignKeys) {
      await client.query(`alter table ${table} add constraint ${name} ${definition}`);
      onStep();
    }
    // The rows are on the nodes now; the copies left on the coordinator are hidden and take up space.
    for (const name of tables) {
      await client.query('select truncate_local_data_after_distributing_table($1::regclass)', [name]);
      onStep();
    }
    return { ...plan, foreignKeys: foreignKeys.length };
  });
}

/** Colocated with the shops; the shop table itself is cut into this many shards. */
async function distributeTable(client: pg.PoolClient, name: string, shards: number): Promise<void> {
  await (name === 'shop'
    ? client.query(
        "select create_distributed_table('shop', 'shop_id', colocate_with => 'none', shard_count => $1)",
        [shards],
      )
    : client.query("select create_distributed_table($1::regclass, 'shop_id', colocate_with => 'shop')", [
        name,
      ]));
}

/**
 * For migrations, after each table that they create: where the shops are distributed, a new table is too. Runs before
 * its foreign keys, because a table on the coordinator cannot refer to a distributed one.
 */
export async function distributeNewTables(client: pg.PoolClient): Promise<void> {
  const { distributed, references } = distributionPlan(await readTables(client));
  for (const name of references) {
    await client.query('select create_reference_table($1::regclass)', [name]);
  }
  for (const name of distributed) await distributeTable(client, name, 0);
}

/** Whether the tables of shops are distributed; false where there is no Citus. */
export async function isDistributed(queries: pg.Pool | pg.PoolClient): Promise<boolean> {
  if (!(await hasCitus(queries))) return false;
  const { rows } = await queries.query<{ exists: boolean }>(
    "select exists (select from pg_dist_partition where logicalrelid = to_regclass('shop')) as exists",
  );
  return rows[0]!.exists;
}

async function hasCitus(queries: pg.Pool | pg.PoolClient): Promise<boolean> {
  const { rows } = await queries.query("select from pg_extension where extname = 'citus'");
  return rows.length > 0;
}

async function requireWorkers({ pool }: Database): Promise<void> {
  if (!(await hasCitus(pool))) {
    throw new DistributionProblem(
      'This database has no Citus. Install it on every node, run "create extension citus" in this database, and see docs/operations/citus.md.',
    );
  }
  const { rows } = await pool.query(
    "select from pg_dist_node where isactive and shouldhaveshards and noderole = 'primary'",
  );
  if (rows.length === 0) {
    throw new DistributionProblem(
      "This cluster has no worker. Add each with: select citus_add_node('HOST', 5432). See docs/operations/citus.md.",
    );
  }
}

async function readTables(queries: pg.Pool | pg.PoolClient): Promise<Table[]> {
  const { rows } = await queries.query<Table>(`
    select format('%I', relname) as name,
      case when partmethod is null then 'local' when partmethod = 'n' then 'reference' else 'distributed' end as placement,
      exists (
        select from pg_attribute where attrelid = pg_class.oid and attname = 'shop_id' and not attisdropped
      ) as "hasShopId",
      exists (
        select from pg_index join pg_attribute on attrelid = indrelid and attnum = any (indkey)
        where indrelid = pg_class.oid and indisprimary and attname = 'shop_id'
      ) as "isKeyedByShop"
    from pg_class left join pg_dist_partition on logicalrelid = pg_class.oid
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and not relation_is_a_known_shard(pg_class.oid)
    order by relname`);
  return rows;
}

/** Foreign keys between these tables and any other. */
async function readForeignKeys(client: pg.PoolClient, tables: readonly string[]): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as table, format('%I', conname) as name, pg_get_constraintdef(oid) as definition
     from pg_constraint
     where contype = 'f' and (conrelid = any ($1::regclass[]) or confrelid = any ($1::regclass[]))
     order by 1, 2`,
    [tables],
  );
  return rows;
}

/** A transaction without a statement timeout that modifies shards one after the other, as several tables require. */
async function inLongTransaction<Result>(
  { pool }: Database,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    await client.query('set local statement_timeout = 0');
    await client.query("set local citus.multi_shard_modify_mode = 'sequential'");
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    client.release(broken);
  }
}

export interface Node {
  /** `host:port` */
  name: string;
  shards: number;
  /** null: the node does not answer. */
  shops: number | null;
}

export interface Cluster {
  nodes: Node[];
  tables: Table[];
}

/** The nodes of the shops; undefined: they are not distributed. */
export async function readCluster({ pool }: Database): Promise<Cluster | undefined> {
  if (!(await isDistributed(pool))) return undefined;
  const { rows: nodes } = await pool.query<Node>(`
    select nodename || ':' || nodeport as name, count(result) as shards,
      case when count(result) = 0 then 0 when bool_and(success) then sum(case when success then result::bigint end) end::float8
        as shops
    from pg_dist_node
    left join run_command_on_placements('shop', 'select count(*) from %s') as counted using (nodename, nodeport)
    where noderole = 'primary' and shouldhaveshards
    group by 1 order by 1`);
  return { nodes, tables: await readTables(pool) };
}

interface Placement {
  shardId: number;
  node: string;
  /** No other shop can be in this shard. */
  isIsolated: boolean;
}

/** The placement of the rows of a shop. */
async function findPlacement(client: pg.PoolClient, shopId: string): Promise<Placement> {
  const { rows } = await client.query<Placement>(
    `select shardid as "shardId", nodename || ':' || nodeport as node, shardminvalue = shardmaxvalue as "isIsolated"
     from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
     where shardid = get_shard_id_for_distribution_column('shop', $1::text) and noderole = 'primary'`,
    [shopId],
  );
  return rows[0]!;
}

/**
 * Moves a shop to another node while it sells. Citus moves shards, so the shop gets its own first. Returns the node it
 * was on.
 */
export async function moveShop({ pool }: Database, shopId: string, target: string): Promise<string> {
  if (!(await isDistributed(pool))) {
    throw new DistributionProblem(
      'The shops are on one machine. Distribute them first: npx kontor db distribute',
    );
  }
  const client = await pool.connect();
  try {
    const [host, port] = await findNode(client, target);
    // Both take longer for a larger shop. Citus runs them in its own transactions.
    await client.query('set statement_timeout = 0');
    const before = await findPlacement(client, shopId);
    if (before.node === target) return before.node;
    if (!before.isIsolated) {
      await client.query("select isolate_tenant_to_new_shard('shop', $1::text, 'cascade')", [shopId]);
    }
    const { shardId, node } = await findPlacement(client, shopId);
    const [fromHost, fromPort] = addressOf(node);
    await client.query('select citus_move_shard_placement($1, $2, $3, $4, $5)', [
      shardId,
      fromHost,
      fromPort,
      host,
      port,
    ]);
    return before.node;
  } finally {
    // Not returned to the pool, because of its timeout.
    client.release(true);
  }
}

async function findNode(client: pg.PoolClient, name: string): Promise<[string, number]> {
  const { rows } = await client.query<{ name: string }>(
    `select nodename || ':' || nodeport as name from pg_dist_node
     where noderole = 'primary' and shouldhaveshards order by 1`,
  );
  const names = rows.map((row) => row.name);
  if (!names.includes(name)) {
    throw new DistributionProblem(
      `There is no node ${JSON.stringify(name)}. The nodes are: ${names.join(', ')}`,
    );
  }
  return addressOf(name);
}

function addressOf(node: string): [string, number] {
  const colon = node.lastIndexOf(':');
  return [node.slice(0, colon), Number(node.slice(colon + 1))];
}

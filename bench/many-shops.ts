import type { PoolClient } from 'pg';
import { generateProducts } from '../src/commands/demo/generate.ts';
import { startProgress } from '../src/commands/progress.ts';
import type { Database } from '../src/db/database.ts';
import { shopSettings } from '../src/shops/settings/settings.ts';
import { applyDelivery, createBareShop, stockUp } from './shop.ts';

/** A shop that is made product by product; all others are copies of its rows. */
export interface Pattern {
  shopId: string;
  token: string;
  /** Visible ones. */
  productIds: string[];
  /** With more stock than a run can sell. */
  saleIds: string[];
  shippingMethodId: string;
}

export interface ManyShops {
  /** Most shops have so few products. */
  small: Pattern;
  medium: Pattern;
  /** The large shop holds its products again and again. */
  big: Pattern;
  /** The copies of the small one. */
  smallShopIds: string[];
  largeShopId: string;
  /** Of all shops but the large one, and of the large one. */
  products: number;
  largeProducts: number;
}

const SMALL = 60;
const MEDIUM = 2_000;
const BIG = 20_000;

/** Copies that one statement makes. */
const COPIES_AT_ONCE = { small: 250, medium: 5, big: 1 };

/**
 * So many shops with about a hundred products each: one in a thousand is big, one in a hundred medium, the others are
 * small. One more is as large as all of them together.
 */
export async function createManyShops(db: Database, shops: number): Promise<ManyShops> {
  const small = await createPattern(db, 'Small', SMALL);
  const medium = await createPattern(db, 'Medium', MEDIUM);
  const big = await createPattern(db, 'Big', BIG);
  const counts = {
    big: Math.max(1, Math.round(shops / 1_000)),
    medium: Math.max(1, Math.round(shops / 100)),
  };
  const smallCount = shops - counts.big - counts.medium - 1;
  const products = smallCount * SMALL + counts.medium * MEDIUM + counts.big * BIG;
  const largeCopies = Math.max(1, Math.round(products / BIG));
  const largeShopId = 'Large';
  const progress = startProgress('products', products + largeCopies * BIG);
  await asBulk(db, async (client, tables) => {
    const copyAll = async (pattern: Pattern, count: number, atOnce: number, size: number) => {
      for (let from = 1; from <= count; from += atOnce) {
        const until = Math.min(from + atOnce - 1, count);
        await copyShop(client, tables, pattern.shopId, from, until);
        progress.advance((until - from + 1) * size);
      }
    };
    // The patterns are shops too.
    await copyAll(small, smallCount - 1, COPIES_AT_ONCE.small, SMALL);
    await copyAll(medium, counts.medium - 1, COPIES_AT_ONCE.medium, MEDIUM);
    await copyAll(big, counts.big - 1, COPIES_AT_ONCE.big, BIG);
    await multiplyShop(client, tables, big.shopId, largeShopId, largeCopies, () => progress.advance(BIG));
  });
  progress.end();
  return {
    small,
    medium,
    big,
    smallShopIds: Array.from({ length: smallCount - 1 }, (_, index) => `Small-${index + 1}`),
    largeShopId,
    products,
    largeProducts: largeCopies * BIG,
  };
}

/** The same small shop in an installation that has no other. */
export async function createOneShop(db: Database): Promise<Pattern> {
  const pattern = await createPattern(db, 'Small', SMALL);
  await db.pool.query('vacuum analyze');
  return pattern;
}

async function createPattern(db: Database, shopId: string, products: number): Promise<Pattern> {
  const token = await createBareShop(db, shopId);
  await applyDelivery(db, shopId);
  await generateProducts(db, { shopId, products, seed: 5 }, () => {});
  const sales = await stockUp(db, shopId);
  const { shippingMethods } = await shopSettings(db, shopId);
  const { rows } = await db.pool.query<{ id: string }>(
    `select upper(product_id::text) as id from product
     where shop_id = $1 and visible and kind <> 'variation' order by product_number limit 500`,
    [shopId],
  );
  return {
    shopId,
    token,
    productIds: rows.map(({ id }) => id),
    saleIds: sales.map(({ id }) => id),
    shippingMethodId: shippingMethods[0]!.shippingMethodId,
  };
}

export interface Table {
  name: string;
  /** Without the shop's id. */
  columns: string[];
}

/**
 * Without foreign keys, which were checked for the rows that are copied, and without the indexes that are no keys:
 * building them once over all rows takes a fraction of the time.
 */
export async function asBulk(
  db: Database,
  work: (client: PoolClient, tables: readonly Table[]) => Promise<void>,
): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query('alter system set max_wal_size = 8192');
    await client.query('select pg_reload_conf()');
    for (const setting of [
      'statement_timeout = 0',
      'session_replication_role = replica',
      'synchronous_commit = off',
      "maintenance_work_mem = '1GB'",
    ]) {
      await client.query(`set ${setting}`);
    }
    const indexes = await client.query<{ name: string; text: string }>(`
      select pg_class.relname as name, pg_get_indexdef(indexrelid) as text
      from pg_index join pg_class on pg_class.oid = indexrelid
      where relnamespace = current_schema()::regnamespace
        and not exists (select from pg_constraint where conindid = indexrelid)`);
    for (const { name } of indexes.rows) await client.query(`drop index ${name}`);
    await work(client, await tenantTables(client));
    const progress = startProgress('indexes', indexes.rows.length);
    for (const { text } of indexes.rows) {
      await client.query(text);
      progress.advance(1);
    }
    progress.end();
    await client.query('vacuum analyze');
  } finally {
    // With its settings, which are for nobody else.
    client.release(true);
  }
}

async function tenantTables(client: PoolClient): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select table_name as name, json_agg(column_name order by ordinal_position) as columns
    from information_schema.columns
    where table_schema = current_schema() and is_generated = 'NEVER' and column_name <> 'shop_id'
      and table_name in (
        select table_name from information_schema.columns join information_schema.tables using (table_schema, table_name)
        where table_schema = current_schema() and table_type = 'BASE TABLE' and column_name = 'shop_id')
    group by 1 order by 1`);
  return rows;
}

/** All rows of a shop in the shops `<id>-<from>` to `<id>-<until>`. Ids stay: each key begins with the shop. */
export async function copyShop(
  client: PoolClient,
  tables: readonly Table[],
  shopId: string,
  from: number,
  until: number,
): Promise<void> {
  for (const { name, columns } of tables) {
    await client.query(
      `insert into ${name} (shop_id, ${columns.join()}) overriding system value
       select $1::text || '-' || copy, ${columns.join()}
       from ${name} cross join generate_series($2::integer, $3::integer) as copy where shop_id = $1`,
      [shopId, from, until],
    );
  }
}

/** A new shop with all products of another one, so many times, each time with other ids and numbers. */
export async function multiplyShop(
  client: PoolClient,
  tables: readonly Table[],
  shopId: string,
  largeShopId: string,
  copies: number,
  advance: () => void,
): Promise<void> {
  const changed: Record<string, string> = {
    product_id: 'md5(product_id::text || $3)::uuid',
    master_id: 'md5(master_id::text || $3)::uuid',
    product_number: "product_number || '-' || $3",
  };
  const insert = ({ name, columns }: Table, copy: number) => {
    const values = columns.map((column) => changed[column] ?? column);
    return client.query(
      `insert into ${name} (shop_id, ${columns.join()}) overriding system value
       select $2, ${values.join()} from ${name} where shop_id = $1 and $3::text <> ''`,
      [shopId, largeShopId, String(copy)],
    );
  };
  const isOfProducts = ({ columns }: Table) => columns.includes('product_id');
  for (const table of tables) if (!isOfProducts(table)) await insert(table, 0);
  for (let copy = 1; copy <= copies; copy++) {
    for (const table of tables) if (isOfProducts(table)) await insert(table, copy);
    advance();
  }
  await client.query(
    'update listing_size set products = products * $2, products_below = products_below * $2 where shop_id = $1',
    [largeShopId, copies],
  );
}

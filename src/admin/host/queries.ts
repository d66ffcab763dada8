import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { shopColumns, stateOfShop, type ShopState } from '../../host/queries.ts';
import { idInOrder } from '../../shops/shop/queries.ts';

export interface ShopWithSizes {
  shopId: string;
  name: string;
  /** The domain used in its links. */
  domain: string | null;
  createdAt: Date;
  state: ShopState;
  deletionAt: Date | null;
  orders: number;
  lastOrderAt: Date | null;
  /** The size of its images. */
  mediaBytes: number;
  /** The caller works in it. */
  isMember: boolean;
}

export interface ShopPage {
  userId: string;
  /** The beginning of the ids. */
  beginning: string;
  states: readonly ShopState[];
  limit: number;
}

/**
 * The shops of the installation after this id, with their sizes, over all nodes of a cluster. Ids have only letters,
 * digits, `-` and `_`, which are less than `~`.
 */
export function findShopsAfter(db: Queries, after: string, page: ShopPage) {
  return db.many<ShopWithSizes>(sql`
    ${shopsOf(page)} and ${idInOrder} > lower(${after}) order by ${idInOrder} limit ${page.limit}`);
}

/** The shops before this id, the last one first. */
export function findShopsBefore(db: Queries, before: string, page: ShopPage) {
  return db.many<ShopWithSizes>(sql`
    ${shopsOf(page)} and ${idInOrder} < lower(${before}) order by ${idInOrder} desc limit ${page.limit}`);
}

const shopsOf = ({ userId, beginning, states }: ShopPage) => sql`
  select ${shopColumns},
    exists (
      select from shop_user
      where shop_user.shop_id = shop.shop_id and shop_user.user_id = ${userId} and not is_pending
    ) as "isMember",
    (
      select customer_order.created_at from customer_order where customer_order.shop_id = shop.shop_id
      order by customer_order.created_at desc limit 1
    ) as "lastOrderAt"
  from shop
  where ${idInOrder} >= lower(${beginning}) and ${idInOrder} < lower(${beginning}) || '~'
    and ${stateOfShop} = any (${states}::text[])`;

export interface DatabaseState {
  /** `18.1` */
  version: string;
  /** The last migration. */
  schema: string;
  bytes: number;
}

export function findDatabaseState(db: Queries) {
  return db.one<DatabaseState>(sql`
    select current_setting('server_version') as version, (select max(name) from migration) as schema,
      pg_database_size(current_database()) as bytes`);
}

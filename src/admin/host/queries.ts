import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { stateOfShop, type ShopState } from '../../host/queries.ts';
import { COUNTERS } from '../../platform/counters.ts';

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

/**
 * The shops of the installation whose id starts with the text, with their sizes, over all nodes of a cluster. All
 * sizes are read from counters, and the last order from an index.
 */
export function findShopsWithSizes(
  db: Queries,
  {
    userId,
    beginning,
    states,
    limit,
    offset,
  }: { userId: string; beginning: string; states: readonly ShopState[]; limit: number; offset: number },
) {
  return db.many<ShopWithSizes>(sql`
    select shop.shop_id as "shopId", coalesce(settings -> 'name' ->> default_locale, shop.shop_id) as name,
      shop_domain.host as domain, shop.created_at as "createdAt", ${stateOfShop} as state, shop.deletion_at as "deletionAt",
      coalesce(orders.value, ${COUNTERS.order}) - ${COUNTERS.order} as orders, coalesce(media.value, 0) as "mediaBytes",
      shop_user.user_id is not null as "isMember", (
        select customer_order.created_at from customer_order where customer_order.shop_id = shop.shop_id
        order by customer_order.created_at desc limit 1
      ) as "lastOrderAt"
    from shop
    left join shop_domain on shop_domain.shop_id = shop.shop_id and shop_domain.position = 0
    left join shop_user on shop_user.shop_id = shop.shop_id and shop_user.user_id = ${userId} and not is_pending
    left join counter orders on orders.shop_id = shop.shop_id and orders.name = 'order'
    left join counter media on media.shop_id = shop.shop_id and media.name = 'mediaBytes'
    where starts_with(lower(shop.shop_id), lower(${beginning})) and ${stateOfShop} = any (${states}::text[])
    order by lower(shop.shop_id) limit ${limit} offset ${offset}`);
}

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

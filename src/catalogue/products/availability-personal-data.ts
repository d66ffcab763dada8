import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { section, type Person, type PersonalData } from '../../platform/personal-data.ts';

/** Requests to be notified when a product is available again. */
export const availabilityPersonalData: PersonalData = {
  sections: {
    availabilityWatches: section('Products to be told of when they are back.', findNotificationRequests),
  },
  counts: { watchesDeleted: 'Products that were watched.' },
  erase: async (tx, shopId, { emails }) => ({
    counts: {
      watchesDeleted: await tx.run(
        sql`delete from watcher where shop_id = ${shopId} and email = any (${emails})`,
      ),
    },
  }),
};

function findNotificationRequests(db: Queries, shopId: string, { emails }: Person) {
  return db.many<object>(sql`
    select upper(watcher.product_id::text) as "productId", product.product_number as "productNumber", email, locale,
      watcher.created_at as since
    from watcher
    join product on product.shop_id = watcher.shop_id and product.product_id = watcher.product_id
    where watcher.shop_id = ${shopId} and email = any (${emails}) order by watcher.created_at, watcher.product_id`);
}

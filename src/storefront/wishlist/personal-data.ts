import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { section, type Person, type PersonalData } from '../../platform/personal-data.ts';
import { wishlistHash } from './queries.ts';

/** Wish lists of accounts. Those of other visitors are identified by a secret in a cookie, not by personal data. */
export const wishlistPersonalData: PersonalData = {
  sections: { wishList: section('Products on the wish list.', findWishesOf) },
  counts: { wishesDeleted: 'Products on the wish list.' },
  erase: async (tx, shopId, person) => ({
    counts: { wishesDeleted: await tx.run(sql`delete from wish where ${wishesOf(shopId, person)}`) },
  }),
};

const wishesOf = (shopId: string, { emails }: Person) => sql`
  wish.shop_id = ${shopId} and wish.visitor_hash in (
    select ${wishlistHash(sql`account.account_id`)} from account
    where account.shop_id = ${shopId} and account.email = any (${emails}))`;

function findWishesOf(db: Queries, shopId: string, person: Person) {
  return db.many<object>(sql`
    select product.product_number as "productNumber", wish.created_at as since from wish
    join product on product.shop_id = wish.shop_id and product.product_id = wish.product_id
    where ${wishesOf(shopId, person)} order by wish.created_at, product_number`);
}

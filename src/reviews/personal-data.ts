import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { section, type Person, type PersonalData } from '../platform/personal-data.ts';
import { lockReviewedProducts } from './queries.ts';
import { showReviews } from './write.ts';

/**
 * Reviews that a customer has written, and reports with one of the customer's addresses. An objection to invitations
 * stays: it is a hash from which nobody reads the address, and it must be observed when the person orders again.
 */
export const reviewPersonalData: PersonalData = {
  sections: {
    reviews: section('Reviews of products.', findReviewsOf),
    reviewReports: section('Reports of reviews with an address of the customer.', findReportsOf),
  },
  counts: {
    reviewsDeleted: 'Reviews of products.',
    reviewReportsErased: 'Reports of reviews that have lost the address.',
  },
  erase: async (tx, shopId, person) => ({
    counts: {
      reviewsDeleted: await deleteReviewsOf(tx, shopId, person),
      reviewReportsErased: await tx.run(sql`
        update review_report set email = null where ${reportsOf(shopId, person)}`),
    },
  }),
};

const reviewsOf = (shopId: string, { customerId }: Person) =>
  sql`shop_id = ${shopId} and customer_id = ${customerId}`;

const reportsOf = (shopId: string, { emails }: Person) =>
  sql`shop_id = ${shopId} and email = any (${emails}::text[])`;

function findReviewsOf(db: Queries, shopId: string, person: Person) {
  return db.many<object>(sql`
    select upper(review_id::text) as "reviewId", upper(product_id::text) as "productId",
      upper(order_id::text) as "orderId", stars, title, text, name, state, created_at as "createdOn",
      changed_at as "changedOn", answer
    from review where ${reviewsOf(shopId, person)} order by review_id`);
}

function findReportsOf(db: Queries, shopId: string, person: Person) {
  return db.many<object>(sql`
    select upper(review_id::text) as "reviewId", reported_at as "reportedOn", reason, email, closed_at as "closedOn"
    from review_report where ${reportsOf(shopId, person)} order by report_id`);
}

async function deleteReviewsOf(tx: Transaction, shopId: string, person: Person): Promise<number> {
  const reviewed = await tx.many<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from review where ${reviewsOf(shopId, person)}`);
  const productIds = await lockReviewedProducts(
    tx,
    shopId,
    reviewed.map(({ productId }) => productId),
  );
  const deleted = await tx.run(sql`delete from review where ${reviewsOf(shopId, person)}`);
  for (const productId of productIds) await showReviews(tx, shopId, productId);
  return deleted;
}

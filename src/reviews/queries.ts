import type { Queries, Transaction } from '../db/database.ts';
import { sql, type Sql } from '../db/sql.ts';
import { secretHash } from '../kernel/ids.ts';
import type { StarCounts } from './rating.ts';
import type { ReviewState } from './schema.ts';

export interface ReviewRow {
  reviewId: string;
  productId: string;
  orderId: string;
  customerId: string;
  stars: number;
  title: string;
  text: string;
  name: string;
  locale: string;
  state: ReviewState;
  createdAt: Date;
  changedAt: Date;
  answer: string | null;
  answeredAt: Date | null;
  openReports: number;
}

const columns = sql`
  upper(review.review_id::text) as "reviewId", upper(review.product_id::text) as "productId",
  upper(review.order_id::text) as "orderId", upper(review.customer_id::text) as "customerId", review.stars,
  review.title, review.text, review.name, review.locale, review.state, review.created_at as "createdAt",
  review.changed_at as "changedAt", review.answer, review.answered_at as "answeredAt",
  review.open_reports as "openReports"`;

/** With what the shop calls its product and its order. */
export interface ManagedReview extends ReviewRow {
  productNumber: string;
  orderNumber: string;
}

/** Looked up for each row of a page: joined, they may be read as a whole. */
const managedColumns = (shopId: string) => sql`${columns}, (
    select product_number from product where shop_id = ${shopId} and product.product_id = review.product_id
  ) as "productNumber", (
    select order_number from customer_order where shop_id = ${shopId} and customer_order.order_id = review.order_id
  ) as "orderNumber"`;

/** `reported`: those with open reports, whatever their state is. */
export type ReviewList = ReviewState | 'reported';

const listed = (shopId: string, list: ReviewList): Sql =>
  list === 'reported'
    ? sql`review.shop_id = ${shopId} and review.open_reports > 0`
    : sql`review.shop_id = ${shopId} and review.state = ${list}`;

export async function countReviews(db: Queries, shopId: string, list: ReviewList): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from review where ${listed(shopId, list)}`);
  return row!.count;
}

/** Newest first. */
export function findReviews(
  db: Queries,
  shopId: string,
  { list, limit, offset }: { list: ReviewList; limit: number; offset: number },
) {
  return db.many<ManagedReview>(sql`
    select ${managedColumns(shopId)} from review
    where ${listed(shopId, list)}
    order by review.review_id desc limit ${limit} offset ${offset}`);
}

export function findReview(db: Queries, shopId: string, reviewId: string) {
  return db.one<ManagedReview>(sql`
    select ${managedColumns(shopId)} from review
    where review.shop_id = ${shopId} and review.review_id = ${reviewId}`);
}

/** The product that the review is of; it is locked before the review. */
export async function findReviewedProduct(
  db: Queries,
  shopId: string,
  reviewId: string,
): Promise<string | undefined> {
  const row = await db.one<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from review
    where shop_id = ${shopId} and review_id = ${reviewId}`);
  return row?.productId;
}

/**
 * Locks products in the order of their ids, so that changes of their reviews, and the counts of these, follow each other.
 * Returns those that exist.
 */
export async function lockReviewedProducts(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
): Promise<string[]> {
  const rows = await tx.many<{ productId: string }>(sql`
    select upper(product_id::text) as "productId" from product
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])
    order by product_id for no key update`);
  return rows.map(({ productId }) => productId);
}

export function lockReview(tx: Transaction, shopId: string, reviewId: string) {
  return tx.one<ReviewRow>(sql`
    select ${columns} from review where shop_id = ${shopId} and review_id = ${reviewId} for update`);
}

export function lockReviewBy(tx: Transaction, shopId: string, productId: string, customerId: string) {
  return tx.one<ReviewRow>(sql`
    select ${columns} from review
    where shop_id = ${shopId} and product_id = ${productId} and customer_id = ${customerId} for update`);
}

/** The reviews that a customer has written of these products. */
export function findReviewsBy(
  db: Queries,
  shopId: string,
  customerId: string,
  productIds: readonly string[],
) {
  return db.many<ReviewRow>(sql`
    select ${columns} from review
    where shop_id = ${shopId} and customer_id = ${customerId} and product_id = any (${productIds}::uuid[])`);
}

/** The products on whose pages these are reviewed: visible ones, a master instead of its variations. */
export async function findReviewable(
  db: Queries,
  shopId: string,
  productIds: readonly string[],
): Promise<string[]> {
  const rows = await db.many<{ productId: string }>(sql`
    select distinct upper(shown.product_id::text) as "productId"
    from product bought
    join product shown on shown.shop_id = ${shopId}
      and shown.product_id = coalesce(bought.master_id, bought.product_id)
    where bought.shop_id = ${shopId} and bought.product_id = any (${productIds}::uuid[]) and shown.visible
    order by "productId"`);
  return rows.map(({ productId }) => productId);
}

export type NewReview = Omit<ReviewRow, 'createdAt' | 'changedAt' | 'answer' | 'answeredAt' | 'openReports'>;

export function insertReview(tx: Transaction, shopId: string, review: NewReview) {
  return tx.run(sql`
    insert into review (shop_id, review_id, product_id, order_id, customer_id, stars, title, text, name, locale, state,
      created_at, changed_at)
    values (${shopId}, ${review.reviewId}, ${review.productId}, ${review.orderId}, ${review.customerId}, ${review.stars},
      ${review.title}, ${review.text}, ${review.name}, ${review.locale}, ${review.state}, ${tx.now}, ${tx.now})`);
}

/** By its writer. */
export function updateReview(
  tx: Transaction,
  shopId: string,
  { reviewId, stars, title, text, name, locale, state }: NewReview,
) {
  return tx.run(sql`
    update review set stars = ${stars}, title = ${title}, text = ${text}, name = ${name}, locale = ${locale},
      state = ${state}, changed_at = ${tx.now}
    where shop_id = ${shopId} and review_id = ${reviewId}`);
}

export function deleteReview(tx: Transaction, shopId: string, reviewId: string) {
  return tx.run(sql`delete from review where shop_id = ${shopId} and review_id = ${reviewId}`);
}

/** The decision of the shop, which closes the reports. */
export async function updateReviewState(
  tx: Transaction,
  shopId: string,
  reviewId: string,
  state: ReviewState,
): Promise<void> {
  await Promise.all([
    tx.run(sql`
      update review set state = ${state}, open_reports = 0
      where shop_id = ${shopId} and review_id = ${reviewId}`),
    tx.run(sql`
      update review_report set closed_at = ${tx.now}
      where shop_id = ${shopId} and review_id = ${reviewId} and closed_at is null`),
  ]);
}

export function updateReviewAnswer(tx: Transaction, shopId: string, reviewId: string, answer: string | null) {
  return tx.run(sql`
    update review set answer = ${answer}, answered_at = ${answer === null ? null : tx.now}
    where shop_id = ${shopId} and review_id = ${reviewId}`);
}

type CountRow = Record<'one' | 'two' | 'three' | 'four' | 'five', number>;

const toCounts = ({ one, two, three, four, five }: CountRow): StarCounts => [one, two, three, four, five];

/** Counts the published reviews of a product that `lockProducts` has locked. */
export async function countStars(tx: Transaction, shopId: string, productId: string): Promise<StarCounts> {
  const row = await tx.one<CountRow>(sql`
    select count(*) filter (where stars = 1) as one, count(*) filter (where stars = 2) as two,
      count(*) filter (where stars = 3) as three, count(*) filter (where stars = 4) as four,
      count(*) filter (where stars = 5) as five
    from review where shop_id = ${shopId} and product_id = ${productId} and state = 'published'`);
  return toCounts(row!);
}

export function saveStars(
  tx: Transaction,
  shopId: string,
  productId: string,
  [one, two, three, four, five]: StarCounts,
) {
  return tx.run(sql`
    insert into product_rating (shop_id, product_id, one, two, three, four, five)
    values (${shopId}, ${productId}, ${one}, ${two}, ${three}, ${four}, ${five})
    on conflict (shop_id, product_id) do update set one = excluded.one, two = excluded.two, three = excluded.three,
      four = excluded.four, five = excluded.five`);
}

/** undefined: it never had a review. */
export async function findStars(
  db: Queries,
  shopId: string,
  productId: string,
): Promise<StarCounts | undefined> {
  const row = await db.one<CountRow>(sql`
    select one, two, three, four, five from product_rating
    where shop_id = ${shopId} and product_id = ${productId}`);
  return row && toCounts(row);
}

/** The same of several products; those that never had a review are missing. */
export async function findStarsOfAll(
  db: Queries,
  shopId: string,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, StarCounts>> {
  const rows = await db.many<CountRow & { productId: string }>(sql`
    select upper(product_id::text) as "productId", one, two, three, four, five from product_rating
    where shop_id = ${shopId} and product_id = any (${productIds}::uuid[])`);
  return new Map(rows.map((row) => [row.productId, toCounts(row)]));
}

/** A review as visitors see it. */
export type PublishedReview = Pick<
  ReviewRow,
  'reviewId' | 'stars' | 'title' | 'text' | 'name' | 'locale' | 'createdAt' | 'answer'
>;

const publishedColumns = sql`
  upper(review_id::text) as "reviewId", stars, title, text, name, locale, created_at as "createdAt", answer`;

/** Newest first; with these stars. */
export function findPublished(
  db: Queries,
  shopId: string,
  productId: string,
  { stars, limit, offset }: { stars: readonly number[]; limit: number; offset: number },
) {
  return db.many<PublishedReview>(sql`
    select ${publishedColumns} from review
    where shop_id = ${shopId} and product_id = ${productId} and state = 'published'
      and stars = any (${stars}::integer[])
    order by review_id desc limit ${limit} offset ${offset}`);
}

export function findPublishedReview(db: Queries, shopId: string, productId: string, reviewId: string) {
  return db.one<PublishedReview>(sql`
    select ${publishedColumns} from review
    where shop_id = ${shopId} and product_id = ${productId} and review_id = ${reviewId} and state = 'published'`);
}

export interface ReviewReportRow {
  reportId: string;
  reportedAt: Date;
  reason: string;
  email: string | null;
  closedAt: Date | null;
}

export async function countReports(db: Queries, shopId: string, reviewId: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from review_report where shop_id = ${shopId} and review_id = ${reviewId}`);
  return row!.count;
}

/** Newest first. */
export function findReports(
  db: Queries,
  shopId: string,
  reviewId: string,
  { limit, offset }: { limit: number; offset: number },
) {
  return db.many<ReviewReportRow>(sql`
    select upper(report_id::text) as "reportId", reported_at as "reportedAt", reason, email, closed_at as "closedAt"
    from review_report where shop_id = ${shopId} and review_id = ${reviewId}
    order by report_id desc limit ${limit} offset ${offset}`);
}

export async function insertReport(
  tx: Transaction,
  shopId: string,
  reviewId: string,
  { reportId, reason, email }: Pick<ReviewReportRow, 'reportId' | 'reason' | 'email'>,
): Promise<void> {
  await Promise.all([
    tx.run(sql`
      insert into review_report (shop_id, report_id, review_id, reported_at, reason, email)
      values (${shopId}, ${reportId}, ${reviewId}, ${tx.now}, ${reason}, ${email})`),
    tx.run(sql`
      update review set open_reports = open_reports + 1
      where shop_id = ${shopId} and review_id = ${reviewId}`),
  ]);
}

const objectionHash = (email: string) => secretHash(email.toLowerCase());

export function insertObjection(tx: Transaction, shopId: string, email: string) {
  return tx.run(sql`
    insert into review_objection (shop_id, email_hash, objected_at)
    values (${shopId}, ${objectionHash(email)}, ${tx.now})
    on conflict (shop_id, email_hash) do nothing`);
}

/** Those of these addresses, in lower case, that want no invitations. */
export async function findObjecting(
  db: Queries,
  shopId: string,
  emails: readonly string[],
): Promise<ReadonlySet<string>> {
  const emailOf = new Map(emails.map((email) => [objectionHash(email).toString('hex'), email]));
  const rows = await db.many<{ hash: string }>(sql`
    select encode(email_hash, 'hex') as hash from review_objection
    where shop_id = ${shopId} and email_hash = any (${emails.map(objectionHash)}::bytea[])`);
  return new Set(rows.map(({ hash }) => emailOf.get(hash)!));
}

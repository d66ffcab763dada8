import type { Transaction } from '../db/database.ts';
import { notFound } from '../http/errors.ts';
import { newId } from '../kernel/ids.ts';
import { moveVersions } from '../catalogue/products/queries.ts';
import { recordEvents, type NewEvent } from '../platform/events/log.ts';
import type { Settings } from '../shops/settings/settings.ts';
import {
  countStars,
  deleteReview,
  findReviewedProduct,
  insertReport,
  insertReview,
  lockReviewedProducts,
  lockReview,
  lockReviewBy,
  saveStars,
  updateReview,
  updateReviewAnswer,
  updateReviewState,
  type NewReview,
  type ReviewRow,
} from './queries.ts';
import type { ReviewState } from './schema.ts';

/** Visitors can report a review any number of times; the shop has to decide about it once. */
const MAX_OPEN_REPORTS = 50;

export type WrittenReview = Omit<NewReview, 'reviewId' | 'state'>;

/**
 * The state of a review that its writer has saved. What the shop has rejected waits for the shop again, so that nobody
 * publishes it by changing a letter.
 */
export function stateAfterWriting(
  before: ReviewState | undefined,
  moderation: Settings['reviews']['moderation'],
): ReviewState {
  return moderation === 'before' || before === 'rejected' || before === 'waiting' ? 'waiting' : 'published';
}

/**
 * Saves what a customer says of a product: a customer has one review of each. It is changed from the order that it was
 * written for only, because anybody can order with the email address of somebody else, and is the same customer then.
 */
export async function writeReview(
  tx: Transaction,
  shopId: string,
  written: WrittenReview,
  { moderation }: Settings['reviews'],
): Promise<ReviewState> {
  const { productId, customerId, stars } = written;
  // Two forms sent at once wait here for each other, so the second one finds the review of the first.
  if ((await lockReviewedProducts(tx, shopId, [productId])).length === 0) throw notFound();
  const before = await lockReviewBy(tx, shopId, productId, customerId);
  if (before && before.orderId !== written.orderId) throw notFound();
  const state = stateAfterWriting(before?.state, moderation);
  const review = { ...written, reviewId: before?.reviewId ?? newId(tx.now), state };
  await (before ? updateReview(tx, shopId, review) : insertReview(tx, shopId, review));
  if (before?.state === 'published' || state === 'published') await showReviews(tx, shopId, productId);
  const about = eventAbout(review);
  recordEvents(tx, shopId, [
    ...(before ? [] : [about('REVIEW_CREATE', { stars })]),
    ...(state === 'published' && before?.state !== state ? [about('REVIEW_PUBLISHED', { stars })] : []),
  ]);
  return state;
}

/** By its writer, from the order that it was written for; nothing happens where there is none. */
export async function withdrawReview(
  tx: Transaction,
  shopId: string,
  { productId, customerId, orderId }: Pick<WrittenReview, 'productId' | 'customerId' | 'orderId'>,
): Promise<void> {
  await lockReviewedProducts(tx, shopId, [productId]);
  const review = await lockReviewBy(tx, shopId, productId, customerId);
  if (review?.orderId !== orderId) return;
  await deleteReview(tx, shopId, review.reviewId);
  if (review.state === 'published') await showReviews(tx, shopId, productId);
}

/** The shop publishes or rejects a review. Doing it again only closes the reports that have come since. */
export async function decideReview(
  tx: Transaction,
  shopId: string,
  reviewId: string,
  state: 'published' | 'rejected',
): Promise<void> {
  const review = await lockForShop(tx, shopId, reviewId);
  await updateReviewState(tx, shopId, reviewId, state);
  if (review.state === state) return;
  await showReviews(tx, shopId, review.productId);
  const type = state === 'published' ? 'REVIEW_PUBLISHED' : 'REVIEW_REJECTED';
  recordEvents(tx, shopId, [eventAbout(review)(type, { stars: review.stars })]);
}

export async function answerReview(
  tx: Transaction,
  shopId: string,
  reviewId: string,
  answer: string | null,
): Promise<void> {
  const review = await lockForShop(tx, shopId, reviewId);
  if (review.answer === answer) return;
  await updateReviewAnswer(tx, shopId, reviewId, answer);
  if (review.state === 'published') await moveVersions(tx, shopId, [review.productId]);
}

/** A review that is reported a lot already is not reported once more: the shop has to look at it anyway. */
export async function reportReview(
  tx: Transaction,
  shopId: string,
  reviewId: string,
  report: { reason: string; email: string | null },
): Promise<void> {
  const review = await lockReview(tx, shopId, reviewId);
  if (review?.state !== 'published') throw notFound();
  if (review.openReports >= MAX_OPEN_REPORTS) return;
  const reportId = newId(tx.now);
  await insertReport(tx, shopId, reviewId, { ...report, reportId });
  recordEvents(tx, shopId, [eventAbout(review)('REVIEW_REPORTED', { reportId })]);
}

async function lockForShop(tx: Transaction, shopId: string, reviewId: string): Promise<ReviewRow> {
  const productId = await findReviewedProduct(tx, shopId, reviewId);
  if (productId !== undefined) await lockReviewedProducts(tx, shopId, [productId]);
  const review = await lockReview(tx, shopId, reviewId);
  if (!review) throw notFound();
  return review;
}

/** Counts the stars of a locked product again, and lets the pages that show them be rendered again. */
export async function showReviews(tx: Transaction, shopId: string, productId: string): Promise<void> {
  await saveStars(tx, shopId, productId, await countStars(tx, shopId, productId));
  await moveVersions(tx, shopId, [productId]);
}

const eventAbout =
  ({ reviewId, productId }: Pick<ReviewRow, 'reviewId' | 'productId'>) =>
  (type: NewEvent['type'], data: Record<string, unknown>): NewEvent => ({
    type,
    resourceId: productId,
    data: { reviewId, ...data },
  });

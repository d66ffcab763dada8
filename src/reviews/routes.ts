import { Type } from 'typebox';
import { toMilliseconds } from '../http/dates.ts';
import { notFound } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { paged, paging } from '../http/paging.ts';
import { Id, Paged } from '../http/schemas.ts';
import type { Queries } from '../db/database.ts';
import { severalLines } from './plain-text.ts';
import {
  countReports,
  countReviews,
  findReports,
  findReview,
  findReviews,
  type ManagedReview,
  type ReviewList,
} from './queries.ts';
import {
  Review,
  ReviewAnswer,
  ReviewReport,
  ReviewStateChange,
  REVIEW_STATES,
  type ReviewJson,
} from './schema.ts';
import { answerReview, decideReview } from './write.ts';

const shared = { under: 'manage', tag: 'reviews', labels: [] } as const;
const params = Type.Object({ reviewId: Id });
const { parameters, pageOf } = paging();

export const listReviews = operation({
  ...shared,
  method: 'GET',
  path: '/reviews',
  name: 'listReviews',
  summary: 'List reviews',
  description: 'Reviews of products, the newest first.',
  access: 'orders_read',
  query: Type.Object({
    ...parameters,
    state: Type.Optional(
      Type.Unsafe<ReviewList>({
        type: 'string',
        enum: [...REVIEW_STATES, 'reported'],
        default: 'waiting',
        description: 'reported: those with reports that the shop has not decided about. Absent: waiting.',
        examples: ['waiting'],
      }),
    ),
  }),
  answer: Paged(Review, 'review list'),
});

export const getReview = operation({
  ...shared,
  method: 'GET',
  path: '/reviews/:reviewId',
  name: 'getReview',
  summary: 'Get review',
  description: 'A review of a product.',
  access: 'orders_read',
  params,
  answer: Review,
});

export const setReviewState = operation({
  ...shared,
  method: 'PUT',
  path: '/reviews/:reviewId/state',
  name: 'setReviewState',
  summary: 'Set review state',
  description:
    'Publishes or rejects a review. Its stars count while it is published. The law forbids to reject bad ones only because they are bad.',
  access: 'orders_write',
  params,
  body: ReviewStateChange,
  answer: Review,
});

export const setReviewAnswer = operation({
  ...shared,
  method: 'PUT',
  path: '/reviews/:reviewId/answer',
  name: 'setReviewAnswer',
  summary: 'Set review answer',
  description: 'Answers a review. Visitors see the answer below it.',
  access: 'orders_write',
  params,
  body: ReviewAnswer,
  answer: Review,
});

export const listReviewReports = operation({
  ...shared,
  method: 'GET',
  path: '/reviews/:reviewId/reports',
  name: 'listReviewReports',
  summary: 'List review reports',
  description:
    'What visitors have reported about a review, the newest first. Reports stay for a year after the decision.',
  access: 'orders_read',
  params,
  query: Type.Object(parameters),
  answer: Paged(ReviewReport, 'review report list'),
});

/** Reviews as the shop works with them. */
export function managedReviews(api: Operations): void {
  api.read(listReviews, async ({ db, shopId, query }) => {
    const page = pageOf(query);
    const list = query.state ?? 'waiting';
    const [results, rows] = await Promise.all([
      countReviews(db, shopId, list),
      findReviews(db, shopId, { list, limit: page.resultsPerPage, offset: page.offset }),
    ]);
    return paged(page, results, rows.map(toReview));
  });

  api.read(getReview, ({ db, shopId, params: { reviewId } }) => loadReview(db, shopId, reviewId));

  api.write(setReviewState, async ({ tx, shopId, params: { reviewId }, body }) => {
    await decideReview(tx, shopId, reviewId, body.state);
    return loadReview(tx, shopId, reviewId);
  });

  api.write(setReviewAnswer, async ({ tx, shopId, params: { reviewId }, body }) => {
    await answerReview(tx, shopId, reviewId, body.answer === null ? null : severalLines(body.answer) || null);
    return loadReview(tx, shopId, reviewId);
  });

  api.read(listReviewReports, async ({ db, shopId, params: { reviewId }, query }) => {
    const page = pageOf(query);
    const [review, results, rows] = await Promise.all([
      findReview(db, shopId, reviewId),
      countReports(db, shopId, reviewId),
      findReports(db, shopId, reviewId, { limit: page.resultsPerPage, offset: page.offset }),
    ]);
    if (!review) throw notFound();
    return paged(
      page,
      results,
      rows.map(({ reportedAt, closedAt, ...report }) => ({
        ...report,
        reportedOn: toMilliseconds(reportedAt),
        closedOn: closedAt && toMilliseconds(closedAt),
      })),
    );
  });
}

async function loadReview(db: Queries, shopId: string, reviewId: string): Promise<ReviewJson> {
  const review = await findReview(db, shopId, reviewId);
  if (!review) throw notFound();
  return toReview(review);
}

function toReview({ createdAt, changedAt, answeredAt, ...review }: ManagedReview): ReviewJson {
  return {
    ...review,
    createdOn: toMilliseconds(createdAt),
    changedOn: toMilliseconds(changedAt),
    answeredOn: answeredAt && toMilliseconds(answeredAt),
  };
}

import { Type, type Static } from 'typebox';
import { Id, Nullable, Timestamp } from '../http/schemas.ts';

export const REVIEW_STATES = ['waiting', 'published', 'rejected'] as const;
export type ReviewState = (typeof REVIEW_STATES)[number];

/** As in the checks of the table. */
export const MAX_TITLE_LENGTH = 100;
export const MAX_REVIEW_LENGTH = 5_000;
export const MAX_REVIEWER_NAME_LENGTH = 60;
export const MAX_REASON_LENGTH = 2_000;

const state = Type.Unsafe<ReviewState>({
  type: 'string',
  enum: [...REVIEW_STATES],
  description: 'waiting: visitors do not see it before the shop has published it.',
  examples: ['published'],
});

const answer = Nullable(
  Type.String({
    minLength: 1,
    maxLength: MAX_REVIEW_LENGTH,
    pattern: '\\S',
    description: 'What the shop says to it, below the review, as plain text; null: nothing.',
    examples: ['Thank you! The handle is now made of beech.'],
  }),
);

export const Review = Type.Object(
  {
    reviewId: Id,
    productId: { ...Id, description: 'The product; a master stands for all of its variations.' },
    productNumber: Type.String({ description: 'Its number.', examples: ['TE-120'] }),
    orderId: { ...Id, description: 'The order with which the product was bought.' },
    orderNumber: Type.String({ description: 'Its number.', examples: ['1042'] }),
    customerId: Id,
    stars: Type.Integer({ minimum: 1, maximum: 5, description: '5 is the best.', examples: [4] }),
    title: Type.String({ description: 'Plain text; may be empty.', examples: ['Sharp and light'] }),
    text: Type.String({ description: 'Plain text; may be empty.', examples: ['I use it every day.'] }),
    name: Type.String({ description: 'The name that visitors see.', examples: ['Ada L.'] }),
    locale: Type.String({ description: 'The language of the page it was written on.', examples: ['en_GB'] }),
    state,
    createdOn: Timestamp,
    changedOn: { ...Timestamp, description: 'When its writer has last changed it.' },
    answer,
    answeredOn: Nullable(Timestamp),
    openReports: Type.Integer({
      description: 'Reports of visitors that the shop has not decided about.',
      examples: [0],
    }),
  },
  { title: 'review' },
);

export const ReviewStateChange = Type.Object(
  {
    state: Type.Unsafe<'published' | 'rejected'>({
      type: 'string',
      enum: ['published', 'rejected'],
      description: 'What the shop has decided, which closes the reports about it.',
      examples: ['published'],
    }),
  },
  { title: 'review state' },
);

export const ReviewAnswer = Type.Object({ answer }, { title: 'review answer' });

export const ReviewReport = Type.Object(
  {
    reportId: Id,
    reportedOn: Timestamp,
    reason: Type.String({ description: 'Plain text.', examples: ['It names my neighbour.'] }),
    email: Nullable(
      Type.String({
        description: 'Where the visitor wants to hear of the decision; null: nowhere.',
        examples: ['ada@mail.example'],
      }),
    ),
    closedOn: Nullable(Timestamp),
  },
  { title: 'review report' },
);

export type ReviewJson = Static<typeof Review>;

import { Type, type Static } from 'typebox';
import { Id, Nullable, Paged, Timestamp } from '../../http/schemas.ts';
import { LOCALE, ONE_LINE } from '../../shops/settings/fields.ts';
import { BlockList } from '../blocks.ts';

/** Mailings of a shop, those that were sent among them. */
export const MAX_MAILINGS = 1_000;
const MAX_NEWSLETTERS = 20;
/** As many as a shop can have locales. */
const MAX_LOCALES = 50;
const MAX_PER_HOUR = 1_000_000;

export const MAILING_STATES = ['draft', 'scheduled', 'sending', 'paused', 'sent', 'cancelled'] as const;
export type MailingState = (typeof MAILING_STATES)[number];

/** Why a mailing has stopped by itself. */
export type MailingProblem =
  | 'segmentGone'
  | 'shopNotPublic'
  | 'emailsFrozen'
  | 'allRefused'
  | 'serverRefuses';

/** A mailing in one language. Pages of the admin have these fields; the blocks have fields of their own. */
export const MailingText = Type.Object(
  {
    locale: Type.String({ description: 'A locale of the shop.', examples: ['en_GB'], pattern: LOCALE }),
    subject: Type.String({
      description: 'Subject of the email.',
      examples: ['New at the harbour'],
      minLength: 1,
      maxLength: 200,
      pattern: ONE_LINE,
    }),
    preheader: Type.Optional(
      Nullable(
        Type.String({
          description: 'What email programs show after the subject, before the email is opened.',
          examples: ['Three new blends, roasted this week'],
          maxLength: 200,
          pattern: `${ONE_LINE}|^$`,
        }),
      ),
    ),
    blocks: BlockList,
  },
  { title: 'mailing text' },
);

export const MailingBody = Type.Object(
  {
    newsletters: Type.Array(
      Type.String({
        description: 'campaignId of a newsletter.',
        examples: ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E'],
        maxLength: 36,
      }),
      {
        minItems: 1,
        maxItems: MAX_NEWSLETTERS,
        description: 'The newsletters whose subscribers get it. Who has several of them gets it once.',
      },
    ),
    segmentId: Type.Optional(
      Nullable(
        Type.String({
          description: 'Only subscribers who are customers of this segment get it. Absent: all.',
          examples: ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2F'],
          maxLength: 36,
        }),
      ),
    ),
    couponCampaignId: Type.Optional(
      Nullable(
        Type.String({
          description: 'The coupon campaign whose orders count as its results.',
          examples: ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D30'],
          maxLength: 36,
        }),
      ),
    ),
    perHour: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: MAX_PER_HOUR,
          description:
            'Emails per hour. Absent: as many as the operator allows a shop, which is the upper bound in any case.',
          examples: [500],
        }),
      ),
    ),
    texts: Type.Array(MailingText, {
      minItems: 1,
      maxItems: MAX_LOCALES,
      description:
        'The mailing in each of its languages. Subscribers of another language get it in the default language of the shop, else in the first.',
    }),
  },
  { title: 'mailing (request)' },
);
export type MailingBody = Static<typeof MailingBody>;

const count = (description: string, example: number) => Type.Integer({ description, examples: [example] });

const counts = {
  recipients: count('Whom it is sent to. While they are still being collected, those found so far.', 1200),
  sent: count('Taken by their mail server.', 1180),
  skipped: count('Not sent: unsubscribed meanwhile, or too many emails on that day.', 5),
  refused: count('Not sent: the mail server has not taken this email.', 2),
  bounced: count('The mail server does not know the address. Later mailings are not sent to it.', 13),
  complained: count('Marked as spam, as the mail provider has reported.', 1),
  unsubscribed: count('Unsubscribed by a link in this mailing.', 8),
};

const Revenue = Type.Object(
  {
    currency: Type.String({ description: 'ISO 4217.', examples: ['EUR'] }),
    orders: count('Orders with coupons of the campaign.', 31),
    revenue: Type.Number({
      description: 'What they were worth when they were placed, with tax and delivery.',
      examples: [1240.5],
    }),
  },
  { title: 'mailing revenue' },
);

const optionalId = (description: string) =>
  Nullable(Type.String({ description, examples: ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E'] }));

const facts = {
  mailingId: Id,
  state: Type.String({
    description:
      'draft: it can be edited. scheduled: it waits for its time. sending, paused, sent. cancelled: the rest is not sent.',
    examples: ['sent'],
  }),
  newsletters: Type.Array(Id, { description: 'The newsletters whose subscribers get it.' }),
  segmentId: optionalId('Only customers of this segment get it.'),
  couponCampaignId: optionalId('The coupon campaign whose orders count as its results.'),
  perHour: Nullable(
    Type.Integer({ description: 'Emails per hour; null: no bound of its own.', examples: [500] }),
  ),
  sendAt: Nullable({ ...Timestamp, description: 'When it is, or was, to be sent.' }),
  startDate: Nullable({ ...Timestamp, description: 'When sending began.' }),
  endDate: Nullable({ ...Timestamp, description: 'When it was sent completely, or cancelled.' }),
  problem: Nullable(
    Type.String({
      description:
        'Why it has stopped by itself. segmentGone: its segment was deleted. shopNotPublic: the shop is suspended, or nobody can read its pages without a token. emailsFrozen: the host has stopped the emails of the shop. allRefused: the mail server has refused 50 emails one after the other. serverRefuses: it refuses the user name or the password.',
      examples: ['segmentGone'],
    }),
  ),
  author: Type.String({
    description: 'The email address of the person, or the name of the app, that made it.',
    examples: ['ada@shop.example'],
  }),
  version: Type.Integer({ description: 'How often it was saved.', examples: [3] }),
  creationDate: Timestamp,
  lastChangeDate: Timestamp,
  results: Type.Object(counts, {
    title: 'mailing results',
    description: 'How many it was sent to, and what came of it.',
  }),
};

const textFacts = {
  locale: Type.String({ description: 'The locale.', examples: ['en_GB'] }),
  subject: Type.String({ description: 'Subject of the email.', examples: ['New at the harbour'] }),
};

export const MailingAnswer = Type.Object(
  {
    ...facts,
    revenue: Type.Array(Revenue, {
      description:
        'Orders with coupons of the campaign that the mailing names, since the day on which it was sent, in each currency. They are counted as they were placed.',
    }),
    texts: Type.Array(
      Type.Object(
        {
          ...textFacts,
          preheader: Nullable(
            Type.String({
              description: 'What email programs show after the subject.',
              examples: ['Three new blends, roasted this week'],
            }),
          ),
          blocks: Type.Array(Type.Object({}, { additionalProperties: true, title: 'block (answer)' }), {
            description: 'The blocks from top to bottom, as in the request.',
          }),
        },
        { title: 'mailing text (answer)' },
      ),
      { description: 'Its languages.' },
    ),
  },
  { title: 'mailing' },
);

export const MailingList = Paged(
  Type.Object(
    {
      ...facts,
      texts: Type.Array(Type.Object(textFacts, { title: 'mailing subject' }), {
        description: 'Its languages.',
      }),
    },
    { title: 'mailing summary' },
  ),
  'mailings',
);

/** The states that a person can bring a mailing to. */
export const WANTED_STATES = ['scheduled', 'sending', 'paused', 'cancelled', 'draft'] as const;
export type WantedState = (typeof WANTED_STATES)[number];

export const MailingStateBody = Type.Object(
  {
    state: Type.Enum([...WANTED_STATES], {
      description:
        'scheduled: a draft is sent, or a scheduled mailing at another time. draft: a scheduled mailing can be edited again. paused: no further email is sent for now. sending: a paused mailing goes on. cancelled: the rest is never sent.',
      examples: ['scheduled'],
    }),
    sendAt: Type.Optional(
      Nullable(
        Type.String({
          description: 'For scheduled: the moment, ISO 8601. Absent: at once.',
          examples: ['2026-12-01T08:00:00Z'],
          maxLength: 40,
        }),
      ),
    ),
  },
  { title: 'mailing state' },
);

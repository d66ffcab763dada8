import { Type, type Static } from 'typebox';
import { Price } from '../http/price.ts';
import { Decimal, Given } from '../http/request-fields.ts';
import { Id, Nullable, Paged, Timestamp } from '../http/schemas.ts';
import { MAX_GIFT_CARD_CODE_LENGTH } from './code.ts';

const MAX_REASON_LENGTH = 500;

const price = (description: string) => ({ ...Price, description });

const LastCharacters = Type.String({
  description: 'The last four characters of its code.',
  examples: ['HP4S'],
});

const facts = {
  giftCardId: Id,
  lastCharacters: LastCharacters,
  state: Type.Enum(['active', 'blocked', 'expired'], {
    description: 'Only an active card can be redeemed.',
    examples: ['active'],
  }),
  balance: price('What is left on it; taxType GROSS.'),
  creationDate: Timestamp,
  expiresOn: Nullable(
    Type.String({
      description: 'The last day on which it can be redeemed, UTC; null: it does not expire.',
      examples: ['2029-12-31'],
    }),
  ),
  customerId: Nullable({
    ...Id,
    description: 'The customer whose store credit it is; null: it belongs to the holder of the code.',
  }),
  note: Nullable(
    Type.String({ description: 'For the people of the shop.', examples: ['Prize of the summer raffle'] }),
  ),
};

export const GiftCardAnswer = Type.Object(facts, { title: 'gift card' });
export type GiftCardAnswer = Static<typeof GiftCardAnswer>;

export const GiftCardList = Paged(GiftCardAnswer, 'gift cards');

export const IssuedGiftCardAnswer = Type.Object(
  {
    ...facts,
    code: Type.String({
      description: 'The code, which is shown only now. Whoever knows it can spend the balance.',
      examples: ['7QXM-2KTR-9DWA-HP4S'],
    }),
  },
  { title: 'gift card (issued)' },
);

export const NewGiftCardBody = Type.Object(
  {
    value: Decimal('What it is worth, more than 0.', 50),
    currency: Given(
      Type.String({
        maxLength: 3,
        description: 'One of the shop; absent: its default.',
        examples: ['EUR'],
      }),
    ),
    expiresOn: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 10,
          description:
            'The last day on which it can be redeemed, UTC; null: it does not expire. Absent: as long as the law of the country of the shop asks for at least, or without an end where it says nothing.',
          examples: ['2029-12-31'],
        }),
      ),
    ),
    customerId: Given({ ...Id, description: 'Makes it the store credit of this customer.' }),
    note: Given(
      Type.String({
        minLength: 1,
        maxLength: MAX_REASON_LENGTH,
        pattern: '\\S',
        description: 'For the people of the shop.',
        examples: ['Prize of the summer raffle'],
      }),
    ),
  },
  { title: 'gift card (create request)' },
);

export const GiftCardStateBody = Type.Object(
  {
    state: Type.Enum(['active', 'blocked'], {
      description: 'A blocked card keeps its balance, and cannot be redeemed.',
      examples: ['blocked'],
    }),
  },
  { title: 'gift card state' },
);

export const CorrectionBody = Type.Object(
  {
    amount: Decimal('What is added to the balance; negative: taken from it.', -12.5),
    reason: Type.String({
      minLength: 1,
      maxLength: MAX_REASON_LENGTH,
      pattern: '\\S',
      description: 'Stays in the ledger.',
      examples: ['Redeemed at the till'],
    }),
  },
  { title: 'gift card correction' },
);

const EntryAnswer = Type.Object(
  {
    entryId: Id,
    recordedOn: Timestamp,
    kind: Type.Enum(['issue', 'redeem', 'refund', 'correct', 'expire', 'revoke'], {
      description: 'Why the balance has changed.',
      examples: ['redeem'],
    }),
    amount: price('What was added to the balance; negative: what has left the card.'),
    orderId: Nullable({ ...Id, description: 'The order that was paid or refunded; null: none.' }),
    reason: Nullable(Type.String({ description: 'Of a correction.', examples: ['Redeemed at the till'] })),
  },
  { title: 'gift card entry' },
);

export const EntryList = Paged(EntryAnswer, 'gift card entries');

export const OwedAnswer = Type.Object(
  {
    on: Type.String({ description: 'The day at whose end this was so, UTC.', examples: ['2026-12-31'] }),
    items: Type.Array(
      Type.Object({
        currency: Type.String({ description: 'ISO 4217 code.', examples: ['EUR'] }),
        issued: price('Of all cards that were issued.'),
        redeemed: price('What orders were paid with; negative.'),
        refunded: price('What came back to cards, store credit included.'),
        corrected: price('The sum of all corrections.'),
        expired: price('What was left on cards that have expired; negative.'),
        revoked: price('What was taken back with cards whose purchase was refunded; negative.'),
        owed: price('The sum of these: what the shop owes to the holders of its cards.'),
      }),
      { description: 'One for each currency in which cards were issued until then.' },
    ),
  },
  { title: 'gift card liability' },
);

export const GiftCardCodeBody = Type.Object(
  {
    code: Type.String({
      minLength: 1,
      maxLength: MAX_GIFT_CARD_CODE_LENGTH,
      description: 'The code, in any case, with or without its hyphens.',
      examples: ['7QXM-2KTR-9DWA-HP4S'],
    }),
  },
  { title: 'gift card code' },
);

export const CartGiftCards = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        giftCardId: Id,
        lastCharacters: LastCharacters,
        amount: price('What it would pay if the cart was ordered now.'),
      }),
      { description: 'In the order in which they are used up.' },
    ),
    outstandingAmount: price('What is left for the payment method of the cart.'),
  },
  { title: 'cart gift cards' },
);

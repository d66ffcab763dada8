import { Type } from 'typebox';
import { dayOf, isDate, toSeconds } from '../http/dates.ts';
import { invalid, notFound, Refusal } from '../http/errors.ts';
import { readingLocale, writingCurrency, writingLocale } from '../http/locale.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { paged, paging } from '../http/paging.ts';
import { priceOf } from '../http/price.ts';
import { amountOf, MAX_MINOR } from '../http/request-fields.ts';
import { Id, LocaleParameter } from '../http/schemas.ts';
import { isId } from '../kernel/ids.ts';
import { lockCustomer } from '../people/customers/queries.ts';
import { shopSettings, type Settings } from '../shops/settings/settings.ts';
import { giftCardState, lastDayOfCard, type GiftCard } from './card.ts';
import { changeBalance, issueGiftCard, lockGiftCard } from './ledger.ts';
import {
  countGiftCardEntries,
  countGiftCards,
  findGiftCardEntries,
  findGiftCard,
  findGiftCards,
  findOwed,
  updateGiftCardBlock,
} from './queries.ts';
import {
  CorrectionBody,
  EntryList,
  GiftCardAnswer,
  GiftCardList,
  GiftCardStateBody,
  IssuedGiftCardAnswer,
  NewGiftCardBody,
  OwedAnswer,
} from './schema.ts';

const { parameters, pageOf } = paging({ standard: 20, maximum: 100 });

const DAY = 86_400_000;

const shared = { under: 'manage', tag: 'gift-cards', labels: [] } as const;
const params = Type.Object({ giftCardId: Id });
const query = Type.Object({ locale: LocaleParameter });

export const listGiftCards = operation({
  ...shared,
  method: 'GET',
  path: '/gift-cards',
  name: 'listGiftCards',
  summary: 'List gift cards',
  description: 'Gift cards and store credit, the newest first. Their codes are known to their holders only.',
  access: 'giftcards_read',
  query: Type.Object({
    ...parameters,
    locale: LocaleParameter,
    customerId: Type.Optional({ ...Id, description: 'Only the store credit of this customer.' }),
    lastCharacters: Type.Optional(
      Type.String({
        maxLength: 4,
        description: 'Only cards whose code ends like this.',
        examples: ['HP4S'],
      }),
    ),
  }),
  answer: GiftCardList,
});

export const issueNewGiftCard = operation({
  ...shared,
  method: 'POST',
  path: '/gift-cards',
  name: 'issueGiftCard',
  summary: 'Issue gift card',
  description:
    'Makes a card that the shop owes to whoever knows its code, or the store credit of a customer. The answer is the only one that holds the code. No document is made: selling a card is not taxed, its redemption is.',
  access: 'giftcards_write',
  query,
  body: NewGiftCardBody,
  status: 201,
  answer: IssuedGiftCardAnswer,
  secretAnswer: 'sealed',
});

export const getGiftCard = operation({
  ...shared,
  method: 'GET',
  path: '/gift-cards/:giftCardId',
  name: 'getGiftCard',
  summary: 'Get gift card',
  access: 'giftcards_read',
  params,
  query,
  answer: GiftCardAnswer,
});

export const listGiftCardEntries = operation({
  ...shared,
  method: 'GET',
  path: '/gift-cards/:giftCardId/entries',
  name: 'listGiftCardEntries',
  summary: 'List gift card entries',
  description:
    'The ledger of a card, the newest entry first. Entries are never changed, and their sum is the balance.',
  access: 'giftcards_read',
  params,
  query: Type.Object({ ...parameters, locale: LocaleParameter }),
  answer: EntryList,
});

export const setGiftCardState = operation({
  ...shared,
  method: 'PUT',
  path: '/gift-cards/:giftCardId/state',
  name: 'setGiftCardState',
  summary: 'Set gift card state',
  description: 'Blocks a card, or lets it be redeemed again. 409: it has expired.',
  access: 'giftcards_write',
  params,
  query,
  body: GiftCardStateBody,
  answer: GiftCardAnswer,
});

export const correctGiftCard = operation({
  ...shared,
  method: 'POST',
  path: '/gift-cards/:giftCardId/corrections',
  name: 'correctGiftCard',
  summary: 'Correct gift card',
  description:
    'Adds to the balance, or takes from it. 409: less would be left than nothing, or the card has expired.',
  access: 'giftcards_write',
  params,
  query,
  body: CorrectionBody,
  status: 201,
  answer: GiftCardAnswer,
});

export const getGiftCardLiability = operation({
  ...shared,
  method: 'GET',
  path: '/gift-card-liability',
  name: 'getGiftCardLiability',
  summary: 'Get gift card liability',
  description:
    'What the shop owed to the holders of its cards at the end of a day, for the balance sheet. It stays the same once the day is over.',
  access: 'giftcards_read',
  query: Type.Object({
    locale: LocaleParameter,
    on: Type.Optional(
      Type.String({
        maxLength: 10,
        description: 'A day, UTC; absent: today.',
        examples: ['2026-12-31'],
      }),
    ),
  }),
  answer: OwedAnswer,
});

export function giftCards(api: Operations): void {
  api.read(listGiftCards, async ({ db, shopId, query }) => {
    const page = pageOf(query);
    const filter = {
      customerId: query.customerId ?? null,
      lastCharacters: query.lastCharacters?.toUpperCase() ?? null,
    };
    const [results, cards, settings] = await Promise.all([
      countGiftCards(db, shopId, filter),
      findGiftCards(db, shopId, filter, { limit: page.resultsPerPage, offset: page.offset }),
      shopSettings(db, shopId),
    ]);
    const context = { locale: readingLocale(query.locale, settings), now: db.now };
    return paged(
      page,
      results,
      cards.map((card) => toGiftCard(card, context)),
    );
  });

  api.write(issueNewGiftCard, async ({ tx, shopId, query, body, caller, created }) => {
    const settings = await shopSettings(tx, shopId);
    const locale = writingLocale(query.locale, settings);
    const currency = writingCurrency(body.currency ?? undefined, settings);
    const customerId = body.customerId?.toUpperCase() ?? null;
    if (customerId !== null && !(isId(customerId) && (await lockCustomer(tx, shopId, customerId)))) {
      throw invalid('UNKNOWN_VALUE', 'customerId');
    }
    const { code, ...card } = await issueGiftCard(tx, shopId, {
      amount: amountOf(body.value, currency, 'value', { min: 1 }),
      currency,
      expiresOn: expiryOf(body.expiresOn, settings, tx.now),
      customerId,
      note: body.note?.trim() ?? null,
      appId: caller.app!.appId,
      orderId: null,
    });
    created({ giftCardId: card.giftCardId });
    return { ...toGiftCard(card, { locale, now: tx.now }), code };
  });

  api.read(getGiftCard, async ({ db, shopId, params: { giftCardId }, query }) => {
    const [card, settings] = await Promise.all([
      findGiftCard(db, shopId, giftCardId),
      shopSettings(db, shopId),
    ]);
    const locale = readingLocale(query.locale, settings);
    if (!card) throw notFound();
    return toGiftCard(card, { locale, now: db.now });
  });

  api.read(listGiftCardEntries, async ({ db, shopId, params: { giftCardId }, query }) => {
    const page = pageOf(query);
    const [card, results, entries, settings] = await Promise.all([
      findGiftCard(db, shopId, giftCardId),
      countGiftCardEntries(db, shopId, giftCardId),
      findGiftCardEntries(db, shopId, giftCardId, { limit: page.resultsPerPage, offset: page.offset }),
      shopSettings(db, shopId),
    ]);
    const locale = readingLocale(query.locale, settings);
    if (!card) throw notFound();
    return paged(
      page,
      results,
      entries.map(({ entryId, at, kind, amount, orderId, reason }) => ({
        entryId,
        recordedOn: toSeconds(at),
        kind,
        amount: priceOf(amount, card.currency, 'GROSS', locale),
        orderId,
        reason,
      })),
    );
  });

  api.write(setGiftCardState, async ({ tx, shopId, params: { giftCardId }, query, body }) => {
    const settings = await shopSettings(tx, shopId);
    const locale = writingLocale(query.locale, settings);
    const card = await lockGiftCard(tx, shopId, giftCardId);
    if (!card) throw notFound();
    refuseExpired(card, tx.now);
    const blockedAt = body.state === 'blocked' ? (card.blockedAt ?? tx.now) : null;
    const changed = { ...card, blockedAt };
    await updateGiftCardBlock(tx, shopId, changed);
    return toGiftCard(changed, { locale, now: tx.now });
  });

  api.write(correctGiftCard, async ({ tx, shopId, params: { giftCardId }, query, body, caller }) => {
    const settings = await shopSettings(tx, shopId);
    const locale = writingLocale(query.locale, settings);
    const card = await lockGiftCard(tx, shopId, giftCardId);
    if (!card) throw notFound();
    refuseExpired(card, tx.now);
    const amount = amountOf(body.amount, card.currency, 'amount', { min: -MAX_MINOR });
    if (amount === 0 || card.balance + amount > MAX_MINOR) throw invalid('OUT_OF_RANGE', 'amount');
    if (card.balance + amount < 0) {
      const left = { minor: card.balance, currency: card.currency };
      throw new Refusal('GIFT_CARD_BALANCE_TOO_LOW', { amount: left });
    }
    const entry = { kind: 'correct', amount, appId: caller.app!.appId, reason: body.reason.trim() } as const;
    const corrected = await changeBalance(tx, shopId, card, entry);
    return toGiftCard(corrected, { locale, now: tx.now });
  });

  api.read(getGiftCardLiability, async ({ db, shopId, query }) => {
    const on = query.on ?? dayOf(db.now);
    if (!isDate(on)) throw invalid('WRONG_FORMAT', 'on');
    const [sums, settings] = await Promise.all([
      findOwed(db, shopId, new Date(Date.parse(on) + DAY)),
      shopSettings(db, shopId),
    ]);
    const locale = readingLocale(query.locale, settings);
    return {
      on,
      items: sums.map(({ currency, ...amounts }) => {
        const price = (minor: number) => priceOf(minor, currency, 'GROSS', locale);
        return {
          currency,
          issued: price(amounts.issued),
          redeemed: price(amounts.redeemed),
          refunded: price(amounts.refunded),
          corrected: price(amounts.corrected),
          expired: price(amounts.expired),
          revoked: price(amounts.revoked),
          owed: price(amounts.owed),
        };
      }),
    };
  });
}

/** The ledger of a card that has expired is closed. */
function refuseExpired(card: GiftCard, now: Date): void {
  if (giftCardState(card, now) === 'expired') throw new Refusal('GIFT_CARD_EXPIRED');
}

function expiryOf(asked: string | null | undefined, { country }: Settings, now: Date): string | null {
  if (asked === undefined) return lastDayOfCard(country, now);
  if (asked === null) return null;
  if (!isDate(asked)) throw invalid('WRONG_FORMAT', 'expiresOn');
  if (asked < dayOf(now)) throw invalid('OUT_OF_RANGE', 'expiresOn');
  return asked;
}

function toGiftCard(card: GiftCard, { locale, now }: { locale: string; now: Date }): GiftCardAnswer {
  const { giftCardId, lastCharacters, currency, balance, createdAt, expiresOn, customerId, note } = card;
  return {
    giftCardId,
    lastCharacters,
    state: giftCardState(card, now),
    balance: priceOf(balance, currency, 'GROSS', locale),
    creationDate: toSeconds(createdAt),
    expiresOn,
    customerId,
    note,
  };
}

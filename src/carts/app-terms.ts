import type { AppAnswer, AppCalls } from '../apps/calls/calls.ts';
import type { Database } from '../db/database.ts';
import { Refusal } from '../http/errors.ts';
import { linePriceQuestionOf, taxQuestionOf } from '../pricing/content.ts';
import type { AppTaxes, AppAnswers as Terms, LinePrices } from '../pricing/input.ts';
import {
  type LinePriceQuestion,
  type TaxQuestion,
  linePriceDigest,
  taxDigest,
} from '../pricing/app-terms.ts';
import { type CartRow, MAX_WORTH, type PricedCart } from './cart.ts';
import { type Static, Type } from 'typebox';
import { AnswerProblem } from '../apps/calls/answer.ts';
import { Id } from '../http/schemas.ts';
import { MAX_LINES } from '../orders/line-item-schema.ts';
import { AppText, answerOf, inLocales } from '../apps/calls/app-answer.ts';
import type { Settings } from '../shops/settings/settings.ts';

/** A cart whose prices and taxes apps may give. */
type AskedCart = Pick<PricedCart, 'cart' | 'settings'>;

/** What apps have answered, as a cart stores it. */
export type StoredTerms = Pick<CartRow, 'linePrices' | 'appTaxes'>;

export interface AppTerms {
  /** Whether the cart knows what apps say of exactly this content. Without any app there is nothing to know. */
  areKnown(asked: AskedCart): Promise<boolean>;
  /** The same, and it is not older than the apps have said. */
  areCurrent(asked: AskedCart): Promise<boolean>;
  /** Asks the apps for what is not current. Call it outside of transactions and locks. */
  ask(asked: AskedCart, origin: string): Promise<StoredTerms>;
}

/** The prices and taxes that apps give for carts. */
export function createAppTerms(service: Database, calls: AppCalls): AppTerms {
  const isKnown = async (
    kind: 'linePrices' | 'taxes',
    terms: Terms<{ appId: string }> | null,
    digestNow: () => string | undefined,
    { settings }: AskedCart,
    since: Date | null,
  ): Promise<boolean> => {
    const apps = await calls.asked(service, settings, kind);
    if (apps.length === 0) return terms === null;
    const digest = digestNow();
    if (digest === undefined) return true;
    return (
      terms !== null &&
      terms.questionDigest === digest &&
      (since === null || new Date(terms.until) > since) &&
      terms.answers.every(({ appId }) => apps.some(({ app }) => app.appId === appId))
    );
  };
  const arePricesKnown = (asked: AskedCart, since: Date | null) => {
    const digestNow = () => {
      const question = linePriceQuestionOf(asked.cart, asked.settings, service.now);
      return question && linePriceDigest(question);
    };
    return isKnown('linePrices', asked.cart.linePrices, digestNow, asked, since);
  };
  const areTaxesKnown = (asked: AskedCart, since: Date | null) => {
    const digestNow = () => {
      const question = taxQuestionOf(asked.cart, asked.settings, service.now);
      return question && taxDigest(question);
    };
    return isKnown('taxes', asked.cart.appTaxes, digestNow, asked, since);
  };

  const askForPrices = async ({ cart, settings }: AskedCart, origin: string) => {
    const question = linePriceQuestionOf(cart, settings, service.now);
    if (!question) return null;
    const answers = await calls.ask(
      { ...settings, origin },
      { kind: 'linePrices', about: question, read: (answer) => readLinePrices(answer, question) },
    );
    return termsOf(answers, linePriceDigest(question), toPriceAnswers(answers));
  };

  const askForTaxes = async ({ cart, settings }: AskedCart, origin: string) => {
    const question = taxQuestionOf(cart, settings, service.now);
    if (!question) return null;
    const answers = await calls.ask(
      { ...settings, origin },
      { kind: 'taxes', about: question, read: (answer) => readTaxes(answer, question) },
    );
    return termsOf(answers, taxDigest(question), toTaxAnswers(answers, settings));
  };

  return {
    areKnown: async (asked) => (await arePricesKnown(asked, null)) && areTaxesKnown(asked, null),
    areCurrent: async (asked) => {
      const since = service.serviceNow;
      return (await arePricesKnown(asked, since)) && areTaxesKnown(asked, since);
    },

    async ask(asked, origin) {
      const since = service.serviceNow;
      const { cart, settings } = asked;
      const linePrices = (await arePricesKnown(asked, since))
        ? cart.linePrices
        : await askForPrices(asked, origin);
      // The question about taxes names the prices.
      const priced = { cart: { ...cart, linePrices }, settings };
      const appTaxes = (await areTaxesKnown(priced, since))
        ? cart.appTaxes
        : await askForTaxes(priced, origin);
      return { linePrices, appTaxes };
    },
  };
}

/** null: there is no app. */
function termsOf<Answer extends { appId: string }>(
  asked: readonly AppAnswer<unknown>[],
  questionDigest: string,
  answers: Answer[],
): Terms<Answer> | null {
  if (asked.length === 0) return null;
  const missing = asked.find(({ answer, call }) => answer === undefined && call.onFailure === 'refuse');
  return {
    questionDigest,
    until: new Date(Math.min(...asked.map(({ until }) => until))).toISOString(),
    answers,
    missing: missing?.app.name ?? null,
  };
}

/** Apps were not asked about exactly this cart, or too long ago: they have to be asked, outside of the transaction. */
export class AppTermsOutdated extends Error {
  override name = 'AppTermsOutdated';

  constructor() {
    super('apps have to be asked for the prices and taxes of this cart');
  }
}

/** Refuses a cart for which an app has to answer, and has not. */
export function requireAppTerms({ linePrices, appTaxes }: StoredTerms): void {
  const missing = linePrices?.missing ?? appTaxes?.missing ?? null;
  if (missing !== null) throw new Refusal('APP_NOT_ANSWERING', { app: missing });
}

/** Minor units; far above the price of anything. */
const MAX_PRICE = 1_000_000_000;

const LinePriceAnswer = Type.Object({
  currency: Type.String({ maxLength: 3 }),
  prices: Type.Array(
    Type.Object({ lineItemId: Id, price: Type.Integer({ minimum: 0, maximum: MAX_PRICE }) }),
    { maxItems: MAX_LINES },
  ),
});

/** The prices of an answer by line. Throws an AnswerProblem. */
export function readLinePrices(
  answer: unknown,
  { currency, lines }: LinePriceQuestion,
): Record<string, number> {
  const given = answerOf(LinePriceAnswer, answer);
  if (given.currency !== currency) {
    throw new AnswerProblem(`The answer is not valid: /currency: the cart is in ${currency}`);
  }
  const asked = new Set(lines.map(({ lineItemId }) => lineItemId));
  const prices = new Map<string, number>();
  for (const [index, { lineItemId, price }] of given.prices.entries()) {
    if (!asked.delete(lineItemId)) {
      throw new AnswerProblem(`The answer is not valid: /prices/${index}: it was not asked about this line`);
    }
    prices.set(lineItemId, price);
  }
  const worth = lines.reduce(
    (sum, { lineItemId, quantity, price, priceQuantity }) =>
      sum + ((prices.get(lineItemId) ?? price) * Number(quantity)) / priceQuantity,
    0,
  );
  if (worth > MAX_WORTH)
    throw new AnswerProblem('The answer is not valid: /prices: more than can be counted');
  return Object.fromEntries(prices);
}

/** Of several apps that price a line, the first one does. */
export function toPriceAnswers(answers: readonly AppAnswer<Record<string, number>>[]): LinePrices['answers'] {
  const priced = new Set<string>();
  return answers.flatMap(({ app: { appId }, answer = {} }) => {
    const lines = Object.entries(answer).filter(([lineItemId]) => !priced.has(lineItemId));
    for (const [lineItemId] of lines) priced.add(lineItemId);
    return lines.length === 0 ? [] : [{ appId, lines: Object.fromEntries(lines) }];
  });
}

/** Different taxes of one cart. */
const MAX_TAXES = 20;

const place = Type.Integer({ minimum: 0, maximum: MAX_TAXES - 1 });

const TaxAnswer = Type.Object({
  taxes: Type.Array(
    Type.Object({
      name: AppText,
      /** Basis points. */
      rate: Type.Integer({ minimum: 0, maximum: 10_000 }),
    }),
    { minItems: 1, maxItems: MAX_TAXES },
  ),
  lines: Type.Array(Type.Object({ lineItemId: Id, tax: place }), { maxItems: MAX_LINES }),
  delivery: place,
  payment: place,
});
type TaxAnswer = Static<typeof TaxAnswer>;

/** Throws an AnswerProblem. */
export function readTaxes(answer: unknown, { lines }: TaxQuestion): TaxAnswer {
  const given = answerOf(TaxAnswer, answer);
  const { taxes, delivery, payment } = given;
  const asked = new Set(lines.map(({ lineItemId }) => lineItemId));
  for (const [index, { lineItemId, tax }] of given.lines.entries()) {
    if (!asked.delete(lineItemId)) {
      throw new AnswerProblem(`The answer is not valid: /lines/${index}: it was not asked about this line`);
    }
    requirePlace(tax, `/lines/${index}/tax`);
  }
  requirePlace(delivery, '/delivery');
  requirePlace(payment, '/payment');
  return given;

  function requirePlace(tax: number, at: string): void {
    if (tax >= taxes.length) throw new AnswerProblem(`The answer is not valid: ${at}: there is no such tax`);
  }
}

/** Of several apps that tax a line, the first one does; delivery and payment are taxed by the first of all. */
export function toTaxAnswers(
  answers: readonly AppAnswer<TaxAnswer>[],
  settings: Pick<Settings, 'locales'>,
): AppTaxes['answers'] {
  const taxed = new Set<string>();
  return answers.flatMap(({ app: { appId }, answer }) => {
    if (!answer) return [];
    const { taxes, delivery, payment } = answer;
    const lines = answer.lines.filter(({ lineItemId }) => !taxed.has(lineItemId));
    for (const { lineItemId } of lines) taxed.add(lineItemId);
    return [
      {
        appId,
        taxes: taxes.map(({ name, rate }) => ({ name: inLocales(name, settings), rate })),
        lines: Object.fromEntries(lines.map(({ lineItemId, tax }) => [lineItemId, tax])),
        delivery,
        payment,
      },
    ];
  });
}

import { Type, type Static } from 'typebox';
import { AnswerProblem } from '../apps/calls/answer.ts';
import type { AppCalls } from '../apps/calls/calls.ts';
import type { Database } from '../db/database.ts';
import { Refusal } from '../http/errors.ts';
import { Id } from '../http/schemas.ts';
import { compileBody } from '../http/validation.ts';
import { MAX_LINES } from '../orders/line-item-schema.ts';
import { linePriceQuestionOf } from '../pricing/content.ts';
import type { LinePrices } from '../pricing/input.ts';
import { linePriceDigest, type LinePriceQuestion } from '../pricing/line-prices.ts';
import { MAX_WORTH, type CartRow, type PricedCart } from './cart.ts';

/** Minor units; far above the price of anything. */
const MAX_PRICE = 1_000_000_000;

const LinePriceAnswer = Type.Object({
  currency: Type.String({ maxLength: 3 }),
  prices: Type.Array(
    Type.Object({ lineItemId: Id, price: Type.Integer({ minimum: 0, maximum: MAX_PRICE }) }),
    { maxItems: MAX_LINES },
  ),
});
type LinePriceAnswer = Static<typeof LinePriceAnswer>;

/** The prices of an answer by line. Throws an AnswerProblem. */
function readAnswer(answer: unknown, { currency, lines }: LinePriceQuestion): Record<string, number> {
  const validate = compileBody(LinePriceAnswer);
  if (!validate(answer)) {
    const [error] = validate.errors ?? [];
    throw new AnswerProblem(`The answer is not valid: ${error?.instancePath ?? ''} ${error?.message ?? ''}`);
  }
  const given = answer as LinePriceAnswer;
  if (given.currency !== currency) {
    throw new AnswerProblem(`The answer is not valid: /currency: the cart is in ${currency}`);
  }
  const prices = new Map<string, number>();
  for (const [index, { lineItemId, price }] of given.prices.entries()) {
    if (!lines.some((line) => line.lineItemId === lineItemId)) {
      throw new AnswerProblem(`The answer is not valid: /prices/${index}: it was not asked about this line`);
    }
    if (prices.has(lineItemId))
      throw new AnswerProblem(`The answer is not valid: /prices/${index}: it is there twice`);
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

/** A cart whose lines apps may price. */
type AskedCart = Pick<PricedCart, 'cart' | 'settings'>;

export interface LinePriceSource {
  /** Whether the cart knows the prices of these lines. Without any app there is nothing to know. */
  isKnown(asked: AskedCart): Promise<boolean>;
  /** The same, and they are not older than the apps have said. */
  isCurrent(asked: AskedCart): Promise<boolean>;
  /** Asks the apps; null: there is none, or nothing to ask. Call it outside of transactions and locks. */
  ask(asked: AskedCart, origin: string): Promise<LinePrices | null>;
}

/** The prices that apps give for the lines of carts. */
export function createLinePrices(service: Database, calls: AppCalls): LinePriceSource {
  const isKnown = async ({ cart, settings }: AskedCart, since: Date | null): Promise<boolean> => {
    const { linePrices } = cart;
    const apps = await calls.asked(service, settings, 'linePrices');
    if (apps.length === 0) return linePrices === null;
    const question = linePriceQuestionOf(cart, settings);
    if (!question) return true;
    return (
      linePrices !== null &&
      linePrices.questionDigest === linePriceDigest(question) &&
      (since === null || new Date(linePrices.until) > since) &&
      linePrices.prices.every(({ appId }) => apps.some(({ app }) => app.appId === appId))
    );
  };
  return {
    isKnown: (asked) => isKnown(asked, null),
    isCurrent: (asked) => isKnown(asked, service.serviceNow),

    async ask({ cart, settings }, origin) {
      const question = linePriceQuestionOf(cart, settings);
      if (!question) return null;
      const { shopId, version } = settings;
      const answers = await calls.ask(
        { shopId, version, origin },
        { kind: 'linePrices', about: question, read: (answer) => readAnswer(answer, question) },
      );
      if (answers.length === 0) return null;
      const priced = new Set<string>();
      return {
        questionDigest: linePriceDigest(question),
        until: new Date(Math.min(...answers.map(({ until }) => until))).toISOString(),
        // Of several apps that price a line, the first one does.
        prices: answers.flatMap(({ app: { appId }, answer = {} }) => {
          const lines = Object.entries(answer).filter(([lineItemId]) => !priced.has(lineItemId));
          for (const [lineItemId] of lines) priced.add(lineItemId);
          return lines.length === 0 ? [] : [{ appId, lines: Object.fromEntries(lines) }];
        }),
        missing:
          answers.find(({ answer, call }) => answer === undefined && call.onFailure === 'refuse')?.app.name ??
          null,
      };
    },
  };
}

/** An app has given other prices than those that the customer has seen. */
export class LinePriceChanged extends Refusal<'LINE_PRICE_CHANGED'> {
  constructor() {
    super('LINE_PRICE_CHANGED');
  }
}

/** The lines were not priced by the apps of the shop, or too long ago: they have to be asked, outside of the transaction. */
export class LinePricesOutdated extends Error {
  override name = 'LinePricesOutdated';

  constructor() {
    super('apps have to be asked for the prices of this cart');
  }
}

/** Refuses a cart for which an app has to answer, and has not. */
export function requireLinePrices({ linePrices }: Pick<CartRow, 'linePrices'>): void {
  if (linePrices && linePrices.missing !== null) {
    throw new Refusal('APP_NOT_ANSWERING', { app: linePrices.missing });
  }
}

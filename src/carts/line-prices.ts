import { Type } from 'typebox';
import { AnswerProblem } from '../apps/calls/answer.ts';
import type { AppAnswer } from '../apps/calls/calls.ts';
import { Id } from '../http/schemas.ts';
import { MAX_LINES } from '../orders/line-item-schema.ts';
import type { LinePrices } from '../pricing/input.ts';
import type { LinePriceQuestion } from '../pricing/line-prices.ts';
import { answerOf } from '../apps/calls/app-answer.ts';
import { MAX_WORTH } from './cart.ts';

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

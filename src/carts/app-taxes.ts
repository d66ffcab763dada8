import { Type, type Static } from 'typebox';
import { AnswerProblem } from '../apps/calls/answer.ts';
import type { AppAnswer } from '../apps/calls/calls.ts';
import { Id } from '../http/schemas.ts';
import { MAX_LINES } from '../orders/line-item-schema.ts';
import type { TaxQuestion } from '../pricing/app-taxes.ts';
import type { AppTaxes } from '../pricing/input.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { answerOf, AppText, inLocales } from '../apps/calls/app-answer.ts';

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

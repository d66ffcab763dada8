import { Type, type Static } from 'typebox';
import {
  badRequest,
  HttpError,
  REASONS,
  Refusal,
  ValidationError,
  type FieldProblem,
} from '../http/errors.ts';
import { REFUSALS, type RefusalCode } from '../http/refusals.ts';
import { Nullable } from '../http/schemas.ts';

/*
 * Why something was left out or has failed: as a code with its values, which everybody reads in their own language, and as
 * an English text for programs and logs.
 */

/** Why an action had nothing to do. */
export const SKIPPED = {
  ORDER_HAS_TAG: 'It has the tag already',
  CUSTOMER_HAS_TAG: 'The customer has the tag already',
  CUSTOMER_ERASED: 'The customer was erased',
  CUSTOMER_WITHOUT_EMAIL: 'The customer has no email address',
  PRODUCT_SHOWN: 'It is shown already',
  PRODUCT_HIDDEN: 'It is hidden already',
  NOTE_FULL: 'The note of the order is full',
  RULE_OFF: 'The rule was switched off',
  THING_GONE: 'What it is about is gone',
} as const;
export type SkipCode = keyof typeof SKIPPED;

/** Details are in the log of the service. */
const INTERNAL = 'INTERNAL';
const MAX_PROBLEMS = 5;

export const Reason = Type.Object(
  {
    code: Type.String({
      description: 'A code of the errors of the API, or INTERNAL.',
      examples: ['TOO_MANY_TASKS'],
    }),
    values: Type.Object(
      {},
      { additionalProperties: true, description: 'What belongs to it, such as a limit.', examples: [{}] },
    ),
    problems: Type.Array(
      Type.Object(
        {
          code: Type.String({ description: 'What is wrong.', examples: ['TOO_LONG'] }),
          field: Type.String({ description: 'Which value.', examples: ['internalNote'] }),
        },
        { title: 'rule problem' },
      ),
      { description: 'Of values that were refused.' },
    ),
  },
  { title: 'rule reason', description: 'Why it has failed.' },
);
export type Reason = Static<typeof Reason>;

export const PAUSE_CODES = ['RUNS_FAILED', 'CALLS_FAILED'] as const;

export const PausedReason = Type.Object(
  {
    code: Type.Unsafe<(typeof PAUSE_CODES)[number]>({
      type: 'string',
      enum: [...PAUSE_CODES],
      description: 'What has failed, one time after the other.',
      examples: ['RUNS_FAILED'],
    }),
    count: Type.Integer({ description: 'How often.', examples: [5] }),
    reason: Nullable(Reason),
    answer: Nullable(Type.String({ description: 'What the address answered last.', examples: ['500'] })),
  },
  { title: 'rule pause', description: 'Why the service has switched the rule off.' },
);
export type PausedReason = Static<typeof PausedReason>;

/** Why a run has failed. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof ValidationError) {
    const problems = error.problems.slice(0, MAX_PROBLEMS);
    return { code: 'VALIDATION', values: {}, problems: problems.map(({ code, field }) => ({ code, field })) };
  }
  if (error instanceof Refusal) return { code: error.code, values: { ...error.values }, problems: [] };
  const { constraint } = error as { constraint?: unknown };
  return { code: typeof constraint === 'string' ? 'CONTRADICTION' : INTERNAL, values: {}, problems: [] };
}

/** The refusal, to be put into a language; undefined: there was none. */
export function refusalOfReason({ code, values, problems }: Reason): HttpError | undefined {
  if (problems.length > 0) return badRequest('', problems as FieldProblem[]);
  return Object.hasOwn(REFUSALS, code) ? new Refusal(code as RefusalCode, values as never) : undefined;
}

/** What the log says in English. */
export function errorLogText(error: unknown): string {
  if (error instanceof ValidationError) {
    return error.problems.map(({ code, field }) => `${field}: ${code}`).join(', ');
  }
  if (error instanceof HttpError) return error.message || REASONS[error.status] || 'Refused';
  const { constraint } = error as { constraint?: unknown };
  return typeof constraint === 'string' ? `Refused by ${constraint}` : 'Internal error';
}

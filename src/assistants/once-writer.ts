import type { ShopDatabase, Transaction } from '../db/database.ts';
import { Refusal } from '../http/errors.ts';
import { checkKey, onceOnly, type AnswerSeal } from '../http/idempotency.ts';
import type { Agent } from './agent.ts';
import type { OperationCall } from './context.ts';
import { failure, isFailure } from './outcome.ts';
import { ProtocolProblem } from './problem.ts';

interface Write {
  shopId: string;
  agent: Agent;
  /** Idempotency-Key; undefined: the assistant has sent none. */
  key: unknown;
  /** The operation and the thing it is about. */
  name: string;
  given: unknown;
}

/** Rolls the transaction back, because the answer is an error. */
class Undone extends Error {
  readonly answer: object;

  constructor(answer: object) {
    super('undone');
    this.answer = answer;
  }
}

/** Writes in one transaction, and with a key only once: a repetition within a day gets the first answer. */
export function onceWriter(
  db: ShopDatabase,
  { shopId, agent, key, name, given }: Write,
  answerSeal: AnswerSeal,
): Pick<OperationCall, 'write' | 'answered'> {
  const write: OperationCall['write'] = async (work) => {
    const run = async (tx: Transaction) => {
      const answer = await work(tx);
      if (isFailure(answer)) throw new Undone(answer);
      return answer;
    };
    const request = { shopId, caller: `assistant ${agent.caller}`, method: 'UCP', url: name, body: given };
    try {
      if (key === undefined) return await db.transaction(run);
      if (typeof key !== 'string') {
        throw new ProtocolProblem('invalid_request', 'The Idempotency-Key is not a text');
      }
      checkKey(key);
      return await db.transaction(async (tx) => {
        const { answer } = await onceOnly(
          tx,
          { ...request, key },
          async () => ({ status: 200, headers: {}, body: JSON.stringify(await run(tx)) }),
          // The answer holds the id of a cart, which opens it.
          answerSeal,
        );
        return JSON.parse(answer.body!) as object;
      });
    } catch (error) {
      if (error instanceof Undone) return error.answer;
      if (error instanceof Refusal && error.code === 'IDEMPOTENCY_KEY_REUSED') {
        throw new ProtocolProblem('idempotency_conflict', error.message);
      }
      throw error;
    }
  };
  return {
    write,
    answered: async () => {
      if (key === undefined) return undefined;
      // An answer that says an error is not stored.
      const unanswered = failure('dev.ucp.shopping.checkout', 'unanswered', '');
      const answer = await write(async () => unanswered);
      return answer === unanswered ? undefined : answer;
    },
  };
}

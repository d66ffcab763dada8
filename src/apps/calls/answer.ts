import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { isSecretOf, secretHash } from '../../kernel/ids.ts';

/** Seconds for which a signed answer counts. */
const MAX_AGE = 60;

/** Why an answer can't be used, in a text that the app and the merchant may read. */
export class AnswerProblem extends Error {
  override name = 'AnswerProblem';
}

/** The headers that sign a question, by Standard Webhooks with the client secret of the app. */
export function questionHeaders(
  secret: string,
  { messageId, at, body }: { messageId: string; at: Date; body: Buffer },
): Record<string, string> {
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signing(secret).sign(messageId, at, body),
  };
}

/**
 * The JSON of an answer that the app has signed the same way, for this question: an answer that was recorded earlier has
 * the id of another one. Throws an AnswerProblem.
 */
export function verifiedAnswer(
  secret: string,
  {
    messageId,
    now,
    headers,
    bytes,
  }: { messageId: string; now: Date; headers: IncomingHttpHeaders; bytes: Buffer },
): unknown {
  const text = (name: string) => {
    const value = headers[name];
    return typeof value === 'string' ? value : '';
  };
  const timestamp = text('webhook-timestamp');
  if (text('webhook-id') !== messageId)
    throw new AnswerProblem('The answer is not for this call: webhook-id');
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now.getTime() / 1000 - Number(timestamp)) > MAX_AGE) {
    throw new AnswerProblem('The answer is too old: webhook-timestamp');
  }
  const sent = text('webhook-signature');
  const expected = secretHash(signing(secret).sign(messageId, new Date(Number(timestamp) * 1000), bytes));
  if (!sent.split(' ', MAX_SIGNATURES).some((one) => isSecretOf(one, expected))) {
    throw new AnswerProblem('The signature of the answer is wrong: webhook-signature');
  }
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new AnswerProblem('The answer is not JSON');
  }
}

/** While an app changes its secret, it may sign with both. */
const MAX_SIGNATURES = 4;

const signing = (secret: string) => new Webhook(secret, { format: 'raw' });

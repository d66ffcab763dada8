import { PaymentRefused, type Account, type Outcome } from './provider.ts';

/** Asking again may help: the provider was slow, busy, or at work on the same request. */
const PASSING = [408, 409, 425, 429];

/**
 * What the error of a provider's client means to us, in words for the merchant. The error itself is not passed on,
 * because it carries requests, answers and headers, which nobody wants in a log.
 */
export function paymentError(provider: string, error: unknown, { fields }: Account): Error {
  if (error instanceof PaymentRefused) return error;
  const { statusCode: status, message } = error as { statusCode?: number; message: string };
  // The payment may be there all the same, and is found when the merchant has set another key.
  if (status === 401 || status === 403) {
    return new Error(
      `${provider} does not accept the key, or the key does not allow this. Set another one with: npx kontor payment set`,
    );
  }
  const text = `${provider}: ${withoutSecrets(message, fields)}`;
  const isFinal = status !== undefined && status >= 400 && status < 500 && !PASSING.includes(status);
  return isFinal ? new PaymentRefused(text) : new Error(text);
}

/** A key with a line break, for example, is quoted as a header that can't be sent. */
function withoutSecrets(text: string, fields: Account['fields']): string {
  return Object.values(fields).reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

/**
 * Captures or cancels a payment, and says what has become of it. The provider refuses when the payment has moved on in the
 * meantime, which is no error: then the new state is the answer.
 */
export async function changePayment(
  before: Outcome,
  change: () => Promise<unknown>,
  confirm: () => Promise<Outcome>,
): Promise<Outcome> {
  let refusal: PaymentRefused | undefined;
  try {
    await change();
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error;
    refusal = error;
  }
  const after = await confirm();
  if (refusal && after.state === before.state) throw refusal;
  return after;
}

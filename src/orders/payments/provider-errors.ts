import { PaymentRefused, type Account, type PaymentOutcome } from './provider.ts';

/** A retry may help: the provider was slow, busy, or at work on the same request. */
const PASSING = [408, 409, 425, 429];

/**
 * Translates the error of a provider's client into words for the merchant. The error itself is not passed on, because
 * it contains requests, answers and headers, which must not be logged.
 */
export function paymentError(provider: string, error: unknown, { fields }: Account): Error {
  if (error instanceof PaymentRefused) return error;
  const { statusCode: status, message } = error as { statusCode?: number; message: string };
  // The payment may exist all the same, and is found when the merchant has set another key.
  if (status === 401 || status === 403) {
    return new Error(
      `${provider} does not accept the key, or the key does not allow this. Set another one with: npx kontor payment set`,
    );
  }
  const text = `${provider}: ${withoutSecrets(message, fields)}`;
  const isFinal = status !== undefined && status >= 400 && status < 500 && !PASSING.includes(status);
  return isFinal ? new PaymentRefused(text) : new Error(text);
}

/** For example, a key with a line break is quoted as a header that can't be sent. */
function withoutSecrets(text: string, fields: Account['fields']): string {
  return Object.values(fields).reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

/**
 * Captures or cancels a payment, and returns its state. The provider refuses when the payment has changed in the
 * meantime, which is no error: then the new state is the answer.
 */
export async function changePayment(
  before: PaymentOutcome,
  change: () => Promise<unknown>,
  confirm: () => Promise<PaymentOutcome>,
): Promise<PaymentOutcome> {
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

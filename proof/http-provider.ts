import type { PaymentProvider } from '../src/orders/payments/provider.ts';

/** Signs the webhooks of the provider. */
export const SIGNATURE = 'proof';

/**
 * The service's side of the provider in `faulty-provider.ts`. Only types are imported, because the installed service runs
 * this file.
 */
export function httpProvider(url: string): PaymentProvider {
  const call = async <Answer>(name: string, body: object): Promise<Answer> => {
    const response = await fetch(`${url}/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    return (await response.json()) as Answer;
  };
  return {
    fields: {},
    start: (payment) => call('start', payment),
    confirm: (reference) => call('confirm', { reference }),
    capture: (reference) => call('capture', { reference }),
    cancel: (reference) => call('cancel', { reference }),
    refund: (reference, { id, amount }) => call('refund', { reference, id, amount }),
    webhook: async ({ headers, body }) =>
      headers['x-signature'] === SIGNATURE ? (JSON.parse(body.toString()) as string[]) : undefined,
  };
}

import { PaymentRefused, type Account, type PaymentProvider } from './provider.ts';

/** No provider has a payment with this name. */
const UNKNOWN = 'tr_kontor_check';

/**
 * Whether the provider accepts the keys of an account; undefined: it does, else why not. It is asked for a payment
 * that does not exist: that answer means that the key is accepted and allows reading. Nothing is made and no money
 * moves.
 */
export async function accountProblem(
  provider: PaymentProvider,
  account: Account,
): Promise<string | undefined> {
  const missing = Object.entries(provider.fields).find(
    ([name, { isOptional }]) => !isOptional && account.fields[name] === undefined,
  );
  if (missing) return `${missing[0]} is not set`;
  // Without required keys none can be wrong.
  if (Object.keys(provider.fields).length === 0) return undefined;
  try {
    await provider.confirm(UNKNOWN, account);
    return undefined;
  } catch (error) {
    return error instanceof PaymentRefused ? undefined : (error as Error).message;
  }
}

import { updateVatCheck } from '../../people/accounts/customer.ts';
import type { Address } from '../../shops/countries/address.ts';
import type { VatCheck } from '../../shops/vat-numbers/buyer.ts';
import { numberToCheck, requesterOf } from '../../shops/vat-numbers/register.ts';
import type { Visit } from '../visit.ts';

/** Asks the register about the VAT number of an address in the account. Call it outside of transactions. */
export async function checkAccountNumber(visit: Visit, address: Address): Promise<void> {
  const { shopId, settings, vatRegister } = visit;
  const number = numberToCheck(address, settings);
  if (number) await rememberVatCheck(visit, await vatRegister.check(shopId, number, requesterOf(settings)));
}

/**
 * Remembers what the register said of the number of a customer who is signed in: a business sees prices without tax. A
 * register that did not answer changes nothing, and the next order asks it again.
 */
export async function rememberVatCheck(
  { db, shopId, account }: Visit,
  check: VatCheck | undefined,
): Promise<void> {
  if (!account?.customer || !check || check.result === 'unavailable') return;
  await updateVatCheck(db, shopId, account.customer.customerId, check);
}

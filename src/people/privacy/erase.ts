import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { Refusal } from '../../http/errors.ts';
import { recordEvents, takeTimeOfCommit } from '../../platform/events/log.ts';
import type { ErasureOptions, PersonalData } from '../../platform/personal-data.ts';
import { insertPrivacyRequest, type RequestSource } from './requests.ts';
import { deleteStoredResponses, eraseCustomerRow, hasUnerasedOrders, lockCustomerRecord } from './queries.ts';

export interface Erasure {
  customerId: string;
  customerNumber: string;
  /** A customer with orders stays as a number. */
  customer: 'anonymised' | 'deleted';
  /** The numbers of entries erased by this call, by source; those erased before are not counted again. */
  counts: Record<string, number>;
}

/** undefined: there is no such customer. Erasing a customer again is allowed and finds nothing more. */
export async function eraseCustomerData(
  tx: Transaction,
  sources: readonly PersonalData[],
  {
    shopId,
    customerId,
    by,
    ...options
  }: ErasureOptions & { shopId: string; customerId: string; by: RequestSource },
): Promise<Erasure | undefined> {
  // A customer with a hundred thousand orders takes longer than the request timeout.
  await tx.run(sql`set local statement_timeout = 0`);
  const person = await lockCustomerRecord(tx, shopId, customerId);
  if (!person) return undefined;
  for (const source of sources) await source.lock?.(tx, shopId, person, options);

  const counts: Record<string, number> = {};
  const cartIds: string[] = [];
  for (const source of sources) {
    const erased = await source.erase?.(tx, shopId, person, options);
    Object.assign(counts, erased?.counts);
    cartIds.push(...(erased?.cartIds ?? []));
  }
  await deleteStoredResponses(tx, shopId, person, cartIds);
  // Placing an order locks the event counter first, then the customer. The same order is used here, and as late as
  // possible, because all orders of the shop wait for the lock: orders placed meanwhile are seen after it.
  await takeTimeOfCommit(tx, shopId);
  if (await hasUnerasedOrders(tx, shopId, customerId)) {
    throw new Refusal('CUSTOMER_JUST_ORDERED');
  }
  await insertPrivacyRequest(tx, shopId, 'erasure', person, by);
  recordEvents(tx, shopId, [{ type: 'CUSTOMER_ERASE', resourceId: person.customerId }]);
  return {
    customerId: person.customerId,
    customerNumber: person.customerNumber,
    customer: (await eraseCustomerRow(tx, shopId, customerId)) ? 'deleted' : 'anonymised',
    counts,
  };
}

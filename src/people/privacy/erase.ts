import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { ErasureOptions, PersonalData } from '../../platform/personal-data.ts';
import { deleteStoredResponses, eraseCustomer, lockCustomerRecord } from './queries.ts';

export interface Erasure {
  customerId: string;
  customerNumber: string;
  /** A customer with orders stays as a number. */
  customer: 'anonymised' | 'deleted';
  /** What this call has erased, by the names of the sources; what was erased before is not counted again. */
  counts: Record<string, number>;
}

/** undefined: there is no such customer. Erasing a customer again finds nothing more to erase, and is no mistake. */
export async function eraseCustomerData(
  tx: Transaction,
  sources: readonly PersonalData[],
  { shopId, customerId, ...options }: ErasureOptions & { shopId: string; customerId: string },
): Promise<Erasure | undefined> {
  // A customer with a hundred thousand orders takes longer than other requests may.
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
  return {
    customerId: person.customerId,
    customerNumber: person.customerNumber,
    customer: (await eraseCustomer(tx, shopId, customerId)) ? 'deleted' : 'anonymised',
    counts,
  };
}

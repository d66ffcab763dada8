import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { conflict } from '../../http/errors.ts';
import {
  countDocumentsOf,
  deleteAnswersAbout,
  deleteCartsOf,
  deleteMailsOf,
  deleteSubscriptionsOf,
  deleteWatchesOf,
  eraseCustomer,
  eraseOrders,
  eraseRemarks,
  lockOrdersOf,
  lockPerson,
  recordErasures,
} from './queries.ts';

/** What has become of what was held about a person. */
export interface Erasure {
  customerId: string;
  customerNumber: string;
  /** Who has orders stays as a number. */
  customer: 'anonymised' | 'deleted';
  /** In this call: what was erased before is not counted again. */
  ordersAnonymised: number;
  /** Invoices and credit notes, which the law wants kept as they are. */
  documentsKept: number;
  cartIds: string[];
  subscriptionsDeleted: number;
  watchesDeleted: number;
  mailsDeleted: number;
}

export interface ErasureOptions {
  /** The app that asked for it; null: the command line. */
  appId: string | null;
  /** Orders that are not finished are erased as well. */
  force: boolean;
}

const MOST_NAMED = 5;

/** undefined: there is no such customer. Doing it again finds nothing more to erase, and is no mistake. */
export async function eraseCustomerData(
  tx: Transaction,
  shopId: string,
  customerId: string,
  { appId, force }: ErasureOptions,
): Promise<Erasure | undefined> {
  // Who has ordered a hundred thousand times takes a while to be forgotten.
  await tx.run(sql`set local statement_timeout = 0`);
  const person = await lockPerson(tx, shopId, customerId);
  if (!person) return undefined;
  const orders = await lockOrdersOf(tx, shopId, customerId);
  const open = orders.filter(({ isFinished }) => !isFinished).map(({ orderNumber }) => orderNumber);
  if (open.length > 0 && !force) throw conflict(unfinished(open));

  const orderIds = orders.map(({ orderId }) => orderId);
  const mailsDeleted = await deleteMailsOf(tx, shopId, person);
  const subscriptionsDeleted = await deleteSubscriptionsOf(tx, shopId, person);
  const watchesDeleted = await deleteWatchesOf(tx, shopId, person);
  const cartIds = (await deleteCartsOf(tx, shopId, person)).map(({ cartId }) => cartId);
  await deleteAnswersAbout(tx, shopId, person, cartIds);
  if (orderIds.length > 0) {
    await eraseOrders(tx, shopId, orderIds);
    await eraseRemarks(tx, shopId, orderIds);
    await recordErasures(tx, shopId, orderIds, appId);
  }
  return {
    customerId: person.customerId,
    customerNumber: person.customerNumber,
    customer: (await eraseCustomer(tx, shopId, customerId)) ? 'deleted' : 'anonymised',
    ordersAnonymised: orderIds.length,
    documentsKept: await countDocumentsOf(tx, shopId, customerId),
    cartIds,
    subscriptionsDeleted,
    watchesDeleted,
    mailsDeleted,
  };
}

/** An order that is under way can't be delivered, invoiced or refunded without an address. */
function unfinished(orderNumbers: readonly string[]): string {
  const named = orderNumbers.slice(0, MOST_NAMED).join(', ');
  const more = orderNumbers.length > MOST_NAMED ? ` and ${orderNumbers.length - MOST_NAMED} more` : '';
  return (
    `The customer has orders that are not finished: ${named}${more}. ` +
    'Close or cancel them first, or erase with force'
  );
}

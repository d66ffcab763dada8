import type { EntryRow } from '../../shops/audit-log/queries.ts';
import { toEntry } from '../../shops/audit-log/render.ts';
import type { Queries } from '../../db/database.ts';
import { toMilliseconds } from '../../http/dates.ts';
import { toDecimal } from '../../kernel/money.ts';
import { toOrder } from '../../orders/render.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import {
  findCartsOf,
  findEntriesAbout,
  findMailsOf,
  findNewsletterRequestsOf,
  findOrderRecords,
  findSubscriptionsOf,
  findWatchesOf,
  type HeldCart,
  type OrderRecords,
  type Person,
} from './queries.ts';

const ORDERS_AT_ONCE = 100;
const ENTRIES_AT_ONCE = 1_000;

/**
 * Everything that is held about a person, as the text of one JSON object. Piece by piece, as fast as it is read: never
 * more than a hundred orders are in memory. `onOrders` hears how many more have been written.
 */
export async function* personText(
  db: Queries,
  shopId: string,
  person: Person,
  origin: string,
  onOrders: (count: number) => void = () => {},
): AsyncGenerator<string> {
  const { customerId, customerNumber, createdAt, customerGroup, billingAddress, internalNote } = person;
  const head = {
    customerId,
    exportedOn: toMilliseconds(db.now),
    customer: {
      customerNumber,
      creationDate: toMilliseconds(createdAt),
      customerGroup,
      billingAddress: billingAddress && (JSON.parse(billingAddress) as object),
      internalNote,
    },
    emailAddresses: person.emails,
    newsletterSubscriptions: await findSubscriptionsOf(db, shopId, person),
    newsletterRequests: await findNewsletterRequestsOf(db, shopId, person),
    availabilityWatches: await findWatchesOf(db, shopId, person),
    carts: (await findCartsOf(db, shopId, person)).map(heldCart),
    mails: await findMailsOf(db, shopId, person),
  };
  const settings = await shopSettings(db, shopId);
  yield `${JSON.stringify(head).slice(0, -1)},"orders":[`;
  yield* joined(
    (last: OrderRecords | undefined) => findOrderRecords(db, shopId, customerId, last, ORDERS_AT_ONCE),
    (order) => recordText(order, origin, settings),
    onOrders,
  );
  yield '],"auditEntries":[';
  yield* joined(
    (last: EntryRow | undefined) => findEntriesAbout(db, shopId, person, last, ENTRIES_AT_ONCE),
    (entry) => JSON.stringify(toEntry(entry)),
  );
  yield ']}';
}

/** What `read` finds behind the last one, until there is no more, with commas between. */
async function* joined<Row>(
  read: (last: Row | undefined) => Promise<Row[]>,
  textOf: (row: Row) => string,
  onRows: (count: number) => void = () => {},
): AsyncGenerator<string> {
  let last: Row | undefined;
  for (;;) {
    const rows = await read(last);
    if (rows.length === 0) return;
    yield (last === undefined ? '' : ',') + rows.map(textOf).join(',');
    onRows(rows.length);
    last = rows.at(-1);
  }
}

function heldCart(cart: HeldCart) {
  const lines = cart.lines.map(({ price, ...line }) => ({
    ...line,
    ...(price !== undefined && { price: toDecimal(price, cart.currency) }),
  }));
  return { ...cart, lines };
}

/** The order as everywhere else, in its own language, and then what only its merchant sees. */
function recordText(order: OrderRecords, origin: string, settings: Settings): string {
  const { currency, locale, cancelledAt, erasedAt } = order;
  const more = {
    cancelledOn: cancelledAt && toMilliseconds(cancelledAt),
    erasedOn: erasedAt && toMilliseconds(erasedAt),
    documents: order.documents.map(({ issuedOn, total, ...document }) => ({
      ...document,
      issuedOn: toMilliseconds(new Date(issuedOn)),
      grandTotal: toDecimal(total, currency),
    })),
    payments: order.payments
      .map((payment) => ({ ...payment, amount: toDecimal(payment.amount, currency) }))
      .map(dated),
    shipments: order.shipments.map(dated),
    returns: order.returns.map(dated),
    history: order.history.map(dated),
  };
  return JSON.stringify({ ...toOrder(order, { locale, origin, settings }), ...more });
}

const dated = <Dated extends { at: string }>(row: Dated) => ({
  ...row,
  at: toMilliseconds(new Date(row.at)),
});

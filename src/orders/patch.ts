import { Type, type Static } from 'typebox';
import type { Content } from '../pricing/content.ts';
import { AddressRequest, toAddress, type Address } from '../shops/countries/address.ts';
import { parseMoment } from '../http/dates.ts';
import { patchOf, type Changes } from '../http/json-patch.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { OrderChanges } from './change.ts';
import type { ManagedOrder } from './queries.ts';
import { revised } from './revision.ts';
import type { State } from './schema.ts';

const Moment = Type.String({ description: 'A moment, ISO 8601.', examples: ['2026-11-15T08:30:00Z'] });
/** Characters of a note about an order. */
export const MAX_NOTE_LENGTH = 10_000;

const Note = Type.String({
  description: 'A note.',
  examples: ['Please ring twice'],
  maxLength: MAX_NOTE_LENGTH,
});

const STATE = { ops: ['add', 'remove'], value: Moment } as const;

const PATHS = {
  '/orderNumber': { ops: ['add'], value: Type.String({ minLength: 1, maxLength: 64 }) },
  '/customerComment': { ops: ['add', 'remove'], value: Note },
  '/internalNote': { ops: ['add', 'remove'], value: Note },
  '/billingAddress': { ops: ['add'], value: AddressRequest },
  '/shippingAddress': { ops: ['add'], value: AddressRequest },
  '/payment': { ops: ['add'], value: Type.String({ maxLength: 255 }) },
  '/viewedOn': STATE,
  '/rejectedOn': STATE,
  '/inProcessOn': STATE,
  '/pendingOn': STATE,
  '/readyForDispatchOn': STATE,
  '/partiallyDispatchedOn': STATE,
  '/dispatchedOn': STATE,
  '/deliveredOn': STATE,
  '/partiallyInvoicedOn': STATE,
  '/invoicedOn': STATE,
  '/partiallyPaidOn': STATE,
  '/paidOn': STATE,
  '/returnedOn': STATE,
  '/closedOn': STATE,
  '/archivedOn': STATE,
} as const;

type SentAddress = Static<typeof AddressRequest>;

export const orderPatch = patchOf(PATHS);
export type OrderPatch = Changes<typeof PATHS>;

/** Changes that update lastUpdatedOnDate. */
const MOVING: readonly string[] = ['/billingAddress', '/shippingAddress', '/payment'];

/** The order after these changes, and whether they update lastUpdatedOnDate. */
export function patchedOrder(
  order: ManagedOrder,
  patch: OrderPatch,
  settings: Settings,
): { changes: OrderChanges; moves: boolean } {
  const changes: OrderChanges = {};
  patch.forEach((change, index) => {
    const at = `[${index}] ${change.path}`;
    switch (change.path) {
      case '/orderNumber':
        if (change.op !== 'remove') changes.orderNumber = change.value;
        break;
      case '/customerComment':
        changes.customerComment = change.op === 'remove' ? null : change.value;
        break;
      case '/internalNote':
        changes.internalNote = change.op === 'remove' ? null : change.value;
        break;
      case '/billingAddress':
        if (change.op !== 'remove') {
          const required = ['country', 'emailAddress', ...settings.mandatoryAddressFields];
          const sent = withCountry(change.value, changes.billingAddress ?? order.billingAddress);
          changes.billingAddress = toAddress(sent, at, required);
        }
        break;
      case '/shippingAddress':
        if (change.op !== 'remove') {
          const before =
            changes.shippingAddress ??
            order.shippingAddress ??
            changes.billingAddress ??
            order.billingAddress;
          changes.shippingAddress = toAddress(withCountry(change.value, before), at, ['country']);
        }
        break;
      case '/payment':
        if (change.op !== 'remove') changes.content = paidByHand(order.content, change.value);
        break;
      case '/viewedOn':
      case '/rejectedOn':
      case '/inProcessOn':
      case '/pendingOn':
      case '/readyForDispatchOn':
      case '/partiallyDispatchedOn':
      case '/dispatchedOn':
      case '/deliveredOn':
      case '/partiallyInvoicedOn':
      case '/invoicedOn':
      case '/partiallyPaidOn':
      case '/paidOn':
      case '/returnedOn':
      case '/closedOn':
      case '/archivedOn':
        changes[change.path.slice(1) as State] =
          change.op === 'remove' ? null : parseMoment(change.value, at);
        break;
    }
  });
  return { changes, moves: patch.some(({ path }) => MOVING.includes(path)) };
}

/**
 * Clients correct a name or an email address and send nothing else: the country stays as it was. An order without a
 * delivery address of its own is delivered to the billing address, so its country came from there.
 */
function withCountry(sent: SentAddress, before: Address): SentAddress {
  if (sent.country) return sent;
  return { ...sent, country: before.country };
}

/** A payment outside the shop's methods: its name is for the merchant, and it costs nothing. */
function paidByHand(content: Content, name: string): Content {
  const payment = { method: null, name, transactionId: null, status: null, price: 0 };
  return { ...revised(content, { payment }), payment: { ...payment, taxes: [] } };
}

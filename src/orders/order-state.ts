import type { Content } from '../pricing/content.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { providerMethodOf } from './payments/providers.ts';
import type { State } from './schema.ts';

/** The states of an order in the words of a merchant. An order is in one of them at a time. */
export const ORDER_STATES = [
  'waitingForPayment',
  'paymentFailed',
  'readyToShip',
  'partlyShipped',
  'shipped',
  'delivered',
  'returned',
  'closed',
  'archived',
  'cancelled',
] as const;
export type OrderState = (typeof ORDER_STATES)[number];

/**
 * Why an order that is paid in advance is not ready to ship: the payment has not arrived, or it has failed. It stays
 * when the order is paid or sent in another way.
 */
export type PaymentWait = 'open' | 'failed';

/** The values of an order that decide its state. */
export interface StateFacts extends Readonly<Record<State, Date | null>> {
  cancelledAt: Date | null;
  paymentWait: PaymentWait | null;
  /** In minor units. */
  paidAmount: number;
  content: Pick<Content, 'grandTotal'>;
}

export function orderState(order: StateFacts): OrderState {
  if (order.cancelledAt || order.rejectedOn) return 'cancelled';
  if (order.archivedOn) return 'archived';
  if (order.closedOn) return 'closed';
  if (order.returnedOn) return 'returned';
  if (order.deliveredOn) return 'delivered';
  if (order.dispatchedOn) return 'shipped';
  const isUnpaid = !order.paidOn && order.content.grandTotal > order.paidAmount;
  if (isUnpaid && order.paymentWait) {
    return order.paymentWait === 'failed' ? 'paymentFailed' : 'waitingForPayment';
  }
  return order.partiallyDispatchedOn ? 'partlyShipped' : 'readyToShip';
}

/** Nothing is shipped yet, because the order is paid in advance. */
export const isWaitingForPayment = (state: OrderState) =>
  state === 'waitingForPayment' || state === 'paymentFailed';

/**
 * The payment that an order waits for, when it is new or has another payment method. The customer pays before dispatch:
 * through a payment provider, by a method with the key `advance` (in every new shop the bank transfer), or by one whose
 * unpaid orders are cancelled after some time.
 */
export function paymentWaitOf(
  content: Pick<Content, 'grandTotal' | 'payment'>,
  settings: Pick<Settings, 'paymentMethods'>,
): PaymentWait | null {
  const id = content.payment?.method?.paymentMethodId;
  const method = settings.paymentMethods.find(({ paymentMethodId }) => paymentMethodId === id);
  if (content.grandTotal <= 0 || !method) return null;
  const isPaidFirst =
    method.key === 'advance' ||
    method.releaseUnpaidAfterDays !== null ||
    method.releaseUnpaidAfterMinutes !== null ||
    providerMethodOf(content, settings) !== undefined;
  return isPaidFirst ? 'open' : null;
}

import type { Queries } from '../../db/database.ts';
import type { Localised } from '../../http/locale.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { payableOf } from '../manage-change.ts';
import type { ManagedOrder } from '../queries.ts';
import { findInstructions } from './app-payments.ts';
import { findAttempts, type Attempt } from './queries.ts';
import { providerMethodOf } from './providers.ts';

/** The payment state of an order, for its customer. */
export interface PaymentState {
  /**
   * `open`: nothing arrived yet. `processing`: the money is on its way, or reserved. `failed`: the last attempt was
   * refused, or given up. `refunded`: everything paid was refunded.
   */
  state: 'open' | 'processing' | 'paid' | 'failed' | 'refunded';
  /** The customer can pay now, through a provider: POST to `/order/{token}/pay`. */
  canPay: boolean;
  /** The amount to pay, in minor units. */
  outstanding: number;
  /** By locale, what the customer has to do for an app that leads to no page; null: nothing. */
  instructions: Localised | null;
  /** When the order is cancelled unless it is paid; null: never, or there was no attempt. */
  keptUntil: Date | null;
}

export async function paymentState(db: Queries, shopId: string, order: ManagedOrder): Promise<PaymentState> {
  const [settings, attempts] = await Promise.all([
    shopSettings(db, shopId),
    findAttempts(db, shopId, order.orderId),
  ]);
  const last = attempts.at(-1);
  const isInstructed = last?.provider === 'app' && last.state === 'open';
  const instructions = isInstructed ? await findInstructions(db, shopId, last.attemptId) : undefined;
  return { ...paymentStateOf(order, last, settings), instructions: instructions ?? null };
}

function paymentStateOf(
  order: ManagedOrder,
  lastAttempt: Pick<Attempt, 'state' | 'releaseAt'> | undefined,
  settings: Pick<Settings, 'paymentMethods'>,
): Omit<PaymentState, 'instructions'> {
  const outstanding = payableOf(order);
  const isOnItsWay = lastAttempt?.state === 'processing' || lastAttempt?.state === 'authorized';
  const hasEnded = lastAttempt?.state === 'failed' || lastAttempt?.state === 'cancelled';
  const hasProvider = providerMethodOf(order.content, settings) !== undefined;
  const canPay = hasProvider && outstanding > 0 && !isOnItsWay;
  const state = { canPay, outstanding, keptUntil: lastAttempt?.releaseAt ?? null };
  if (order.paidAmount > 0 && order.refundedAmount === order.paidAmount) {
    return { ...state, state: 'refunded' };
  }
  if (outstanding === 0 && (order.paidAmount > 0 || !order.cancelledAt)) return { ...state, state: 'paid' };
  if (isOnItsWay) return { ...state, state: 'processing' };
  return { ...state, state: hasEnded ? 'failed' : 'open' };
}

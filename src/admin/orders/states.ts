import type { OrderFilter } from '../../orders/list.ts';
import { isWaitingForPayment, type OrderState } from '../../orders/order-state.ts';
import { STATES, type State } from '../../orders/schema.ts';
import { html, type Markup } from '../../http/html.ts';
import { chip, type ChipKind } from '../components/format.ts';
import type { AdminMessages } from '../messages.ts';

/** The states of orders in the words of a merchant: the parts of the list, and the chips. */

export const LIST_PARTS = [
  'todo',
  'new',
  'toShip',
  'waitingForPayment',
  'paymentFailed',
  'toPay',
  'returns',
  'done',
  'returned',
  'cancelled',
  'all',
] as const;
export type OrderPart = (typeof LIST_PARTS)[number];

const bits = (...states: readonly State[]) =>
  states.reduce((sum, state) => sum | (1 << STATES.indexOf(state)), 0);

const none = (...states: readonly State[]) => ({ asked: bits(...states), set: 0 });

/** An order that was rejected, closed or archived needs no further action. */
const ENDED = ['rejectedOn', 'closedOn', 'archivedOn'] as const;

/**
 * Which states the orders of each part have. New ones, those that wait for their payment, and those with a waiting
 * return are found in other ways. `toShip` also needs `isReady`.
 */
export const PART_STATES: Readonly<Record<OrderPart, OrderFilter['states']>> = {
  todo: { ...none(...ENDED), missing: bits('paidOn', 'dispatchedOn') },
  new: none(),
  toPay: none(...ENDED, 'paidOn'),
  toShip: none(...ENDED, 'dispatchedOn', 'deliveredOn', 'returnedOn'),
  waitingForPayment: none(),
  paymentFailed: none(),
  returns: none(),
  done: {
    asked: bits('paidOn', 'dispatchedOn', 'rejectedOn'),
    set: bits('paidOn', 'dispatchedOn'),
  },
  returned: { asked: bits('returnedOn'), set: bits('returnedOn') },
  cancelled: { asked: bits('rejectedOn'), set: bits('rejectedOn') },
  all: none(),
};

/** The data of an order's chips: a row of a list, or the order of the API. */
export type ChippedOrder = Readonly<Record<State, unknown>> & {
  state: OrderState;
  paid: number;
  refunded: number;
  /** Some of the items came back, and not all. */
  isPartlyReturned: boolean;
};

export type ChipName =
  | 'cancelled'
  | 'toRefund'
  | 'toPay'
  | 'waitingForPayment'
  | 'paymentFailed'
  | 'partlyPaid'
  | 'paid'
  | 'partlyRefunded'
  | 'refunded'
  | 'notShipped'
  | 'toShip'
  | 'partlyShipped'
  | 'shipped'
  | 'delivered'
  | 'returned'
  | 'partlyReturned'
  | 'onHold'
  | 'closed'
  | 'archived';

const KINDS: Readonly<Record<ChipName, ChipKind>> = {
  cancelled: 'bad',
  toRefund: 'warning',
  toPay: 'warning',
  waitingForPayment: 'warning',
  paymentFailed: 'bad',
  partlyPaid: 'warning',
  paid: 'good',
  partlyRefunded: 'neutral',
  refunded: 'neutral',
  notShipped: 'neutral',
  toShip: 'warning',
  partlyShipped: 'warning',
  shipped: 'good',
  delivered: 'good',
  returned: 'neutral',
  partlyReturned: 'neutral',
  onHold: 'warning',
  closed: 'neutral',
  archived: 'neutral',
};

export interface OrderChip {
  name: ChipName;
  kind: ChipKind;
}

const chips = (...names: readonly (ChipName | false | null | undefined)[]): OrderChip[] =>
  names.flatMap((name) => (name ? [{ name, kind: KINDS[name] }] : []));

/** The payment state. */
export function paymentChips(order: Omit<ChippedOrder, 'isPartlyReturned'>): OrderChip[] {
  const { state, paid, refunded } = order;
  if (state === 'cancelled') {
    return chips('cancelled', paid > refunded ? 'toRefund' : refunded > 0 && 'refunded');
  }
  if (refunded > 0) return chips(refunded >= paid ? 'refunded' : 'partlyRefunded');
  if (order.paidOn) return chips('paid');
  if (state === 'paymentFailed') return chips(state);
  if (order.partiallyPaidOn) return chips('partlyPaid');
  return chips(state === 'waitingForPayment' ? state : 'toPay');
}

/** The delivery state, and any exceptional state. */
export function goodsChips(order: ChippedOrder): OrderChip[] {
  const rest = chips(
    order.returnedOn ? (order.isPartlyReturned ? 'partlyReturned' : 'returned') : null,
    order.pendingOn ? 'onHold' : null,
    order.archivedOn ? 'archived' : order.closedOn ? 'closed' : null,
  );
  if (order.deliveredOn) return [...chips('delivered'), ...rest];
  if (order.dispatchedOn) return [...chips('shipped'), ...rest];
  if (order.partiallyDispatchedOn) return [...chips('partlyShipped'), ...rest];
  if (order.state === 'cancelled') return rest;
  return [...chips(isWaitingForPayment(order.state) ? 'notShipped' : 'toShip'), ...rest];
}

export function chipsView(chips: readonly OrderChip[], messages: AdminMessages): Markup {
  return html`<span class="chips"
    >${chips.map(({ name, kind }) => chip(messages.orders.chips[name], kind))}</span
  >`;
}

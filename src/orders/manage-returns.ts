import { Type } from 'typebox';
import { invalid, notFound, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { paged, paging } from '../http/paging.ts';
import { Id, Paged } from '../http/schemas.ts';
import { newId } from '../kernel/ids.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { recordEvents } from '../platform/events/log.ts';
import { changeOrder } from './change.ts';
import {
  exactAmount,
  manageOperation,
  managedOrder,
  moveStock,
  numbered,
  openOrder,
  record,
  toReturn,
  type OpenOrder,
  type OrderCall,
} from './manage-change.ts';
import {
  countReturns,
  findReturns,
  RETURN_STATES,
  updateReturnRow,
  type OrderPayment,
  type Return,
} from './manage-queries.ts';
import { ListedReturnAnswer, ReturnUpdate } from './manage-schema.ts';
import { lineOf, partsOf, partText } from './manage-shipments.ts';
import { emailAddressOf } from './order-email.ts';
import type { ManagedOrder } from './queries.ts';
import { goodwillBeyond, refunded, type Goodwill, type RefundDestination } from './refund.ts';
import { receivedDue, returnRefund } from './refund-due.ts';
import { queueOrderReturned } from './return-email.ts';
import { returnApprovedEmail, returnRejectedEmail } from './return-request-emails.ts';
import { revokeSoldCards } from './sold-cards/revoke.ts';
import { isBack, mayBecome, orderedLines, sentLines } from './quantities.ts';

const { parameters, pageOf } = paging();

export const listReturns = operation({
  under: 'manage',
  tag: 'orders',
  labels: [],
  method: 'GET',
  path: '/returns',
  name: 'listReturns',
  summary: 'List returns',
  description:
    'Returns of all orders, oldest first: by default those that wait for the merchant (requested, approved, withdrawn, refundFailed), otherwise those of one state.',
  access: 'orders_read',
  query: Type.Object({
    ...parameters,
    state: Type.Optional(
      Type.Enum([...RETURN_STATES], {
        description: 'Only returns of this state.',
        examples: ['requested'],
      }),
    ),
  }),
  answer: Paged(ListedReturnAnswer, 'return list'),
});

export const updateReturn = operation({
  ...manageOperation,
  method: 'PUT',
  path: '/orders/:orderId/returns/:returnId',
  name: 'updateReturn',
  summary: 'Update return',
  description:
    'Moves a return to its next state: requested to approved or rejected, approved or withdrawn to received when the items are back, received to refunded when the money is paid back. Payments through a provider are refunded through it. If the provider fails, the return becomes refundFailed and can be refunded again. 409: the return cannot reach that state, or more money than is left of the payments.',
  params: Type.Object({ orderId: Id, returnId: Id }),
  body: ReturnUpdate,
});

export function managedReturns(api: Operations): void {
  api.read(listReturns, async ({ db, shopId, query }) => {
    const page = pageOf(query);
    const state = query.state ?? null;
    const [count, rows] = await Promise.all([
      countReturns(db, shopId, state),
      findReturns(db, shopId, state, page.resultsPerPage, page.offset),
    ]);
    return paged(
      page,
      count,
      rows.map(({ orderId, orderNumber, ...row }) => ({ orderId, orderNumber, ...toReturn(row) })),
    );
  });

  api.write(updateReturn, async (call) => {
    const open = await openOrder(call);
    const returned = open.activity.returns.find(({ returnId }) => returnId === call.params.returnId);
    if (!returned) throw notFound('returnId');
    const { state, note = null, refund = null } = call.body;
    if (!mayBecome(returned, state))
      throw new Refusal('RETURN_STATE_NOT_POSSIBLE', { from: returned.state, to: state });
    if ((refund !== null) !== (state === 'refunded')) {
      throw invalid(refund === null ? 'MISSING' : 'OUT_OF_RANGE', 'refund');
    }
    const next = { ...returned, state, note: note ?? returned.note };
    const order = await NEXT_STEPS[state](call, open, next);
    return managedOrder(call.tx, call, order, open.settings);
  });
}

type UpdateCall = OrderCall & {
  body: { restock?: boolean | null; refund?: number | string | null; goodwill?: string | null };
};
type NextStep = (call: UpdateCall, open: OpenOrder, returned: Return) => Promise<ManagedOrder>;

const NEXT_STEPS: Readonly<Record<'approved' | 'rejected' | 'received' | 'refunded', NextStep>> = {
  approved: answerRequest,
  rejected: answerRequest,
  received: receiveGoods,
  refunded: refundReturn,
};

/** Tells the customer the answer to the request. */
async function answerRequest(call: UpdateCall, open: OpenOrder, returned: Return): Promise<ManagedOrder> {
  const { tx, shopId } = call;
  const { order } = open;
  const isApproved = returned.state === 'approved';
  const { returnId, lines, note } = returned;
  await updateReturnRow(tx, shopId, order.orderId, returned);
  const changed = await changeOrder(tx, shopId, order, {}, { also: ['returns'] });
  recordReturnEvent(call, open, isApproved ? 'RETURN_APPROVED' : 'RETURN_REJECTED', returned);
  await record(call, open, isApproved ? 'return approved' : 'return rejected', { returnId });
  const to = emailAddressOf(order);
  if (to !== undefined) {
    const { orderId, orderNumber, locale } = order;
    const goods = lines.map((part) => partText(part, open));
    await queueEmails(tx, shopId, isApproved ? returnApprovedEmail : returnRejectedEmail, [
      { to, locale, facts: { orderId, orderNumber, goods, note } },
    ]);
  }
  return changed;
}

async function receiveGoods(call: UpdateCall, open: OpenOrder, returned: Return): Promise<ManagedOrder> {
  const { tx, shopId, body } = call;
  const { order } = open;
  const { returnId } = returned;
  // The merchant may have recorded the same goods already, as a return without a request.
  const available = returned.origin === 'withdrawal' ? orderedLines(open, isBack) : sentLines(open, isBack);
  const lines = partsOf(returned.lines, open, available, 'returned');
  const restocked = body.restock ?? true;
  const dueAmount = receivedDue(open, returned);
  await updateReturnRow(tx, shopId, order.orderId, { ...returned, restocked, dueAmount });
  if (restocked) {
    await moveStock(
      call,
      open,
      lines.map((part) => ({
        productId: lineOf(part, open).productId,
        quantity: Number(part.quantity),
      })),
    );
  }
  const isWithdrawal = returned.origin === 'withdrawal';
  await revokeSoldCards(tx, shopId, order, lines, { appId: open.appId, isWithdrawal });
  const changes = lines.length > 0 ? { returnedOn: order.returnedOn ?? tx.now } : {};
  const changed = await changeOrder(tx, shopId, order, changes, { also: ['returns'] });
  recordReturnEvent(call, open, 'RETURN_RECEIVED', returned);
  await record(call, open, 'returned', { returnId, lines: numbered(lines), restocked });
  if (lines.length > 0) await queueOrderReturned(tx, shopId, open, lines);
  return changed;
}

async function refundReturn(call: UpdateCall, open: OpenOrder, returned: Return): Promise<ManagedOrder> {
  const { body } = call;
  const amount = exactAmount(body.refund!, open.order, 'refund', { min: 1 });
  return recordReturnRefund(call, open, returned, {
    amount,
    reference: null,
    note: returned.note,
    goodwill: goodwillBeyond(returnRefund(open, returned).left, amount, body.goodwill),
  });
}

type RefundCall = Pick<OrderCall, 'tx' | 'shopId'>;

/**
 * Refunds a return whose items are back, once more if a part of its refund is left. More than is left of it needs a
 * goodwill reason.
 */
export async function refundForReturn(
  call: RefundCall,
  open: OpenOrder,
  {
    returnId,
    goodwill: reason,
    ...refund
  }: Pick<OrderPayment, 'amount' | 'reference' | 'note'> & {
    returnId: string;
    goodwill: string | null;
    destination: RefundDestination;
  },
): Promise<ManagedOrder> {
  const { order } = open;
  const returned = open.activity.returns.find((one) => one.returnId === returnId.toUpperCase());
  if (!returned) throw invalid('UNKNOWN_VALUE', 'returnId');
  if (returned.state !== 'refunded' && !mayBecome(returned, 'refunded')) {
    throw new Refusal('RETURN_NOT_REFUNDABLE', { state: returned.state });
  }
  const { left } = returnRefund(open, returned);
  const goodwill = goodwillBeyond(left, refund.amount, reason);
  if (refund.amount > left && goodwill === null) {
    throw new Refusal('REFUND_BEYOND_RETURN', { amount: { minor: left, currency: order.currency } });
  }
  return recordReturnRefund(call, open, { ...returned, state: 'refunded' }, { ...refund, goodwill });
}

export async function recordReturnRefund(
  { tx, shopId }: RefundCall,
  open: Pick<OpenOrder, 'order'> & { appId: string | null },
  returned: Return,
  {
    amount,
    goodwill,
    destination = 'usual',
    ...refund
  }: Pick<OrderPayment, 'amount' | 'reference' | 'note'> & {
    goodwill: Goodwill | null;
    destination?: RefundDestination;
  },
): Promise<ManagedOrder> {
  const { returnId } = returned;
  await updateReturnRow(tx, shopId, open.order.orderId, returned);
  const changed = await refunded(
    { tx, shopId },
    open,
    amount,
    { ...refund, paymentId: newId(tx.now), returnId },
    {
      also: ['returns'],
      goodwill,
      destination,
    },
  );
  recordReturnEvent({ tx, shopId }, open, 'RETURN_REFUNDED', returned);
  return changed;
}

function recordReturnEvent(
  { tx, shopId }: RefundCall,
  { order }: Pick<OpenOrder, 'order'>,
  type: 'RETURN_APPROVED' | 'RETURN_REJECTED' | 'RETURN_RECEIVED' | 'RETURN_REFUNDED',
  { returnId }: Return,
): void {
  recordEvents(tx, shopId, [{ type, resourceId: order.orderId, data: { returnId } }]);
}

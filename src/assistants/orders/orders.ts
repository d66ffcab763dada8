import { findOrderWithActivity } from '../../orders/manage-queries.ts';
import type { Capability } from '../capabilities.ts';
import type { OperationCall } from '../context.ts';
import { failure, success } from '../outcome.ts';
import { findSession } from '../queries.ts';
import { isOwn } from '../sessions.ts';
import { shownOrder } from './order-view.ts';

export const ORDER: Capability = 'dev.ucp.shopping.order';

/**
 * An order for the assistant of its session. That it is not there, is another assistant's, or of a customer who was erased are
 * one and the same answer.
 */
export async function readOrder({ context, id }: OperationCall): Promise<object> {
  const { db, shopId, agent, tokens, home } = context;
  const orderId = tokens.orders.id(shopId, id);
  const order = orderId === undefined ? undefined : await findOrderWithActivity(db, shopId, orderId);
  const sessionId = order?.assistantSessionId ?? undefined;
  const session = sessionId === undefined ? undefined : await findSession(db, shopId, sessionId);
  if (!order || order.erasedAt || !session || !isOwn(session, agent)) {
    return failure(ORDER, 'not_found', 'Order not found', home);
  }
  return success([ORDER], shownOrder(order, session.sessionId, context));
}

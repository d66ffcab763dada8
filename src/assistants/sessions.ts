import { shownLines } from '../pricing/shown-lines.ts';
import { updateAssistantSession } from '../carts/queries.ts';
import type { Transaction } from '../db/database.ts';
import { newId } from '../kernel/ids.ts';
import { messagesIn } from '../kernel/messages.ts';
import { payableOf } from '../orders/manage-change.ts';
import { findAttempts, type Attempt } from '../orders/payments/queries.ts';
import { findManagedOrder, type ManagedOrder } from '../orders/queries.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import type { Agent } from './agent.ts';
import { envelope } from './capabilities.ts';
import { parseCartId } from './carts/cart-id.ts';
import { cancelCart, readCart, replaceCart } from './carts/carts.ts';
import { CHECKOUT, createSession, showCanceled, showSession } from './checkout-sessions.ts';
import type { AssistantContext, OperationCall } from './context.ts';
import { shownLine, shownTotals } from './carts/cart-view.ts';
import { orderConfirmation } from './orders/order-view.ts';
import type { Message } from './messages.ts';
import { failure, isFailure } from './outcome.ts';
import { paymentHandlers } from './payment.ts';
import {
  cancelSession,
  deleteSessionsBefore,
  findSession,
  findSessionOfCart,
  insertSession,
  type EndedSession,
  type SessionRow,
  type SessionState,
} from './queries.ts';

/**
 * A checkout session is a cart with an assistant, an id and an end. It is completed when its buyer has ordered: the cart, or
 * the copy of it that the buyer got in the shop.
 */

/** Milliseconds for which an assistant may work with a session. */
const LIFETIME = 24 * 3_600_000;

/** Sessions that nobody has ordered by stay for a while, so that a late order still names its assistant. */
const STAY_FOR = 60 * 86_400_000;

export const sessionCleanup: CleanupStep = {
  name: 'sessions of assistants',
  run: (db, limit) => deleteSessionsBefore(db, new Date(db.now.getTime() - STAY_FOR), limit),
};

/** Whether a session, and its order, belong to this assistant. One that has signed once is not believed without a signature. */
export const isOwn = ({ profile, signed }: Pick<SessionRow, 'profile' | 'signed'>, agent: Agent) =>
  profile === agent.profile && (agent.signed || !signed);

/** A cart becomes a session once: asked again, it is the same session, which the request does not change. */
export async function openSession(call: OperationCall): Promise<object> {
  const { context, request } = call;
  const write: OperationCall['write'] = (work) =>
    call.write(async (tx) => {
      const answer = await work(tx);
      if (isFailure(answer)) return answer;
      const { cartId } = parseCartId((answer as { id: string }).id)!;
      const session = await sessionOf(tx, cartId, context);
      return session ? inSession(answer, session, context) : missing(context);
    });
  const { cart_id: cartId } = request as { cart_id?: string };
  if (cartId === undefined || !(await hasSession(context, cartId))) return createSession({ ...call, write });
  const answer = await readCart({ ...call, id: cartId }, CHECKOUT, showSession);
  return isFailure(answer) ? answer : write(async () => answer);
}

async function hasSession({ db, shopId }: AssistantContext, cartId: string): Promise<boolean> {
  const named = parseCartId(cartId);
  return named !== undefined && (await findSessionOfCart(db, shopId, named.cartId)) !== undefined;
}

/** undefined: the cart was opened by its buyer, or is the session of another assistant. */
async function sessionOf(
  tx: Transaction,
  cartId: string,
  { shopId, agent }: AssistantContext,
): Promise<Pick<SessionRow, 'sessionId' | 'expiresAt'> | undefined> {
  const sessionId = newId(tx.now);
  if ((await updateAssistantSession(tx, shopId, cartId, sessionId)) === 0) {
    const known = await findSessionOfCart(tx, shopId, cartId);
    return known && isOwn(known, agent) && isOpen(known, tx.now) ? known : undefined;
  }
  const { profile, signed } = agent;
  const expiresAt = new Date(tx.now.getTime() + LIFETIME);
  await insertSession(tx, shopId, { sessionId, profile, signed, cartId, createdAt: tx.now, expiresAt });
  return { sessionId, expiresAt };
}

export const isOpen = ({ cancelledAt, expiresAt }: SessionRow, now: Date) =>
  cancelledAt === null && expiresAt > now;

export const readSession = (call: OperationCall) =>
  withSession(call, 'read', (open) => readCart(open, CHECKOUT, showSession));

export const replaceSession = (call: OperationCall) =>
  withSession(call, 'change', (open) => replaceCart(open, CHECKOUT, showSession));

/** Ends the session, and keeps what it showed of the products. A buyer who has opened its link keeps the copy. */
export function endSession(call: OperationCall): Promise<object> {
  const { context } = call;
  return withSession(call, 'end', async (open, { sessionId }) => {
    const write: OperationCall['write'] = (work) =>
      call.write(async (tx) => {
        const answer = await work(tx);
        await cancelSession(tx, context.shopId, sessionId, isFailure(answer) ? null : keptOf(answer));
        return answer;
      });
    return cancelCart({ ...open, write }, CHECKOUT, showCanceled);
  });
}

function keptOf(answer: object): EndedSession {
  const { line_items, currency, totals } = answer as EndedSession;
  return { line_items, currency, totals };
}

/** A session that its assistant has ended, as often as it asks. */
async function canceledSession(
  context: AssistantContext,
  session: SessionState,
  ended: EndedSession,
): Promise<object> {
  const answer = {
    ucp: { ...envelope([CHECKOUT]), payment_handlers: paymentHandlers(undefined) },
    ...ended,
    status: 'canceled',
    links: await context.links(),
  };
  return inSession(answer, session, context);
}

/** What a request wants of a session. */
type Wish = 'read' | 'change' | 'complete' | 'end';

/**
 * Runs work with the cart of an open session. A session that is not there, is over or is another assistant's are one and the
 * same answer; one whose buyer has ordered answers with the order, and can't be changed, as one that its assistant has ended.
 */
export async function withSession(
  call: OperationCall,
  wish: Wish,
  work: (call: OperationCall, session: SessionState) => Promise<object>,
): Promise<object> {
  const { context } = call;
  const session = await ownSession(call);
  if (!session) return missing(context);
  const closed = await closedAnswer(session, call, wish);
  if (closed) return closed;
  const answer = await work({ ...call, cart: cartOf(session) }, session);
  if (!isFailure(answer)) return inSession(answer, session, context);
  // The buyer may have opened or ordered it in the meantime.
  const later = await ownSession(call);
  return (later && (await closedAnswer(later, call, wish))) ?? answer;
}

/** The session that a request names; undefined: it is not there, or another assistant's. */
export async function ownSession({ context, id }: OperationCall): Promise<SessionState | undefined> {
  const { db, shopId, agent, tokens } = context;
  const sessionId = tokens.sessions.id(shopId, id);
  const session = sessionId === undefined ? undefined : await findSession(db, shopId, sessionId);
  return session && isOwn(session, agent) ? session : undefined;
}

/** The cart of a session, whose id is not the one of the session. */
export const cartOf = ({ cartId }: SessionState) => ({ cartId, token: '', isAdmitted: true }) as const;

/** undefined: the session is open for the wish. */
async function closedAnswer(
  session: SessionState,
  call: OperationCall,
  wish: Wish,
): Promise<object | undefined> {
  const { context } = call;
  const refuse = (code: string, content: string) => failure(CHECKOUT, code, content, context.home);
  if (session.orderId !== null) {
    if (wish === 'read') return orderedSession(context, session, session.orderId);
    // A request that is repeated gets the answer that it got before the order.
    const answer = await call.write(async () => {
      const now = await orderedSession(context, session, session.orderId!);
      const isOver = (now as { status?: string }).status === 'completed';
      if (wish === 'complete' || (!isOver && !isFailure(now))) return wish === 'complete' ? now : locked(now);
      return refuse('session_completed', 'The buyer has ordered');
    });
    return isFailure(answer) ? answer : inSession(answer, session, context);
  }
  if (!isOpen(session, context.db.now)) {
    // A request that is repeated gets its first answer, also if it has ended the session.
    const answered = wish === 'read' ? undefined : await call.answered();
    if (answered) return inSession(answered, session, context);
    const isShown = wish === 'read' || wish === 'end';
    return isShown && session.ended ? canceledSession(context, session, session.ended) : missing(context);
  }
  const isHandedOver = session.pickedUpAt !== null && wish === 'change';
  return isHandedOver ? refuse('handed_over', 'The buyer has opened the session in the shop') : undefined;
}

/** An order that waits for its payment can't be changed. */
const locked = (answer: object): object => {
  const problem: Message = {
    type: 'error',
    code: 'session_locked',
    severity: 'recoverable',
    content: 'The order is placed and waits for its payment',
  };
  return { ...answer, messages: [problem, ...((answer as { messages?: Message[] }).messages ?? [])] };
};

/**
 * The session as its order has it; the order of a customer who was erased is not there. An order that the assistant itself
 * pays completes the session when it is paid: until then another token may be sent.
 */
export async function orderedSession(
  context: AssistantContext,
  session: SessionState,
  orderId: string,
): Promise<object> {
  const { db, shopId } = context;
  const [order, attempts, method] = await Promise.all([
    findManagedOrder(db, shopId, orderId),
    findAttempts(db, shopId, orderId),
    context.paymentMethod(),
  ]);
  if (!order || order.erasedAt) return missing(context);
  // Apps may order the cart with its token as well, and pay it in their own way.
  const isPaidByToken =
    method !== undefined && order.content.payment?.method?.paymentMethodId === method.paymentMethodId;
  const status =
    session.isOrderedByAssistant && isPaidByToken ? statusOf(order, attempts.at(-1)) : 'completed';
  const confirmation = orderConfirmation(order, context);
  const isUnpaid = status === 'ready_for_complete';
  const problem: Message = {
    type: 'error',
    code: 'payment_failed',
    severity: 'recoverable',
    path: '$.payment.instruments',
    content: messagesIn(context.locale).storefront.payment.states.failed,
  };
  const answer = {
    ucp: { ...envelope([CHECKOUT]), payment_handlers: paymentHandlers(isUnpaid ? method : undefined) },
    line_items: shownLines(order.content).map((line) => shownLine(line, context)),
    currency: order.currency,
    totals: shownTotals(order.content, context),
    status,
    links: await context.links(),
    ...(isUnpaid && { messages: [problem], continue_url: confirmation.permalink_url }),
    ...(status === 'completed' && { order: confirmation }),
  };
  return inSession(answer, session, context);
}

type OrderedStatus = 'ready_for_complete' | 'complete_in_progress' | 'completed' | 'canceled';

/** Of an order that the assistant has placed; without an attempt to pay it the service has stopped in between. */
function statusOf(order: ManagedOrder, last: Attempt | undefined): OrderedStatus {
  if (last?.state === 'starting') return 'complete_in_progress';
  if (last && MONEY_STATES.includes(last.state)) return 'completed';
  if (order.cancelledAt) return 'canceled';
  return payableOf(order) > 0 ? 'ready_for_complete' : 'completed';
}

/** The money is there, reserved, or on its way. */
const MONEY_STATES: readonly Attempt['state'][] = ['processing', 'authorized', 'paid'];

/** An answer about a cart, with the id and the end of its session. */
export const inSession = (
  answer: object,
  { sessionId, expiresAt }: Pick<SessionRow, 'sessionId' | 'expiresAt'>,
  { shopId, tokens }: AssistantContext,
) => ({
  ...answer,
  id: tokens.sessions.token(shopId, sessionId),
  expires_at: expiresAt.toISOString(),
});

/** One and the same answer for what is not there, has ended or is somebody else's. */
export const missing = ({ locale, home }: AssistantContext) =>
  failure(CHECKOUT, 'not_found', messagesIn(locale).storefront.cart.expired, home);

import { shownLines } from '../pricing/shown-lines.ts';
import { updateAssistantSession } from '../carts/queries.ts';
import type { Transaction } from '../db/database.ts';
import { newId } from '../kernel/ids.ts';
import { messagesIn } from '../kernel/messages.ts';
import { findManagedOrder } from '../orders/queries.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import type { Agent } from './agent.ts';
import { envelope } from './capabilities.ts';
import { parseCartId } from './carts/cart-id.ts';
import { cancelCart, readCart, replaceCart } from './carts/carts.ts';
import { CHECKOUT, createSession, showCanceled, showSession } from './checkout-sessions.ts';
import type { AssistantContext, OperationCall } from './context.ts';
import { shownLine, shownTotals } from './carts/cart-view.ts';
import { orderConfirmation } from './orders/order-view.ts';
import { failure, isFailure } from './outcome.ts';
import {
  cancelSession,
  deleteSessionsBefore,
  findSession,
  findSessionOfCart,
  insertSession,
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

/** A cart becomes a session once: asked again, it is the same session. */
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
  if ((request as { cart_id?: string }).cart_id === undefined) return createSession({ ...call, write });
  const answer = await createSession(call);
  return isFailure(answer) ? answer : write(async () => answer);
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

const isOpen = ({ cancelledAt, expiresAt }: SessionRow, now: Date) => cancelledAt === null && expiresAt > now;

export const readSession = (call: OperationCall) =>
  withSession(call, 'read', (open) => readCart(open, CHECKOUT, showSession));

export const replaceSession = (call: OperationCall) =>
  withSession(call, 'change', (open) => replaceCart(open, CHECKOUT, showSession));

/** Ends the session, and shows it for the last time. A buyer who has opened its link keeps the copy. */
export function endSession(call: OperationCall): Promise<object> {
  const { context } = call;
  return withSession(call, 'end', async (open, { sessionId }) => {
    const write: OperationCall['write'] = (work) =>
      call.write(async (tx) => {
        await cancelSession(tx, context.shopId, sessionId);
        return work(tx);
      });
    return cancelCart({ ...open, write }, CHECKOUT, showCanceled);
  });
}

/** What a request wants of a session. */
type Wish = 'read' | 'change' | 'complete' | 'end';

/**
 * Runs work with the cart of an open session. A session that is not there, has ended or is another assistant's are one and the
 * same answer; one whose buyer has ordered answers with the order, and can't be changed.
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
  const cart = { cartId: session.cartId, token: '', isAdmitted: true } as const;
  const answer = await work({ ...call, cart }, session);
  if (!isFailure(answer)) return inSession(answer, session, context);
  // The buyer may have opened or ordered it in the meantime.
  const later = await ownSession(call);
  return (later && (await closedAnswer(later, call, wish))) ?? answer;
}

async function ownSession({ context, id }: OperationCall): Promise<SessionState | undefined> {
  const { db, shopId, agent, tokens } = context;
  const sessionId = tokens.sessions.id(shopId, id);
  const session = sessionId === undefined ? undefined : await findSession(db, shopId, sessionId);
  return session && isOwn(session, agent) ? session : undefined;
}

/** undefined: the session is open for the wish. */
async function closedAnswer(
  session: SessionState,
  call: OperationCall,
  wish: Wish,
): Promise<object | undefined> {
  const { context } = call;
  const refuse = (code: string, content: string) => failure(CHECKOUT, code, content, context.home);
  if (session.orderId !== null) {
    if (wish === 'read') return completedSession(context, session, session.orderId);
    // A request that is repeated gets the answer that it got before the order.
    const answer = await call.write(async () =>
      wish === 'complete'
        ? completedSession(context, session, session.orderId!)
        : refuse('session_completed', 'The buyer has ordered'),
    );
    return isFailure(answer) ? answer : inSession(answer, session, context);
  }
  if (!isOpen(session, context.db.now)) return missing(context);
  const isHandedOver = session.pickedUpAt !== null && wish === 'change';
  return isHandedOver ? refuse('handed_over', 'The buyer has opened the session in the shop') : undefined;
}

/** The session as its order has it; the order of a customer who was erased is not there. */
async function completedSession(
  context: AssistantContext,
  session: SessionState,
  orderId: string,
): Promise<object> {
  const { db, shopId } = context;
  const order = await findManagedOrder(db, shopId, orderId);
  if (!order || order.erasedAt) return missing(context);
  const answer = {
    ucp: { ...envelope([CHECKOUT]), payment_handlers: {} },
    line_items: shownLines(order.content).map((line) => shownLine(line, context)),
    currency: order.currency,
    totals: shownTotals(order.content, context),
    status: 'completed',
    links: await context.links(),
    order: orderConfirmation(order, context),
  };
  return inSession(answer, session, context);
}

const inSession = (
  answer: object,
  { sessionId, expiresAt }: Pick<SessionRow, 'sessionId' | 'expiresAt'>,
  { shopId, tokens }: AssistantContext,
) => ({
  ...answer,
  id: tokens.sessions.token(shopId, sessionId),
  expires_at: expiresAt.toISOString(),
});

const missing = ({ locale, home }: AssistantContext) =>
  failure(CHECKOUT, 'not_found', messagesIn(locale).storefront.cart.expired, home);

import { Type, type Static } from 'typebox';
import { choosePayment } from '../carts/changes.ts';
import { newOrder } from '../checkout/new-order.ts';
import { ORDER_RACES } from '../checkout/order-cart.ts';
import { violatedConstraint } from '../db/failure.ts';
import { HttpError, Refusal } from '../http/errors.ts';
import { messagesIn } from '../kernel/messages.ts';
import { chargeOrder } from '../orders/payments/charge.ts';
import { newsletterTokens } from '../people/newsletters/links.ts';
import type { PaymentMethod } from '../shops/settings/settings.ts';
import { askBuyer } from '../storefront/newsletter/newsletter.ts';
import { readCart } from './carts/carts.ts';
import type { ShownCart } from './carts/cart-view.ts';
import { CHECKOUT, showSession } from './checkout-sessions.ts';
import type { AssistantContext, OperationCall } from './context.ts';
import { Payment } from './details/schema.ts';
import type { Message } from './messages.ts';
import { isFailure } from './outcome.ts';
import { sharedToken } from './payment.ts';
import type { SessionState } from './queries.ts';
import { Context } from './schema.ts';
import { cartOf, inSession, isOpen, missing, orderedSession, ownSession, withSession } from './sessions.ts';

/**
 * An assistant that has a token of its buyer places the order of a session and pays it. The order comes first, and the
 * payment is one of the payments of this order: so there is one order and one payment wherever the service stops between
 * the two, and nobody pays for what is sold out.
 */

export const CompleteRequest = Type.Object({
  context: Type.Optional(Context),
  payment: Type.Optional(Payment),
});

/** Without a token the answer leads to the buyer, or says what is missing. */
export async function completeSession(call: OperationCall): Promise<object> {
  const { context, request } = call;
  const method = await context.paymentMethod();
  const { payment } = request as Static<typeof CompleteRequest>;
  if (!method || !payment?.instruments) {
    return withSession(call, 'complete', (open) => readCart(open, CHECKOUT, showSession));
  }
  const answered = await call.answered();
  if (answered) return answered;
  const answer = await pay(call, method, sharedToken(payment, method));
  // A repetition finds out what has become of it.
  const isUnknown = isFailure(answer) || statusOf(answer) === 'complete_in_progress';
  return isUnknown ? answer : call.write(async () => answer);
}

async function pay(call: OperationCall, method: PaymentMethod, token: string | undefined): Promise<object> {
  const { context } = call;
  const session = await ownSession(call);
  if (!session) return missing(context);
  if (token === undefined) return notPaid(call, session);
  if (session.orderId !== null) return payOrder(context, session, session.orderId, token);
  if (!isOpen(session, context.db.now)) return missing(context);
  const shown = await readCart({ ...call, cart: cartOf(session) }, CHECKOUT, showSession);
  if (!isFailure(shown)) {
    if (statusOf(shown) !== 'ready_for_complete') return inSession(shown, session, context);
    const refusal = await placeOrder(context, session, method, totalOf(shown as ShownCart));
    if (refusal) {
      return inSession({ ...withProblem(shown, refusal), status: 'incomplete' }, session, context);
    }
  }
  // Another request may have ordered it in the meantime.
  const now = await ownSession(call);
  return now?.orderId ? payOrder(context, now, now.orderId, token) : shown;
}

/** Pays an order that this assistant has placed and that is not paid yet. */
async function payOrder(
  context: AssistantContext,
  session: SessionState,
  orderId: string,
  token: string,
): Promise<object> {
  const { shopId, payments } = context;
  const before = await orderedSession(context, session, orderId);
  const isUnpaid = ['ready_for_complete', 'complete_in_progress'].includes(statusOf(before) ?? '');
  if (!isUnpaid) return before;
  await chargeOrder(payments, shopId, orderId, token);
  return orderedSession(context, session, orderId);
}

/** The session as it is: the request has no token that the shop takes, or several ways to pay. */
async function notPaid(call: OperationCall, session: SessionState): Promise<object> {
  const { context } = call;
  const answer =
    session.orderId === null
      ? await withSession(call, 'read', (open) => readCart(open, CHECKOUT, showSession))
      : await orderedSession(context, session, session.orderId);
  const { failed } = messagesIn(context.locale).storefront.payment.states;
  const problem: Message = {
    type: 'error',
    code: 'payment_failed',
    severity: 'recoverable',
    path: '$.payment.instruments',
    content: failed,
  };
  return isFailure(answer) ? answer : withProblem(answer, problem);
}

const withProblem = (answer: object, problem: Message) => ({
  ...answer,
  messages: [problem, ...((answer as { messages?: Message[] }).messages ?? [])],
});

const statusOf = (answer: object) => (answer as { status?: string }).status;

const totalOf = ({ totals }: ShownCart) => totals.find(({ type }) => type === 'total')!.amount;

/** Places the order of a session at the total that the assistant can see. Returns why it was not placed. */
async function placeOrder(
  context: AssistantContext,
  session: SessionState,
  { paymentMethodId }: PaymentMethod,
  total: number,
): Promise<Message | undefined> {
  const { db, shopId, origin, carts, settings, locale } = context;
  const request = {
    shopId,
    origin,
    params: { cartId: session.cartId },
    cartToken: undefined,
    isAdmitted: true as const,
    caller: undefined,
    transaction: undefined,
    entry: undefined,
  };
  await context.countOrder();
  try {
    const { cart } = await carts.update(request, (_cart, cartContext) =>
      choosePayment(paymentMethodId, {}, cartContext),
    );
    await context.placeOrder(request, (open, now) => {
      // Its buyer goes on with a copy, or has to see another total first.
      const isSame = open.cart.pickedUpAt === null && open.priced.content.grandTotal === total;
      if (!isSame) throw new Refusal('CART_CHANGED');
      return newOrder(open, now, null);
    });
    const tokens = newsletterTokens(await context.payments.loadKey());
    await askBuyer({ db, shopId, locale, settings }, tokens, cart);
    return undefined;
  } catch (error) {
    // Another request has ordered the cart.
    if (error instanceof Refusal && error.code === 'CART_ORDERED') return undefined;
    const isRace = ORDER_RACES.includes(violatedConstraint(error));
    if (!isRace && !(error instanceof HttpError && error.status < 500)) throw error;
    const isSoldOut = error instanceof Refusal && error.code === 'OUT_OF_STOCK';
    return {
      type: 'error',
      code: isSoldOut ? 'out_of_stock' : 'cart_refused',
      severity: 'recoverable',
      content: isRace ? messagesIn(locale).storefront.checkout.tryAgain : (error as Error).message,
    };
  }
}

import { Type } from 'typebox';
import { messagesIn } from '../kernel/messages.ts';
import { envelope, extensionsOf, type Capability } from './capabilities.ts';
import { addDetails, CartRequest, createCart, type ShowCart } from './carts/carts.ts';
import type { ShownCart } from './carts/cart-view.ts';
import type { AssistantContext, OperationCall } from './context.ts';
import type { Message } from './messages.ts';
import { Fulfillment, Payment } from './details/schema.ts';
import { paymentHandlers } from './payment.ts';
import { Text } from './schema.ts';

/**
 * A checkout session is a cart whose buyer is about to order. Unless the assistant has a token of its buyer that the shop
 * takes, the order button stays with the person: every session leads to the checkout of the shop, with a copy of this very
 * cart.
 */

export const CHECKOUT: Capability = 'dev.ucp.shopping.checkout';

export const ReplacedSession = Type.Object({
  ...CartRequest.properties,
  fulfillment: Type.Optional(Fulfillment),
  payment: Type.Optional(Payment),
});

export const SessionRequest = Type.Object({
  ...ReplacedSession.properties,
  cart_id: Type.Optional(
    Text(
      'The cart that becomes the session. Its products, codes and buyer count, not those of the request.',
      200,
    ),
  ),
});

/**
 * A session with lines that can be ordered waits for the token of its buyer where the shop takes one, and for its buyer
 * otherwise; else the assistant has something to change first.
 */
export const showSession: ShowCart = async (
  { isOrderable, ...cart }: ShownCart,
  context: AssistantContext,
) => {
  const isIncomplete = cart.line_items.length === 0 || cart.messages.some(isForAssistant);
  const method = await context.paymentMethod();
  const isReady = method && isOrderable && !isIncomplete && !cart.messages.some(isForBuyer);
  const buyerNeeded: Message = {
    type: 'error',
    code: 'buyer_input_required',
    severity: 'requires_buyer_input',
    content: messagesIn(context.locale).storefront.pickup.orderHere,
  };
  return {
    ucp: {
      ...envelope([CHECKOUT, ...extensionsOf(CHECKOUT, context.capabilities)]),
      payment_handlers: paymentHandlers(method),
    },
    ...cart,
    status: isIncomplete ? 'incomplete' : isReady ? 'ready_for_complete' : 'requires_escalation',
    messages: isReady ? cart.messages : [...cart.messages, buyerNeeded],
    links: await context.links(),
  };
};

/** What could not be added is gone; what remains in the cart, or is missing to it, may still have to change. */
const isForAssistant = (message: Message) =>
  message.type === 'error' &&
  message.severity === 'recoverable' &&
  !['not_found', 'out_of_stock', 'quantity_limited', 'item_unavailable'].includes(message.code);

/** Only a person can do it, in the shop. */
const isForBuyer = (message: Message) => message.type === 'error' && message.severity !== 'recoverable';

/** A cart becomes the session itself, so there is never a second one of it. */
export function createSession(call: OperationCall): Promise<object> {
  const { cart_id: cartId } = call.request as { cart_id?: string };
  return cartId === undefined
    ? createCart(call, CHECKOUT, showSession)
    : addDetails({ ...call, id: cartId }, CHECKOUT, showSession);
}

/** The session as it is after it was ended. */
export const showCanceled: ShowCart = async (cart, context) => {
  const { continue_url: _gone, ...rest } = (await showSession(
    { ...cart, messages: cart.messages.filter(({ type }) => type !== 'error') },
    context,
  )) as Record<string, unknown>;
  return {
    ...rest,
    status: 'canceled',
    messages: cart.messages.filter(({ type }) => type !== 'error'),
  };
};

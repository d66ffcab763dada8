import type { AssistantNotes } from '../../carts/assistant-notes.ts';
import type { CartContext, CartPatch, CartRow, PricedCart } from '../../carts/cart.ts';
import { setVatCheck } from '../../carts/changes.ts';
import type { OfferedDeliveries } from '../../carts/delivery-options.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Extension } from '../capabilities.ts';
import type { AssistantContext, Link } from '../context.ts';
import type { Message } from '../messages.ts';
import { addressesOf, addressMessages, toShopAddress } from './addresses.ts';
import { CONSENT, consentMessages, notedBuyer, shownBuyer } from './buyer.ts';
import type { WantedCodes } from './codes.ts';
import { applyCodes, DISCOUNT, discountMessages, shownDiscounts } from './discounts.ts';
import {
  applyDelivery,
  ChoiceRefused,
  FULFILLMENT,
  fulfillmentMessages,
  notedDestinations,
  shownFulfillment,
  wantedDelivery,
} from './fulfillment.ts';
import { selectedInstrument, type Buyer, type Fulfillment, type Payment } from './schema.ts';

/** What a request says beside the products. What it leaves out stays as it was. */
export interface SentDetails {
  buyer?: Buyer;
  fulfillment?: Fulfillment;
  payment?: Payment;
}

/** The same, with what was looked up for it. */
export interface WantedDetails {
  sent: SentDetails;
  /** undefined: the request leaves the codes as they are. */
  codes: WantedCodes | undefined;
  extensions: readonly Extension[];
  offered: OfferedDeliveries;
}

export interface AppliedDetails {
  patch: CartPatch;
  messages: Message[];
}

/** A cart with what an assistant says of its buyer. `isNew`: there is no former choice to return to. */
export function applyDetails(
  cart: CartRow,
  { sent, codes, extensions, offered }: WantedDetails,
  context: CartContext,
  isNew: boolean,
): AppliedDetails {
  const messages: Message[] = [];
  /** A choice that is refused leaves a cart unchanged; a new cart has nothing that could be left. */
  const attempt = <Result>(work: () => Result): Result | undefined => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ChoiceRefused) || !isNew) throw error;
      messages.push(error.problem);
      return undefined;
    }
  };
  const before = cart.assistantNotes ?? {};
  const delivery =
    extensions.includes(FULFILLMENT) && sent.fulfillment ? wantedDelivery(sent.fulfillment) : undefined;
  const billing = selectedInstrument(sent.payment)?.billing_address;
  const { destinations, destinationId, ...others } = before;
  const noted = delivery && attempt(() => notedDestinations(before, delivery));
  const notes: AssistantNotes = {
    ...others,
    ...(noted && delivery?.kind === 'shipping'
      ? noted
      : { ...(destinations && { destinations }), ...(destinationId !== undefined && { destinationId }) }),
    ...(sent.buyer && notedBuyer(sent.buyer, extensions.includes(CONSENT))),
    ...(billing && { billing: toShopAddress(billing) }),
    ...(codes && { codes: codes.codes }),
  };
  const patch: CartPatch = Object.keys(notes).length > 0 ? { assistantNotes: notes } : {};
  if (sent.buyer || delivery || billing) {
    const { billingAddress, shippingAddress } = addressesOf(notes, context.settings);
    Object.assign(patch, { billingAddress, shippingAddress }, setVatCheck(cart.buyer, undefined));
  }
  if (codes) Object.assign(patch, applyCodes(cart, codes, context));
  if (delivery) {
    const now = { ...cart, ...patch };
    Object.assign(
      patch,
      attempt(() => applyDelivery(now, delivery, context, offered.options)),
    );
    if (delivery.isDivided) {
      const content = messagesIn(cart.locale).storefront.pickup.oneDelivery;
      messages.push({ type: 'warning', code: 'fulfillment_changed', path: '$.fulfillment', content });
    }
  }
  return { patch, messages };
}

/**
 * The members of an answer about the buyer of a cart, and what the assistant must know of them. `asksForAll`: an assistant
 * that can place the order has to know everything that is missing to it.
 */
export function shownDetails(
  open: PricedCart,
  offered: OfferedDeliveries,
  extensions: readonly Extension[],
  context: AssistantContext,
  links: readonly Link[],
  asksForAll: boolean,
): { members: object; messages: Message[] } {
  const notes = open.cart.assistantNotes ?? {};
  const hasDiscounts = extensions.includes(DISCOUNT);
  const hasFulfillment = extensions.includes(FULFILLMENT);
  const buyer = shownBuyer(notes, extensions, context, links);
  const fulfillment = hasFulfillment ? shownFulfillment(open, offered, context) : undefined;
  const isSaid =
    asksForAll ||
    notes.buyer !== undefined ||
    notes.destinations !== undefined ||
    notes.billing !== undefined;
  const needsAddress = fulfillment?.methods.some(
    ({ id, line_item_ids: ids }) => id === 'shipping' && ids.length > 0,
  );
  return {
    members: {
      ...(buyer && { buyer }),
      ...(hasDiscounts && { discounts: shownDiscounts(open, context) }),
      ...(fulfillment && { fulfillment }),
    },
    messages: [
      ...(hasDiscounts ? discountMessages(open, context, context.db.now) : []),
      ...(extensions.includes(CONSENT) ? consentMessages(notes, context) : []),
      ...(isSaid ? addressMessages(notes, context, needsAddress === true) : []),
      ...fulfillmentMessages(fulfillment, open, offered, context),
    ],
  };
}

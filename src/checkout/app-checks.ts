import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Type, type Static } from 'typebox';
import { AnswerProblem } from '../apps/calls/answer.ts';
import type { AppCalls } from '../apps/calls/calls.ts';
import { answerOf, appText, inLocales } from '../apps/calls/app-answer.ts';
import { askForDelivery, optionNow } from '../carts/delivery-options.ts';
import type { PricedCart } from '../carts/cart.ts';
import type { Queries } from '../db/database.ts';
import { Refusal } from '../http/errors.ts';
import { textIn } from '../http/locale.ts';
import type { DeliveryOption } from '../pricing/input.ts';
import type { Settings } from '../shops/settings/settings.ts';

const MAX_REASON = 300;

/** Where the customer can change what an app refuses. */
export const REFUSED_FIELDS = ['address', 'delivery', 'payment', 'items'] as const;
export type RefusedField = (typeof REFUSED_FIELDS)[number];

const ValidationAnswer = Type.Object({
  ok: Type.Boolean(),
  reason: Type.Optional(appText(MAX_REASON)),
  field: Type.Optional(Type.Enum([...REFUSED_FIELDS])),
});
type ValidationAnswer = Static<typeof ValidationAnswer>;

function readValidation(answer: unknown): ValidationAnswer {
  const { ok, reason, field } = answerOf(ValidationAnswer, answer);
  if (!ok && reason === undefined) throw new AnswerProblem('The answer is not valid: /reason is missing');
  return { ok, ...(reason !== undefined && { reason }), ...(field && { field }) };
}

/** The question to apps before an order: the cart with its addresses, as the customer has read it. */
function validationQuestion({ cart, settings, priced: { content } }: PricedCart) {
  const { shipping, payment } = content;
  return {
    cartId: cart.cartId,
    locale: cart.locale,
    currency: content.currency,
    taxType: content.taxType,
    taxModel: settings.taxModel,
    billingAddress: cart.billingAddress,
    shippingAddress: cart.shippingAddress,
    lines: content.lines.map(({ productId, productNumber, quantity, amount, customText }) => ({
      productId,
      productNumber,
      quantity,
      amount,
      customText: customText ?? null,
    })),
    delivery: shipping && {
      methodId: shipping.shippingMethodId,
      price: shipping.price,
      option: shipping.option?.optionId ?? null,
    },
    payment: payment && { methodId: payment.method?.paymentMethodId ?? null, price: payment.price },
    total: content.grandTotal,
  };
}

/** The apps' answers before an order is placed, about exactly this cart. */
export interface AppChecks {
  /** Of what they were asked; null: they were not. */
  validated: string | null;
  /** The current offer for the delivery that the cart has; null: it has one of the shop. */
  delivery: DeliveryOption | null;
  /** Their refusals, which only the transaction may throw. */
  refusal?: Error;
}

/** The apps have to be asked about this cart, outside of the transaction. */
export class AppsNotAsked extends Error {
  override name = 'AppsNotAsked';
  readonly cart: PricedCart;

  constructor(cart: PricedCart) {
    super('apps have to be asked about this cart');
    this.cart = cart;
  }
}

const digestOf = (question: object) =>
  createHash('sha256').update(JSON.stringify(question)).digest('base64url');

/** Throws AppsNotAsked unless the apps of the shop have said what they have to say of this cart. */
export async function requireAppChecks(
  db: Queries,
  calls: AppCalls,
  cart: PricedCart,
  checks: AppChecks | undefined,
): Promise<void> {
  if (checks?.refusal) throw checks.refusal;
  const { content } = cart.priced;
  const isOptionConfirmed =
    !content.shipping?.option || isDeepStrictEqual(checks?.delivery, cart.cart.deliveryOption);
  const asked = await calls.asked(db, cart.settings, 'checkoutValidation');
  const isValidated = asked.length === 0 || checks?.validated === digestOf(validationQuestion(cart));
  if (!isOptionConfirmed || !isValidated) throw new AppsNotAsked(cart);
}

/** The delivery that the customer has chosen is no longer offered so. */
export class DeliveryChanged extends Refusal<'DELIVERY_OPTION_CHANGED'> {
  /** The current offer; undefined: there is none any longer. */
  readonly option: DeliveryOption | undefined;

  constructor(option: DeliveryOption | undefined) {
    super('DELIVERY_OPTION_CHANGED');
    this.option = option;
  }
}

/** An app refuses the order. */
export class CheckoutRefused extends Refusal<'CHECKOUT_REFUSED'> {
  /** In the language of the cart, as the app says it. */
  readonly reason: string;

  constructor(app: string, reason: string, at: RefusedField | undefined) {
    super('CHECKOUT_REFUSED', { app, reason }, at && { field: at });
    this.reason = reason;
  }
}

/**
 * Asks the apps of the shop what has to be known of this cart before it is ordered. Throws what they refuse. Call it
 * outside of transactions and locks.
 */
export async function askBeforeOrder(
  calls: AppCalls,
  cart: PricedCart,
  origin: string,
  now: Date,
): Promise<AppChecks> {
  const { settings, priced } = cart;
  const [delivery, validated] = await Promise.all([
    priced.content.shipping?.option ? confirmDelivery(calls, cart, origin, now) : null,
    validate(calls, cart, settings, origin),
  ]);
  return { delivery, validated };
}

async function confirmDelivery(calls: AppCalls, open: PricedCart, origin: string, now: Date) {
  const offered = await askForDelivery(calls, open, origin, now);
  const option = optionNow(open.cart, offered);
  if (!option && offered.missing !== null) throw new Refusal('APP_NOT_ANSWERING', { app: offered.missing });
  if (!isDeepStrictEqual(option, open.cart.deliveryOption)) throw new DeliveryChanged(option);
  return option!;
}

async function validate(
  calls: AppCalls,
  cart: PricedCart,
  { shopId, version, defaultLocale, locales }: Settings,
  origin: string,
): Promise<string> {
  const question = validationQuestion(cart);
  const answers = await calls.ask(
    { shopId, version, origin },
    { kind: 'checkoutValidation', about: question, read: readValidation },
  );
  for (const { app, call, answer } of answers) {
    if (!answer && call.onFailure === 'refuse') throw new Refusal('APP_NOT_ANSWERING', { app: app.name });
    if (!answer || answer.ok) continue;
    const reason = textIn(inLocales(answer.reason!, { locales }), cart.cart.locale, defaultLocale)!;
    throw new CheckoutRefused(app.name, reason, answer.field);
  }
  return digestOf(question);
}

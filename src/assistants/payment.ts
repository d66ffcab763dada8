import type { PaymentDeps } from '../orders/payments/calls.ts';
import { isProviderName } from '../orders/payments/providers.ts';
import type { PaymentMethod, Settings } from '../shops/settings/settings.ts';
import type { ShopLayout } from '../storefront/layout/shop-layout.ts';
import type { Payment } from './details/schema.ts';

/**
 * Stripe's handler: how assistants get a token that is good for one shop and an amount (a shared payment token). What a
 * shop publishes of itself for it is what Stripe tells its merchant.
 */
const HANDLER = 'com.stripe.payments';
const HANDLER_VERSION = '2026-06-25';
const DESCRIPTION = 'https://docs.stripe.com/agentic-commerce/ucp/stripe-payments-handler';
const SCHEMA = `https://ucp.stripe.com/payments/${HANDLER_VERSION}/schema.json`;

/**
 * The payment method that assistants may pay with; undefined: buyers pay in the shop. It costs nothing, so that the total
 * of a session stays the same.
 */
export function tokenMethod(
  { assistants, paymentMethods }: Pick<Settings, 'assistants' | 'paymentMethods'>,
  { completePayments }: Pick<ShopLayout, 'completePayments'>,
  { providers }: Pick<PaymentDeps, 'providers'>,
): PaymentMethod | undefined {
  const method = paymentMethods.find(({ key }) => key === assistants.paymentMethod);
  if (!method || !isProviderName(method.providerName)) return undefined;
  const takesTokens = providers[method.providerName].charge !== undefined;
  const isFree = method.amount === 0;
  return takesTokens && isFree && completePayments.has(method.paymentMethodId) ? method : undefined;
}

/** The member `payment_handlers` of a profile or of an answer. */
export function paymentHandlers(method: PaymentMethod | undefined): Record<string, object[]> {
  if (!method) return {};
  const { key, additionalData } = method;
  const declared = { id: key, version: HANDLER_VERSION, spec: DESCRIPTION, schema: SCHEMA };
  return { [HANDLER]: [{ ...declared, config: additionalData ?? {} }] };
}

/** The token in a request; undefined: there is none, or not exactly one instrument, or it is of another handler. */
export function sharedToken(payment: Payment | undefined, { key }: PaymentMethod): string | undefined {
  const [instrument, ...others] = payment?.instruments ?? [];
  if (others.length > 0 || instrument?.handler_id !== key) return undefined;
  const { token } = instrument.credential ?? {};
  return token !== undefined && /^spt_[A-Za-z0-9_]{1,200}$/.test(token) ? token : undefined;
}

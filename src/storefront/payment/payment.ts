import { HttpError, notFound } from '../../http/errors.ts';
import { html, webAddress } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { choosePaymentMethod } from '../../orders/choose-payment.ts';
import type { OrderTokens } from '../../orders/order-link.ts';
import { checkAttempt, startPayment } from '../../orders/payments/calls.ts';
import { isProviderName, PROVIDER_LABELS, providerLabel } from '../../orders/payments/providers.ts';
import { findAttempts, takeAttempt, type Attempt } from '../../orders/payments/queries.ts';
import { webhookPath } from '../../orders/payments/webhook-route.ts';
import { findManagedOrder, type ManagedOrder } from '../../orders/queries.ts';
import type { Pages } from '../pages.ts';
import type { PaymentMethod } from '../../shops/settings/settings.ts';
import { isOfferedHere, payableOfOrder } from './offered.ts';
import { shopPath, type Visit } from '../visit.ts';
import { methodName } from './other-methods.ts';
import { Redirect } from '../../http/page-kit.ts';

/** More than any shopper tries, and every try calls the provider. */
const MAX_PAYMENTS_PER_HOUR = 60;

/** The way to the page of a payment provider, and back. */
export function payment(pages: Pages, tokens: OrderTokens): void {
  pages.post(
    '/order/:token/pay',
    async (visit, { params }) => {
      const { orderId } = await findOrderOf(visit, tokens, params);
      return redirectToPayment(visit, tokens, orderId);
    },
    { perHour: MAX_PAYMENTS_PER_HOUR, hasSecretPath: true },
  );

  pages.post(
    '/order/:token/payment-method',
    async (visit, { params, field }) => {
      const { db, shopId, locale } = visit;
      const order = await findOrderOf(visit, tokens, params);
      const { orderId } = order;
      const messages = messagesIn(locale).storefront.otherMethods;
      const orderPage = shopPath(visit, `/order/${params['token']}`);
      const paymentMethodId = field('paymentMethod').toUpperCase();
      const isOffered = (method: PaymentMethod) => isOfferedHere(visit, method, payableOfOrder(order));
      try {
        const method = await db.transaction((tx) =>
          choosePaymentMethod(tx, shopId, orderId, { paymentMethodId, isOffered }),
        );
        return isProviderName(method.providerName)
          ? await redirectToPayment(visit, tokens, orderId)
          : new Redirect(orderPage, messages.chosen({ method: methodName(visit, method) }));
      } catch (error) {
        // The order may have changed since the page was opened.
        if (error instanceof HttpError && error.status === 409)
          return new Redirect(orderPage, messages.refused);
        throw error;
      }
    },
    { perHour: MAX_PAYMENTS_PER_HOUR, hasSecretPath: true },
  );

  /*
   * A page of our own between the button and the provider: our forms may lead to our own pages only (form-action), and
   * browsers hold a form to that through all redirects.
   */
  pages.get('/order/:token/pay', async (visit, { params }) => {
    const { orderId, content } = await findOrderOf(visit, tokens, params);
    const attempt = await findLastAttempt(visit, orderId);
    const target = attempt?.state === 'open' ? webAddress(attempt.redirectTo) : undefined;
    if (target === undefined) return new Redirect(orderPath(visit, tokens, orderId));
    const messages = messagesIn(visit.locale).storefront.payment;
    const provider = providerText(attempt!, content);
    return {
      title: messages.title,
      path: `/order/${params['token']}/pay`,
      isPrivate: true,
      hasSecretAddress: true,
      head: html`<meta http-equiv="refresh" content="0; url=${target}" />`,
      main: html`<h1>${messages.title}</h1>
        <p>${messages.leaving({ provider })}</p>
        <p><a class="button" href="${target}" rel="noreferrer">${messages.continue}</a></p>`,
    };
  });

  // The one GET that writes: the shopper returns by a link of the provider, and wants to see the result.
  pages.get('/order/:token/paid', async (visit, { params, isHead }) => {
    const { orderId } = await findOrderOf(visit, tokens, params);
    const { db, payments, shopId } = visit;
    const attempt = await findLastAttempt(visit, orderId);
    if (!isHead && attempt && (await takeAttempt(db, shopId, attempt.attemptId))) {
      await checkAttempt(payments, shopId, attempt.attemptId);
    }
    return new Redirect(orderPath(visit, tokens, orderId));
  });
}

/** Who takes the money. An app has no name of its own here: the settings give it one. */
function providerText({ provider }: Attempt, { payment }: ManagedOrder['content']): string {
  if (provider === 'app') return providerLabel(payment?.method?.providerName ?? provider)!;
  return isProviderName(provider) ? PROVIDER_LABELS[provider] : '';
}

/** The page after the purchase in the session that has placed the order, else the page of the order. */
function orderPath(visit: Visit, tokens: OrderTokens, orderId: string): string {
  const isOwn = visit.session.order === orderId;
  return shopPath(visit, isOwn ? '/confirmation' : `/order/${tokens.token(visit.shopId, orderId)}`);
}

/** The order that a link opens; the order of an erased customer has no owner. */
async function findOrderOf(
  { db, shopId }: Visit,
  tokens: OrderTokens,
  { token }: Readonly<Record<string, string>>,
): Promise<ManagedOrder> {
  const orderId = tokens.orderId(shopId, token!);
  const order = orderId === undefined ? undefined : await findManagedOrder(db, shopId, orderId);
  if (!order || order.erasedAt) throw notFound();
  return order;
}

async function findLastAttempt({ db, shopId }: Visit, orderId: string): Promise<Attempt | undefined> {
  return (await findAttempts(db, shopId, orderId)).at(-1);
}

/**
 * Redirects the shopper to the payment page, or to the order when there is nothing to pay. An unresponsive provider
 * does not lose the order: it exists, and can be paid later.
 */
export async function redirectToPayment(
  visit: Visit,
  tokens: OrderTokens,
  orderId: string,
): Promise<Redirect> {
  const { payments, shopId, settings, origin, pageOrigin } = visit;
  const orderPage = orderPath(visit, tokens, orderId);
  if (!settings.paymentMethods.some(({ providerName }) => isProviderName(providerName))) {
    return new Redirect(orderPage);
  }
  const token = tokens.token(shopId, orderId);
  try {
    const returnUrl = pageOrigin + shopPath(visit, `/order/${token}/paid`);
    const target = await startPayment(payments, shopId, orderId, {
      returnUrl,
      webhookUrl: (methodKey) => origin + webhookPath(shopId, methodKey),
    });
    // An app without a page of its own has left instructions, which the page of the order shows.
    const hasPage = target !== undefined && target !== returnUrl;
    return new Redirect(hasPage ? shopPath(visit, `/order/${token}/pay`) : orderPage);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    payments.log.warn({ shop: shopId, order: orderId, err: error }, 'a payment could not be started');
    return new Redirect(orderPage, messagesIn(visit.locale).storefront.payment.notStarted);
  }
}

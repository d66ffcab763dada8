import type { CartChange } from '../../carts/cart.ts';
import { setLocale } from '../../carts/changes.ts';
import { NotAsReviewed } from '../../carts/review-digest.ts';
import { CheckoutRefused, DeliveryChanged } from '../../checkout/app-checks.ts';
import {
  askVisitorDelivery,
  checkVatNumber,
  orderCart,
  type VisitorCart,
} from '../../checkout/visitor-cart.ts';
import { ORDER_RACES } from '../../checkout/order-cart.ts';
import { CONSENT_KINDS, requiredConsents, type ConsentKind } from '../../checkout/withdrawal-consent.ts';
import { violatedConstraint } from '../../db/failure.ts';
import { HttpError, Refusal, ValidationError } from '../../http/errors.ts';
import { cartPage } from '../cart/cart-page.ts';
import { findVisitorCart, updateVisitorCart, setSessionCart, shopperOf } from '../cart/visitor-cart.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { filledAddresses, findKnownShopper, repeatLastOrder, shopperHelp } from '../account/known-shopper.ts';
import { rememberVatCheck } from '../account/vat-check.ts';
import {
  addressPage,
  cartAddresses,
  checkAddresses,
  destinationProblems,
  parseAddresses,
  setAddresses,
} from './address-step.ts';
import { chooseMethods, deliveryPage, parseMethods } from './delivery-step.ts';
import { addTypedCard, removeChosenCard } from './gift-cards.ts';
import { consentField, reviewPage } from './review-step.ts';
import { firstMissingStep, type Step } from './steps.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { pickUpCart } from '../cart/pickup.ts';
import { askBuyer } from '../newsletter/newsletter.ts';
import type { NewsletterTokens } from '../../people/newsletters/links.ts';
import { redirectToPayment } from '../payment/payment.ts';
import type { OrderTokens } from '../../orders/order-link.ts';
import type { VisitorEvent } from '../session.ts';
import { shopPath, type Visit } from '../visit.ts';
import { Redirect } from '../../http/page-kit.ts';

/** More than any shopper orders; a client beyond it would take the stock away from others. */
const MAX_ORDERS_PER_HOUR = 60;

/** Three pages lead from the cart to the order. */
export function checkout(pages: Pages, tokens: OrderTokens, newsletters: NewsletterTokens): void {
  pages.get(
    '/checkout',
    async (visit, request) =>
      (await pickUpCart(visit, request, '/checkout')) ??
      atStep(visit, '/checkout', async (visitorCart) => {
        const known = await findKnownShopper(visit);
        const form = filledAddresses(visit, visitorCart, known, request.query('address'));
        return addressPage(visit, visitorCart, form, {
          problems: destinationProblems(visit, form),
          status: 200,
          help: shopperHelp(visit, known),
        });
      }),
  );

  pages.post('/checkout', async (visit, request) =>
    atStep(visit, '/checkout', async (visitorCart) => {
      const form = parseAddresses(visit, request);
      if (form.newCountry !== undefined) return addressPage(visit, visitorCart, form);
      try {
        const checked = checkAddresses(visit, form, cartAddresses(visit, visitorCart));
        const vatCheck = await checkVatNumber(shopperOf(visit), visitorCart.cart.cartId, checked.billing);
        await rememberVatCheck(visit, vatCheck);
        const change = setAddresses(checked, vatCheck);
        return await saveAndContinue(visit, visitorCart, change, '/checkout/delivery');
      } catch (error) {
        if (!(error instanceof ValidationError)) throw error;
        return addressPage(visit, visitorCart, form, { problems: error.problems });
      }
    }),
  );

  pages.post('/checkout/repeat', async (visit) =>
    atStep(visit, '/checkout', async (visitorCart) => {
      const { email, lastOrder } = (await findKnownShopper(visit)) ?? {};
      if (email === undefined || !lastOrder) return new Redirect(shopPath(visit, '/checkout'));
      try {
        const { billingAddress } = lastOrder;
        const vatCheck = await checkVatNumber(shopperOf(visit), visitorCart.cart.cartId, billingAddress);
        const change = repeatLastOrder({ email, lastOrder }, visit, vatCheck);
        return await saveAndContinue(visit, visitorCart, change, '/checkout/review');
      } catch (error) {
        if (!(error instanceof ValidationError)) throw error;
        const { notPossible } = messagesIn(visit.locale).storefront.account.checkout;
        return new Redirect(shopPath(visit, '/checkout'), notPossible);
      }
    }),
  );

  pages.get('/checkout/delivery', async (visit) =>
    atStep(visit, '/checkout/delivery', async (visitorCart) =>
      deliveryPage(visit, visitorCart, await askVisitorDelivery(shopperOf(visit), visitorCart)),
    ),
  );

  pages.post('/checkout/delivery', async (visit, request) =>
    atStep(visit, '/checkout/delivery', async (visitorCart) => {
      const offered = await askVisitorDelivery(shopperOf(visit), visitorCart);
      const methods = parseMethods(visit, visitorCart, offered, request);
      if (methods.rejected.length > 0) return deliveryPage(visit, visitorCart, offered, methods);
      return saveAndContinue(
        visit,
        visitorCart,
        chooseMethods(methods, offered),
        '/checkout/review',
        { event: 'shippingMethod:select' },
        { event: 'paymentMethod:select' },
      );
    }),
  );

  pages.get(
    '/checkout/review',
    async (visit, request) =>
      (await pickUpCart(visit, request, '/checkout/review')) ??
      atStep(visit, '/checkout/review', (visitorCart) => reviewPage(visit, visitorCart)),
  );

  pages.post('/checkout/gift-cards', async (visit, request) =>
    atStep(visit, '/checkout/review', (visitorCart) =>
      addTypedCard(visit, visitorCart.cart.cartId, request, (giftCard) =>
        reviewPage(visit, visitorCart, { status: 400, giftCard }),
      ),
    ),
  );

  pages.post('/checkout/gift-cards/remove', async (visit, { field }) =>
    atStep(visit, '/checkout/review', (visitorCart) =>
      removeChosenCard(visit, visitorCart.cart.cartId, field('card')),
    ),
  );

  pages.post(
    '/checkout/order',
    async (visit, { field }) => {
      const { cart, order } = visit.session;
      if (!cart) return new Redirect(shopPath(visit, order === undefined ? '/cart' : '/confirmation'));
      const visitorCart = await findVisitorCart(visit);
      const form = {
        reviewed: field('reviewed'),
        consents: CONSENT_KINDS.filter((kind) => field(consentField(kind)) !== ''),
      };
      // The cart no longer exists, because another click was faster or it has expired.
      if (!visitorCart) return orderAndRedirect(visit, tokens, cart.id, form);
      return atStep(
        visit,
        '/checkout/review',
        async (visitorCart) => {
          const answer = await placeOrder(visit, tokens, visitorCart, form);
          if (visit.session.order !== order) await askBuyer(visit, newsletters, visitorCart.cart);
          return answer;
        },
        visitorCart,
      );
    },
    { perHour: MAX_ORDERS_PER_HOUR },
  );
}

/** Passes the visitor's cart on if all previous steps are complete, else redirects to the first incomplete one. */
async function atStep(
  visit: Visit,
  step: Step,
  work: (visitorCart: VisitorCart) => Promise<Page | Redirect>,
  known?: VisitorCart,
): Promise<Page | Redirect> {
  const sessionCart = visit.session.cart;
  const visitorCart = known ?? (await findVisitorCart(visit));
  if (!visitorCart)
    return new Redirect(
      shopPath(visit, '/cart'),
      sessionCart && messagesIn(visit.locale).storefront.cart.expired,
    );
  const missing = firstMissingStep(visit, step, visitorCart);
  return missing ? new Redirect(shopPath(visit, missing)) : work(visitorCart);
}

async function saveAndContinue(
  visit: Visit,
  { cart }: VisitorCart,
  change: CartChange,
  next: Step,
  ...events: VisitorEvent[]
): Promise<Redirect> {
  const now = await updateVisitorCart(visit, cart.cartId, change);
  if (!now) return new Redirect(shopPath(visit, '/cart'), messagesIn(visit.locale).storefront.cart.expired);
  setSessionCart(visit, now, ...events);
  return new Redirect(shopPath(visit, next));
}

/** What the button below the review sends. */
interface OrderForm {
  /** The digest of what was shown. */
  reviewed: string;
  consents: readonly ConsentKind[];
}

/** An order refused by the rules leads to the cart page, where the cart can be changed. */
async function placeOrder(
  visit: Visit,
  tokens: OrderTokens,
  visitorCart: VisitorCart,
  form: OrderForm,
): Promise<Page | Redirect> {
  const { locale } = visit;
  const { cart } = visitorCart;
  const required = requiredConsents(visitorCart.priced.content, visitorCart.settings, locale);
  if (required.some(({ kind }) => !form.consents.includes(kind))) {
    const message = messagesIn(locale).storefront.checkout.consents.missing;
    return reviewPage(visit, visitorCart, { status: 400, message, consents: form.consents });
  }
  try {
    // The visitor may have switched the language on the last page.
    if (cart.locale !== locale) await updateVisitorCart(visit, cart.cartId, () => setLocale(locale));
    return await orderAndRedirect(visit, tokens, cart.cartId, form);
  } catch (error) {
    // The order must match exactly what was shown above the button, and apps may have to agree to it.
    const message = reviewMessage(error, locale);
    if (message !== undefined) {
      return atStep(visit, '/checkout/review', (now) => reviewPage(visit, now, { status: 409, message }));
    }
    // The shop has just stopped delivering to this country; the form shows it at the field.
    if (error instanceof ValidationError) return new Redirect(shopPath(visit, '/checkout'));
    const isRace = ORDER_RACES.includes(violatedConstraint(error));
    if (!isRace && !(error instanceof HttpError && error.status < 500)) throw error;
    const now = await findVisitorCart(visit);
    const text = isRace
      ? messagesIn(locale).storefront.checkout.tryAgain
      : messagesIn(locale).storefront.cart.notOrdered;
    return cartPage(visit, now, { status: 409, message: text });
  }
}

/** Why the order has to be looked at again; undefined: for another reason. */
function reviewMessage(error: unknown, locale: string): string | undefined {
  const messages = messagesIn(locale).storefront.checkout;
  if (error instanceof NotAsReviewed || error instanceof DeliveryChanged) return messages.changed;
  if (error instanceof CheckoutRefused) return error.reason;
  if (error instanceof Refusal && error.code === 'GIFT_CARD_CHANGED') return messages.giftCards.changed;
  return error instanceof Refusal && error.code === 'APP_NOT_ANSWERING' ? messages.tryAgain : undefined;
}

/** Replaces the cart of the session by the order, which the next page or the payment provider's page needs. */
async function orderAndRedirect(
  visit: Visit,
  tokens: OrderTokens,
  cartId: string,
  { reviewed, consents }: OrderForm,
): Promise<Redirect> {
  const order = await orderCart(shopperOf(visit), cartId, reviewed, consents);
  visit.updateSession({ cart: undefined });
  if (order === undefined)
    return new Redirect(shopPath(visit, '/cart'), messagesIn(visit.locale).storefront.cart.expired);
  const isNew = visit.session.order !== order;
  visit.updateSession({ order, ...(isNew && { visitorEvents: [{ event: 'order:completed' }] }) });
  return redirectToPayment(visit, tokens, order);
}

import type { CartChange } from '../../carts/cart.ts';
import { setLocale } from '../../carts/changes.ts';
import { NotAsReviewed } from '../../carts/review-digest.ts';
import { orderCart, type ShownCart } from '../../carts/shopping.ts';
import { violatedConstraint } from '../../db/failure.ts';
import { HttpError, ValidationError } from '../../http/errors.ts';
import { cartPage } from '../cart/cart-page.ts';
import { cartOf, changeCartOf, rememberCart, shopperOf } from '../cart/visitor-cart.ts';
import { messages } from '../../kernel/messages.ts';
import { addressPage, knownAddresses, sentAddresses, settingAddresses } from './address-step.ts';
import { chooseMethods, deliveryPage, sentChoices } from './delivery-step.ts';
import { reviewPage } from './review-step.ts';
import { missingBefore, type Step } from './steps.ts';
import { Redirect, type Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { pickedUp } from '../cart/pickup.ts';
import type { VisitorEvent } from '../session.ts';
import { to, type Visit } from '../visit.ts';

/** Per hour and client address: nobody buys so often, and whoever does takes the stock away from others. */
const MOST_ORDERS = 60;

/** From the cart to the order, in three pages. */
export function checkout(pages: Pages): void {
  pages.get(
    '/checkout',
    async (visit, asked) =>
      (await pickedUp(visit, asked, '/checkout')) ??
      atStep(visit, '/checkout', (shown) => addressPage(visit, shown, knownAddresses(visit, shown))),
  );

  pages.post('/checkout', async (visit, sent) =>
    atStep(visit, '/checkout', async (shown) => {
      const form = sentAddresses(visit, sent);
      if (form.newCountry !== undefined) return addressPage(visit, shown, form);
      try {
        const change = settingAddresses(visit, form, knownAddresses(visit, shown));
        return await changed(visit, shown, change, '/checkout/delivery');
      } catch (error) {
        if (!(error instanceof ValidationError)) throw error;
        return addressPage(visit, shown, form, error.problems);
      }
    }),
  );

  pages.get('/checkout/delivery', async (visit) =>
    atStep(visit, '/checkout/delivery', (shown) => deliveryPage(visit, shown)),
  );

  pages.post('/checkout/delivery', async (visit, sent) =>
    atStep(visit, '/checkout/delivery', async (shown) => {
      const chosen = sentChoices(visit, shown, sent);
      if (chosen.refused.length > 0) return deliveryPage(visit, shown, chosen);
      return changed(
        visit,
        shown,
        chooseMethods(chosen),
        '/checkout/review',
        { event: 'shippingMethod:select' },
        { event: 'paymentMethod:select' },
      );
    }),
  );

  pages.get('/checkout/review', async (visit) =>
    atStep(visit, '/checkout/review', (shown) => reviewPage(visit, shown)),
  );

  pages.post(
    '/checkout/order',
    async (visit, { field }) => {
      const { cart, order } = visit.session;
      if (!cart) return new Redirect(to(visit, order === undefined ? '/cart' : '/confirmation'));
      const shown = await cartOf(visit);
      const reviewed = field('reviewed');
      // Gone: another click was faster, or it has ended.
      if (!shown) return ordered(visit, cart.id, reviewed);
      return atStep(visit, '/checkout/review', (shown) => placed(visit, shown, reviewed), shown);
    },
    { perHour: MOST_ORDERS },
  );
}

/** With the visitor's cart, if all that comes before this step is done; else the visitor is sent there. */
async function atStep(
  visit: Visit,
  step: Step,
  work: (shown: ShownCart) => Promise<Page | Redirect>,
  known?: ShownCart,
): Promise<Page | Redirect> {
  const had = visit.session.cart;
  const shown = known ?? (await cartOf(visit));
  if (!shown) return new Redirect(to(visit, '/cart'), had && messages(visit.locale).storefront.cart.expired);
  const missing = missingBefore(step, shown);
  return missing ? new Redirect(to(visit, missing)) : work(shown);
}

async function changed(
  visit: Visit,
  { cart }: ShownCart,
  change: CartChange,
  next: Step,
  ...events: VisitorEvent[]
): Promise<Redirect> {
  const now = await changeCartOf(visit, cart.cartId, change);
  if (!now) return new Redirect(to(visit, '/cart'), messages(visit.locale).storefront.cart.expired);
  rememberCart(visit, now, ...events);
  return new Redirect(to(visit, next));
}

/** Two orders made the same new customer, or the customer was erased: the next try finds out. */
const RACES: readonly unknown[] = ['customer_number', 'customer_order_customer'];

/** What the rules refuse is said on the page of the cart, where it can be changed. */
async function placed(visit: Visit, { cart }: ShownCart, reviewed: string): Promise<Page | Redirect> {
  const { locale } = visit;
  try {
    // Somebody may have switched the language on the last page.
    if (cart.locale !== locale) await changeCartOf(visit, cart.cartId, () => setLocale(locale));
    return await ordered(visit, cart.cartId, reviewed);
  } catch (error) {
    // Nobody orders anything else than what stood above the button.
    if (error instanceof NotAsReviewed) {
      return atStep(visit, '/checkout/review', (now) =>
        reviewPage(visit, now, { status: 409, message: messages(locale).storefront.checkout.changed }),
      );
    }
    const isRace = RACES.includes(violatedConstraint(error));
    if (!isRace && !(error instanceof HttpError && error.status < 500)) throw error;
    const shown = await cartOf(visit);
    const message = isRace
      ? messages(locale).storefront.checkout.tryAgain
      : messages(locale).storefront.cart.notOrdered;
    return cartPage(visit, shown, { status: 409, message });
  }
}

/** The session lets go of the cart and holds the order, which the next page shows. */
async function ordered(visit: Visit, cartId: string, reviewed: string): Promise<Redirect> {
  const order = await orderCart(shopperOf(visit), cartId, reviewed);
  visit.updateSession({ cart: undefined });
  if (order === undefined)
    return new Redirect(to(visit, '/cart'), messages(visit.locale).storefront.cart.expired);
  const isNew = visit.session.order !== order;
  visit.updateSession({ order, ...(isNew && { visitorEvents: [{ event: 'order:completed' }] }) });
  return new Redirect(to(visit, '/confirmation'));
}

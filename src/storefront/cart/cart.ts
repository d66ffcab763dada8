import { startCart } from '../../carts/shopping.ts';
import type { CartChange, CartRow } from '../../carts/cart.ts';
import { CartGone } from '../../carts/cart-store.ts';
import { addCoupon, removeCoupon } from '../../carts/changes.ts';
import { couponLimit, UnknownCoupon } from '../../carts/coupon-limit.ts';
import { addLine, removeLine, setQuantity, SoldOut } from '../../carts/lines.ts';
import type { Cart } from '../../carts/schema.ts';
import { couponKey } from '../../carts/coupon-campaigns/campaign.ts';
import { gone, HttpError, isRefusal, ValidationError } from '../../http/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { cartPage } from './cart-page.ts';
import { cartOf, changeCartOf, rememberCart, shopperOf, shortName } from './visitor-cart.ts';
import { amountText } from './cart-summary.ts';
import { messages } from '../../kernel/messages.ts';
import { Redirect, type Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { pickedUp } from './pickup.ts';
import { to, type Visit } from '../visit.ts';

/** The cart, and the forms that change it. */
export function cart(pages: Pages): void {
  pages.get(
    '/cart',
    async (visit, asked) => (await pickedUp(visit, asked, '/cart')) ?? cartPage(visit, await cartOf(visit)),
  );

  pages.post('/cart/add', async (visit, { field, referrerPath }) => {
    const productId = field('productId').toUpperCase();
    const quantity = typedQuantity(field('quantity') || '1');
    const words = messages(visit.locale).storefront.cart;
    if (!isId(productId)) return new Redirect(referrerPath, words.notForSale);
    if (quantity === undefined || quantity === 0) return new Redirect(referrerPath, words.wrongQuantity);
    try {
      return await added(visit, productId, quantity);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return new Redirect(referrerPath, refusalText(visit, error));
    }
  });

  pages.post('/cart/lines/:lineItemId', async (visit, { field, params }) => {
    const lineItemId = params['lineItemId']!.toUpperCase();
    const quantity = typedQuantity(field('quantity'));
    if (quantity === undefined) return refusedQuantity(visit, lineItemId, undefined);
    if (quantity === 0) return removed(visit, lineItemId);
    let before = 0;
    try {
      return await changed(
        visit,
        (cart, context) => {
          before = quantityIn(cart, { lineItemId });
          return setQuantity(cart, lineItemId, quantity, context);
        },
        (cart) => {
          const line = lineWith(cart, { lineItemId })!;
          const { amount } = line.quantity;
          rememberCart(
            visit,
            cart,
            {
              event: 'cart:setQuantity',
              lineItemId,
              quantity: amount,
              quantityDelta: rounded(amount - before),
            },
            { event: 'cart:update' },
          );
          return amount === quantity ? undefined : correction(visit, line);
        },
      );
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return refusedQuantity(visit, lineItemId, error);
    }
  });

  pages.post('/cart/lines/:lineItemId/remove', async (visit, { params }) =>
    removed(visit, params['lineItemId']!.toUpperCase()),
  );

  pages.post('/cart/coupon', async (visit, { field, limitFailures }) => {
    const code = field('code');
    const codeKey = couponKey(code);
    const words = messages(visit.locale).storefront.cart;
    const refused = async (message: string) =>
      cartPage(visit, await cartOf(visit), { status: 400, coupon: { code, message } });
    if (codeKey === '') return refused(words.missingCode);
    try {
      return await limitFailures(
        (address) => couponLimit({ address }),
        () =>
          changed(visit, (cart, context) => addCoupon(cart, codeKey, context), updated(visit), { codeKey }),
      );
    } catch (error) {
      if (!(error instanceof UnknownCoupon)) throw error;
      return refused(words.unknownCode);
    }
  });

  pages.post('/cart/coupon/remove', async (visit) =>
    changed(visit, (cart) => removeCoupon(cart), updated(visit)),
  );
}

/** As people write it: `2`, `1.5` or `1,5`. undefined: it is no quantity. */
function typedQuantity(text: string): number | undefined {
  return /^\d{1,7}(?:[.,]\d{1,6})?$/.test(text) ? Number(text.replace(',', '.')) : undefined;
}

const rounded = (amount: number) => Number(amount.toFixed(6));

async function added(visit: Visit, productId: string, quantity: number): Promise<Redirect> {
  const { session, settings, currency, locale } = visit;
  let before = 0;
  const change: CartChange = (cart, context) => {
    if (!settings.currencies.includes(cart.currency)) {
      throw new CartGone(gone('Nothing is sold in the currency of this cart any more'));
    }
    before = quantityIn(cart, { productId });
    return addLine(cart, { productId, quantity }, context);
  };
  const cart =
    (session.cart && (await changeCartOf(visit, session.cart.id, change, { productIds: [productId] }))) ??
    (await startCart(shopperOf(visit), { currency, locale, lineItems: [{ productId, quantity }] }));
  const line = lineWith(cart, { productId })!;
  const more = rounded(line.quantity.amount - before);
  rememberCart(visit, cart, { event: 'cart:add', lineItemId: line.lineItemId, quantity: more });
  const notice =
    more === quantity
      ? messages(locale).storefront.cart.added({ name: shortName(line.name) })
      : correction(visit, line);
  return new Redirect(to(visit, '/cart'), notice);
}

/** How much of a line there is; 0: there is no such line. */
function quantityIn(
  { lines }: CartRow,
  wanted: Partial<Pick<CartRow['lines'][number], 'productId' | 'lineItemId'>>,
): number {
  const line = lines.find(
    ({ productId, lineItemId }) => productId === wanted.productId || lineItemId === wanted.lineItemId,
  );
  return Number(line?.quantity ?? 0);
}

type CartLine = Cart['lineItemContainer']['productLineItems'][number];

function lineWith(
  { lineItemContainer }: Cart,
  wanted: Partial<Pick<CartLine, 'productId' | 'lineItemId'>>,
): CartLine | undefined {
  return lineItemContainer.productLineItems.find(
    ({ productId, lineItemId }) => productId === wanted.productId || lineItemId === wanted.lineItemId,
  );
}

function correction(visit: Visit, { name, quantity, orderUnitShort }: CartLine): string {
  return messages(visit.locale).storefront.cart.quantityChanged({
    name: shortName(name),
    amount: amountText(visit, quantity.amount, orderUnitShort),
  });
}

/** Changes the visitor's cart and shows it; `told` says what there is to say of it. */
async function changed(
  visit: Visit,
  change: CartChange,
  told: (cart: Cart) => string | undefined,
  wanted: { codeKey?: string } = {},
): Promise<Redirect> {
  const { cart } = visit.session;
  const next = cart && (await changeCartOf(visit, cart.id, change, wanted));
  if (next) return new Redirect(to(visit, '/cart'), told(next));
  visit.updateSession({ cart: undefined });
  return new Redirect(to(visit, '/cart'), cart && messages(visit.locale).storefront.cart.expired);
}

const updated = (visit: Visit) => (cart: Cart) => {
  rememberCart(visit, cart, { event: 'cart:update' });
  return undefined;
};

/** What is gone already need not be taken out: somebody clicked twice, or in another window. */
async function removed(visit: Visit, lineItemId: string): Promise<Redirect> {
  let before = 0;
  try {
    return await changed(
      visit,
      (cart) => {
        before = quantityIn(cart, { lineItemId });
        return removeLine(cart, lineItemId);
      },
      (cart) => {
        rememberCart(
          visit,
          cart,
          { event: 'cart:setQuantity', lineItemId, quantity: 0, quantityDelta: 0 - before },
          { event: 'cart:update' },
        );
        return undefined;
      },
    );
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return new Redirect(to(visit, '/cart'));
  }
}

async function refusedQuantity(
  visit: Visit,
  lineItemId: string,
  error: Error | undefined,
): Promise<Page | Redirect> {
  if (error instanceof HttpError && error.status === 404) return new Redirect(to(visit, '/cart'));
  const words = messages(visit.locale).storefront.cart;
  const message = error ? refusalText(visit, error) : words.wrongQuantity;
  return cartPage(visit, await cartOf(visit), { status: 400, line: { lineItemId, message } });
}

/** Why something did not get into the cart. */
function refusalText({ locale }: Visit, error: Error): string {
  const words = messages(locale).storefront.cart;
  if (error instanceof SoldOut) return words.currentlySoldOut;
  return error instanceof ValidationError ? words.wrongQuantity : words.notForSale;
}

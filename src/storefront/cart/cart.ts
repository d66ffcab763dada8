import { startCart } from '../../checkout/visitor-cart.ts';
import type { CartChange, CartRow } from '../../carts/cart.ts';
import { CartGone } from '../../carts/cart-store.ts';
import { applyCoupon, removeCoupon } from '../../carts/changes.ts';
import { couponLimit, UnknownCoupon } from '../../carts/coupon-limit.ts';
import { addLine, removeLine, setQuantity, WrongCustomText } from '../../carts/lines.ts';
import type { Cart } from '../../carts/schema.ts';
import { couponKey } from '../../coupons/campaign.ts';
import { HttpError, isRefusal } from '../../http/errors.ts';
import { givenText } from '../../catalogue/products/custom-text.ts';
import { MAX_CUSTOM_TEXT_LENGTH } from '../../catalogue/products/custom-text.ts';
import { MAX_PARTS } from '../../catalogue/products/bundles.ts';
import { GIFT_CARD_LIMITS, typedGiftCard } from '../product/gift-card-fields.ts';
import type { GiftCardRequest } from '../../giftcards/wish.ts';
import { isId } from '../../kernel/ids.ts';
import { DRAWER_PATH, drawerPage } from './cart-drawer.ts';
import { cartPage } from './cart-page.ts';
import { parseQuantity, rejectionText } from './line-form.ts';
import {
  findVisitorCart,
  updateVisitorCart,
  setSessionCart,
  newCartTerms,
  shopperOf,
  shortName,
} from './visitor-cart.ts';
import { amountWithUnit } from '../../http/amount-text.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { pickUpCart } from './pickup.ts';
import { productPath, shopPath, type Visit } from '../visit.ts';
import { Redirect } from '../../http/page-kit.ts';

/** The cart page and the forms that change the cart. */
export function cart(pages: Pages): void {
  pages.get(
    '/cart',
    async (visit, request) =>
      (await pickUpCart(visit, request, '/cart')) ?? cartPage(visit, await findVisitorCart(visit)),
  );

  pages.get(DRAWER_PATH, async (visit) => drawerPage(visit, await findVisitorCart(visit)));

  pages.post(
    '/cart/add',
    async (visit, { field, referrerPath }) => {
      // The script stays on the page and shows the cart, or the reason for a refusal, beside it.
      const isInPlace = field('then') === 'drawer';
      const formPath = isInPlace ? shopPath(visit, DRAWER_PATH) : referrerPath;
      const productId = field('productId').toUpperCase();
      const quantity = parseQuantity(field('quantity') || '1');
      const messages = messagesIn(visit.locale).storefront.cart;
      if (!isId(productId)) return new Redirect(formPath, messages.notForSale);
      if (quantity === undefined || quantity === 0) return new Redirect(formPath, messages.wrongQuantity);
      try {
        const choices = Array.from({ length: MAX_PARTS }, (_, index) => field(`choice.${index}`));
        const added = {
          productId,
          quantity,
          customText: givenText(field('customText')),
          giftCard: typedGiftCard(field),
          choices: choices.filter(isId).map((id) => id.toUpperCase()),
        };
        const notice = await addToCart(visit, added);
        return new Redirect(shopPath(visit, isInPlace ? DRAWER_PATH : '/cart'), notice);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        // The text is typed on the product page, wherever the button was.
        const isElsewhere = error instanceof WrongCustomText && !isInPlace;
        const path = isElsewhere ? shopPath(visit, productPath(error.productNumber)) : formPath;
        return new Redirect(path, rejectionText(visit, error));
      }
    },
    { limits: { texts: { customText: MAX_CUSTOM_TEXT_LENGTH, ...GIFT_CARD_LIMITS } } },
  );

  pages.post('/cart/lines/:lineItemId', async (visit, { field, params }) => {
    const lineItemId = params['lineItemId']!.toUpperCase();
    const quantity = parseQuantity(field('quantity'));
    if (quantity === undefined) return rejectQuantity(visit, lineItemId, undefined);
    if (quantity === 0) return removeFromCart(visit, lineItemId);
    let before = 0;
    try {
      return await changeAndShow(
        visit,
        (cart, context) => {
          before = quantityIn(cart, { lineItemId });
          return setQuantity(cart, lineItemId, quantity, context);
        },
        (cart) => {
          const line = findLine(cart, { lineItemId })!;
          const { amount } = line.quantity;
          setSessionCart(
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
          return amount === quantity ? undefined : quantityNotice(visit, line);
        },
      );
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return rejectQuantity(visit, lineItemId, error);
    }
  });

  pages.post('/cart/lines/:lineItemId/remove', async (visit, { params }) =>
    removeFromCart(visit, params['lineItemId']!.toUpperCase()),
  );

  pages.post('/cart/coupon', async (visit, { field, limitFailures }) => {
    const code = field('code');
    const codeKey = couponKey(code);
    const messages = messagesIn(visit.locale).storefront.cart;
    const reject = async (message: string) =>
      cartPage(visit, await findVisitorCart(visit), { status: 400, coupon: { code, message } });
    if (codeKey === '') return reject(messages.missingCode);
    try {
      return await limitFailures(
        (address) => couponLimit({ address }),
        () =>
          changeAndShow(
            visit,
            (cart, context) => applyCoupon(cart, codeKey, context),
            storeUpdatedCart(visit),
            { codeKey },
          ),
      );
    } catch (error) {
      if (!(error instanceof UnknownCoupon)) throw error;
      return reject(messages.unknownCode);
    }
  });

  pages.post('/cart/coupon/remove', async (visit) =>
    changeAndShow(visit, (cart) => removeCoupon(cart), storeUpdatedCart(visit)),
  );
}

const rounded = (amount: number) => Number(amount.toFixed(6));

/** Returns the notice about what was added. */
async function addToCart(
  visit: Visit,
  added: {
    productId: string;
    quantity: number;
    customText: string | undefined;
    choices: string[];
    giftCard: GiftCardRequest | undefined;
  },
): Promise<string> {
  const { session, settings, locale } = visit;
  let before = 0;
  let lineItemId = '';
  const change: CartChange = (cart, context) => {
    if (!settings.currencies.includes(cart.currency)) {
      throw new CartGone('CART_CURRENCY_ENDED');
    }
    const { lines } = addLine(cart, added, context);
    const changed = lines.find(
      (line) => line !== cart.lines.find((one) => one.lineItemId === line.lineItemId),
    )!;
    lineItemId = changed.lineItemId;
    before = quantityIn(cart, { lineItemId });
    return { lines };
  };
  const cart =
    (session.cart &&
      (await updateVisitorCart(visit, session.cart.id, change, {
        productIds: [added.productId, ...added.choices],
      }))) ??
    (await startCart(shopperOf(visit), { ...newCartTerms(visit), lineItems: [added] }));
  // A new cart has this line alone.
  const line = findLine(cart, { lineItemId }) ?? cart.lineItemContainer.productLineItems[0]!;
  const more = rounded(line.quantity.amount - before);
  setSessionCart(visit, cart, { event: 'cart:add', lineItemId: line.lineItemId, quantity: more });
  return more === added.quantity
    ? messagesIn(locale).storefront.cart.added({ name: shortName(line.name) })
    : quantityNotice(visit, line);
}

interface LineKey {
  lineItemId: string;
}

const isLine = (key: LineKey) => (line: LineKey) => line.lineItemId === key.lineItemId;

/** The quantity of a line before a change; 0 if there is no such line. */
function quantityIn({ lines }: CartRow, key: LineKey): number {
  return Number(lines.find(isLine(key))?.quantity ?? 0);
}

type CartLine = Cart['lineItemContainer']['productLineItems'][number];

function findLine({ lineItemContainer }: Cart, key: LineKey): CartLine | undefined {
  return lineItemContainer.productLineItems.find(isLine(key));
}

/** Tells that the quantity differs from the requested one. */
function quantityNotice(visit: Visit, { name, quantity, orderUnitShort }: CartLine): string {
  return messagesIn(visit.locale).storefront.cart.quantityChanged({
    name: shortName(name),
    amount: amountWithUnit(quantity.amount, orderUnitShort, visit.locale),
  });
}

/** Changes the visitor's cart and redirects to it. `afterChange` stores it in the session and returns a notice. */
async function changeAndShow(
  visit: Visit,
  change: CartChange,
  afterChange: (cart: Cart) => string | undefined,
  prefetch: { codeKey?: string } = {},
): Promise<Redirect> {
  const { cart } = visit.session;
  const next = cart && (await updateVisitorCart(visit, cart.id, change, prefetch));
  if (next) return new Redirect(shopPath(visit, '/cart'), afterChange(next));
  visit.updateSession({ cart: undefined });
  return new Redirect(shopPath(visit, '/cart'), cart && messagesIn(visit.locale).storefront.cart.expired);
}

const storeUpdatedCart = (visit: Visit) => (cart: Cart) => {
  setSessionCart(visit, cart, { event: 'cart:update' });
  return undefined;
};

/** A line that no longer exists is no error: the visitor clicked twice, or in another window. */
async function removeFromCart(visit: Visit, lineItemId: string): Promise<Redirect> {
  let before = 0;
  try {
    return await changeAndShow(
      visit,
      (cart) => {
        before = quantityIn(cart, { lineItemId });
        return removeLine(cart, lineItemId);
      },
      (cart) => {
        setSessionCart(
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
    return new Redirect(shopPath(visit, '/cart'));
  }
}

async function rejectQuantity(
  visit: Visit,
  lineItemId: string,
  error: Error | undefined,
): Promise<Page | Redirect> {
  if (error instanceof HttpError && error.status === 404) return new Redirect(shopPath(visit, '/cart'));
  const messages = messagesIn(visit.locale).storefront.cart;
  const message = error ? rejectionText(visit, error) : messages.wrongQuantity;
  return cartPage(visit, await findVisitorCart(visit), { status: 400, line: { lineItemId, message } });
}

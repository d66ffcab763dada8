import type { CartChange, CartContext, CartRow } from '../../carts/cart.ts';
import { CartGone } from '../../carts/cart-store.ts';
import { addLine } from '../../carts/lines.ts';
import { startCart } from '../../checkout/visitor-cart.ts';
import { HttpError, isRefusal, ValidationError } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import {
  cancelForCustomer,
  mayCancel,
  requestReturn,
  returnableLines,
} from '../../orders/customer-actions.ts';
import type { OrderTokens } from '../../orders/order-link.ts';
import type { ContentLine } from '../../pricing/content.ts';
import { partsOfLine, shownLines } from '../../pricing/shown-lines.ts';
import { quantityOfProduct } from '../../pricing/quantity.ts';
import {
  newCartTerms,
  setSessionCart,
  shopperOf,
  shortName,
  updateVisitorCart,
} from '../cart/visitor-cart.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import {
  backLink,
  openOrderByToken,
  orderPageWith,
  parseParts,
  quantityFields,
  type OpenedOrder,
} from './customer-order.ts';
import { showOrder } from './order-page.ts';
import { Redirect } from '../../http/page-kit.ts';

const FORM = { perHour: 60, hasSecretPath: true };
const MAX_REASON_LENGTH = 500;

/** The forms of an order's page: cancel it, ask for a return, order the same again. */
export function orderForms(pages: Pages, tokens: OrderTokens): void {
  pages.get('/order/:token/cancel', async (visit, request) => {
    const opened = await openOrderByToken(visit, request, tokens);
    return mayCancel(opened) ? cancelPage(visit, opened) : new Redirect(shopPath(visit, opened.path));
  });

  pages.post(
    '/order/:token/cancel',
    async (visit, request) => {
      const { order } = await openOrderByToken(visit, request, tokens);
      const messages = messagesIn(visit.locale).storefront.order;
      return saveAndShow(visit, request, tokens, {
        change: () => visit.db.transaction((tx) => cancelForCustomer(tx, visit.shopId, order.orderId)),
        done: messages.cancelled,
        refused: messages.notCancelled,
      });
    },
    FORM,
  );

  pages.get('/order/:token/return', async (visit, request) => {
    const opened = await openOrderByToken(visit, request, tokens);
    return returnableLines(opened, visit.db.now).length > 0
      ? returnPage(visit, opened)
      : new Redirect(shopPath(visit, opened.path));
  });

  pages.post(
    '/order/:token/return',
    async (visit, request) => {
      const opened = await openOrderByToken(visit, request, tokens);
      const { field } = request;
      const messages = messagesIn(visit.locale).storefront.order;
      const available = returnableLines(opened, visit.db.now);
      if (available.length === 0) return showOrder(visit, opened, messages.notReturned);
      const parts = parseParts(field, available);
      const reason = field('reason');
      const problem =
        parts === undefined || parts.length === 0
          ? messages.chooseItems
          : reason === '' || reason.length > MAX_REASON_LENGTH
            ? messages.wrongReason
            : undefined;
      if (problem !== undefined || !parts) return returnPage(visit, opened, { field, problem });
      return saveAndShow(visit, request, tokens, {
        change: () =>
          visit.db.transaction((tx) =>
            requestReturn(tx, visit.shopId, opened.order.orderId, { parts, reason }),
          ),
        done: messages.returnRequested,
        refused: messages.notReturned,
      });
    },
    FORM,
  );

  pages.post(
    '/order/:token/reorder',
    async (visit, request) => reorder(visit, await openOrderByToken(visit, request, tokens)),
    FORM,
  );
}

/** Changes the order and shows it again. A change that is no longer possible is reported there and changes nothing. */
export async function saveAndShow(
  visit: Visit,
  request: { params: Readonly<Record<string, string>> },
  tokens: OrderTokens,
  { change, done, refused }: { change: () => Promise<void>; done: string; refused: string },
): Promise<Page | Redirect> {
  try {
    await change();
    return new Redirect(shopPath(visit, `/order/${request.params['token']!}`), done);
  } catch (error) {
    // The order may have changed since the page was opened: a line may be gone.
    const isOutdated =
      error instanceof ValidationError || (error instanceof HttpError && error.status === 409);
    if (!isOutdated) throw error;
    return showOrder(visit, await openOrderByToken(visit, request, tokens), refused);
  }
}

function cancelPage(visit: Visit, opened: OpenedOrder): Page {
  const messages = messagesIn(visit.locale).storefront.order;
  const { orderNumber, paidAmount } = opened.order;
  const title = messages.cancelTitle({ number: orderNumber });
  return orderPageWith(opened, '/cancel', {
    title,
    main: html`<h1>${title}</h1>
      <p>${messages.cancelText}</p>
      ${paidAmount > 0 && html`<p>${messages.cancelRefund}</p>`}
      <form method="post" action="${shopPath(visit, `${opened.path}/cancel`)}">
        <button class="button">${messages.cancelConfirm}</button>
        ${backLink(visit, opened, messages.keep)}
      </form>`,
  });
}

interface RefusedForm {
  field: (name: string) => string;
  problem: string | undefined;
}

function returnPage(visit: Visit, opened: OpenedOrder, refused?: RefusedForm): Page {
  const messages = messagesIn(visit.locale).storefront.order;
  const title = messages.returnTitle({ number: opened.order.orderNumber });
  const available = returnableLines(opened, visit.db.now);
  return orderPageWith(opened, '/return', {
    title,
    ...(refused && { status: 400 }),
    main: html`<h1>${title}</h1>
      <p>${messages.returnText}</p>
      ${
        refused?.problem !== undefined &&
        html`<div class="notice" role="alert"><p class="error">${refused.problem}</p></div>`
      }
      <form class="narrow" method="post" action="${shopPath(visit, `${opened.path}/return`)}" novalidate>
        <fieldset>
          <legend>${messages.whichItems}</legend>
          ${quantityFields(visit, opened, available, ({ lineItemId }) => refused?.field(`quantity-${lineItemId}`) ?? '0')}
        </fieldset>
        <div class="field">
          <label for="reason">${messages.reason}</label>
          <textarea id="reason" name="reason" rows="4" maxlength="${MAX_REASON_LENGTH}" required>
${refused?.field('reason') ?? ''}</textarea>
        </div>
        <button class="button">${messages.returnSend}</button>
        ${backLink(visit, opened, messages.back)}
      </form>`,
  });
}

/** More names do not fit into the cookie with the notice. */
const MAX_NAMED = 5;

/**
 * Puts the products still for sale into the visitor's cart, and reports those that are not, or not in this quantity.
 */
async function reorder(visit: Visit, { order }: OpenedOrder): Promise<Redirect> {
  const { session, settings, locale } = visit;
  const lines = shownLines(order.content).map((line) => ({
    ...line,
    choices: partsOfLine(order.content, line.lineItemId).map(({ productId }) => productId),
  }));
  const messages = messagesIn(locale).storefront.order;
  let missing: typeof lines = [];
  const change: CartChange = (cart, context) => {
    if (!settings.currencies.includes(cart.currency)) {
      throw new CartGone('CART_CURRENCY_ENDED');
    }
    let next = cart;
    missing = lines.filter((line) => {
      const before = quantityOfProduct(next.lines, line.productId);
      next = { ...next, lines: linesWith(next, line, context) };
      return quantityOfProduct(next.lines, line.productId) - before < Number(line.quantity);
    });
    return { lines: next.lines };
  };
  const prefetch = { productIds: lines.flatMap(({ productId, choices }) => [productId, ...choices]) };
  const cart =
    (session.cart && (await updateVisitorCart(visit, session.cart.id, change, prefetch))) ??
    (await updateVisitorCart(
      visit,
      (await startCart(shopperOf(visit), newCartTerms(visit))).cartId,
      change,
      prefetch,
    ));
  if (cart) setSessionCart(visit, cart, { event: 'cart:update' });
  const names = missing.map(({ name }) => shortName(textIn(name, locale, settings.defaultLocale) ?? ''));
  const listed = names.slice(0, MAX_NAMED).join(', ') + (names.length > MAX_NAMED ? ' …' : '');
  return new Redirect(
    shopPath(visit, '/cart'),
    names.length === 0 ? messages.reordered : messages.partlyReordered({ names: listed }),
  );
}

/** The lines of the cart with one more; unchanged if the product can no longer be bought. */
function linesWith(
  cart: CartRow,
  line: ContentLine & { choices: string[] },
  context: CartContext,
): CartRow['lines'] {
  try {
    return addLine(cart, line, context).lines;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return cart.lines;
  }
}

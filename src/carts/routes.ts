import { Type } from 'typebox';
import { IncludeFields } from '../shops/settings/shown-fields.ts';
import { hasScope, type Caller } from '../http/callers.ts';
import { CART_TOKEN_HEADER } from '../http/cart-token.ts';
import { parseMoment } from '../http/dates.ts';
import { invalid, missingScope, Refusal } from '../http/errors.ts';
import { readingLocale } from '../http/locale.ts';
import { operation, type PrepareStoreCall } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { paged, paging } from '../http/paging.ts';
import { Id, LocaleParameter, Paged } from '../http/schemas.ts';
import { isId, isSecretOf } from '../kernel/ids.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { contentOf } from '../pricing/content.ts';
import type { CartRow } from './cart.ts';
import type { CartStore } from './cart-store.ts';
import { cartsWithFields } from './cart-fields.ts';
import { countCarts, findCarts } from './queries.ts';
import { answerCart, CART_ETAG, cartEtag, toCart } from './render.ts';
import { Cart, NewCart } from './schema.ts';

const { parameters, pageOf } = paging();
const cartOperation = { tag: 'carts', labels: ['Base', 'Now'], keepsKeyOrder: true } as const;
const moment = (description: string) =>
  Type.Optional(Type.String({ description, examples: ['2026-11-01T00:00:00Z'] }));
const MAX_WINDOW = 30 * 86_400_000;

const listCarts = operation({
  ...cartOperation,
  method: 'GET',
  path: '/carts',
  name: 'listCarts',
  summary: 'List carts',
  description:
    'Open carts, newest first. Carts that became an order, or that were continued in the storefront as a copy, are not listed.',
  access: 'carts_read',
  query: Type.Object({
    locale: LocaleParameter,
    ...parameters,
    createdBefore: moment('Only carts made before this moment; at most 30 days after createdAfter.'),
    createdAfter: moment('Only carts made after this moment.'),
    hasAddressData: Type.Optional(
      Type.Boolean({
        description: 'true: only carts with an address; false: only those without.',
        examples: [true],
      }),
    ),
    includeFields: IncludeFields,
  }),
  answer: Paged(Cart, 'cart list'),
});

export const createCart = operation({
  ...cartOperation,
  method: 'POST',
  path: '/carts',
  name: 'createCart',
  summary: 'Create cart',
  description:
    'An empty object creates an empty cart. With a billing address it can be ordered at once. A header of the answer holds its token.',
  access: 'public',
  secretAnswer: 'sealed',
  ...CART_ETAG,
  answerHeaders: {
    ...CART_ETAG.answerHeaders,
    'X-ePages-Cart-Token': 'The token that every later call on the cart needs; it is shown this once.',
  },
  body: NewCart,
  status: 201,
  answer: Cart,
  constraints: { cart_customer: () => new Refusal('CART_CUSTOMER_ERASED') },
});

const getCart = operation({
  ...cartOperation,
  method: 'GET',
  path: '/carts/:cartId',
  name: 'getCart',
  summary: 'Get cart',
  access: 'cart token',
  params: Type.Object({ cartId: Id }),
  query: Type.Object({ includeFields: IncludeFields }),
  answer: Cart,
  ...CART_ETAG,
});

export function carts(api: Operations, store: CartStore): void {
  api.read(listCarts, async (call) => {
    const { db, shopId, query, origin, caller, cartToken } = call;
    const page = pageOf(query);
    const { createdAfter, createdBefore, hasAddressData } = query;
    const filter = {
      createdAfter: createdAfter === undefined ? null : parseMoment(createdAfter, 'createdAfter'),
      createdBefore: createdBefore === undefined ? null : parseMoment(createdBefore, 'createdBefore'),
      hasAddress: hasAddressData ?? null,
    };
    if (filter.createdAfter && filter.createdBefore) {
      const window = filter.createdBefore.getTime() - filter.createdAfter.getTime();
      if (window > MAX_WINDOW) {
        throw new Refusal('PERIOD_TOO_LONG', { limit: '30 days' });
      }
    }
    const settings = await shopSettings(db, shopId);
    const locale = readingLocale(query.locale, settings);
    const [results, rows] = await Promise.all([
      countCarts(db, shopId, filter),
      findCarts(db, shopId, filter, { limit: page.resultsPerPage, offset: page.offset }),
    ]);
    const items = rows.map((cart) => {
      const hasToken = cartToken !== undefined && isSecretOf(cartToken, cart.tokenHash);
      const priced = contentOf(cart, settings, db.now);
      return toCart(
        { cart, settings, priced },
        { locale, origin, hasPickup: hasToken || isMaker(caller, cart) },
      );
    });
    return paged(page, results, await cartsWithFields(call, { settings, locale }, items));
  });

  // A number is checked before the cart is made, as with Update billing address.
  const prepare = async ({ shopId, body }: PrepareStoreCall<unknown, unknown, NewCart>) =>
    body.billingAddress?.vatId
      ? store.checkNewVatNumber(shopId, {
          vatId: body.billingAddress.vatId,
          country: body.billingAddress.country?.toUpperCase() ?? null,
        })
      : undefined;
  api.writeWithStore({ ...createCart, prepare }, async (call) => {
    const { body, caller, prepared: vatCheck } = call;
    const customerId = body.customerId ?? null;
    // Both change the price: a group has its own prices, and without tax it is lower.
    const isPriced = customerId !== null || body.taxType === 'NONE';
    if (isPriced && !hasScope(caller, 'carts_price_write')) throw missingScope('carts_price_write');
    if (customerId !== null && !isId(customerId)) throw invalid('UNKNOWN_VALUE', 'customerId');
    const made = await store.create({ ...call, vatCheck });
    call.header(CART_TOKEN_HEADER, made.token);
    return answerCart(call, made, made.status);
  });

  api.read(getCart, async (call) => {
    const priced = await store.open(call);
    const { settings, cart } = priced;
    const [answer] = await cartsWithFields(call, { settings, locale: cart.locale }, [
      answerCart(call, priced),
    ]);
    if (call.query.includeFields) call.header('etag', cartEtag(answer!));
    return answer!;
  });
}

/**
 * Read access to carts does not include opening them in the shop, where they could be changed: only their maker may.
 */
function isMaker({ app }: Caller, { appId }: Pick<CartRow, 'appId'>): boolean {
  return app !== undefined && app.appId === appId;
}

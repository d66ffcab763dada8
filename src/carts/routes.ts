import { Type } from 'typebox';
import { hasScope } from '../http/callers.ts';
import { CART_TOKEN_HEADER, newCartToken } from '../http/cart-token.ts';
import { parseMoment } from '../http/dates.ts';
import { badRequest, conflict, invalid, isRefusal, missingScope, notFound } from '../http/errors.ts';
import { offeredLocale, readingLocale, writingCurrency } from '../http/locale.ts';
import type { Operations, ReadCall } from '../http/operation.ts';
import { pagedText, paging } from '../http/paging.ts';
import { Rendered } from '../http/rendered.ts';
import { Id, LocaleParameter, Paged } from '../http/schemas.ts';
import { isId, newId } from '../ids.ts';
import { keptSettings, shopSettings, type Settings, settingsOfVersion } from '../shop/settings.ts';
import { openCart, pricedCart } from './change.ts';
import { contentOf, type PricedContent } from './content.ts';
import { keepCart } from './kept-carts.ts';
import { keptGoods } from './kept-goods.ts';
import { namedProducts, withAll } from './lines.ts';
import {
  countCarts,
  findCarts,
  findIngredients,
  insertCart,
  sameIngredients,
  type CartRow,
} from './queries.ts';
import { cartText } from './render.ts';
import { Cart, NewCart } from './schema.ts';

const { parameters, pageOf } = paging();
const facts = { tag: 'carts', labels: ['Base', 'Now'] } as const;
const moment = (description: string) =>
  Type.Optional(Type.String({ description, examples: ['2026-11-01T00:00:00Z'] }));
const LONGEST_WINDOW = 30 * 86_400_000;

export function carts(api: Operations): void {
  api.read(
    {
      ...facts,
      method: 'GET',
      path: '/carts',
      name: 'listCarts',
      summary: 'List carts',
      description: 'Open carts, newest first. What has become an order is no cart any more.',
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
      }),
      answer: Paged(Cart, 'carts'),
    },
    async ({ db, shopId, query, origin }) => {
      const page = pageOf(query);
      const { createdAfter, createdBefore, hasAddressData } = query;
      const filter = {
        createdAfter: createdAfter === undefined ? null : parseMoment(createdAfter, 'createdAfter'),
        createdBefore: createdBefore === undefined ? null : parseMoment(createdBefore, 'createdBefore'),
        hasAddress: hasAddressData ?? null,
      };
      if (filter.createdAfter && filter.createdBefore) {
        const window = filter.createdBefore.getTime() - filter.createdAfter.getTime();
        if (window > LONGEST_WINDOW) {
          throw badRequest('createdAfter and createdBefore must not be more than 30 days apart');
        }
      }
      const settings = await shopSettings(db, shopId);
      const locale = readingLocale(query.locale, settings);
      const [results, rows] = await Promise.all([
        countCarts(db, shopId, filter),
        findCarts(db, shopId, filter, { limit: page.resultsPerPage, offset: page.offset }),
      ]);
      return pagedText(
        page,
        results,
        rows.map((row) => cartText(row, contentOf(row, settings, db.now), { locale, origin, settings })),
      );
    },
  );

  api.change(
    {
      ...facts,
      method: 'POST',
      path: '/carts',
      name: 'createCart',
      summary: 'Create cart',
      description: 'An empty object makes an empty cart. Its token is in a header of the answer.',
      access: 'public',
      secretAnswer: true,
      answerHeaders: {
        'X-ePages-Cart-Token': 'The token that every later call on the cart needs; it is shown this once.',
      },
      body: NewCart,
      status: 201,
      answer: Cart,
      constraints: { cart_customer: () => conflict('The customer was erased in the meantime') },
    },
    async (call) => {
      const { db, shopId, body, caller } = call;
      const customerId = body.customerId ?? null;
      if (customerId !== null) {
        if (!hasScope(caller, 'carts_price_write')) throw missingScope('carts_price_write');
        if (!isId(customerId)) throw invalid('UNKNOWN_VALUE', 'customerId');
      }
      const productIds = namedProducts(body.lineItems ?? []);
      const quick = customerId === null ? await createdFromMemory(call, productIds) : undefined;
      if (quick) return quick;
      const found = await findIngredients(db, shopId, productIds, customerId);
      if (!found) throw notFound();
      if (customerId !== null && !found.customer) throw invalid('UNKNOWN_VALUE', 'customerId');
      const made = newCart(call, {
        settings: await settingsOfVersion(db, shopId, found.settingsVersion),
        products: found.products,
        customerId,
        customerGroupId: found.customer?.customerGroupId?.toUpperCase() ?? null,
      });
      await insertCart(db, shopId, made.cart);
      return created(call, made);
    },
  );

  api.read(
    {
      ...facts,
      method: 'GET',
      path: '/carts/:cartId',
      name: 'getCart',
      summary: 'Get cart',
      access: 'cart token',
      params: Type.Object({ cartId: Id }),
      answer: Cart,
    },
    async (call) => {
      const { cart, settings } = await openCart(call);
      const look = { locale: cart.locale, origin: call.origin, settings };
      return new Rendered(cartText(cart, contentOf(cart, settings, call.db.now), look));
    },
  );
}

type CreateCall = ReadCall<object, object, NewCart>;

/** What a cart is made of beside what was sent. */
interface Ingredients extends Pick<CartRow, 'products' | 'customerId' | 'customerGroupId'> {
  settings: Settings;
}

/** undefined: its ingredients must be read, because one of them is not in memory or was old. */
async function createdFromMemory(call: CreateCall, productIds: readonly string[]) {
  const { db, shopId } = call;
  const settings = keptSettings(db, shopId);
  const products = keptGoods(db, shopId, [...new Set(productIds.map((id) => id.toUpperCase()))]);
  if (!settings || !products) return undefined;
  try {
    const made = newCart(call, { settings, products, customerId: null, customerGroupId: null });
    const isMade = (await insertCart(db, shopId, made.cart, sameIngredients(shopId, made.cart))) === 1;
    return isMade ? created(call, made) : undefined;
  } catch (error) {
    // What old copies do not allow, the real products may: they decide.
    if (!isRefusal(error)) throw error;
    return undefined;
  }
}

interface MadeCart {
  cart: CartRow;
  token: string;
  priced: PricedContent;
  settings: Settings;
  status: Cart['status'];
}

function newCart({ db: { now }, body }: CreateCall, { settings, ...ingredients }: Ingredients): MadeCart {
  const currency = writingCurrency(body.currency ?? undefined, settings);
  const offered = body.locale ? offeredLocale(body.locale, settings.locales) : undefined;
  const { lines, refusals } = withAll(
    [],
    body.lineItems ?? [],
    { currency, products: ingredients.products, settings, now },
    () => newId(now),
    { mayFail: body.forceCreate ?? false },
  );
  if (lines.length === 0 && refusals[0]) throw refusals[0];

  const { token, hash } = newCartToken();
  const cart: CartRow = {
    ...ingredients,
    cartId: newId(now),
    tokenHash: hash,
    createdAt: now,
    changedAt: now,
    version: 1,
    currency,
    locale: offered ?? settings.defaultLocale,
    taxType: body.taxType ?? settings.taxModel,
    lines,
    coupon: null,
    couponLineItemId: null,
    couponCodeKey: null,
    billingAddress: null,
    shippingAddress: null,
    shippingMethodId: null,
    shippingPrice: null,
    paymentMethodId: null,
    paymentTransactionId: null,
    paymentStatus: null,
    paymentName: null,
    paymentPrice: null,
    settingsVersion: settings.version,
  };
  const complete = refusals.length === 0 ? 'Complete' : 'PartiallyComplete';
  return {
    cart,
    token,
    priced: pricedCart(cart, settings, now),
    settings,
    status: body.forceCreate ? complete : undefined,
  };
}

function created({ db, shopId, origin, header }: CreateCall, made: MadeCart): Rendered {
  const { cart, token, priced, settings, status } = made;
  keepCart(db, shopId, cart);
  header(CART_TOKEN_HEADER, token);
  return new Rendered(cartText(cart, priced, { locale: cart.locale, origin, settings }, status));
}

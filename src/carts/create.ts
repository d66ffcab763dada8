import type { Queries } from '../db/database.ts';
import type { Caller } from '../http/callers.ts';
import { newCartToken } from '../http/cart-token.ts';
import { invalid, isRefusal, notFound } from '../http/errors.ts';
import { offeredLocale, writingCurrency } from '../http/locale.ts';
import { newId } from '../kernel/ids.ts';
import { cachedSettings, settingsSince, type Settings } from '../shops/settings/settings.ts';
import { pricedCart } from './change.ts';
import type { PricedContent } from '../pricing/content.ts';
import { cacheCart } from './cart-cache.ts';
import { cachedCartProducts } from '../catalogue/products/cart-product-cache.ts';
import { namedProducts, withAll } from './lines.ts';
import { findIngredients, insertCart, type CartRow } from './queries.ts';
import { cartText } from './render.ts';
import type { Cart, NewCart } from './schema.ts';
import { insertKeptCart } from './together.ts';

export interface CreateCall {
  db: Queries;
  shopId: string;
  origin: string;
  body: NewCart;
  /** undefined: a visitor of the storefront, who gets to see no token. */
  caller: Caller | undefined;
  /** Of a visitor's cart: the app that made the cart which this one takes the place of. */
  appId?: string | null;
}

export interface CreatedCart {
  cartId: string;
  /** Shown this once; the database has its hash. */
  token: string;
  text: string;
}

/** One statement when this process has the products in memory, else one more to read them. */
export async function createCart(call: CreateCall): Promise<CreatedCart> {
  const { db, shopId, body } = call;
  const customerId = body.customerId ?? null;
  const productIds = namedProducts(body.lineItems ?? []);
  const quick = customerId === null ? await createdFromMemory(call, productIds) : undefined;
  if (quick) return quick;
  const found = await findIngredients(db, shopId, productIds, customerId);
  if (!found) throw notFound();
  if (customerId !== null && !found.customer) throw invalid('UNKNOWN_VALUE', 'customerId');
  const made = newCart(call, {
    settings: await settingsSince(db, shopId, found.settingsVersion),
    products: found.products,
    customerId,
    customerGroupId: found.customer?.customerGroupId?.toUpperCase() ?? null,
  });
  await insertCart(db, shopId, made.cart);
  return created(call, made);
}

/** What a cart is made of beside what was sent. */
interface Ingredients extends Pick<CartRow, 'products' | 'customerId' | 'customerGroupId'> {
  settings: Settings;
}

/** undefined: its ingredients must be read, because one of them is not in memory or was old. */
async function createdFromMemory(call: CreateCall, productIds: readonly string[]) {
  const { db, shopId } = call;
  const settings = cachedSettings(db, shopId);
  const products = cachedCartProducts(db, shopId, [...new Set(productIds.map((id) => id.toUpperCase()))]);
  if (!settings || !products) return undefined;
  try {
    const made = newCart(call, { settings, products, customerId: null, customerGroupId: null });
    return (await insertKeptCart(db, shopId, made.cart)) ? created(call, made) : undefined;
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

function newCart(
  { db: { now }, body, caller, appId }: CreateCall,
  { settings, ...ingredients }: Ingredients,
): MadeCart {
  const currency = writingCurrency(body.currency ?? undefined, settings);
  const offered = body.locale ? offeredLocale(body.locale, settings.locales) : undefined;
  const { lines, refusals } = withAll(
    [],
    body.lineItems ?? [],
    { currency, products: ingredients.products, settings, now, caller, isOfApp: false },
    () => newId(now),
    { mayFail: body.forceCreate ?? false },
  );
  if (lines.length === 0 && refusals[0]) throw refusals[0];

  const { token, hash } = newCartToken();
  const cart: CartRow = {
    ...ingredients,
    cartId: newId(now),
    tokenHash: hash,
    appId: caller?.app?.appId ?? appId ?? null,
    pickedUpAt: null,
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

function created({ db, shopId, origin, caller }: CreateCall, made: MadeCart): CreatedCart {
  const { cart, token, priced, settings, status } = made;
  cacheCart(db, shopId, cart);
  const look = { locale: cart.locale, origin, settings };
  const text = cartText(cart, priced, look, { status, hasPickup: caller !== undefined });
  return { cartId: cart.cartId, token, text };
}

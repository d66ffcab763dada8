import type { Transaction } from '../db/database.ts';
import type { Caller } from '../http/callers.ts';
import { newCartToken } from '../http/cart-token.ts';
import { offeredLocale, writingCurrency } from '../http/locale.ts';
import { newId } from '../kernel/ids.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { VatCheck } from '../shops/vat-numbers/buyer.ts';
import { priceCart, type CartRow, type PricedCart } from './cart.ts';
import { setAddress } from './changes.ts';
import { addLines } from './lines.ts';
import type { Cart, NewCart } from './schema.ts';

export interface NewCartRequest {
  shopId: string;
  body: NewCart;
  /** Scheme and host of the service, for apps that are asked. */
  origin: string;
  /** undefined: a visitor of the storefront, who never sees a token. */
  caller: Caller | undefined;
  /** Set where several calls are one write. */
  transaction?: Transaction | undefined;
  /** For a visitor's cart: the app that made the cart which this one replaces. */
  appId?: string | null;
  /** The register's answer about the VAT number in the billing address. */
  vatCheck?: VatCheck | undefined;
}

/** The inputs of a new cart beside the request. */
export interface CartIngredients extends Pick<
  CartRow,
  'products' | 'customerId' | 'customerGroupId' | 'promotionUses'
> {
  settings: Settings;
}

export interface CreatedCart extends PricedCart {
  /** Shown only once, because the database has only its hash. */
  token: string;
  status: Cart['status'];
}

export function newCart(
  { body, caller, appId, vatCheck }: NewCartRequest,
  { settings, products, customerId, customerGroupId, promotionUses }: CartIngredients,
  now: Date,
): CreatedCart {
  const offered = body.locale ? offeredLocale(body.locale, settings.locales) : undefined;
  const { token, hash } = newCartToken();
  const empty: CartRow = {
    products,
    customerId,
    customerGroupId,
    promotionUses,
    cartId: newId(now),
    tokenHash: hash,
    appId: caller?.app?.appId ?? appId ?? null,
    pickedUpAt: null,
    createdAt: now,
    changedAt: now,
    version: 1,
    currency: writingCurrency(body.currency ?? undefined, settings),
    locale: offered ?? settings.defaultLocale,
    taxType: body.taxType ?? settings.taxModel,
    lines: [],
    coupon: null,
    couponLineItemId: null,
    couponCodeKey: null,
    giftCardIds: [],
    billingAddress: null,
    shippingAddress: null,
    buyer: null,
    assistantNotes: null,
    shippingMethodId: null,
    shippingPrice: null,
    deliveryOption: null,
    linePrices: null,
    appTaxes: null,
    paymentMethodId: null,
    paymentTransactionId: null,
    paymentStatus: null,
    paymentName: null,
    paymentPrice: null,
    assistantSessionId: null,
    settingsVersion: settings.version,
  };
  const isForced = body.forceCreate ?? false;
  const { lines, refusals } = addLines(
    // The app that a visitor's cart comes from gives the visitor no right to read the catalogue.
    { ...empty, appId: null },
    body.lineItems ?? [],
    { settings, now, caller },
    { mayFail: isForced },
  );
  if (lines.length === 0 && refusals[0]) throw refusals[0];
  const address = body.billingAddress
    ? setAddress('billingAddress', body.billingAddress, empty, { settings }, vatCheck, 'billingAddress')
    : {};
  const cart = { ...empty, lines, ...address };
  const complete = refusals.length === 0 ? 'Complete' : 'PartiallyComplete';
  return {
    cart,
    settings,
    priced: priceCart(cart, settings, now),
    token,
    status: isForced ? complete : undefined,
  };
}

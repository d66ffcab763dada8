import type { CartProduct } from '../pricing/cart-product.ts';
import type { Caller } from '../http/callers.ts';
import { Refusal } from '../http/errors.ts';
import type { TaxType } from '../http/price.ts';
import { contentOf, type PricedContent } from '../pricing/content.ts';
import type {
  AppTaxes,
  CartCoupon,
  DeliveryOption,
  LinePrices,
  PaymentStatus,
  PromotionUse,
  StoredLine,
} from '../pricing/input.ts';
import type { Address } from '../shops/countries/address.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { Buyer } from '../shops/vat-numbers/buyer.ts';
import type { AssistantNotes } from './assistant-notes.ts';

/** A cart as stored in its row: the choices, without sums. */
export interface StoredCart {
  cartId: string;
  tokenHash: Buffer;
  /** The app whose token made it; null: no token, or the storefront. */
  appId: string | null;
  /** Set: a visitor has a copy of it, and its token has ended. */
  pickedUpAt: Date | null;
  createdAt: Date;
  changedAt: Date;
  version: number;
  currency: string;
  locale: string;
  taxType: TaxType;
  customerId: string | null;
  lines: StoredLine[];
  couponLineItemId: string | null;
  couponCodeKey: string | null;
  /** They pay for the order, in this order, as far as they can. */
  giftCardIds: string[];
  billingAddress: Address | null;
  shippingAddress: Address | null;
  buyer: Buyer | null;
  /** null: no assistant has said anything. */
  assistantNotes: AssistantNotes | null;
  shippingMethodId: string | null;
  shippingPrice: number | null;
  /** The app's answer for the chosen method; null: it is one of the shop. */
  deliveryOption: DeliveryOption | null;
  /** What apps have answered for the lines; null: none was asked. */
  linePrices: LinePrices | null;
  /** The same for the taxes. */
  appTaxes: AppTaxes | null;
  paymentMethodId: string | null;
  paymentTransactionId: string | null;
  paymentStatus: PaymentStatus | null;
  paymentName: string | null;
  paymentPrice: number | null;
  /** The checkout session of an assistant that it belongs to; null: no assistant has prepared it. */
  assistantSessionId: string | null;
}

/** A cart with everything that its prices depend on, except the settings. */
export interface CartRow extends StoredCart {
  settingsVersion: number;
  customerGroupId: string | null;
  coupon: CartCoupon | null;
  /** null: none with a limit was used. */
  promotionUses: PromotionUse[] | null;
  /** The existing products of its lines, and those prefetched for a change. */
  products: CartProduct[];
}

/** Data that a change needs beside the cart, so it is read along with it. */
export interface Prefetch {
  productIds?: readonly string[];
  codeKey?: string;
}

/** The changes that can be made to a cart. */
export type CartPatch = Partial<
  Pick<
    CartRow,
    | 'taxType'
    | 'customerId'
    | 'customerGroupId'
    | 'locale'
    | 'lines'
    | 'couponLineItemId'
    | 'couponCodeKey'
    | 'giftCardIds'
    | 'billingAddress'
    | 'shippingAddress'
    | 'buyer'
    | 'assistantNotes'
    | 'shippingMethodId'
    | 'shippingPrice'
    | 'deliveryOption'
    | 'paymentMethodId'
    | 'paymentTransactionId'
    | 'paymentStatus'
    | 'paymentName'
    | 'paymentPrice'
  >
>;

/** The input of a decision about a cart, beside the cart itself. */
export interface CartContext {
  settings: Settings;
  now: Date;
  /** undefined: a visitor of the storefront, without special rights. */
  caller: Caller | undefined;
}

/** A decision: pure, because it runs again when the cart was changed in the meantime. */
export type CartChange = (cart: CartRow, context: CartContext) => CartPatch;

/** A cart with its sums. */
export interface PricedCart {
  cart: CartRow;
  settings: Settings;
  priced: PricedContent;
}

/** Far below the largest exact number, with room for any price increase. */
export const MAX_WORTH = 1e13;

/** The sums of a changed cart; a cart worth more than can be counted is refused. */
export function priceCart(cart: CartRow, settings: Settings, now: Date): PricedContent {
  const priced = contentOf(cart, settings, now);
  if (priced.totals.grandTotal > MAX_WORTH || priced.totals.subTotal > MAX_WORTH) {
    throw new Refusal('CART_TOO_VALUABLE');
  }
  return priced;
}

/** Milliseconds that a cart lives after its last change. */
export const LIFETIME = 30 * 86_400_000;

/** The clean-up runs only once an hour, so readers of a cart check this too. */
export function isExpired({ changedAt }: StoredCart, now: Date): boolean {
  return changedAt.getTime() + LIFETIME < now.getTime();
}

/** The products that a cart needs: those of its lines, and those of a bundle's parts. */
export const productIdsOf = ({ lines }: Pick<StoredCart, 'lines'>) =>
  lines.flatMap(({ productId, parts = [] }) => [productId, ...parts]);

/** Whether lines are left out because their product is no longer sold: they are stored, and neither shown nor ordered. */
export const hasLeftOutLines = ({ cart, priced }: Pick<PricedCart, 'cart' | 'priced'>) =>
  priced.soldProducts.length < cart.lines.length;

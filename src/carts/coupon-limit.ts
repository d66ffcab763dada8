import { Refusal } from '../http/errors.ts';
import { addressCaller, type FailureLimit } from '../http/rate-limit.ts';

/** The code belongs to no coupon: a typing error, or a guess. */
export class UnknownCoupon extends Refusal<'COUPON_UNKNOWN'> {
  constructor() {
    super('COUPON_UNKNOWN');
  }
}

/** Unknown codes per hour and client address: far more than typing errors need, far too few to guess one. */
const PER_ADDRESS = 60;
/** Unknown codes per hour and cart, where the address is an app's server, which serves many shoppers. */
const PER_CART = 20;

/** The cart that an app with a token changes for a shopper. */
interface AppCart {
  shopId: string;
  cartId: string;
}

/** How often unknown codes may be tried; the same for the API and the storefront. */
export function couponLimit({ address, app }: { address: string; app?: AppCart | undefined }): FailureLimit {
  const limit = {
    what: 'unknown coupon codes',
    isFailure: (error: unknown) => error instanceof UnknownCoupon,
  };
  return app
    ? { ...limit, caller: `coupon/cart/${app.shopId}/${app.cartId.toUpperCase()}`, perHour: PER_CART }
    : { ...limit, caller: `coupon/${addressCaller(address)}`, perHour: PER_ADDRESS };
}

import { Refusal } from '../http/errors.ts';
import { addressCaller, type FailureLimit } from '../http/rate-limit.ts';

/** The code belongs to no gift card: a typing error, or a guess. */
export class UnknownGiftCard extends Refusal<'GIFT_CARD_UNKNOWN'> {
  constructor() {
    super('GIFT_CARD_UNKNOWN');
  }
}

/** Unknown codes per hour, shop and client address. */
const PER_ADDRESS = 20;
/** The same where the address is an app's server, which serves many shoppers. */
const PER_CART = 20;

/** How often unknown codes may be tried; the same for the API and the storefront. */
export function giftCardLimit({
  shopId,
  address,
  appCartId,
}: {
  shopId: string;
  address: string;
  /** The cart that an app with a token changes for a shopper. */
  appCartId?: string | undefined;
}): FailureLimit {
  const limit = {
    what: 'unknown gift card codes',
    isFailure: (error: unknown) => error instanceof UnknownGiftCard,
  };
  return appCartId === undefined
    ? { ...limit, caller: `gift-card/${shopId}/${addressCaller(address)}`, perHour: PER_ADDRESS }
    : { ...limit, caller: `gift-card/cart/${shopId}/${appCartId.toUpperCase()}`, perHour: PER_CART };
}

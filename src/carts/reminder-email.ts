import { nameOf } from '../catalogue/products/render.ts';
import type { Queries } from '../db/database.ts';
import type { Messages } from '../kernel/messages.ts';
import { newsletterTokens, newsletterUrls } from '../people/newsletters/links.ts';
import {
  SHOP_PLACEHOLDERS,
  type EmailContext,
  type EmailKind,
  type EmailRequest,
  type EmailMessages,
} from '../platform/email/kind.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { findCart } from './queries.ts';

/** A cart was abandoned with lines in it. */
export interface CartLeft {
  cartId: string;
  /** The names of the products. */
  products: string[];
}

const unsubscribeUrl = ({ installationKey, ...recipient }: EmailContext) =>
  newsletterUrls(newsletterTokens(installationKey), recipient).unsubscribe;

/**
 * The cart opens in the browser or the account that it belongs to. The link itself opens nothing, because the reader
 * of the email may not be the person who typed the address.
 */
const cartUrl = (_: CartLeft, { storefront, locale }: EmailContext) =>
  `${storefront}/cart${locale === undefined ? '' : `?locale=${locale}`}`;

type ReminderWords = EmailMessages & Messages['email']['cartReminder'];

export const cartReminder: EmailKind<CartLeft, ReminderWords> = {
  name: 'cartReminder',
  occasion:
    'To a newsletter subscriber who has left a cart, when the merchant sends a reminder. Once per cart.',
  example: { en_GB: { subject: 'Your cart at {shopName} is waiting' } },
  isLimited: false,
  sample: { cartId: '019A8C1E-0000-7000-8000-000000001005', products: ['Ginger tea', 'Kitchen knife'] },
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    products: { meaning: 'Names of the products.', value: ({ products }) => products.join(', ') },
    cartUrl: { meaning: 'Address of the cart.', value: cartUrl },
  },
  formerPlaceholders: ['unsubscribeUrl'],
  // The queue holds only the id of the cart. Customers who have ordered or emptied it since are not reminded.
  load: (db, email) => loadCart(db, email as EmailRequest<CartLeft>),
  link: cartUrl,
  moreLinks: (_, context, { unsubscribe }) => [{ label: unsubscribe, href: unsubscribeUrl(context) }],
  messages: (email) => email.cartReminder,
};

async function loadCart(
  db: Queries,
  { shopId, locale, facts: { cartId } }: EmailRequest<CartLeft>,
): Promise<CartLeft | undefined> {
  const [cart, settings] = await Promise.all([findCart(db, shopId, cartId, {}), shopSettings(db, shopId)]);
  if (!cart || cart.lines.length === 0) return undefined;
  // A bundle is named, and its parts are not.
  const chosen = cart.products.filter(({ productId }) =>
    cart.lines.some((line) => line.productId === productId),
  );
  return { cartId, products: chosen.map((product) => nameOf(product, settings, locale)) };
}

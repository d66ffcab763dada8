import { findProductRows } from '../catalogue/products/queries.ts';
import { nameOf } from '../catalogue/products/render.ts';
import type { Queries } from '../db/database.ts';
import type { Messages } from '../kernel/messages.ts';
import { emailAddressOf, ORDER_EMAIL, SAMPLE_ORDER } from '../orders/order-email.ts';
import { findOrderWithActivity } from '../orders/manage-queries.ts';
import type { EmailKind, EmailMessages, EmailRequest } from '../platform/email/kind.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { reviewUrl } from './links.ts';
import { findObjecting, findReviewsBy } from './queries.ts';
import { reviewableProducts } from './reviewable.ts';

/** Goods of an order were sent some days ago, and its customer is asked what they are like. */
export interface ReviewInvited {
  orderId: string;
  orderNumber: string;
  /** The names of the products that the customer has not reviewed. */
  products: string[];
}

export const reviewInvitation: EmailKind<
  ReviewInvited,
  EmailMessages & Messages['email']['reviewInvitation']
> = {
  name: 'reviewInvitation',
  occasion:
    'To the customer, some days after a shipment, where the shop invites to reviews. Once per order, and never again after an objection.',
  example: { en_GB: { subject: 'How do you like what you bought at {shopName}?' } },
  isLimited: false,
  sample: { ...SAMPLE_ORDER, products: ['Ginger tea', 'Kettle'] },
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    products: { meaning: 'Names of the products.', value: ({ products }) => products.join(', ') },
  },
  // The queue holds only the id of the order. Who has objected or reviewed everything since gets no email.
  load: (db, email) => loadInvitation(db, email as EmailRequest<ReviewInvited>),
  link: ({ orderId }, context) => reviewUrl(context, orderId),
  moreLinks: ({ orderId }, context, { stop }) => [
    { label: stop, href: reviewUrl(context, orderId, '/stop') },
  ],
  messages: (email) => email.reviewInvitation,
};

async function loadInvitation(
  db: Queries,
  { shopId, locale, facts: { orderId } }: EmailRequest<ReviewInvited>,
): Promise<ReviewInvited | undefined> {
  const [order, settings] = await Promise.all([
    findOrderWithActivity(db, shopId, orderId),
    shopSettings(db, shopId),
  ]);
  const address = order && emailAddressOf(order)?.toLowerCase();
  const { open, invite } = settings.reviews;
  if (!order || address === undefined || order.cancelledAt || !open || invite === 'nobody') return undefined;
  const [objecting, productIds] = await Promise.all([
    findObjecting(db, shopId, [address]),
    reviewableProducts(db, shopId, { order, activity: order }),
  ]);
  if (objecting.size > 0) return undefined;
  const reviews = await findReviewsBy(db, shopId, order.customerId, productIds);
  const unreviewed = productIds.filter((id) => !reviews.some(({ productId }) => productId === id));
  if (unreviewed.length === 0) return undefined;
  const rows = await findProductRows(db, shopId, unreviewed);
  return {
    orderId,
    orderNumber: order.orderNumber,
    products: rows.map((row) => nameOf(row, settings, locale)),
  };
}

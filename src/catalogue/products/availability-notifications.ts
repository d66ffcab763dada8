import { Type } from 'typebox';
import type { Transaction } from '../../db/database.ts';
import { notFound, Refusal } from '../../http/errors.ts';
import { writingLocale } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id } from '../../http/schemas.ts';
import { MAX_EMAIL_ADDRESS_LENGTH, EMAIL_ADDRESS } from '../../platform/email/address.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { availabilityEmail } from './availability-email.ts';
import {
  findKind,
  insertNotificationRequest,
  takeNotificationRequests,
} from './availability-notification-queries.ts';

const NotificationRequest = Type.Object(
  {
    email: Type.String({
      pattern: EMAIL_ADDRESS,
      maxLength: MAX_EMAIL_ADDRESS_LENGTH,
      description: 'The recipient of the email.',
      examples: ['ada@pelican.example'],
    }),
    locale: Type.String({ description: 'Language of the email, one of the shop.', examples: ['en_GB'] }),
  },
  { title: 'availability notification request' },
);

const createAvailabilityNotification = operation({
  method: 'POST',
  path: '/products/:productId/availability-notifications',
  name: 'createAvailabilityNotification',
  summary: 'Create availability notification',
  description:
    'The address gets one email when the product is next in stock. Repeating the call changes the locale only. A master has no stock: use one of its variations.',
  tag: 'products',
  labels: ['Now'],
  access: 'products_write',
  params: Type.Object({ productId: Id }),
  body: NotificationRequest,
  // Deleted since the lookup.
  constraints: { watcher_product: notFound },
});

export function availabilityNotifications(api: Operations): void {
  api.write(
    createAvailabilityNotification,
    async ({ tx, shopId, params: { productId }, body: { email, locale } }) => {
      const settings = await shopSettings(tx, shopId);
      const product = await findKind(tx, shopId, productId);
      if (!product) throw notFound();
      const offered = writingLocale(locale, settings);
      if (product.kind === 'master') {
        throw new Refusal('NOTIFICATION_FOR_MASTER');
      }
      await insertNotificationRequest(tx, shopId, { productId, email, locale: offered });
    },
  );
}

/**
 * Queues one email per open request for these products. Call it after a change of stock, in the same transaction, with
 * the products that were out of stock before; those that still are keep their requests.
 */
export async function queueAvailabilityNotifications(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
): Promise<void> {
  const requests = await takeNotificationRequests(tx, shopId, productIds);
  await queueEmails(
    tx,
    shopId,
    availabilityEmail,
    requests.map(({ email, locale, productName, productNumber }) => ({
      to: email,
      locale,
      facts: { productName, productNumber },
    })),
  );
}

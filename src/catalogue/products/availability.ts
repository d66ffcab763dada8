import { Type } from 'typebox';
import type { Transaction } from '../../db/database.ts';
import { badRequest, notFound } from '../../http/errors.ts';
import { writingLocale } from '../../http/locale.ts';
import type { Operations } from '../../http/operation.ts';
import { Id } from '../../http/schemas.ts';
import { LONGEST_MAIL_ADDRESS, MAIL_ADDRESS } from '../../platform/email/address.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { availabilityEmail } from './availability-email.ts';
import { findKind, insertWatcher, takeWatchers } from './watchers.ts';

const NotificationRequest = Type.Object(
  {
    email: Type.String({
      pattern: MAIL_ADDRESS,
      maxLength: LONGEST_MAIL_ADDRESS,
      description: 'Who wants to be told.',
      examples: ['ada@pelican.example'],
    }),
    locale: Type.String({ description: 'Language of the mail, one of the shop.', examples: ['en_GB'] }),
  },
  { title: 'availability notification request' },
);

export function availability(api: Operations): void {
  api.write(
    {
      method: 'POST',
      path: '/products/:productId/availability-notifications',
      name: 'createAvailabilityNotification',
      summary: 'Create availability notification',
      description:
        'The address gets one mail when the product is in stock the next time. Naming it again changes the locale only. A master has no stock: name one of its variations.',
      tag: 'products',
      labels: ['Now'],
      access: 'products_write',
      params: Type.Object({ productId: Id }),
      body: NotificationRequest,
      // Deleted since it was looked up.
      constraints: { watcher_product: notFound },
    },
    async ({ tx, shopId, params: { productId }, body: { email, locale } }) => {
      const settings = await shopSettings(tx, shopId);
      const product = await findKind(tx, shopId, productId);
      if (!product) throw notFound();
      const offered = writingLocale(locale, settings);
      if (product.kind === 'master') {
        throw badRequest('This product is a master and has no stock, name one of its variations');
      }
      await insertWatcher(tx, shopId, { productId, email, locale: offered });
    },
  );
}

/**
 * For whoever changes stock, in the same transaction and after the change: queues one mail for everybody who waits
 * for one of these products. Call it with those whose stock was used up before; what is still out of stock is left.
 */
export async function notifyWatchers(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
): Promise<void> {
  const watchers = await takeWatchers(tx, shopId, productIds);
  await queueEmails(
    tx,
    shopId,
    availabilityEmail,
    watchers.map(({ email, locale, productName, productNumber }) => ({
      to: email,
      locale,
      facts: { productName, productNumber },
    })),
  );
}

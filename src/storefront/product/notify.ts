import { emailField } from '../email-field.ts';
import { notFound } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { isEmailAddress } from '../../platform/email/address.ts';
import { findByNumber, findProductRows, lockProduct } from '../../catalogue/products/queries.ts';
import { nameOf } from '../../catalogue/products/render.ts';
import { insertNotificationRequest } from '../../catalogue/products/availability-notification-queries.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { productPath, shopPath, type Visit } from '../visit.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { Redirect } from '../../http/page-kit.ts';

const PER_HOUR = 20;

/** Sends an email when the product is available again, like the notifications of the API. */
export function notify(pages: Pages): void {
  pages.post(
    '/Products/:productNumber/notify',
    async (visit, { params, field }) => {
      const { db, shopId, locale } = visit;
      const messages = messagesIn(locale).storefront.notify;
      const email = field('email');
      const productNumber = params['productNumber']!;
      const [ref] = await findByNumber(db, shopId, productNumber);
      if (!ref?.visible) throw notFound();
      if (!isEmailAddress(email)) return rejectedPage(visit, ref.productId, email);
      const isAdded = await db.transaction(async (tx) => {
        const product = await lockProduct(tx, shopId, ref.productId);
        // A master has no stock: only its variations do.
        if (!product || product.kind === 'master') throw notFound();
        if (product.stock === null || product.stock > 0) return false;
        await insertNotificationRequest(tx, shopId, { productId: ref.productId, email, locale });
        return true;
      });
      return new Redirect(
        shopPath(visit, productPath(productNumber)),
        isAdded ? messages.noted : messages.available,
      );
    },
    { perHour: PER_HOUR },
  );
}

/** Shows the form alone, with the rejected address. */
async function rejectedPage(visit: Visit, productId: string, email: string): Promise<Page> {
  const { db, shopId, settings, locale } = visit;
  const messages = messagesIn(locale).storefront.notify;
  const [row] = await findProductRows(db, shopId, [productId]);
  if (!row) throw notFound();
  const name = nameOf(row, settings, locale);
  const path = productPath(row.productNumber);
  return {
    status: 400,
    title: messages.title,
    path,
    isPrivate: true,
    main: html`<h1>${messages.title}</h1>
      <p><a href="${shopPath(visit, path)}">${name}</a></p>
      <form class="narrow" method="post" action="${shopPath(visit, `${path}/notify`)}" novalidate>
        ${emailField(messages.email, email, messages.wrongEmail)}
        <button class="button">${messages.send}</button>
      </form>`,
  };
}

import { nameOf } from '../catalogue/products/render.ts';
import { findProductRows } from '../catalogue/products/queries.ts';
import type { Queries, Transaction } from '../db/database.ts';
import { adminUrl } from '../http/links.ts';
import type { Messages } from '../kernel/messages.ts';
import {
  SHOP_PLACEHOLDERS,
  type EmailKind,
  type EmailMessages,
  type EmailRequest,
} from '../platform/email/kind.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { recordEvents } from '../platform/events/log.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { countFreeKeys } from './key-queries.ts';
import { findDigitalProduct, setWarned } from './queries.ts';

/** A product has few keys left. */
export interface FewKeys {
  productId: string;
  product: string;
  /** Free keys, at the time of the warning. */
  left: number;
}

export const fewKeysEmail: EmailKind<FewKeys, EmailMessages & Messages['email']['fewKeys']> = {
  name: 'fewKeys',
  occasion:
    'To the shop, when fewer licence keys of a product are left than it wants to have. Once until it is refilled.',
  example: { en_GB: { subject: 'Buy more keys of {product}' } },
  isLimited: false,
  sample: { productId: '019A8C1E-0000-7000-8000-000000001001', product: 'Star chart', left: 3 },
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    product: { meaning: 'Name of the product.', value: ({ product }) => product },
    left: { meaning: 'How many keys are left.', value: ({ left }) => String(left) },
  },
  link: ({ productId }, context) => adminUrl(context, `/products/${productId}/downloads`),
  messages: (email) => ({ ...email.aboutShop, ...email.fewKeys }),
  load: (db, email) => loadFewKeys(db, email as EmailRequest<FewKeys>),
};

async function loadFewKeys(
  db: Queries,
  { shopId, locale, facts }: EmailRequest<FewKeys>,
): Promise<FewKeys | undefined> {
  const [rows, settings] = await Promise.all([
    findProductRows(db, shopId, [facts.productId]),
    shopSettings(db, shopId),
  ]);
  const row = rows[0];
  return row && { ...facts, product: nameOf(row, settings, locale) };
}

/** Warns the shop when few keys are left, once; and again after a refill. */
export async function warnOfFewKeys(tx: Transaction, shopId: string, productId: string): Promise<void> {
  const product = await findDigitalProduct(tx, shopId, productId);
  if (!product) return;
  const enough = Math.max(1, product.fewKeys);
  const left = await countFreeKeys(tx, shopId, productId, enough);
  if (!(await setWarned(tx, shopId, productId, left < enough)) || left >= enough) return;
  recordEvents(tx, shopId, [{ type: 'KEYS_LOW', resourceId: productId, data: { left } }]);
  const { email: to, defaultLocale: locale } = await shopSettings(tx, shopId);
  // The name of the product is read when the email is sent.
  await queueEmails(tx, shopId, fewKeysEmail, [{ to, locale, facts: { productId, product: '', left } }]);
}

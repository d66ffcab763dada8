import type { Database, Queries } from '../db/database.ts';
import { nameOf } from '../catalogue/products/render.ts';
import { findProductRows } from '../catalogue/products/queries.ts';
import type { Messages } from '../kernel/messages.ts';
import { findOrderWithActivity } from '../orders/manage-queries.ts';
import { ORDER_EMAIL, SAMPLE_ORDER } from '../orders/order-email.ts';
import type { EmailKind, EmailMessages, EmailRequest } from '../platform/email/kind.ts';
import { queueEmails } from '../platform/email/queue.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { findProductBuyers } from './delivery-queries.ts';
import { loadPurchase } from './purchase.ts';
import { lockToldFile, moveTold } from './queries.ts';

/** There is a new version of a file that was bought. */
export interface NewVersion {
  orderId: string;
  orderNumber: string;
  fileId: string;
  version: number;
  product: string;
  file: string;
  /** What is new in it. */
  note: string | null;
}

const TOLD_AT_ONCE = 200;

export const newVersionEmail: EmailKind<NewVersion, EmailMessages & Messages['email']['newVersion']> = {
  ...ORDER_EMAIL,
  name: 'newVersion',
  occasion:
    'To customers who have bought a file, when the shop uploads a new version and wants them to know.',
  example: { en_GB: { subject: '{product} has been updated' } },
  isLimited: false,
  sample: {
    ...SAMPLE_ORDER,
    fileId: SAMPLE_ORDER.orderId,
    version: 2,
    product: 'Star chart',
    file: 'star-chart.pdf',
    note: 'The southern sky is new.',
  },
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    product: { meaning: 'Name of the product.', value: ({ product }) => product },
    file: { meaning: 'Name of the file.', value: ({ file }) => file },
    note: { meaning: 'What is new; nothing if the shop does not say it.', value: ({ note }) => note },
  },
  messages: (email) => ({ ...email.aboutOrder, ...email.newVersion }),
  load: (db, email) => loadVersion(db, email as EmailRequest<NewVersion>),
};

/** undefined: there is a still newer version, or the customer can no longer download it. */
async function loadVersion(
  db: Queries,
  { shopId, locale, facts }: EmailRequest<NewVersion>,
): Promise<NewVersion | undefined> {
  const [order, settings] = await Promise.all([
    findOrderWithActivity(db, shopId, facts.orderId),
    shopSettings(db, shopId),
  ]);
  if (!order || order.erasedAt) return undefined;
  const items = await loadPurchase(db, shopId, { order, activity: order, key: undefined });
  for (const { areFilesOpen, files } of items) {
    const found = areFilesOpen && files.find(({ file }) => file.fileId === facts.fileId);
    if (!found || found.file.version !== facts.version) continue;
    const { productId, name, note } = found.file;
    const [row] = await findProductRows(db, shopId, [productId]);
    return { ...facts, product: row ? nameOf(row, settings, locale) : name, file: name, note };
  }
  return undefined;
}

/** Queues emails to some of the buyers who have yet to be told of a new version; false: there are none. */
export function tellSomeBuyers(db: Database, shopId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const file = await lockToldFile(tx, shopId);
    if (!file) return false;
    const { fileId, productId, version, toldUntil } = file;
    const buyers = await findProductBuyers(tx, shopId, productId, { after: toldUntil, limit: TOLD_AT_ONCE });
    const emails = buyers.flatMap(({ email: to, locale, orderId, orderNumber }) =>
      to === null
        ? []
        : [
            {
              to,
              locale,
              facts: { orderId, orderNumber, fileId, version, product: '', file: '', note: null },
            },
          ],
    );
    await queueEmails(tx, shopId, newVersionEmail, emails);
    await moveTold(tx, shopId, fileId, buyers.length < TOLD_AT_ONCE ? null : buyers.at(-1)!.orderId);
    return true;
  });
}

import type { Transaction } from '../db/database.ts';
import type { EmailKind } from '../platform/email/kind.ts';
import { queueEmails } from '../platform/email/queue.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { lineText } from './line-text.ts';
import type { PartLine } from './manage-queries.ts';
import { emailAddressOf, ORDER_EMAIL, SAMPLE_ORDER } from './order-email.ts';
import type { ManagedOrder } from './queries.ts';

/** Goods of an order came back. The refund for them is a separate email. */
export interface OrderReturned {
  orderId: string;
  orderNumber: string;
  /** The returned goods: "2 × Harbour Tea". */
  goods: string[];
}

export const returnEmail: EmailKind<OrderReturned> = {
  ...ORDER_EMAIL,
  name: 'returned',
  occasion: 'To the customer, when goods came back.',
  example: { en_GB: { text: 'Your parcel is here:\n\n{lines}' } },
  isLimited: false,
  sample: { ...SAMPLE_ORDER, goods: ['1\u00a0× Kettle'] },
  lines: { meaning: 'The goods that came back.', rows: ({ goods }) => goods.map((text) => ({ text })) },
  messages: (email) => ({ ...email.aboutOrder, ...email.returned }),
};

/** Tells the customer that these parts of the order are back. */
export async function queueOrderReturned(
  tx: Transaction,
  shopId: string,
  { order, settings }: { order: ManagedOrder; settings: Settings },
  parts: readonly PartLine[],
): Promise<void> {
  const to = emailAddressOf(order);
  if (to === undefined) return;
  const { orderId, orderNumber, locale, content } = order;
  const goods = parts.map(({ lineItemId, quantity }) => {
    const line = content.lines.find((one) => one.lineItemId === lineItemId)!;
    return lineText(line, quantity, locale, settings);
  });
  await queueEmails(tx, shopId, returnEmail, [{ to, locale, facts: { orderId, orderNumber, goods } }]);
}

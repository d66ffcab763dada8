import type { Config } from '../config.ts';
import type { Queries } from '../db/database.ts';
import { dateTimeText } from '../http/dates.ts';
import { messagesIn, type Messages } from '../kernel/messages.ts';
import { lineText } from '../orders/line-text.ts';
import { findOrderWithActivity } from '../orders/manage-queries.ts';
import { ORDER_EMAIL, SAMPLE_ORDER } from '../orders/order-email.ts';
import type { EmailKind, EmailMessages, EmailRequest } from '../platform/email/kind.ts';
import type { LetterSection } from '../platform/email/letter.ts';
import { installationKey } from '../platform/sealing.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { loadPurchase, type PurchasedItem } from './purchase.ts';

/** What an order has brought as files and keys. Its order page has the files: an email can be read by others. */
export interface DownloadsReady {
  orderId: string;
  orderNumber: string;
  /** What can be downloaded or used: "1 piece Star chart". */
  ready: string[];
  keys: { product: string; keys: string[] }[];
  /** Keys that follow. */
  waiting: string[];
  /** What begins with the consent of the customer. */
  unconsented: string[];
  /** Consents of the customer, word for word, with their time. */
  consents: string[];
}

/** As it waits in the queue: everything else is read when it is sent. */
export const downloadsOf = ({ orderId, orderNumber }: Pick<DownloadsReady, 'orderId' | 'orderNumber'>) => ({
  orderId,
  orderNumber,
  ready: [],
  keys: [],
  waiting: [],
  unconsented: [],
  consents: [],
});

type Words = EmailMessages & Messages['email']['downloads'] & { consentTitle: string };

export const downloadsEmail: EmailKind<DownloadsReady, Words> = {
  ...ORDER_EMAIL,
  name: 'downloads',
  occasion: 'To the customer, when files or licence keys of an order are ready, and when they have to wait.',
  example: { en_GB: { subject: 'Ready to download: order {orderNumber}' } },
  isLimited: false,
  sample: {
    ...SAMPLE_ORDER,
    ready: ['1\u00a0× Star chart'],
    keys: [{ product: 'Star chart', keys: ['7QXM-2KTR-9DWA-HP4S'] }],
    waiting: [],
    unconsented: [],
    consents: [],
  },
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    products: {
      meaning: 'What can be used now; nothing if everything has to wait.',
      value: ({ ready }) => ready.join(', ') || null,
    },
  },
  sections,
  messages: (email) => ({ ...email.aboutOrder, consentTitle: email.order.consents, ...email.downloads }),
  load: (db, email) => loadReady(db, email as EmailRequest<DownloadsReady>),
  secrets: openKeys,
};

function sections(
  { keys, waiting, unconsented, consents }: DownloadsReady,
  messages: Words,
): LetterSection[] {
  const section = (title: string, texts: readonly string[]): LetterSection[] =>
    texts.length === 0 ? [] : [{ title, rows: texts.map((text) => ({ text, as: 'plain' })) }];
  return [
    ...keys.flatMap(({ product, keys: given }) => section(messages.keysOf({ product }), given)),
    ...section(messages.needsConsent, unconsented),
    ...section(messages.follows, waiting),
    ...section(messages.consentTitle, consents),
  ];
}

async function loadReady(
  db: Queries,
  { shopId, locale, facts }: EmailRequest<DownloadsReady>,
): Promise<DownloadsReady | undefined> {
  const [order, settings] = await Promise.all([
    findOrderWithActivity(db, shopId, facts.orderId),
    shopSettings(db, shopId),
  ]);
  if (!order || order.erasedAt || order.cancelledAt) return undefined;
  const items = await loadPurchase(db, shopId, { order, activity: order, key: undefined });
  if (items.length === 0) return undefined;
  const textOf = ({ line }: PurchasedItem) => lineText(line, line.quantity, locale, settings);
  const { consent } = messagesIn(locale).email.order;
  const given = new Map(
    items.flatMap(({ line: { withdrawalConsent: one } }) => (one ? [[one.text, one]] : [])),
  );
  return {
    ...downloadsOf(order),
    ready: items.filter(({ isOpen }) => isOpen).map(textOf),
    waiting: items.filter(({ delivery }) => delivery.keysWaiting > 0).map(textOf),
    unconsented: items.filter(({ delivery }) => delivery.beginsAt !== null).map(textOf),
    consents: [...given.values()].map((one) =>
      consent({ date: dateTimeText(new Date(one.at), locale), text: one.text }),
    ),
  };
}

async function openKeys(
  db: Queries,
  { shopId, locale, facts }: EmailRequest<DownloadsReady>,
  config: Config,
): Promise<Pick<DownloadsReady, 'keys'>> {
  const [order, settings, key] = await Promise.all([
    findOrderWithActivity(db, shopId, facts.orderId),
    shopSettings(db, shopId),
    installationKey(config),
  ]);
  const items = order ? await loadPurchase(db, shopId, { order, activity: order, key }) : [];
  return {
    keys: items.flatMap(({ line, keys }) => {
      const texts = keys.flatMap(({ text }) => text ?? []);
      const product = lineText(line, line.quantity, locale, settings);
      return texts.length > 0 ? [{ product, keys: texts }] : [];
    }),
  };
}

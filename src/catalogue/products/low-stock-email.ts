import { nameOf } from './render.ts';
import { findProductRows } from './queries.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { adminUrl } from '../../http/links.ts';
import { languageTag } from '../../http/locale.ts';
import { secretHash } from '../../kernel/ids.ts';
import type { Messages } from '../../kernel/messages.ts';
import {
  SHOP_PLACEHOLDERS,
  type EmailKind,
  type EmailRequest,
  type EmailMessages,
} from '../../platform/email/kind.ts';
import { EMAIL_QUEUE, type QueuedEmail } from '../../platform/email/queue.ts';
import { queueJobOnce } from '../../platform/jobs/queue.ts';
import { shopSettings } from '../../shops/settings/settings.ts';

/** Products whose stock fell to its level. */
export interface LowStock {
  products: { text: string; stock: string }[];
  /** The number of further products. */
  more: number;
}

/** The hour of the email, and the position in the event log after which that hour starts. */
interface Hour {
  from: string;
  to: string;
  after: number;
}

const HOUR = 3_600_000;
/** How late a transaction of the hour may still be committed. */
const SLACK = 5 * 60_000;
const MAX_SHOWN = 50;
const MAX_READ = 1_000;

export const lowStockEmail: EmailKind<LowStock, EmailMessages & Messages['email']['lowStock']> = {
  name: 'lowStock',
  occasion:
    'To the shop, at most once an hour, when the stock of products has fallen to their minStocklevel or lowStockLevel.',
  example: { en_GB: { subject: 'Time to reorder at {shopName}' } },
  isLimited: false,
  sample: {
    products: [
      { text: 'Ginger tea (TE-120)', stock: '3' },
      { text: 'Kettle (KE-100)', stock: '0' },
    ],
    more: 2,
  },
  placeholders: SHOP_PLACEHOLDERS,
  lines: {
    meaning: 'The table of the products, with what is left of each.',
    rows: ({ products, more }, messages) => [
      ...products.map(({ text, stock }) => ({ text, amount: stock })),
      ...(more > 0 ? [{ text: messages.more({ count: more }), as: 'note' as const }] : []),
    ],
  },
  link: (_, context) => adminUrl(context, '/products?stock=low'),
  messages: (email) => ({ ...email.aboutShop, ...email.lowStock }),
  load: (db, email) => loadLowStock(db, email as EmailRequest<Hour>),
};

/**
 * Notifies the merchant of stocks that have fallen low at `at`, after the position `after` of the event log. Each hour
 * has one email, sent when the hour is over: its job has the same id for the whole hour, so only the first call of the
 * hour queues it. Call it with the event counter locked, because two transactions that insert the same job wait for
 * each other.
 */
export async function queueLowStock(
  tx: Transaction,
  shopId: string,
  { at, after }: { at: Date; after: number },
): Promise<void> {
  const { email: to, defaultLocale: locale } = await shopSettings(tx, shopId);
  const from = new Date(Math.floor(at.getTime() / HOUR) * HOUR);
  const end = new Date(from.getTime() + HOUR);
  const facts: Hour = { from: from.toISOString(), to: end.toISOString(), after };
  const content: QueuedEmail<Hour> = { shopId, template: lowStockEmail.name, to, locale, facts };
  const id = secretHash(`low stock of ${shopId} since ${facts.from}`).toString('hex').slice(0, 32);
  const runAt = new Date(end.getTime() + SLACK);
  await queueJobOnce(tx, shopId, EMAIL_QUEUE, { id, content }, runAt);
}

/** Does the same at the commit of a transaction that records this many events, whose position is not known before. */
export async function queueLowStockAtCommit(tx: Transaction, shopId: string, events: number): Promise<void> {
  const row = await tx.one<{ value: number; at: number }>(sql`
    select value, at from counter where shop_id = ${shopId} and name = 'event'`);
  await queueLowStock(tx, shopId, { at: new Date(row!.at), after: row!.value - events });
}

/** undefined: all of the products were restocked or deleted. */
async function loadLowStock(
  db: Queries,
  { shopId, locale, facts }: EmailRequest<Hour>,
): Promise<LowStock | undefined> {
  const settings = await shopSettings(db, shopId);
  const levels = new Map(
    (await findFallen(db, shopId, facts)).map(({ productId, level }) => [productId, level]),
  );
  const rows = await findProductRows(db, shopId, [...levels.keys()]);
  const low = rows.filter(({ productId, stock }) => stock !== null && stock <= levels.get(productId)!);
  if (low.length === 0) return undefined;
  const number = new Intl.NumberFormat(languageTag(locale), { maximumFractionDigits: 6 });
  return {
    products: low.slice(0, MAX_SHOWN).map((row) => ({
      text: `${nameOf(row, settings, locale)} (${row.productNumber})`,
      stock: number.format(row.stock!),
    })),
    more: Math.max(0, low.length - MAX_SHOWN),
  };
}

function findFallen(db: Queries, shopId: string, { from, to, after }: Hour) {
  return db.many<{ productId: string; level: number }>(sql`
    select upper(resource_id::text) as "productId", (data ->> 'minStocklevel')::float8 as level from event
    where shop_id = ${shopId} and position > ${after} and at >= ${from}::timestamptz and at < ${to}::timestamptz
      and type = 'STOCK_LOW'
    order by position limit ${MAX_READ}`);
}

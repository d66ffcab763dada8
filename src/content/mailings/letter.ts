import type { Queries, ShopDatabase } from '../../db/database.ts';
import { html, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { footerParagraph, letterFrame } from '../../platform/email/letter.ts';
import type { EmailSender } from '../../shops/email/shop.ts';
import { findLegalTexts } from '../../shops/legal/queries.ts';
import type { CacheKind } from '../../db/cache.ts';
import { findBlockRefs, loadBlockData } from '../block-data.ts';
import type { StoredMailingText } from './mailing.ts';
import {
  linksOf,
  renderMailingBlocks,
  type MailingContentView,
  type MailingReader,
} from './render-blocks.ts';

/** All that the letters of a mailing in one language have in common. */
export interface MailingLetter {
  subject: string;
  preheader: string | null;
  locale: string;
  content: MailingContentView;
  footer: MailingFooter;
}

interface MailingFooter {
  /** Why the recipient gets this email. */
  reason: string;
  /** Who sends it, and where that is: name, street, town. */
  address: readonly string[];
  /** The page that the law requires; undefined: the shop has not published it. */
  legal: { label: string; href: string } | undefined;
  unsubscribe: string;
}

/** What a letter is made for: the mailing as it is stored, or as it is typed. */
export interface MailingSource {
  newsletterIds: readonly string[];
  text: StoredMailingText;
}

/** Reads what the letters of a mailing show in one language, and renders what they have in common. */
export async function loadLetter(
  db: Pick<ShopDatabase, 'caches'> & Queries,
  shopId: string,
  sender: EmailSender,
  { newsletterIds, text }: MailingSource,
): Promise<MailingLetter> {
  const { settings, design, storefront } = sender;
  const { locale, subject, preheader, blocks } = text;
  const reader: MailingReader = { shopId, locale, settings, design, storefront };
  const blockReader = { db, shopId, locale, settings };
  const refs = await findBlockRefs(blockReader, db, blocks);
  const { origin } = new URL(storefront);
  const data = await loadBlockData(blockReader, db, blocks, refs, {
    // Without a group: everybody's prices.
    locale,
    currency: settings.defaultCurrency,
    origin,
    canWrite: false,
    variant: 'list',
  });
  return {
    subject,
    preheader,
    locale,
    content: await renderMailingBlocks(reader, blocks, data),
    footer: await loadFooter(db, reader, sender, newsletterIds),
  };
}

async function loadFooter(
  db: Queries,
  reader: MailingReader,
  sender: EmailSender,
  newsletterIds: readonly string[],
): Promise<MailingFooter> {
  const { shopId, locale, settings } = reader;
  const messages = messagesIn(locale).email;
  const names = settings.newsletterCampaigns
    .filter(({ campaignId }) => newsletterIds.includes(campaignId.toUpperCase()))
    .map(({ name }) => name);
  const { company, street, zipCode, city } = settings.invoicing;
  const [imprint] = await findLegalTexts(
    db,
    shopId,
    ['contact-information'],
    [...new Set([locale, settings.defaultLocale])],
  );
  const seller = [company ?? sender.shopName(locale), street, [zipCode, city].filter(Boolean).join(' ')];
  return {
    reason: messages.mailing.footer({ newsletters: names.join(', ') }),
    // Without an address in the settings, the legal text says who the seller is.
    address: street || !imprint ? seller.flatMap((line) => line || []) : legalLines(imprint.text),
    legal: imprint && {
      label: imprint.title,
      href: linksOf(reader).addressOf('/legal/contact-information')!,
    },
    unsubscribe: messages.newsletter.unsubscribe,
  };
}

const MAX_LEGAL_LINES = 12;

const legalLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .slice(0, MAX_LEGAL_LINES);

interface CachedLetter {
  letter: MailingLetter;
  settingsVersion: number;
  /** In milliseconds since 1970. */
  until: number;
}

/** Of the mailings that are being sent: the thread of the emails has a share of 8. */
const letterCache: CacheKind<CachedLetter> = { name: 'letters of mailings', limit: { entries: 200 } };

/** Prices in a letter are at most so old. */
const LETTER_LIFETIME = 5 * 60_000;

/** The same for the many recipients of a stored mailing: it is rendered once in a while. */
export async function cachedLetter(
  db: ShopDatabase,
  shopId: string,
  sender: EmailSender,
  { mailingId, version, ...source }: MailingSource & { mailingId: string; version: number },
): Promise<MailingLetter> {
  const cache = db.caches.of(letterCache);
  const key = `${shopId} ${mailingId} ${version} ${source.text.locale}`;
  const cached = cache.get(key);
  const now = db.now.getTime();
  if (cached && cached.settingsVersion === sender.settings.version && cached.until > now)
    return cached.letter;
  const letter = await loadLetter(db, shopId, sender, source);
  cache.set(key, { letter, settingsVersion: sender.settings.version, until: now + LETTER_LIFETIME });
  return letter;
}

/** The letter of one recipient, who unsubscribes at this address. */
export function letterHtml(
  { subject, preheader, locale, content, footer }: MailingLetter,
  { shopName, design }: EmailSender,
  unsubscribeUrl: string,
): Markup {
  const language = locale.slice(0, 2);
  const { address, legal, reason, unsubscribe } = footer;
  return letterFrame({
    language,
    head: html`<meta name="color-scheme" content="light dark" />
      <meta name="supported-color-schemes" content="light dark" />
      <title>${subject}</title>`,
    preheader:
      preheader !== null &&
      html`<div
        style="display: none; max-height: 0; overflow: hidden; font-size: 1px; line-height: 1px; color: ${design.background}"
      >
        ${preheader}
      </div>`,
    shopName: shopName(locale),
    design,
    content: content.html,
    footer: html`${footerParagraph(
      html`${reason}<br />
        <a href="${unsubscribeUrl}" style="color: ${design.muted}">${unsubscribe}</a>`,
      design,
    )}
    ${footerParagraph(
      html`${address.map((line, index) => html`${index > 0 && html`<br />`}${line}`)}
      ${legal && html`<br /><a href="${legal.href}" style="color: ${design.muted}">${legal.label}</a>`}`,
      design,
      '12px 16px 16px',
    )}`,
  });
}

/** The same as text. */
export function letterText(
  { locale, content, footer: { reason, address, legal, unsubscribe } }: MailingLetter,
  unsubscribeUrl: string,
): string {
  const { labelled } = messagesIn(locale).email;
  const footer = [
    reason,
    labelled({ label: unsubscribe, text: unsubscribeUrl }),
    '',
    ...address,
    ...(legal ? [labelled({ label: legal.label, text: legal.href })] : []),
  ];
  return `${[...content.text, `-- \n${footer.join('\n')}`].join('\n\n')}\n`;
}

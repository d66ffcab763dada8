import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { secretHash } from '../../kernel/ids.ts';

/**
 * What the links in mails about newsletters prove: that whoever opens them has read the mail. A job that waits in the
 * queue, and one that failed, lies in the database for days, so it names its request only. The token is made of that
 * name and the key of the installation when the mail is sent: no copy of the database can confirm anything.
 */
export interface NewsletterTokens {
  confirming(shopId: string, requestId: string): string;
  unsubscribing(shopId: string, email: string): string;
  /** Who unsubscribes with it; undefined: it is not one of ours. */
  unsubscriber(shopId: string, token: string): string | undefined;
}

const SIGNATURE_LENGTH = 43;

/** A key of its own per purpose, made of the key of the installation. */
export function newsletterTokens(installationKey: Buffer): NewsletterTokens {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'kontor newsletter links', 32));
  const signed = (...texts: string[]) =>
    createHmac('sha256', key).update(JSON.stringify(texts)).digest('base64url');
  const unsubscribing = (shopId: string, email: string) =>
    `${Buffer.from(email).toString('base64url')}.${signed('unsubscribe', shopId, email)}`;
  return {
    confirming: (shopId, requestId) => signed('confirm', shopId, requestId),
    unsubscribing,
    unsubscriber: (shopId, token) => {
      const email = Buffer.from(token.slice(0, -SIGNATURE_LENGTH - 1), 'base64url').toString();
      const [given, expected] = [Buffer.from(token), Buffer.from(unsubscribing(shopId, email))];
      return given.length === expected.length && timingSafeEqual(given, expected) ? email : undefined;
    },
  };
}

/** One mail asks for several newsletters, and each has a row that it finds. */
export function requestHash(token: string, campaignId: string): Buffer {
  return secretHash(`${token} ${campaignId.toUpperCase()}`);
}

export interface NewsletterUrls {
  confirm: (requestId: string) => string;
  unsubscribe: string;
}

export interface Recipient {
  shopId: string;
  /** Where the storefront begins. */
  storefront: string;
  /** undefined: the shop's default. */
  locale: string | undefined;
  email: string;
}

/** The addresses in a mail. */
export function newsletterUrls(
  tokens: NewsletterTokens,
  { shopId, storefront, locale, email }: Recipient,
): NewsletterUrls {
  const language = locale === undefined ? '' : `locale=${locale}&`;
  return {
    confirm: (requestId) =>
      `${storefront}/newsletter/confirm?${language}token=${tokens.confirming(shopId, requestId)}`,
    unsubscribe: `${storefront}/newsletter/unsubscribe?${language}token=${tokens.unsubscribing(shopId, email)}`,
  };
}

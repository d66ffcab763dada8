import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { secretHash } from '../../kernel/ids.ts';
import type { EmailContext } from '../../platform/email/kind.ts';

/**
 * The tokens in links of newsletter emails prove that the visitor has read the email. A queued or failed job stays in
 * the database for days, so it contains only the id of its request. The token is derived from that id and the key of
 * the installation when the email is sent, so that no copy of the database can confirm anything.
 */
export interface NewsletterTokens {
  confirming(shopId: string, requestId: string): string;
  unsubscribing(shopId: string, email: string): string;
  /** The address that the token unsubscribes; undefined: the token is not valid. */
  unsubscriber(shopId: string, token: string): string | undefined;
  /** For the links in a mailing: it unsubscribes from the newsletters of that mailing alone. */
  unsubscribingFrom(shopId: string, mailingId: string, email: string): string;
  unsubscriberFrom(shopId: string, token: string): { mailingId: string; email: string } | undefined;
}

const SIGNATURE_LENGTH = 43;

/** Each purpose has a key of its own, derived from the key of the installation. */
export function newsletterTokens(installationKey: Buffer): NewsletterTokens {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'kontor newsletter links', 32));
  const signed = (...texts: string[]) =>
    createHmac('sha256', key).update(JSON.stringify(texts)).digest('base64url');
  const unsubscribing = (shopId: string, email: string) =>
    `${Buffer.from(email).toString('base64url')}.${signed('unsubscribe', shopId, email)}`;
  const unsubscribingFrom = (shopId: string, mailingId: string, email: string) =>
    `${Buffer.from(`${mailingId} ${email}`).toString('base64url')}.${signed('unsubscribe from', shopId, mailingId, email)}`;
  return {
    confirming: (shopId, requestId) => signed('confirm', shopId, requestId),
    unsubscribing,
    unsubscriber: (shopId, token) => {
      const email = textIn(token);
      return isEqual(token, unsubscribing(shopId, email)) ? email : undefined;
    },
    unsubscribingFrom,
    unsubscriberFrom: (shopId, token) => {
      const [, mailingId = '', email = ''] = /^(\S+) (.*)$/s.exec(textIn(token)) ?? [];
      return isEqual(token, unsubscribingFrom(shopId, mailingId, email)) ? { mailingId, email } : undefined;
    },
  };
}

/** What a token names before its signature. */
const textIn = (token: string) => Buffer.from(token.slice(0, -SIGNATURE_LENGTH - 1), 'base64url').toString();

function isEqual(token: string, expectedToken: string): boolean {
  const [given, expected] = [Buffer.from(token), Buffer.from(expectedToken)];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** One email may ask for several newsletters; each of them has a row with its own hash. */
export function requestHash(token: string, campaignId: string): Buffer {
  return secretHash(`${token} ${campaignId.toUpperCase()}`);
}

export interface NewsletterUrls {
  confirm: (requestId: string) => string;
  unsubscribe: string;
}

/** The links in an email to `to`. */
export function newsletterUrls(
  tokens: NewsletterTokens,
  { shopId, storefront, locale, to }: Pick<EmailContext, 'shopId' | 'storefront' | 'locale' | 'to'>,
): NewsletterUrls {
  const language = locale === undefined ? '' : `locale=${locale}&`;
  return {
    confirm: (requestId) =>
      `${storefront}/newsletter/confirm?${language}token=${tokens.confirming(shopId, requestId)}`,
    unsubscribe: `${storefront}/newsletter/unsubscribe?${language}token=${tokens.unsubscribing(shopId, to)}`,
  };
}

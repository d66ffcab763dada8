import type { EmailSender } from '../../shops/email/shop.ts';
import { newsletterTokens } from '../../people/newsletters/links.ts';

export const UNSUBSCRIBE_PATH = '/newsletter/unsubscribe/mailing';

/**
 * Where a recipient of a mailing unsubscribes. The link names the mailing and the address, and is signed, so it can't be
 * guessed; it works for as long as the installation has its key.
 */
export function unsubscribeUrl(
  { installationKey, storefront, settings }: Pick<EmailSender, 'installationKey' | 'storefront' | 'settings'>,
  mailingId: string,
  { email, locale }: { email: string; locale: string },
): string {
  const token = newsletterTokens(installationKey).unsubscribingFrom(settings.shopId, mailingId, email);
  const language = locale === settings.defaultLocale ? '' : `locale=${locale}&`;
  return `${storefront}${UNSUBSCRIBE_PATH}?${language}token=${token}`;
}

import type { EmailContext } from '../platform/email/kind.ts';
import { idTokens, type IdTokens } from '../platform/id-tokens.ts';

/**
 * The token of `/reviews/{token}` opens the reviews of what an order has brought, and nothing else of the order: people
 * pass such links on.
 */
export const reviewTokens = (installationKey: Buffer): IdTokens =>
  idTokens(installationKey, 'kontor review links');

export function reviewUrl(
  { installationKey, shopId, storefront, locale }: EmailContext,
  orderId: string,
  path: '' | '/stop' = '',
): string {
  const language = locale === undefined ? '' : `?locale=${locale}`;
  return `${storefront}/reviews/${reviewTokens(installationKey).token(shopId, orderId)}${path}${language}`;
}

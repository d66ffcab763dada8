import type { EmailContext } from '../platform/email/kind.ts';
import { idTokens } from '../platform/id-tokens.ts';

/**
 * The token of `/order/{token}` shows an order to its holder: the customer, guests included, who gets it with every
 * email about the order.
 */
export interface OrderTokens {
  token(shopId: string, orderId: string): string;
  /** The order that the token opens; undefined: the token is not valid in this shop. */
  orderId(shopId: string, token: string): string | undefined;
}

export function orderTokens(installationKey: Buffer): OrderTokens {
  const tokens = idTokens(installationKey, 'kontor order links');
  return {
    token: (shopId, orderId) => tokens.token(shopId, orderId),
    orderId: (shopId, token) => tokens.id(shopId, token),
  };
}

/** The address of the order's page, or of one below it, for emails. */
export function orderUrl(
  { installationKey, shopId, storefront, locale }: EmailContext,
  orderId: string,
  path: '' | '/withdraw' = '',
): string {
  const language = locale === undefined ? '' : `?locale=${locale}`;
  return `${storefront}/order/${orderTokens(installationKey).token(shopId, orderId)}${path}${language}`;
}

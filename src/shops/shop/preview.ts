import { createHmac, hkdfSync } from 'node:crypto';
import type { Settings } from '../settings/settings.ts';

/** The token in the preview link of a shop. */
export type PreviewToken = (shop: Pick<Settings, 'shopId' | 'previewSeed'>) => string;

/**
 * A token belongs to one shop and is derived from the installation key, so that neither the database nor a backup holds
 * it, and a copy of the shop under another id has another one. The merchant ends it by a new seed.
 */
export function previewTokens(installationKey: Buffer): PreviewToken {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'kontor preview links', 32));
  return ({ shopId, previewSeed }) =>
    createHmac('sha256', key)
      .update(`${shopId} ${previewSeed ?? ''}`)
      .digest('base64url');
}

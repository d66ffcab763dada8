import type { WithdrawalExclusion } from '../catalogue/products/facts.ts';
import type { ContentLine } from '../pricing/content.ts';
import { millionths } from './quantities.ts';

/** The right ends with a broken seal or by mixing, which the seller does not see. */
const ENDS_UNSEEN: readonly WithdrawalExclusion[] = ['hygiene', 'mixed', 'sealedMedia'];

/**
 * Whether the customer may withdraw from a line, of which this quantity (in millionths) was sent, or performed.
 * Directive 2011/83/EU, article 16. The seller can't know whether a seal was broken or goods were mixed, so the
 * declaration stays possible, and the merchant examines what comes back. Digital content and services keep the right
 * until they begin, or are performed, with the consent of the customer; without a consent they keep it.
 */
export function hasWithdrawalRight(
  {
    withdrawalExcluded,
    withdrawalConsent,
    quantity,
  }: Pick<ContentLine, 'withdrawalExcluded' | 'withdrawalConsent' | 'quantity'>,
  sent: number,
): boolean {
  if (withdrawalExcluded === undefined || ENDS_UNSEEN.includes(withdrawalExcluded)) return true;
  if (withdrawalExcluded === 'digitalContent') return !withdrawalConsent || sent === 0;
  if (withdrawalExcluded === 'servicePerformed') return !withdrawalConsent || sent < millionths(quantity);
  return false;
}

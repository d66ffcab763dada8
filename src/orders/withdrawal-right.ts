import type { ContentLine } from '../pricing/content.ts';
import { millionths } from './quantities.ts';

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
  switch (withdrawalExcluded) {
    case undefined:
    case 'hygiene':
    case 'mixed':
    case 'sealedMedia':
      return true;
    case 'digitalContent':
      return !withdrawalConsent || sent === 0;
    case 'servicePerformed':
      return !withdrawalConsent || sent < millionths(quantity);
    case 'madeToMeasure':
    case 'perishable':
    case 'periodical':
    case 'urgentRepair':
    case 'leisureOnDate':
    case 'alcoholPricedLater':
    case 'marketPrice':
    case 'publicAuction':
      return false;
  }
}

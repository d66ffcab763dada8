import { Refusal } from '../../http/errors.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { missingSellerFields } from '../../shops/shop/readiness.ts';

/**
 * A document must name the seller (§ 14 (4) UStG, EN 16931) and can't be changed later, so it is refused before a number
 * is taken or anything is written.
 */
export function refuseIncompleteSeller(settings: Settings): void {
  const missing = missingSellerFields(settings);
  if (missing.length === 0) return;
  throw new Refusal('SELLER_INCOMPLETE', {
    missing: missing.map((field) =>
      field === 'invoicing.vatId' ? 'invoicing.vatId or invoicing.taxNumber' : field,
    ),
    page: `/admin/shops/${settings.shopId}/settings/invoices#field-${missing[0]}`,
  });
}

import { HttpError } from '../../http/errors.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { missingSellerFields } from '../../shops/shop/readiness.ts';

/** A document can't be made, because the shop lacks facts about the seller that every document must name. */
export class SellerIncomplete extends HttpError {
  override name = 'SellerIncomplete';
  readonly code = 'SELLER_INCOMPLETE';
  /** The names of the settings: `invoicing.street`. */
  readonly missing: readonly string[];

  constructor(shopId: string, missing: readonly string[]) {
    const names = missing.map((field) =>
      field === 'invoicing.vatId' ? 'invoicing.vatId or invoicing.taxNumber' : field,
    );
    super(
      409,
      `SELLER_INCOMPLETE: invoices and credit notes must name the seller, and the shop lacks ${names.join(', ')}. ` +
        `Set it in the admin: /admin/shops/${shopId}/settings/invoices#field-${missing[0]}`,
    );
    this.missing = missing;
  }
}

/** Nothing is numbered or written before: a document can't be changed later (§ 14 (4) UStG, EN 16931). */
export function refuseIncompleteSeller(settings: Settings): void {
  const missing = missingSellerFields(settings);
  if (missing.length > 0) throw new SellerIncomplete(settings.shopId, missing);
}

/**
 * Why a supply is taxed as it is:
 * - `domestic`: with the rates of the shop's country, also below the threshold of distance sales,
 * - `oss`: a distance sale with the rates of its destination, declared through the One Stop Shop,
 * - `local`: with the rates of its destination, where the shop has a VAT number of its own,
 * - `intraCommunity`: goods to a business in another member state (category K of EN 16931),
 * - `reverseCharge`: services to a business in another member state (AE),
 * - `export`: to a country outside the European Union (G),
 * - `smallBusiness`: the shop charges no tax (E),
 * - `voucher`: a gift card that is sold: what is bought with it is taxed (article 30b), so the sale is not (E).
 */
export const TAX_TREATMENTS = [
  'domestic',
  'oss',
  'local',
  'intraCommunity',
  'reverseCharge',
  'export',
  'smallBusiness',
  'voucher',
] as const;
export type TaxTreatment = (typeof TAX_TREATMENTS)[number];

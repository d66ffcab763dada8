import { isInEu } from '../shops/countries/countries.ts';
import type { TaxType } from '../http/price.ts';
import { inTaxType } from '../catalogue/products/prices.ts';
import { scaled } from '../kernel/money.ts';
import type { TaxClass } from '../shops/settings/settings.ts';
import type { ShopRules } from './input.ts';

/** The product's own class, or else the shop's default. */
export function taxClassFor(
  taxClassId: string | null,
  { taxClasses }: Pick<ShopRules, 'taxClasses'>,
): TaxClass {
  return taxClasses.find((one) => one.taxClassId === taxClassId) ?? taxClasses.find((one) => one.isDefault)!;
}

/**
 * Basis points for goods to this country: the rate of the class there, else that of the shop's own country; none on
 * exports out of the European Union, if the shop is set so.
 */
export function taxRateIn(taxClass: TaxClass, country: string, shop: ShopRules): number {
  if (country !== shop.country && shop.taxFreeOutsideEu && !isInEu(country)) return 0;
  return taxClass.rates[country] ?? taxClass.rates[shop.country] ?? 0;
}

/**
 * A price of the shop in the tax type of a cart. Both directions use the rate of the country that the goods go to,
 * because that is the rate they are taxed with: with any other, the tax type of a cart would change what is paid.
 */
export function toTaxBasis(
  taxType: TaxType,
  minor: number,
  taxClass: TaxClass,
  country: string,
  shop: ShopRules,
): number {
  return inTaxType(minor, taxRateIn(taxClass, country, shop), shop.taxModel, taxType);
}

/** The tax in a gross amount, or on a net one: one rounding, half up. */
export function taxOn(minor: number, rate: number, taxType: TaxType): number {
  switch (taxType) {
    case 'GROSS':
      return scaled(minor, rate, 10_000 + rate);
    case 'NET':
      return scaled(minor, rate, 10_000);
    case 'NONE':
      return 0;
  }
}

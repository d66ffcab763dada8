import { isInEu } from '../countries/countries.ts';
import type { TaxType } from '../http/price.ts';
import { scaled } from '../money.ts';
import type { TaxClass } from '../shop/settings.ts';
import type { ShopRules } from './facts.ts';

/** The class of a product that names one; else the shop's default. */
export function taxClassFor(
  taxClassId: string | null,
  { taxClasses }: Pick<ShopRules, 'taxClasses'>,
): TaxClass {
  return taxClasses.find((one) => one.taxClassId === taxClassId) ?? taxClasses.find((one) => one.isDefault)!;
}

/**
 * Basis points for goods that go to this country: the rate of the class there, else that of the shop's own country;
 * none on exports out of the European Union, when the shop says so.
 */
export function taxRateIn(taxClass: TaxClass, country: string, shop: ShopRules): number {
  if (country !== shop.country && shop.taxFreeOutsideEu && !isInEu(country)) return 0;
  return taxClass.rates[country] ?? homeRate(taxClass, shop);
}

function homeRate(taxClass: TaxClass, { country }: Pick<ShopRules, 'country'>): number {
  return taxClass.rates[country] ?? 0;
}

/**
 * A price of the shop in the terms of a cart. Gross prices hold the tax of the shop's own country, so that is what a
 * net cart leaves out; a gross cart in a net shop adds the tax of the country that the goods go to.
 */
export function inTermsOf(
  taxType: TaxType,
  minor: number,
  taxClass: TaxClass,
  country: string,
  shop: ShopRules,
): number {
  if (taxType === 'NET' && shop.taxModel === 'GROSS') {
    return scaled(minor, 10_000, 10_000 + homeRate(taxClass, shop));
  }
  if (taxType === 'GROSS' && shop.taxModel === 'NET') {
    return scaled(minor, 10_000 + taxRateIn(taxClass, country, shop), 10_000);
  }
  return minor;
}

/** The tax that a gross amount holds, or that is added to a net one: one rounding, half up. */
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

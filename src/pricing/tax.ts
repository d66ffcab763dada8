import type { TaxType } from '../http/price.ts';
import { inTaxType } from '../catalogue/products/prices.ts';
import { scaled } from '../kernel/money.ts';
import type { Settings, TaxClass } from '../shops/settings/settings.ts';
import { regionalVat, standardVat } from '../shops/taxes/vat-rates.ts';
import type { ShopRules } from './input.ts';
import { decideTax, type TaxedSale, type TaxRules } from './tax-treatment.ts';
import { type TaxTreatment } from '../shops/taxes/treatments.ts';

/** The product's own class, or else the shop's default. */
export function taxClassFor(
  taxClassId: string | null,
  { taxClasses }: Pick<ShopRules, 'taxClasses'>,
): TaxClass {
  return taxClasses.find((one) => one.taxClassId === taxClassId) ?? taxClasses.find((one) => one.isDefault)!;
}

/** How a tax class is taxed in a sale. Rates are in basis points. */
export interface AppliedTax {
  taxClass: TaxClass;
  taxRate: number;
  /**
   * The rate in the gross prices of the shop. It differs from `taxRate` where the tax is taken off: a business in
   * another member state pays the price without the tax that would be due at home.
   */
  priceRate: number;
  /** undefined: an order from before it was stored. */
  treatment: TaxTreatment | undefined;
}

export function appliedTax(taxClass: TaxClass, sale: TaxedSale, shop: TaxSettings): AppliedTax {
  const { treatment, rateCountry, rateRegion } = decideTax(taxClass, sale, shop);
  const homeRate = taxClass.rates[shop.country] ?? 0;
  switch (treatment) {
    case 'domestic':
      return { taxClass, taxRate: homeRate, priceRate: homeRate, treatment };
    case 'oss':
    case 'local': {
      const ofCountry = rateThere(taxClass, rateCountry, homeRate);
      const taxRate = rateRegion ? regionalVat(rateRegion, ofCountry) : ofCountry;
      return { taxClass, taxRate, priceRate: taxRate, treatment };
    }
    case 'smallBusiness':
      return { taxClass, taxRate: 0, priceRate: 0, treatment };
    case 'intraCommunity':
    case 'reverseCharge':
    case 'export': {
      const isAsShown = treatment === 'export' && shop.exportPrices === 'asShown';
      return { taxClass, taxRate: 0, priceRate: isAsShown || shop.smallBusiness ? 0 : homeRate, treatment };
    }
  }
}

/**
 * A gift card is sold without tax, wherever it goes: it is a voucher for goods of several rates, so tax is due when it is
 * redeemed (Directive 2006/112/EC, article 30b). Nothing is delivered.
 */
export function voucherTax(shop: Pick<ShopRules, 'taxClasses'>): AppliedTax {
  const taxClass: TaxClass = { ...taxClassFor(null, shop), digital: false, supply: 'services' };
  return { taxClass, taxRate: 0, priceRate: 0, treatment: 'voucher' };
}

type TaxSettings = TaxRules & Pick<ShopRules, 'exportPrices'>;

/**
 * Whether consumers in a country that the shop delivers to pay the tax of that country, at another rate than at home.
 * Then the rate beside a price is only that of the shop's own country.
 */
export function taxVariesByCountry(
  shop: TaxSettings & Pick<Settings, 'countries' | 'taxClasses'>,
  taxClasses: readonly TaxClass[] = shop.taxClasses,
): boolean {
  return taxClasses.some((taxClass) =>
    shop.countries.some((country) => {
      const sale = { destination: { country, zipCode: null }, isPickup: false, vatNumber: null };
      const { treatment, taxRate } = appliedTax(taxClass, sale, shop);
      const isThere = treatment === 'oss' || treatment === 'local';
      return isThere && taxRate !== taxClass.rates[shop.country];
    }),
  );
}

/**
 * A class without a rate for a country has the country's standard rate: which of the reduced ones applies to its goods
 * is not known, and too little tax would be the shop's loss. A class that is free of tax at home stays so.
 */
function rateThere({ rates }: TaxClass, country: string, homeRate: number): number {
  return rates[country] ?? (homeRate === 0 ? 0 : (standardVat(country) ?? homeRate));
}

export type Rates = Pick<AppliedTax, 'taxRate' | 'priceRate'>;

/**
 * A price of the shop as a cart of this tax type shows it. Both directions use the rate that is in the price, which is
 * the one it is taxed with: with any other, the tax type of a cart would change what is paid.
 */
export function toShownPrice(minor: number, tax: Rates, model: Model, taxType: TaxType): number {
  return inTaxType(minor, tax.priceRate, model, priceType(tax, taxType));
}

/** A price that a cart shows, in the tax model of the shop. */
export function toShopPrice(minor: number, tax: Rates, taxType: TaxType, model: Model): number {
  return inTaxType(minor, tax.priceRate, priceType(tax, taxType), model);
}

export type Model = ShopRules['taxModel'];

/** Where the tax is taken off the price, a gross amount is the same as a net one. */
export function priceType({ taxRate, priceRate }: Rates, taxType: TaxType): TaxType {
  return taxType === 'GROSS' && taxRate !== priceRate ? 'NET' : taxType;
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

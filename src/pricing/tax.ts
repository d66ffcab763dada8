import type { TaxType } from '../http/price.ts';
import { inTaxType } from '../catalogue/products/prices.ts';
import { scaled } from '../kernel/money.ts';
import type { Settings, TaxClass } from '../shops/settings/settings.ts';
import { regionalVat, standardVat } from '../shops/taxes/vat-rates.ts';
import type { ShopRules } from './input.ts';
import type { TaxTreatment } from '../shops/taxes/treatments.ts';
import { isInEu } from '../shops/countries/countries.ts';
import {
  type Place,
  type TaxRegion,
  type TaxTerritory,
  taxTerritoryOf,
  vatStateOf,
} from '../shops/countries/tax-territories.ts';

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

/** The kinds of supply that tax law tells apart. Digital ones, such as downloads, are services that need no delivery. */
export type SupplyKind = 'goods' | 'services' | 'digital';

/** The facts of a sale that its taxes depend on. */
export interface TaxedSale {
  /** The delivery address, else the billing address; null: unknown, so the shop's own country applies. */
  destination: Place | null;
  /** The goods are handed over where the shop is. */
  isPickup: boolean;
  /** A number that the tax authorities have confirmed; null: a consumer, or not confirmed. */
  vatNumber: string | null;
}

export interface TaxDecision {
  treatment: Exclude<TaxTreatment, 'voucher'>;
  /** The country whose rates apply; without tax, the shop's own. */
  rateCountry: string;
  /** A part of that country with rates of its own. */
  rateRegion?: TaxRegion;
}

export type TaxRules = Pick<
  Settings,
  | 'country'
  | 'taxFreeOutsideEu'
  | 'smallBusiness'
  | 'distanceSales'
  | 'taxRegistrations'
  | 'specialTerritories'
>;

type TaxedClass = Pick<TaxClass, 'digital' | 'supply' | 'rates'>;

/**
 * Who is taxed how. The table of `docs/taxes.md` has a line for each case.
 *
 * Articles are those of Directive 2006/112/EC. An unconfirmed VAT number counts as none, so that no tax is lost by a
 * number that does not exist.
 */
export function decideTax(taxClass: TaxedClass, sale: TaxedSale, shop: TaxRules): TaxDecision {
  const kind: SupplyKind = taxClass.digital ? 'digital' : taxClass.supply;
  const atHome = homeDecision(shop);
  const territory = territoryOf(kind, sale, shop);
  const isEuShop = isInEu(shop.country);
  const buyer = sale.vatNumber === null ? null : vatStateOf(sale.vatNumber);

  if (kind !== 'goods' && buyer) {
    // Article 44: a service to a business is taxed where the business is, wherever its address of delivery is.
    if (buyer.country === shop.country) return atHome;
    if (isEuShop && buyer.isInEu.services) return untaxed('reverseCharge', shop);
    if (buyer.country === territory.country && !territory.isInEu.services) return abroad(atHome, shop);
  }
  // Article 45: other services to consumers are taxed where the shop is.
  if (kind === 'services') return atHome;
  if (territory.country === shop.country && !territory.isApart) return atHome;

  const isInUnion = isEuShop && territory.isInEu[kind === 'goods' ? 'goods' : 'services'];
  if (!isInUnion) return decideOutside(taxClass, territory, shop);
  if (kind === 'goods' && buyer?.isInEu.goods) {
    // Article 138 demands a number of another state than the one the goods leave from. A small business may not
    // deliver free of tax (article 139).
    return buyer.country === shop.country || shop.smallBusiness ? atHome : untaxed('intraCommunity', shop);
  }
  return decideDistanceSale(taxClass, territory, shop);
}

/** Goods, and digital supplies, to consumers in another state of the European Union (articles 33, 58 and 59c). */
function decideDistanceSale(
  { rates }: TaxedClass,
  { country, region }: TaxTerritory,
  shop: TaxRules,
): TaxDecision {
  const isRegistered = country in shop.taxRegistrations;
  const atDestination = (treatment: 'oss' | 'local') => ({
    treatment,
    rateCountry: country,
    ...(region && { rateRegion: region }),
  });
  // The exemption of a small business is one of its own state.
  switch (shop.distanceSales) {
    case 'oss':
      return atDestination('oss');
    case 'origin':
      return isRegistered ? atDestination('local') : homeDecision(shop);
    case 'rates':
      if (isRegistered) return atDestination('local');
      return rates[country] === undefined || shop.smallBusiness ? homeDecision(shop) : atDestination('oss');
  }
}

function decideOutside(
  { rates }: TaxedClass,
  { country, isApart, isInEu: isInUnion }: TaxTerritory,
  shop: TaxRules,
): TaxDecision {
  const isRegistered = country in shop.taxRegistrations && !isApart;
  if (isRegistered) return { treatment: 'local', rateCountry: country };
  // A shop outside of the Union that follows its table of rates charges those of the states of the Union.
  const isByTable = shop.distanceSales === 'rates' && !isInEu(shop.country) && isInUnion.goods;
  const isExempt = shop.taxFreeOutsideEu && !isByTable;
  if (isExempt) return abroad(homeDecision(shop), shop);
  const hasRate = shop.distanceSales === 'rates' && rates[country] !== undefined && !isApart;
  return hasRate && !shop.smallBusiness ? { treatment: 'local', rateCountry: country } : homeDecision(shop);
}

function territoryOf(kind: SupplyKind, { destination, isPickup }: TaxedSale, shop: TaxRules): TaxTerritory {
  // Goods that are not handed over there are supplied to the customer's address, unless the shop follows its table of rates.
  const isHere = isPickup && (kind === 'goods' || shop.distanceSales === 'rates');
  const { country, zipCode } =
    destination && !isHere ? destination : { country: shop.country, zipCode: null };
  if (shop.specialTerritories) return taxTerritoryOf({ country, zipCode });
  const isMember = isInEu(country);
  return { country, isApart: false, isInEu: { goods: isMember, services: isMember } };
}

const homeDecision = ({ country, smallBusiness }: TaxRules): TaxDecision => ({
  treatment: smallBusiness ? 'smallBusiness' : 'domestic',
  rateCountry: country,
});

const untaxed = (treatment: TaxDecision['treatment'], { country }: TaxRules): TaxDecision => ({
  treatment,
  rateCountry: country,
});

/** The invoice of a small business always names its own exemption. */
const abroad = (atHome: TaxDecision, shop: TaxRules) =>
  shop.smallBusiness ? atHome : untaxed('export', shop);

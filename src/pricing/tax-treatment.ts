import { isInEu } from '../shops/countries/countries.ts';
import {
  taxTerritoryOf,
  vatStateOf,
  type Place,
  type TaxRegion,
  type TaxTerritory,
} from '../shops/countries/tax-territories.ts';
import type { Settings, TaxClass } from '../shops/settings/settings.ts';
import type { TaxTreatment } from '../shops/taxes/treatments.ts';

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

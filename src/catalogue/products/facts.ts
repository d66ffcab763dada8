import type { Localised } from '../../http/locale.ts';
import type { UnitKey } from '../../kernel/units.ts';

export type ProductKind = 'regular' | 'master' | 'variation';

/** Minor units by currency: {"EUR": 990}. A currency that is missing is converted with the shop's rate. */
export type Prices = Readonly<Record<string, number>>;

/** A unit price from a minimum quantity on. Quantities are decimals as text: "0.5". */
export interface PriceTier {
  quantity: string;
  prices: Prices;
}

export interface GroupPrices {
  customerGroupId: string;
  /** `discount` in basis points is taken off the tier's prices. */
  tiers: (PriceTier & { discount: number })[];
}

/** The prices of a product in a price list of the settings. */
export interface ListPrices {
  priceListId: string;
  /** Ascending. */
  tiers: PriceTier[];
}

/**
 * The safety information that an offer must show: Regulation (EU) 2023/988, article 19. The responsible person is
 * established in the Union, and needed where the manufacturer is not.
 */
export interface ProductSafety {
  manufacturer?: SafetyParty;
  responsiblePerson?: SafetyParty;
  /** Warnings and safety information. */
  text?: Localised;
}

export interface SafetyParty {
  name: string;
  /** The postal address. */
  address: string;
  /** The electronic address: of email, or of a website. */
  contact: string;
}

/**
 * Why a consumer can't withdraw from the purchase, or loses the right: article 16 of the Consumer Rights Directive
 * (2011/83/EU), each with its letter. The first three are the ones that most shops need.
 */
export const WITHDRAWAL_LETTERS = {
  madeToMeasure: 'c',
  perishable: 'd',
  periodical: 'j',
  hygiene: 'e',
  mixed: 'f',
  sealedMedia: 'i',
  digitalContent: 'm',
  servicePerformed: 'a',
  urgentRepair: 'h',
  leisureOnDate: 'l',
  alcoholPricedLater: 'g',
  marketPrice: 'b',
  publicAuction: 'k',
} as const;
export type WithdrawalExclusion = keyof typeof WITHDRAWAL_LETTERS;
export const WITHDRAWAL_EXCLUSIONS = Object.keys(WITHDRAWAL_LETTERS) as WithdrawalExclusion[];

/**
 * A commercial guarantee of durability by the producer: free of charge, for the whole product, and longer than the two
 * years of the seller's legal guarantee (Directive 2011/83/EU, article 2 (14a)).
 */
export interface DurabilityGuarantee {
  /** In half years. */
  years: number;
  brand: string;
  /** The model identifier. */
  model: string;
  /** Who gives it: the name and the postal address. */
  guarantor: string;
  address: string;
  /** Where its terms can be read. */
  termsUrl: string;
}

/** A statement on the environmental benefit of a product. It is never shown without its source. */
export interface EnvironmentalClaim {
  claim: string;
  /** What backs it up: a certificate, a test report, or the address of either. */
  source: string;
}

export const ATTRIBUTE_TYPES = ['string', 'number', 'bool', 'datetime', 'time', 'url'] as const;
export type AttributeType = (typeof ATTRIBUTE_TYPES)[number];

/** A custom attribute. One without values was removed: its key stays. */
export interface ProductAttribute {
  key: string;
  name: Localised;
  type: AttributeType;
  singleValue: boolean;
  values: { value: string; name: Localised }[];
}

/**
 * The merchant's data about a product, as in the column `facts`. A missing key is unset; on a variation it is
 * inherited from the master. Money in minor units, lengths in mm.
 */
export interface ProductFacts {
  name?: Localised;
  shortDescription?: Localised;
  description?: Localised;
  title?: Localised;
  essentialFeatures?: Localised;
  searchKeywords?: Readonly<Record<string, readonly string[]>>;
  /** The last part of the product's address in the storefront, if it is not the number. */
  uri?: Localised;
  manufacturer?: string;
  manufacturerProductNumber?: string;
  upc?: string;
  ean?: string;
  productCode?: string;
  /** Days as text: `3-5`. */
  deliveryPeriod?: string;
  deliveryWeight?: { amount: number; unit: UnitKey };
  length?: number;
  width?: number;
  height?: number;
  manufacturerPrices?: Prices;
  depositPrices?: Prices;
  ecoParticipationPrices?: Prices;
  /** Added to the cost of the delivery, for each unit: bulky goods. */
  shippingSurcharge?: Prices;
  /**
   * The lowest price of the 30 days before the current reduction; missing: there is none. Belongs to the prices of
   * the row, so a variation without prices of its own has none either.
   */
  pricesBeforeReduction?: Prices;
  /** Ascending. */
  bulkPrices?: PriceTier[];
  groupPrices?: GroupPrices[];
  /** On a variation, they come before those of its master list by list. */
  listPrices?: ListPrices[];
  isNew?: boolean;
  /** When the label "new" ends. ISO 8601. */
  newUntil?: string;
  specialOffer?: boolean;
  isProductNumberVisible?: boolean;
  isVatInfoVisible?: boolean;
  isManufacturerPriceRrp?: boolean;
  isShippingLinkVisible?: boolean;
  /** A text that the customer may type. A `textLength` of 0: the merchant has set none. */
  customisation?: {
    textLength: number;
    /** In the default language of the shop; `headlines` has those of the others. */
    headline: string;
    headlines?: Localised;
    isRequired?: boolean;
    /** A customer may withdraw from it even with a text. Missing: goods with a text are made for the customer. */
    isWithdrawable?: boolean;
    /** The price of the text per unit; missing: none. */
    prices?: Prices;
  };
  /** The reference of a base price: 100 g of a content of 250 g. */
  reference?: { amount: number; unit: UnitKey; content: number };
  orderUnit?: { priceQuantity: number; unit: UnitKey; minimum: number; interval: number };
  /** The largest quantity in an order; missing: the shop's. */
  maxOrder?: number;
  /** It is sold beyond its counted stock; missing: it is not. */
  backorder?: BackorderTerms;
  /** Missing: the product has the right of withdrawal. */
  withdrawalExcluded?: WithdrawalExclusion;
  /** Where it differs from the manufacturer's in the settings. */
  safety?: ProductSafety;
  durabilityGuarantee?: DurabilityGuarantee;
  /** By locale. */
  environmentalClaims?: Readonly<Record<string, EnvironmentalClaim>>;
  /** `8.2`, of ten, or a class from `A` to `E`. */
  repairability?: string;
  /** The last day with software updates, `2031-12-31`, or the number of years from the purchase: `5`. */
  softwareUpdates?: string;
  /** The number in the European Product Registry for Energy Labelling. */
  eprelNumber?: string;
  /** The number of the customs tariff, 6 to 10 digits. */
  hsCode?: string;
  /** The country of origin for customs, ISO 3166-1 alpha-2. */
  originCountry?: string;
  /** The address of the digital product passport. */
  productPassport?: string;
  videos?: { type: 'YouTube' | 'Vimeo'; source: string }[];
  dataSheet?: { fileName: string; url: string };
  /** `classes`: one class, or the best and the worst: `B,D`. */
  energyLabel?: { classes: string; best: string; file: string };
  /** Missing: every shipping method. */
  shippingMethodIds?: string[];
  attributes?: ProductAttribute[];
  /** On a master: the attributes by which its variations differ, values in order. */
  variationAttributes?: { key: string; values: string[] }[];
  /** ISO 8601; before and after it is not for sale. */
  forSaleFrom?: string;
  forSaleUntil?: string;
  isBundle?: boolean;
  /** It is a gift card: customers choose its value within these bounds. Missing: it is not. */
  giftCard?: { minimum: Prices; maximum: Prices };
  /** What it consists of, which makes it a bundle; missing: it is one thing. */
  parts?: BundlePart[];
  /** Its price is the sum of its parts' prices, less so many basis points; missing: it has a price of its own. */
  partsDiscount?: number;
}

/** How a product is sold beyond its stock (`backorder`), or before it exists (`preorder`). */
export interface BackorderTerms {
  kind: 'backorder' | 'preorder';
  /** How many more than the stock may be promised to orders that wait at the same time. */
  limit: number;
  /** The day on which it is expected, `2027-03-01`. Of a pre-order always known. After it, nothing more is promised. */
  expectedOn?: string;
}

/** A part of a bundle. Of a master, the customer chooses a variation. */
export interface BundlePart {
  productId: string;
  /** In one bundle. */
  quantity: number;
}

/** A variation's own facts, with missing ones from its master. */
export function inheritedFacts(own: ProductFacts, master: ProductFacts | null): ProductFacts {
  if (!master) return own;
  const {
    pricesBeforeReduction: _before,
    variationAttributes: _attributes,
    parts: _parts,
    partsDiscount: _discount,
    ...inherited
  } = master;
  if (!own.listPrices || !master.listPrices) return { ...inherited, ...own };
  const ownLists = own.listPrices;
  const others = master.listPrices.filter(
    ({ priceListId }) => !ownLists.some((one) => one.priceListId === priceListId),
  );
  return { ...inherited, ...own, listPrices: [...ownLists, ...others] };
}

/** Only the keys that are set. */
export function factsOf(given: { [Key in keyof ProductFacts]: ProductFacts[Key] | undefined }): ProductFacts {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Sets or unsets one fact of a product. */
export function setFact<Key extends keyof ProductFacts>(
  product: { facts: ProductFacts },
  key: Key,
  value: ProductFacts[Key] | undefined,
): void {
  const { [key]: _old, ...others } = product.facts;
  product.facts = value === undefined ? others : { ...others, [key]: value };
}

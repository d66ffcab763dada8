import type { BenefitKind as CouponKind } from '../coupons/campaign.ts';
import type { Address } from '../shops/countries/address.ts';
import type { LegalContent, PageName } from '../shops/legal/schema.ts';

/*
 * What any shop has, as the readers of files and APIs say it and the writers take it. Amounts, rates and quantities are
 * decimals as text, because only the writer knows the currency; nothing is filled in that the source does not say.
 */

/** Where a record was read: a line of a file, or the address of a request. */
export interface SourcePlace {
  file: string;
  line: number | null;
}

interface AnyRecord {
  /** Its id in the other shop. */
  sourceId: string;
  place: SourcePlace;
  /** Addresses of its page in the other shop. */
  formerAddresses: readonly string[];
}

/** A text in the default language of the shop, or in several by locale. */
export type ImportedText = string | Readonly<Record<string, string>>;

export interface PictureRecord {
  address: string;
  text: string;
}

/** An item that is sold: a product without options, or one of the variants of a product. */
export interface OfferRecord {
  number: string;
  price: string;
  /** The price before a reduction; '': none. */
  listPrice: string;
  /** '': not counted. */
  stock: string;
  /** In grams; '': unknown. */
  weight: string;
  /** EAN, UPC or another code that is printed on it. */
  code: string;
}

export interface VariantRecord extends OfferRecord {
  /** A value for each option of the product. */
  values: readonly string[];
}

/** A fact about a product that customers read, and do not choose by. */
export interface AttributeRecord {
  name: string;
  values: readonly string[];
}

export interface ProductRecord extends AnyRecord {
  kind: 'product';
  offer: OfferRecord;
  name: ImportedText;
  description: ImportedText;
  shortDescription: ImportedText;
  pageTitle: ImportedText;
  keywords: ImportedText;
  isVisible: boolean;
  manufacturer: string;
  manufacturerNumber: string;
  /** A key or a rate of a tax class; '': the default. */
  taxClass: string;
  /** The names of the categories from the top, the main one first. */
  categories: readonly (readonly string[])[];
  pictures: readonly PictureRecord[];
  options: readonly string[];
  variants: readonly VariantRecord[];
  attributes: readonly AttributeRecord[];
  /** What of it does not come along; it is reported with its place. */
  remarks: readonly string[];
}

export interface CategoryRecord extends AnyRecord {
  kind: 'category';
  path: readonly string[];
  description: ImportedText;
}

export interface CustomerRecord extends AnyRecord {
  kind: 'customer';
  /** '': the next one. */
  number: string;
  createdAt: Date | undefined;
  address: Partial<Address>;
  tags: readonly string[];
  group: string;
  note: string;
  /** The consent to newsletters; `since` undefined: the source does not say since when. */
  newsletter: { since: Date | undefined } | undefined;
}

export interface OrderLineRecord {
  number: string;
  name: string;
  quantity: string;
  unitPrice: string;
  /** Off all units of the line. */
  discount: string;
  /** In percent; '': that of the order. */
  taxRate: string;
}

export interface OrderRecord extends AnyRecord {
  kind: 'order';
  number: string;
  createdAt: Date;
  currency: string;
  isTaxIncluded: boolean;
  lines: readonly OrderLineRecord[];
  /** Off the whole order, without the discounts of its lines. */
  discount: string;
  shipping: { name: string; price: string };
  payment: { name: string; price: string };
  /** The rate in percent, and the tax. */
  taxes: readonly { rate: string; tax: string }[];
  total: string;
  paidAmount: string;
  refundedAmount: string;
  paidAt: Date | undefined;
  dispatchedAt: Date | undefined;
  cancelledAt: Date | undefined;
  billingAddress: Partial<Address>;
  shippingAddress: Partial<Address> | undefined;
  comment: string;
  note: string;
  /** What of it is not in the source; it is reported with its place. */
  remarks?: readonly string[];
}

export interface CouponRecord extends AnyRecord {
  kind: 'coupon';
  /** Codes with the same terms. */
  codes: readonly string[];
  name: string;
  type: CouponKind;
  /** Of a price or in percent; '' for free delivery. */
  amount: string;
  /** '': the default currency of the shop here. */
  currency: string;
  isShippingFree: boolean;
  /** '': none, as of the uses. */
  minimum: string;
  usesPerCode: string;
  uses: string;
  validFrom: Date | undefined;
  validTo: Date | undefined;
  /** Ids in the source, or numbers; undefined: all. */
  products: readonly string[] | undefined;
  /** What of it does not come along; it is reported with its place. */
  remarks: readonly string[];
}

export interface LegalRecord extends AnyRecord {
  kind: 'legal';
  page: PageName;
  locale: string;
  content: LegalContent;
}

export interface RedirectRecord extends AnyRecord {
  kind: 'redirect';
  source: string;
  target: string;
}

export type ImportRecord =
  | ProductRecord
  | CategoryRecord
  | CustomerRecord
  | OrderRecord
  | CouponRecord
  | LegalRecord
  | RedirectRecord;
export type RecordKind = ImportRecord['kind'];

/** A record that can't be read; it is reported with its place. */
export interface RecordProblem {
  kind: 'problem';
  of: RecordKind;
  place: SourcePlace;
  text: string;
}

export type Read<Kind extends ImportRecord = ImportRecord> = Kind | RecordProblem;

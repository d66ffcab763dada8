import { dayOf } from '../../http/dates.ts';
import { typedText } from '../line-text.ts';
import { paymentReference } from '../bank-transfer.ts';
import { serviceParts, type Content, type ContentLine, type ContentTaxClass } from '../../pricing/content.ts';
import { sum } from '../../pricing/shares.ts';
import { taxOn } from '../../pricing/tax.ts';
import type { Address } from '../../shops/countries/address.ts';
import { messagesIn, type Messages } from '../../kernel/messages.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { UNITS } from '../../kernel/units.ts';
import { addresseeName } from './address-lines.ts';
import { electronicAddress, isLeitwegId, toVatNumber, type ElectronicAddress } from './electronic-address.ts';
import type { ElectronicFormat } from './electronic-format.ts';
import { isExport, type DocumentFacts } from './facts.ts';

/**
 * A document in the terms of EN 16931, whatever syntax it is written in: `cii.ts` and `ubl.ts` write it. Terms in
 * brackets (BT-1) are those of the standard. All amounts are without tax, in minor units; days are `2026-11-15`.
 */
export interface ElectronicDocument {
  format: ElectronicFormat;
  /** BT-1 to BT-3. */
  number: string;
  issuedOn: string;
  /** 380: invoice, 381: credit note, 384: corrected invoice. */
  typeCode: '380' | '381' | '384';
  currency: string;
  /** BT-22. */
  notes: string[];
  /** BT-10, BT-13, BT-14. */
  buyerReference: string | null;
  purchaseOrder: string | null;
  salesOrder: string;
  /** BG-3: the invoice that is credited or corrected. */
  preceding: { number: string; issuedOn: string } | null;
  seller: SellerParty;
  buyer: BuyerParty;
  /** BG-13 to BG-15. */
  delivery: { name: string; place: InvoicePlace } | null;
  /** BT-72 */
  suppliedOn: string | null;
  payment: InvoicePayment;
  lines: InvoiceLine[];
  /** BG-20, BG-21. */
  adjustments: Adjustment[];
  /** BG-23 */
  taxes: { category: InvoiceTaxCategory; basis: number; tax: number }[];
  /** BG-22 */
  totals: InvoiceTotals;
}

interface Party {
  name: string;
  place: InvoicePlace;
  /** With its prefix. */
  vatNumber: string | null;
  address: ElectronicAddress | null;
}

/** BG-4 */
export interface SellerParty extends Party {
  /** BT-32 */
  taxNumber: string | null;
  /** BT-33 */
  registration: string | null;
  /** BG-6 */
  contact: { name: string; phone: string | null; email: string };
}

/** BG-7 */
export type BuyerParty = Party;

export interface InvoicePlace {
  street: string | null;
  streetDetails: string | null;
  addressExtension: string | null;
  zipCode: string | null;
  city: string | null;
  state: string | null;
  country: string | null;
}

/** BG-16 */
export interface InvoicePayment {
  /** BT-81: 58 SEPA credit transfer, 30 credit transfer, 1 not specified. */
  code: '58' | '30' | '1';
  account: { iban: string; bic: string | null; holder: string } | null;
  /** BT-83 */
  reference: string;
  /** BT-20 */
  terms: string;
  /** BT-9 */
  dueOn: string | null;
}

/** BG-25 */
export interface InvoiceLine {
  position: number;
  productNumber: string;
  name: string;
  description: string | null;
  quantity: string;
  unitCode: string;
  /** BT-146 and BT-149; prices may have more decimals than amounts. */
  price: string;
  priceQuantity: string;
  amount: number;
  category: InvoiceTaxCategory;
}

/** Charges are positive, allowances negative. */
export interface Adjustment {
  reason: string;
  amount: number;
  category: InvoiceTaxCategory;
}

/** BT-118 to BT-121: S standard, Z at 0 %, E exempt, K intra-community, AE reverse charge, G exported. */
export interface InvoiceTaxCategory {
  code: 'S' | 'Z' | 'E' | 'K' | 'AE' | 'G';
  rate: number;
  /** Why there is no tax. */
  reason: string | null;
  reasonCode: string | null;
}

export interface InvoiceTotals {
  lines: number;
  charges: number;
  allowances: number;
  net: number;
  tax: number;
  gross: number;
  prepaid: number;
  payable: number;
}

export function electronicDocument(document: DocumentFacts, format: ElectronicFormat): ElectronicDocument {
  const { kind, number, issuedAt, terms, content } = document;
  const messages = messagesIn(terms.locale).documents;
  const { lines, ...amounts } = netAmounts(document, messages);
  const preceding = terms.invoice ?? terms.corrects ?? null;
  const { buyerReference, purchaseOrderNumber } = terms.buyer ?? {};
  const isIntraCommunity = amounts.taxes.some(({ category }) => category.code === 'K');
  const isCorrection = kind === 'Invoice' && preceding !== null && isBetweenGermans(document);
  return {
    format,
    number: String(number),
    issuedOn: dayOf(issuedAt),
    typeCode: kind === 'CreditNote' ? '381' : isCorrection ? '384' : '380',
    currency: content.currency,
    // Programs read no watermark.
    notes: [terms.sandbox && messages.sandboxNote, terms.note, terms.notes].filter(filled),
    // XRechnung and Peppol demand a reference: a buyer who gave none knows the order by its number.
    buyerReference: buyerReference ?? (format === 'zugferd' ? null : terms.orderNumber),
    purchaseOrder: purchaseOrderNumber ?? null,
    salesOrder: terms.orderNumber,
    preceding: preceding && { number: String(preceding.number), issuedOn: preceding.issuedOn },
    seller: sellerParty(document, format),
    buyer: buyerParty(document, format),
    delivery: deliveryOf(document, isIntraCommunity),
    // BR-IC-11: goods that go to another member state have a date, even if they were not shipped yet.
    suppliedOn: terms.suppliedOn ?? (isIntraCommunity ? dayOf(issuedAt) : null),
    payment: paymentOf(document, messages),
    lines: lines.map((amount, index) => lineOf(content.lines[index]!, amount, index + 1, document)),
    ...amounts,
  };
}

/** Peppol takes the code of a corrected invoice between German parties only; elsewhere the reference says it. */
function isBetweenGermans({ terms, address }: DocumentFacts): boolean {
  return terms.seller.country === 'DE' && address.country === 'DE';
}

function sellerParty({ terms: { seller } }: DocumentFacts, format: ElectronicFormat): SellerParty {
  const { name, street, zipCode, city, country, taxNumber, registration, phone, email } = seller;
  const vatNumber = toVatNumber(seller.vatId);
  return {
    name,
    place: placeOf({ street, zipCode, city, country }),
    vatNumber,
    address: electronicAddress({ email, vatNumber, routeId: null }, format),
    taxNumber: textOrNull(taxNumber),
    registration: textOrNull(registration),
    contact: { name, phone: textOrNull(phone), email },
  };
}

function buyerParty({ address, terms }: DocumentFacts, format: ElectronicFormat): BuyerParty {
  const vatNumber = toVatNumber(terms.buyer?.vatNumber ?? address.vatId);
  const reference = terms.buyer?.buyerReference ?? null;
  const routeId = reference !== null && isLeitwegId(reference) ? reference : null;
  return {
    name: addresseeName(address),
    place: placeOf(address),
    vatNumber,
    address: electronicAddress({ email: textOrNull(address.emailAddress), vatNumber, routeId }, format),
  };
}

/** BR-IC-12: goods that go to another member state have a destination, even if it is the address of the buyer. */
function deliveryOf(
  { terms, address }: DocumentFacts,
  isIntraCommunity: boolean,
): ElectronicDocument['delivery'] {
  const to = terms.delivery ?? (isIntraCommunity ? address : null);
  return to && filled(to.country) ? { name: addresseeName(to), place: placeOf(to) } : null;
}

function placeOf(
  place: Partial<Pick<Address, keyof InvoicePlace>> | { [Key in keyof InvoicePlace]?: string | undefined },
) {
  return {
    street: textOrNull(place.street),
    streetDetails: textOrNull(place.streetDetails),
    addressExtension: textOrNull(place.addressExtension),
    zipCode: textOrNull(place.zipCode),
    city: textOrNull(place.city),
    state: textOrNull(place.state),
    country: textOrNull(place.country),
  };
}

function paymentOf({ kind, terms, content }: DocumentFacts, words: Messages['documents']): InvoicePayment {
  const { bank, name } = terms.seller;
  return {
    code: bank ? (content.currency === 'EUR' ? '58' : '30') : '1',
    account: bank ? { iban: bank.iban.replaceAll(' ', ''), bic: textOrNull(bank.bic), holder: name } : null,
    reference: paymentReference(terms),
    terms: paymentTerms({ kind, terms, content }, words),
    dueOn: terms.isPaid ? null : terms.dueOn,
  };
}

function paymentTerms(
  { kind, terms, content }: Pick<DocumentFacts, 'kind' | 'terms' | 'content'>,
  words: Messages['documents'],
): string {
  if (kind === 'CreditNote') return words.credited;
  if (terms.isPaid) return words.paid;
  const method = content.payment?.method;
  const name = method
    ? anyText(method.name, terms.locale, terms.defaultLocale)
    : (content.payment?.name ?? null);
  return filled(name) ? words.labelled({ label: words.paidBy, text: name }) : words.asAgreed;
}

function lineOf(line: ContentLine, amount: number, position: number, document: DocumentFacts): InvoiceLine {
  const { terms, content } = document;
  const text = (texts: ContentLine['name'] | null) =>
    anyText(texts ?? undefined, terms.locale, terms.defaultLocale);
  const headline = text(line.customTextHeadline ?? null);
  const details = [
    text(line.variation),
    line.customText && typedText(line.customText, headline, terms.locale),
  ].filter(filled);
  return {
    position,
    productNumber: line.productNumber,
    name: [text(line.name), line.productNumber].find(filled) ?? String(position),
    description: details.length > 0 ? details.join(', ') : null,
    quantity: line.quantity,
    unitCode: UNITS[line.orderUnit.unit].code,
    ...priceOf(line, amount, content),
    amount,
    category: taxCategoryOf(line.taxClass, document),
  };
}

/** In units of the currency: the most by which an amount may differ from its price and quantity (PEPPOL-EN16931-R120). */
const MAX_DIFFERENCE = 0.02;

/**
 * The price without tax, with up to four decimals more than an amount. Where the rounding of the amount is more than
 * readers accept, as in currencies without decimals, the price is that of the whole quantity.
 */
function priceOf(
  line: ContentLine,
  amount: number,
  content: Content,
): Pick<InvoiceLine, 'price' | 'priceQuantity'> {
  const { quantity, orderUnit } = line;
  const priceQuantity = String(orderUnit.priceQuantity);
  const price = netPrice(line, content);
  const minor = 10 ** currencyDigits(content.currency);
  const expected = (Number(price) / orderUnit.priceQuantity) * Number(quantity);
  if (Math.abs(expected - amount / minor) < MAX_DIFFERENCE) return { price, priceQuantity };
  return { price: minorText(amount, content.currency), priceQuantity: quantity };
}

function netPrice(
  { quantityPrice, shopPrices, taxClass }: ContentLine,
  { currency, taxType, shopTaxModel }: Content,
): string {
  const digits = currencyDigits(currency);
  // The shop's price is exact; a price shown in another tax type is rounded.
  const asked = shopPrices?.quantityPrice ?? null;
  const { price, model } =
    asked === null ? { price: quantityPrice, model: taxType } : { price: asked, model: shopTaxModel };
  if (model !== 'GROSS') return minorText(price, currency);
  const net = (price * 10_000) / (10_000 + (taxClass.priceRate ?? taxClass.rate));
  return (net / 10 ** digits)
    .toFixed(digits + 4)
    .replace(/0{1,4}$/, '')
    .replace(/\.$/, '');
}

type TaxedAs = Pick<ContentTaxClass, 'rate' | 'treatment'>;

/** How an amount is taxed. Orders from before treatments were stored have none: it follows from rate and destination. */
export function taxCategoryOf(
  { rate, treatment }: TaxedAs,
  { terms, content }: Pick<DocumentFacts, 'terms' | 'content'>,
): InvoiceTaxCategory {
  const messages = messagesIn(terms.locale).documents;
  const untaxed = (
    code: InvoiceTaxCategory['code'],
    reason: string | null,
    reasonCode: string | null = null,
  ) => ({
    code,
    rate: 0,
    reason,
    reasonCode,
  });
  const exempt = () => untaxed('E', filled(terms.noTaxesMessage) ? terms.noTaxesMessage : messages.noTax);
  switch (treatment) {
    case 'intraCommunity':
      return untaxed('K', messages.intraCommunity, 'VATEX-EU-IC');
    case 'reverseCharge':
      return untaxed('AE', messages.reverseCharge, 'VATEX-EU-AE');
    case 'export':
      return untaxed('G', messages.export, 'VATEX-EU-G');
    case 'smallBusiness':
      return exempt();
    // Not O: such an invoice could hold nothing else (BR-O-11).
    case 'voucher':
      return untaxed('E', messages.voucher);
    case 'domestic':
    case 'oss':
    case 'local':
    case undefined:
  }
  const isTaxed = content.taxType !== 'NONE';
  if (isTaxed && rate > 0) return { code: 'S', rate, reason: null, reasonCode: null };
  if (treatment === undefined && isExport(terms)) return untaxed('G', messages.export, 'VATEX-EU-G');
  if (treatment === undefined && filled(terms.noTaxesMessage)) return exempt();
  return isTaxed ? untaxed('Z', null) : exempt();
}

/** The texts that say why parts of a document are not taxed, each once. */
export function exemptionTexts(document: Pick<DocumentFacts, 'terms' | 'content'>): string[] {
  const reasons = document.content.taxes.flatMap((tax) => taxCategoryOf(tax, document).reason ?? []);
  return [...new Set(reasons)];
}

interface NetAmounts extends Pick<ElectronicDocument, 'adjustments' | 'taxes' | 'totals'> {
  /** One per line of the content. */
  lines: number[];
}

/**
 * The amounts of the content without their tax. In the content the tax is rounded once per rate; here each amount must
 * be rounded separately, and all amounts of a category must sum to its basis (BR-CO-13, BR-S-08). The difference in
 * cents is a separate charge or allowance, called rounding.
 */
function netAmounts(document: DocumentFacts, words: Messages['documents']): NetAmounts {
  const { content, terms } = document;
  const { taxType } = content;
  const net = (amount: number, rate: number) =>
    taxType === 'GROSS' ? amount - taxOn(amount, rate, 'GROSS') : amount;
  const keyOf = (taxed: TaxedAs) => {
    const { code, rate } = taxCategoryOf(taxed, document);
    return `${code} ${rate}`;
  };
  const lines = content.lines.map(({ amount, taxClass }) => net(amount, taxClass.rate));
  const services = serviceParts(content);
  const taxed: TaxedAs[] = [...content.taxes, ...content.lines.map(({ taxClass }) => taxClass)];
  const categories = new Map(
    taxed
      .toSorted((left, right) => left.rate - right.rate)
      .map((one) => [keyOf(one), { category: taxCategoryOf(one, document), rate: one.rate }]),
  );
  const adjustments: Adjustment[] = [];
  const taxes: NetAmounts['taxes'] = [];
  for (const [key, { category, rate }] of categories) {
    const taxesOfKey = content.taxes.filter((one) => keyOf(one) === key);
    const amount = sum(taxesOfKey.map((one) => one.amount));
    const tax = sum(taxesOfKey.map((one) => one.tax));
    const basis = taxType === 'GROSS' ? amount - tax : amount;
    const ofKey = [...content.lines.entries()].filter(([, { taxClass }]) => keyOf(taxClass) === key);
    const all = (name: 'amount' | 'discountShare' | 'couponShare' | 'deposit' | 'ecoParticipation') =>
      sum(ofKey.map(([, line]) => line[name]));
    const share = (name: 'shipping' | 'payment') =>
      sum(services.filter(({ taxClass }) => keyOf(taxClass) === key).map((part) => part[name]));
    const extras: [string, number][] = [
      [words.basketDiscount, 0 - all('discountShare')],
      [words.coupon, 0 - all('couponShare')],
      [words.deposit, all('deposit')],
      [words.ecoParticipation, all('ecoParticipation')],
      [words.shipping, share('shipping')],
      [words.payment, share('payment')],
    ];
    // The difference to the amount of the rate is its share of a discount for the payment.
    extras.push([words.payment, amount - all('amount') - sum(extras.map(([, extra]) => extra))]);
    const charged = extras.map(([reason, extra]) => ({ reason, amount: net(extra, rate), category }));
    const rounding =
      basis - sum(ofKey.map(([index]) => lines[index]!)) - sum(charged.map((one) => one.amount));
    charged.push({ reason: words.rounding, amount: rounding, category });
    adjustments.push(...charged.filter((one) => one.amount !== 0));
    taxes.push({ category, basis, tax });
  }
  const prepaid = terms.isPaid ? content.grandTotal : (terms.giftCards ?? 0);
  const amounts = adjustments.map(({ amount }) => amount);
  return {
    lines,
    adjustments,
    taxes,
    totals: {
      lines: sum(lines),
      charges: sum(amounts.filter((amount) => amount > 0)),
      allowances: 0 - sum(amounts.filter((amount) => amount < 0)),
      net: content.totalBeforeTax,
      tax: content.totalTax,
      gross: content.grandTotal,
      prepaid,
      payable: content.grandTotal - prepaid,
    },
  };
}

/**
 * The settings and facts that a document lacks for a format, as the merchant knows them. A reader refuses a document
 * without them.
 */
export function missingFacts(document: DocumentFacts, format: ElectronicFormat): string[] {
  const { seller, buyer, taxes } = electronicDocument(document, format);
  const codes = taxes.map(({ category }) => category.code);
  const missing: string[] = [];
  const demand = (isThere: boolean, name: string) => {
    if (!isThere) missing.push(name);
  };
  // BR-IC-02, BR-G-02: goods that leave the country without tax need the VAT number of the seller.
  const needsVatNumber = codes.includes('K') || codes.includes('G') || format === 'peppol';
  if (needsVatNumber) demand(seller.vatNumber !== null, 'invoicing.vatId');
  else demand(seller.vatNumber !== null || seller.taxNumber !== null, 'invoicing.vatId or taxNumber');
  if (codes.includes('K') || codes.includes('AE')) demand(buyer.vatNumber !== null, 'billingAddress.vatId');
  if (format === 'xrechnung-cii' || format === 'xrechnung-ubl') {
    // BR-DE-3, 4, 6, 8, 9
    demand(seller.place.city !== null, 'invoicing.city');
    demand(seller.place.zipCode !== null, 'invoicing.zipCode');
    demand(seller.contact.phone !== null, 'invoicing.phone');
    demand(buyer.place.city !== null, 'billingAddress.city');
    demand(buyer.place.zipCode !== null, 'billingAddress.zipCode');
  }
  // PEPPOL-EN16931-R010 and R020
  if (format !== 'zugferd') {
    demand(seller.address !== null, 'invoicing.vatId');
    demand(
      buyer.address !== null,
      format === 'peppol' ? 'billingAddress.vatId' : 'billingAddress.emailAddress',
    );
  }
  return [...new Set(missing)];
}

export function filled(text: string | null | undefined): text is string {
  return text !== null && text !== undefined && text.trim() !== '';
}

const textOrNull = (text: string | null | undefined): string | null => (filled(text) ? text : null);

export function minorText(minor: number, currency: string): string {
  const digits = currencyDigits(currency);
  return (minor / 10 ** digits).toFixed(digits);
}

export const ratePercent = (rate: number) => (rate / 100).toFixed(2);

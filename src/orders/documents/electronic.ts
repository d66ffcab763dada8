import { paymentReference } from '../bank-transfer.ts';
import { typedText } from '../line-text.ts';
import { serviceParts, type Content, type ContentLine } from '../../pricing/content.ts';
import { ratesOf, sum } from '../../pricing/shares.ts';
import { taxOn } from '../../pricing/tax.ts';
import type { Address } from '../../shops/countries/address.ts';
import { messagesIn, type Messages } from '../../kernel/messages.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { UNITS } from '../../kernel/units.ts';
import { addresseeName } from './address-lines.ts';
import { dayOf, isExport, type DocumentFacts, type Seller } from './facts.ts';
import { element, xmlText, type XmlElement } from './xml.ts';

/**
 * A document as XML: Cross Industry Invoice, EN 16931 in the profile of the same name of Factur-X and ZUGFeRD. All
 * its amounts are without tax. Terms in brackets (BT-1) are those of the standard.
 */
export function electronicInvoice(document: DocumentFacts): string {
  const { kind, number, issuedAt, address, terms, content } = document;
  const words = messagesIn(terms.locale).documents;
  const amounts = netAmounts(document, words);
  const decimal = (minor: number) => decimalOf(minor, content.currency);
  const { totals } = amounts;
  const bank = terms.seller.bank;
  return xmlText(
    element(
      'rsm:CrossIndustryInvoice',
      [
        element('rsm:ExchangedDocumentContext', [
          element('ram:GuidelineSpecifiedDocumentContextParameter', [
            element('ram:ID', 'urn:cen.eu:en16931:2017'),
          ]),
        ]),
        element('rsm:ExchangedDocument', [
          element('ram:ID', String(number)),
          element('ram:TypeCode', kind === 'Invoice' ? '380' : '381'),
          element('ram:IssueDateTime', [day(dayOf(issuedAt))]),
          ...[terms.note, terms.notes].map((note) =>
            filled(note) ? element('ram:IncludedNote', [element('ram:Content', note)]) : null,
          ),
        ]),
        element('rsm:SupplyChainTradeTransaction', [
          ...content.lines.map((line, index) => lineOf(line, amounts.lines[index]!, index + 1, document)),
          element('ram:ApplicableHeaderTradeAgreement', [
            sellerParty(terms.seller),
            buyerParty('ram:BuyerTradeParty', address),
            element('ram:SellerOrderReferencedDocument', [
              element('ram:IssuerAssignedID', terms.orderNumber),
            ]),
          ]),
          element('ram:ApplicableHeaderTradeDelivery', [
            filled(terms.delivery?.country) ? shipToParty(terms.delivery) : null,
            terms.suppliedOn === null
              ? null
              : element('ram:ActualDeliverySupplyChainEvent', [
                  element('ram:OccurrenceDateTime', [day(terms.suppliedOn)]),
                ]),
          ]),
          element('ram:ApplicableHeaderTradeSettlement', [
            element('ram:PaymentReference', paymentReference(terms)),
            element('ram:InvoiceCurrencyCode', content.currency),
            // 58: SEPA credit transfer; 1: not specified.
            element('ram:SpecifiedTradeSettlementPaymentMeans', [
              element('ram:TypeCode', bank ? '58' : '1'),
              bank
                ? element('ram:PayeePartyCreditorFinancialAccount', [
                    element('ram:IBANID', bank.iban.replaceAll(' ', '')),
                    element('ram:AccountName', terms.seller.name),
                  ])
                : null,
              bank?.bic
                ? element('ram:PayeeSpecifiedCreditorFinancialInstitution', [element('ram:BICID', bank.bic)])
                : null,
            ]),
            ...amounts.taxes.map(({ category, basis, tax }) =>
              element('ram:ApplicableTradeTax', [
                element('ram:CalculatedAmount', decimal(tax)),
                element('ram:TypeCode', 'VAT'),
                category.reason === null ? null : element('ram:ExemptionReason', category.reason),
                element('ram:BasisAmount', decimal(basis)),
                element('ram:CategoryCode', category.code),
                category.code === 'G' ? element('ram:ExemptionReasonCode', 'VATEX-EU-G') : null,
                element('ram:RateApplicablePercent', percent(category.rate)),
              ]),
            ),
            ...amounts.adjustments.map(({ reason, amount, category }) =>
              element('ram:SpecifiedTradeAllowanceCharge', [
                element('ram:ChargeIndicator', [element('udt:Indicator', String(amount > 0))]),
                element('ram:ActualAmount', decimal(Math.abs(amount))),
                element('ram:Reason', reason),
                element('ram:CategoryTradeTax', taxCategory(category)),
              ]),
            ),
            element('ram:SpecifiedTradePaymentTerms', [
              element('ram:Description', paymentTerms(document, words)),
              terms.dueOn === null || terms.isPaid
                ? null
                : element('ram:DueDateDateTime', [day(terms.dueOn)]),
            ]),
            element('ram:SpecifiedTradeSettlementHeaderMonetarySummation', [
              element('ram:LineTotalAmount', decimal(totals.lines)),
              element('ram:ChargeTotalAmount', decimal(totals.charges)),
              element('ram:AllowanceTotalAmount', decimal(totals.allowances)),
              element('ram:TaxBasisTotalAmount', decimal(content.totalBeforeTax)),
              element('ram:TaxTotalAmount', decimal(content.totalTax), { currencyID: content.currency }),
              element('ram:GrandTotalAmount', decimal(content.grandTotal)),
              terms.isPaid ? element('ram:TotalPrepaidAmount', decimal(content.grandTotal)) : null,
              element('ram:DuePayableAmount', decimal(terms.isPaid ? 0 : content.grandTotal)),
            ]),
            terms.invoice &&
              element('ram:InvoiceReferencedDocument', [
                element('ram:IssuerAssignedID', String(terms.invoice.number)),
                element('ram:FormattedIssueDateTime', [day(terms.invoice.issuedOn, 'qdt')]),
              ]),
          ]),
        ]),
      ],
      {
        'xmlns:rsm': 'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100',
        'xmlns:ram': 'urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100',
        'xmlns:qdt': 'urn:un:unece:uncefact:data:standard:QualifiedDataType:100',
        'xmlns:udt': 'urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100',
      },
    ),
  );
}

function lineOf(line: ContentLine, net: number, position: number, document: DocumentFacts): XmlElement {
  const { terms, content } = document;
  const text = (texts: ContentLine['name'] | null) =>
    anyText(texts ?? undefined, terms.locale, terms.defaultLocale);
  const headline = text(line.customTextHeadline ?? null);
  const details = [
    text(line.variation),
    line.customText && typedText(line.customText, headline, terms.locale),
  ].filter(filled);
  const { priceQuantity, unit } = line.orderUnit;
  const unitCode = UNITS[unit].code;
  return element('ram:IncludedSupplyChainTradeLineItem', [
    element('ram:AssociatedDocumentLineDocument', [element('ram:LineID', String(position))]),
    element('ram:SpecifiedTradeProduct', [
      element('ram:SellerAssignedID', line.productNumber),
      element('ram:Name', [text(line.name), line.productNumber].find(filled) ?? String(position)),
      details.length > 0 ? element('ram:Description', details.join(', ')) : null,
    ]),
    element('ram:SpecifiedLineTradeAgreement', [
      element('ram:NetPriceProductTradePrice', [
        element('ram:ChargeAmount', netPrice(line, content)),
        priceQuantity === 1 ? null : element('ram:BasisQuantity', String(priceQuantity), { unitCode }),
      ]),
    ]),
    element('ram:SpecifiedLineTradeDelivery', [element('ram:BilledQuantity', line.quantity, { unitCode })]),
    element('ram:SpecifiedLineTradeSettlement', [
      element('ram:ApplicableTradeTax', taxCategory(categoryOf(line.taxClass.rate, document))),
      element('ram:SpecifiedTradeSettlementLineMonetarySummation', [
        element('ram:LineTotalAmount', decimalOf(net, content.currency)),
      ]),
    ]),
  ]);
}

/** Prices may have more decimals than amounts: four more, for gross prices without their tax. */
function netPrice(
  { quantityPrice, shopPrices, taxClass }: ContentLine,
  { currency, taxType, shopTaxModel }: Content,
): string {
  const digits = currencyDigits(currency);
  // The shop's price is exact; a price shown in another tax type is rounded.
  const asked = shopPrices?.quantityPrice ?? null;
  const { price, model } =
    asked === null ? { price: quantityPrice, model: taxType } : { price: asked, model: shopTaxModel };
  if (model !== 'GROSS') return decimalOf(price, currency);
  const net = (price * 10_000) / (10_000 + (taxClass.priceRate ?? taxClass.rate));
  return (net / 10 ** digits).toFixed(digits + 4).replace(/0{1,4}$/, '');
}

/** BG-4 */
function sellerParty(seller: Seller): XmlElement {
  const { name, street, zipCode, city, country, vatId, taxNumber, registration, phone, email } = seller;
  return element('ram:SellerTradeParty', [
    // BR-CO-26: the tax number identifies a seller without a VAT id.
    !filled(vatId) && filled(taxNumber) ? element('ram:ID', taxNumber) : null,
    element('ram:Name', name),
    filled(registration) ? element('ram:Description', registration) : null,
    element('ram:DefinedTradeContact', [
      element('ram:PersonName', name),
      filled(phone)
        ? element('ram:TelephoneUniversalCommunication', [element('ram:CompleteNumber', phone)])
        : null,
      element('ram:EmailURIUniversalCommunication', [element('ram:URIID', email)]),
    ]),
    postalAddress({
      zipCode,
      street,
      streetDetails: null,
      addressExtension: null,
      city,
      state: null,
      country,
    }),
    mailbox(email),
    filled(vatId) ? taxRegistration('VA', vatId.replaceAll(' ', '')) : null,
    filled(taxNumber) ? taxRegistration('FC', taxNumber) : null,
  ]);
}

/** BG-7 */
function buyerParty(name: string, address: Address): XmlElement {
  const { emailAddress, vatId } = address;
  // BR-CO-9: an id without a country prefix cannot be looked up.
  const known = vatId?.replaceAll(' ', '').toUpperCase();
  return element(name, [
    element('ram:Name', addresseeName(address)),
    postalAddress(address),
    filled(emailAddress) ? mailbox(emailAddress) : null,
    filled(known) && /^[A-Z]{2}[A-Z0-9+*]{2,13}$/.test(known) ? taxRegistration('VA', known) : null,
  ]);
}

/** BG-13 */
function shipToParty(address: Address): XmlElement {
  return element('ram:ShipToTradeParty', [
    element('ram:Name', addresseeName(address)),
    postalAddress(address),
  ]);
}

type Place = {
  [Key in 'zipCode' | 'street' | 'streetDetails' | 'addressExtension' | 'city' | 'state' | 'country']:
    | string
    | null
    | undefined;
};

function postalAddress(place: Place): XmlElement {
  const optional = (name: string, text: string | null | undefined) =>
    filled(text) ? element(name, text) : null;
  return element('ram:PostalTradeAddress', [
    optional('ram:PostcodeCode', place.zipCode),
    optional('ram:LineOne', place.street),
    optional('ram:LineTwo', place.streetDetails),
    optional('ram:LineThree', place.addressExtension),
    optional('ram:CityName', place.city),
    optional('ram:CountryID', place.country),
    optional('ram:CountrySubDivisionName', place.state),
  ]);
}

const mailbox = (email: string) =>
  element('ram:URIUniversalCommunication', [element('ram:URIID', email, { schemeID: 'EM' })]);

const taxRegistration = (schemeID: 'VA' | 'FC', id: string) =>
  element('ram:SpecifiedTaxRegistration', [element('ram:ID', id, { schemeID })]);

function paymentTerms({ kind, terms, content }: DocumentFacts, words: Messages['documents']): string {
  if (kind === 'CreditNote') return words.credited;
  if (terms.isPaid) return words.paid;
  const method = content.payment?.method;
  const name = method
    ? anyText(method.name, terms.locale, terms.defaultLocale)
    : (content.payment?.name ?? null);
  return filled(name) ? words.labelled({ label: words.paidBy, text: name }) : words.asAgreed;
}

/** The tax category (BT-118): S standard, Z at 0 %, G exported, E exempt. */
interface Category {
  code: 'S' | 'Z' | 'G' | 'E';
  rate: number;
  /** Why there is no tax. */
  reason: string | null;
}

function categoryOf(rate: number, { terms, content }: DocumentFacts): Category {
  const isTaxed = content.taxType !== 'NONE';
  if (isTaxed && rate > 0) return { code: 'S', rate, reason: null };
  const words = messagesIn(terms.locale).documents;
  if (isExport(terms)) return { code: 'G', rate: 0, reason: words.export };
  if (filled(terms.noTaxesMessage)) return { code: 'E', rate: 0, reason: terms.noTaxesMessage };
  return isTaxed ? { code: 'Z', rate: 0, reason: null } : { code: 'E', rate: 0, reason: words.noTax };
}

const taxCategory = ({ code, rate }: Category) => [
  element('ram:TypeCode', 'VAT'),
  element('ram:CategoryCode', code),
  element('ram:RateApplicablePercent', percent(rate)),
];

interface NetAmounts {
  /** One per line of the content. */
  lines: number[];
  /** Charges are positive, allowances negative. */
  adjustments: { reason: string; amount: number; category: Category }[];
  taxes: { category: Category; basis: number; tax: number }[];
  totals: { lines: number; charges: number; allowances: number };
}

/**
 * The amounts of the content without their tax. In the content the tax is rounded once per rate; here each amount must
 * be rounded separately, and all amounts of a rate must sum to its basis (BR-CO-13, BR-S-08). The difference in cents
 * is a separate charge or allowance, called rounding.
 */
function netAmounts(document: DocumentFacts, words: Messages['documents']): NetAmounts {
  const { content } = document;
  const { taxType } = content;
  const services = serviceParts(content);
  const net = (amount: number, rate: number) =>
    taxType === 'GROSS' ? amount - taxOn(amount, rate, 'GROSS') : amount;
  const lines = content.lines.map(({ amount, taxClass }) => net(amount, taxClass.rate));
  const rates = ratesOf([
    ...content.taxes.map(({ rate }) => rate),
    ...content.lines.map(({ taxClass }) => taxClass.rate),
  ]);
  const adjustments: NetAmounts['adjustments'] = [];
  const taxes = new Map<string, NetAmounts['taxes'][number]>();
  for (const rate of rates) {
    const category = categoryOf(rate, document);
    // Amounts of a rate may be treated in several ways: here they are one.
    const ofTaxes = content.taxes.filter((one) => one.rate === rate);
    const taxed = {
      amount: sum(ofTaxes.map(({ amount }) => amount)),
      tax: sum(ofTaxes.map(({ tax }) => tax)),
    };
    const basis = taxType === 'GROSS' ? taxed.amount - taxed.tax : taxed.amount;
    const ofRate = content.lines.filter(({ taxClass }) => taxClass.rate === rate);
    const all = (key: 'amount' | 'discountShare' | 'couponShare' | 'deposit' | 'ecoParticipation') =>
      sum(ofRate.map((line) => line[key]));
    const ofServices = services.filter(({ taxClass }) => taxClass.rate === rate);
    const extras: [string, number][] = [
      [words.basketDiscount, 0 - all('discountShare')],
      [words.coupon, 0 - all('couponShare')],
      [words.deposit, all('deposit')],
      [words.ecoParticipation, all('ecoParticipation')],
      [words.shipping, sum(ofServices.map(({ shipping }) => shipping))],
      [words.payment, sum(ofServices.map(({ payment }) => payment))],
    ];
    // The difference to the amount of the rate is its share of a discount for the payment.
    extras.push([words.payment, taxed.amount - all('amount') - sum(extras.map(([, amount]) => amount))]);
    const charged = extras.map(([reason, amount]) => ({ reason, amount: net(amount, rate), category }));
    const netLines = sum(lines.filter((_, index) => content.lines[index]!.taxClass.rate === rate));
    const rounding = basis - netLines - sum(charged.map(({ amount }) => amount));
    charged.push({ reason: words.rounding, amount: rounding, category });
    adjustments.push(...charged.filter(({ amount }) => amount !== 0));
    // Where nothing is taxed, all rates are the same.
    const key = `${category.code} ${category.rate}`;
    const before = taxes.get(key) ?? { basis: 0, tax: 0 };
    taxes.set(key, { category, basis: before.basis + basis, tax: before.tax + taxed.tax });
  }
  const amounts = adjustments.map(({ amount }) => amount);
  return {
    lines,
    adjustments,
    taxes: [...taxes.values()],
    totals: {
      lines: sum(lines),
      charges: sum(amounts.filter((amount) => amount > 0)),
      allowances: 0 - sum(amounts.filter((amount) => amount < 0)),
    },
  };
}

function filled(text: string | null | undefined): text is string {
  return text !== null && text !== undefined && text.trim() !== '';
}

function decimalOf(minor: number, currency: string): string {
  const digits = currencyDigits(currency);
  return (minor / 10 ** digits).toFixed(digits);
}

const percent = (rate: number) => (rate / 100).toFixed(2);

/** 102: a date without dashes. */
function day(date: string, namespace: 'udt' | 'qdt' = 'udt'): XmlElement {
  return element(`${namespace}:DateTimeString`, date.replaceAll('-', ''), { format: '102' });
}

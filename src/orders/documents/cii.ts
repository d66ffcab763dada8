import type {
  BuyerParty,
  InvoiceTaxCategory,
  ElectronicDocument,
  InvoiceLine,
  InvoicePayment,
  InvoicePlace,
  SellerParty,
} from './electronic-model.ts';
import type { ElectronicAddress } from './electronic-address.ts';
import { minorText, ratePercent } from './electronic-model.ts';
import { BILLING_PROCESS, SPECIFICATIONS } from './electronic-format.ts';
import { element, optionalElement, type XmlElement } from './xml.ts';

/** A document as Cross Industry Invoice (D16B), the syntax of ZUGFeRD and Factur-X. */
export function ciiOf(document: ElectronicDocument): XmlElement {
  const { format, currency, totals, delivery, preceding, suppliedOn, payment } = document;
  const decimal = (minor: number) => minorText(minor, currency);
  return element(
    'rsm:CrossIndustryInvoice',
    [
      element('rsm:ExchangedDocumentContext', [
        format === 'zugferd'
          ? null
          : element('ram:BusinessProcessSpecifiedDocumentContextParameter', [
              element('ram:ID', BILLING_PROCESS),
            ]),
        element('ram:GuidelineSpecifiedDocumentContextParameter', [
          element('ram:ID', SPECIFICATIONS[format]),
        ]),
      ]),
      element('rsm:ExchangedDocument', [
        element('ram:ID', document.number),
        element('ram:TypeCode', document.typeCode),
        element('ram:IssueDateTime', [day(document.issuedOn)]),
        ...document.notes.map((note) => element('ram:IncludedNote', [element('ram:Content', note)])),
      ]),
      element('rsm:SupplyChainTradeTransaction', [
        ...document.lines.map((line) => lineItem(line, currency)),
        element('ram:ApplicableHeaderTradeAgreement', [
          optionalElement('ram:BuyerReference', document.buyerReference),
          sellerParty(document.seller),
          buyerParty(document.buyer),
          element('ram:SellerOrderReferencedDocument', [
            element('ram:IssuerAssignedID', document.salesOrder),
          ]),
          document.purchaseOrder === null
            ? null
            : element('ram:BuyerOrderReferencedDocument', [
                element('ram:IssuerAssignedID', document.purchaseOrder),
              ]),
        ]),
        element('ram:ApplicableHeaderTradeDelivery', [
          delivery &&
            element('ram:ShipToTradeParty', [
              element('ram:Name', delivery.name),
              postalAddress(delivery.place),
            ]),
          suppliedOn === null
            ? null
            : element('ram:ActualDeliverySupplyChainEvent', [
                element('ram:OccurrenceDateTime', [day(suppliedOn)]),
              ]),
        ]),
        element('ram:ApplicableHeaderTradeSettlement', [
          element('ram:PaymentReference', payment.reference),
          element('ram:InvoiceCurrencyCode', currency),
          paymentMeans(payment),
          ...document.taxes.map(({ category, basis, tax }) =>
            element('ram:ApplicableTradeTax', [
              element('ram:CalculatedAmount', decimal(tax)),
              element('ram:TypeCode', 'VAT'),
              optionalElement('ram:ExemptionReason', category.reason),
              element('ram:BasisAmount', decimal(basis)),
              element('ram:CategoryCode', category.code),
              optionalElement('ram:ExemptionReasonCode', category.reasonCode),
              element('ram:RateApplicablePercent', ratePercent(category.rate)),
            ]),
          ),
          ...document.adjustments.map(({ reason, amount, category }) =>
            element('ram:SpecifiedTradeAllowanceCharge', [
              element('ram:ChargeIndicator', [element('udt:Indicator', String(amount > 0))]),
              element('ram:ActualAmount', decimal(Math.abs(amount))),
              element('ram:Reason', reason),
              element('ram:CategoryTradeTax', taxCategory(category)),
            ]),
          ),
          element('ram:SpecifiedTradePaymentTerms', [
            element('ram:Description', payment.terms),
            payment.dueOn === null ? null : element('ram:DueDateDateTime', [day(payment.dueOn)]),
          ]),
          element('ram:SpecifiedTradeSettlementHeaderMonetarySummation', [
            element('ram:LineTotalAmount', decimal(totals.lines)),
            element('ram:ChargeTotalAmount', decimal(totals.charges)),
            element('ram:AllowanceTotalAmount', decimal(totals.allowances)),
            element('ram:TaxBasisTotalAmount', decimal(totals.net)),
            element('ram:TaxTotalAmount', decimal(totals.tax), { currencyID: currency }),
            element('ram:GrandTotalAmount', decimal(totals.gross)),
            totals.prepaid === 0 ? null : element('ram:TotalPrepaidAmount', decimal(totals.prepaid)),
            element('ram:DuePayableAmount', decimal(totals.payable)),
          ]),
          preceding &&
            element('ram:InvoiceReferencedDocument', [
              element('ram:IssuerAssignedID', preceding.number),
              element('ram:FormattedIssueDateTime', [day(preceding.issuedOn, 'qdt')]),
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
  );
}

function lineItem(line: InvoiceLine, currency: string): XmlElement {
  const { unitCode, priceQuantity } = line;
  return element('ram:IncludedSupplyChainTradeLineItem', [
    element('ram:AssociatedDocumentLineDocument', [element('ram:LineID', String(line.position))]),
    element('ram:SpecifiedTradeProduct', [
      element('ram:SellerAssignedID', line.productNumber),
      element('ram:Name', line.name),
      optionalElement('ram:Description', line.description),
    ]),
    element('ram:SpecifiedLineTradeAgreement', [
      element('ram:NetPriceProductTradePrice', [
        element('ram:ChargeAmount', line.price),
        priceQuantity === '1' ? null : element('ram:BasisQuantity', priceQuantity, { unitCode }),
      ]),
    ]),
    element('ram:SpecifiedLineTradeDelivery', [element('ram:BilledQuantity', line.quantity, { unitCode })]),
    element('ram:SpecifiedLineTradeSettlement', [
      element('ram:ApplicableTradeTax', taxCategory(line.category)),
      element('ram:SpecifiedTradeSettlementLineMonetarySummation', [
        element('ram:LineTotalAmount', minorText(line.amount, currency)),
      ]),
    ]),
  ]);
}

function sellerParty(seller: SellerParty): XmlElement {
  const { name, place, vatNumber, taxNumber, registration, contact, address } = seller;
  return element('ram:SellerTradeParty', [
    // BR-CO-26: the tax number identifies a seller without a VAT id.
    vatNumber === null ? optionalElement('ram:ID', taxNumber) : null,
    element('ram:Name', name),
    optionalElement('ram:Description', registration),
    element('ram:DefinedTradeContact', [
      element('ram:PersonName', contact.name),
      contact.phone === null
        ? null
        : element('ram:TelephoneUniversalCommunication', [element('ram:CompleteNumber', contact.phone)]),
      element('ram:EmailURIUniversalCommunication', [element('ram:URIID', contact.email)]),
    ]),
    postalAddress(place),
    universalCommunication(address),
    taxRegistration('VA', vatNumber),
    taxRegistration('FC', taxNumber),
  ]);
}

function buyerParty({ name, place, vatNumber, address }: BuyerParty): XmlElement {
  return element('ram:BuyerTradeParty', [
    element('ram:Name', name),
    postalAddress(place),
    universalCommunication(address),
    taxRegistration('VA', vatNumber),
  ]);
}

function postalAddress(place: InvoicePlace): XmlElement {
  return element('ram:PostalTradeAddress', [
    optionalElement('ram:PostcodeCode', place.zipCode),
    optionalElement('ram:LineOne', place.street),
    optionalElement('ram:LineTwo', place.streetDetails),
    optionalElement('ram:LineThree', place.addressExtension),
    optionalElement('ram:CityName', place.city),
    optionalElement('ram:CountryID', place.country),
    optionalElement('ram:CountrySubDivisionName', place.state),
  ]);
}

const universalCommunication = (address: ElectronicAddress | null) =>
  address &&
  element('ram:URIUniversalCommunication', [element('ram:URIID', address.id, { schemeID: address.scheme })]);

const taxRegistration = (schemeID: 'VA' | 'FC', id: string | null) =>
  id === null ? null : element('ram:SpecifiedTaxRegistration', [element('ram:ID', id, { schemeID })]);

function paymentMeans({ code, account }: InvoicePayment): XmlElement {
  return element('ram:SpecifiedTradeSettlementPaymentMeans', [
    element('ram:TypeCode', code),
    account &&
      element('ram:PayeePartyCreditorFinancialAccount', [
        element('ram:IBANID', account.iban),
        element('ram:AccountName', account.holder),
      ]),
    account?.bic
      ? element('ram:PayeeSpecifiedCreditorFinancialInstitution', [element('ram:BICID', account.bic)])
      : null,
  ]);
}

const taxCategory = ({ code, rate }: InvoiceTaxCategory) => [
  element('ram:TypeCode', 'VAT'),
  element('ram:CategoryCode', code),
  element('ram:RateApplicablePercent', ratePercent(rate)),
];

/** 102: a date without dashes. */
function day(date: string, namespace: 'udt' | 'qdt' = 'udt'): XmlElement {
  return element(`${namespace}:DateTimeString`, date.replaceAll('-', ''), { format: '102' });
}

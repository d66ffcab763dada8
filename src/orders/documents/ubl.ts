import type {
  Adjustment,
  BuyerParty,
  InvoiceTaxCategory,
  ElectronicDocument,
  InvoiceLine,
  InvoicePayment,
  InvoicePlace,
  SellerParty,
} from './electronic-model.ts';
import { minorText, ratePercent } from './electronic-model.ts';
import { BILLING_PROCESS, SPECIFICATIONS } from './electronic-format.ts';
import { element, optionalElement, type XmlElement } from './xml.ts';

/**
 * A document in UBL 2.1, the syntax of Peppol. The children of an element have one order, which differs between invoice
 * and credit note in a few places.
 */
export function ublOf(document: ElectronicDocument): XmlElement {
  const { typeCode, currency, format, payment, preceding, notes } = document;
  const isCredit = typeCode === '381';
  const name = isCredit ? 'CreditNote' : 'Invoice';
  return element(
    name,
    [
      element('cbc:CustomizationID', SPECIFICATIONS[format]),
      element('cbc:ProfileID', BILLING_PROCESS),
      element('cbc:ID', document.number),
      element('cbc:IssueDate', document.issuedOn),
      isCredit ? null : optionalElement('cbc:DueDate', payment.dueOn),
      element(`cbc:${name}TypeCode`, typeCode),
      // PEPPOL-EN16931-R002: one note at most.
      notes.length > 0 ? element('cbc:Note', notes.join('\n')) : null,
      element('cbc:DocumentCurrencyCode', currency),
      optionalElement('cbc:BuyerReference', document.buyerReference),
      element('cac:OrderReference', [
        // The element must be there; NA: the buyer gave no number.
        element('cbc:ID', document.purchaseOrder ?? 'NA'),
        element('cbc:SalesOrderID', document.salesOrder),
      ]),
      preceding &&
        element('cac:BillingReference', [
          element('cac:InvoiceDocumentReference', [
            element('cbc:ID', preceding.number),
            element('cbc:IssueDate', preceding.issuedOn),
          ]),
        ]),
      element('cac:AccountingSupplierParty', [sellerParty(document.seller)]),
      element('cac:AccountingCustomerParty', [buyerParty(document.buyer)]),
      delivery(document),
      paymentMeans(payment),
      element('cac:PaymentTerms', [element('cbc:Note', payment.terms)]),
      ...document.adjustments.map((adjustment) => allowanceCharge(adjustment, currency)),
      taxTotal(document),
      monetaryTotal(document),
      ...document.lines.map((line) => documentLine(line, name, currency)),
    ],
    {
      xmlns: `urn:oasis:names:specification:ubl:schema:xsd:${name}-2`,
      'xmlns:cac': 'urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2',
      'xmlns:cbc': 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2',
    },
  );
}

function sellerParty(seller: SellerParty): XmlElement {
  const { name, vatNumber, taxNumber, registration, contact, place } = seller;
  return element('cac:Party', [
    endpoint(seller),
    // BR-CO-26: the tax number identifies a seller without a VAT id.
    vatNumber === null && taxNumber !== null
      ? element('cac:PartyIdentification', [element('cbc:ID', taxNumber)])
      : null,
    postalAddress('cac:PostalAddress', place),
    taxScheme('VAT', vatNumber),
    taxScheme('FC', taxNumber),
    element('cac:PartyLegalEntity', [
      element('cbc:RegistrationName', name),
      optionalElement('cbc:CompanyLegalForm', registration),
    ]),
    element('cac:Contact', [
      element('cbc:Name', contact.name),
      optionalElement('cbc:Telephone', contact.phone),
      element('cbc:ElectronicMail', contact.email),
    ]),
  ]);
}

function buyerParty(buyer: BuyerParty): XmlElement {
  return element('cac:Party', [
    endpoint(buyer),
    postalAddress('cac:PostalAddress', buyer.place),
    taxScheme('VAT', buyer.vatNumber),
    element('cac:PartyLegalEntity', [element('cbc:RegistrationName', buyer.name)]),
  ]);
}

const endpoint = ({ address }: BuyerParty) =>
  address && element('cbc:EndpointID', address.id, { schemeID: address.scheme });

const taxScheme = (scheme: 'VAT' | 'FC', id: string | null) =>
  id === null
    ? null
    : element('cac:PartyTaxScheme', [
        element('cbc:CompanyID', id),
        element('cac:TaxScheme', [element('cbc:ID', scheme)]),
      ]);

function postalAddress(name: string, place: InvoicePlace): XmlElement {
  return element(name, [
    optionalElement('cbc:StreetName', place.street),
    optionalElement('cbc:AdditionalStreetName', place.streetDetails),
    optionalElement('cbc:CityName', place.city),
    optionalElement('cbc:PostalZone', place.zipCode),
    optionalElement('cbc:CountrySubentity', place.state),
    place.addressExtension === null
      ? null
      : element('cac:AddressLine', [element('cbc:Line', place.addressExtension)]),
    place.country === null
      ? null
      : element('cac:Country', [element('cbc:IdentificationCode', place.country)]),
  ]);
}

function delivery({ delivery: to, suppliedOn }: ElectronicDocument): XmlElement | null {
  if (!to && suppliedOn === null) return null;
  return element('cac:Delivery', [
    optionalElement('cbc:ActualDeliveryDate', suppliedOn),
    to && element('cac:DeliveryLocation', [postalAddress('cac:Address', to.place)]),
    to && element('cac:DeliveryParty', [element('cac:PartyName', [element('cbc:Name', to.name)])]),
  ]);
}

function paymentMeans({ code, account, reference }: InvoicePayment): XmlElement {
  return element('cac:PaymentMeans', [
    element('cbc:PaymentMeansCode', code),
    element('cbc:PaymentID', reference),
    account &&
      element('cac:PayeeFinancialAccount', [
        element('cbc:ID', account.iban),
        element('cbc:Name', account.holder),
        account.bic === null
          ? null
          : element('cac:FinancialInstitutionBranch', [element('cbc:ID', account.bic)]),
      ]),
  ]);
}

function allowanceCharge({ reason, amount, category }: Adjustment, currency: string): XmlElement {
  return element('cac:AllowanceCharge', [
    element('cbc:ChargeIndicator', String(amount > 0)),
    element('cbc:AllowanceChargeReason', reason),
    money('cbc:Amount', Math.abs(amount), currency),
    element('cac:TaxCategory', taxCategory(category)),
  ]);
}

function taxTotal({ taxes, totals, currency }: ElectronicDocument): XmlElement {
  return element('cac:TaxTotal', [
    money('cbc:TaxAmount', totals.tax, currency),
    ...taxes.map(({ category, basis, tax }) =>
      element('cac:TaxSubtotal', [
        money('cbc:TaxableAmount', basis, currency),
        money('cbc:TaxAmount', tax, currency),
        element('cac:TaxCategory', [
          element('cbc:ID', category.code),
          element('cbc:Percent', ratePercent(category.rate)),
          optionalElement('cbc:TaxExemptionReasonCode', category.reasonCode),
          optionalElement('cbc:TaxExemptionReason', category.reason),
          vatScheme(),
        ]),
      ]),
    ),
  ]);
}

function monetaryTotal({ totals, currency }: ElectronicDocument): XmlElement {
  return element('cac:LegalMonetaryTotal', [
    money('cbc:LineExtensionAmount', totals.lines, currency),
    money('cbc:TaxExclusiveAmount', totals.net, currency),
    money('cbc:TaxInclusiveAmount', totals.gross, currency),
    money('cbc:AllowanceTotalAmount', totals.allowances, currency),
    money('cbc:ChargeTotalAmount', totals.charges, currency),
    totals.prepaid === 0 ? null : money('cbc:PrepaidAmount', totals.prepaid, currency),
    money('cbc:PayableAmount', totals.payable, currency),
  ]);
}

function documentLine(line: InvoiceLine, name: 'Invoice' | 'CreditNote', currency: string): XmlElement {
  const { unitCode, priceQuantity } = line;
  return element(`cac:${name}Line`, [
    element('cbc:ID', String(line.position)),
    element(name === 'Invoice' ? 'cbc:InvoicedQuantity' : 'cbc:CreditedQuantity', line.quantity, {
      unitCode,
    }),
    money('cbc:LineExtensionAmount', line.amount, currency),
    element('cac:Item', [
      optionalElement('cbc:Description', line.description),
      element('cbc:Name', line.name),
      element('cac:SellersItemIdentification', [element('cbc:ID', line.productNumber)]),
      element('cac:ClassifiedTaxCategory', taxCategory(line.category)),
    ]),
    element('cac:Price', [
      element('cbc:PriceAmount', line.price, { currencyID: currency }),
      priceQuantity === '1' ? null : element('cbc:BaseQuantity', priceQuantity, { unitCode }),
    ]),
  ]);
}

const taxCategory = ({ code, rate }: InvoiceTaxCategory) => [
  element('cbc:ID', code),
  element('cbc:Percent', ratePercent(rate)),
  vatScheme(),
];

const vatScheme = () => element('cac:TaxScheme', [element('cbc:ID', 'VAT')]);

const money = (name: string, minor: number, currencyID: string) =>
  element(name, minorText(minor, currencyID), { currencyID });

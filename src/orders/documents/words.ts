import type { DocumentKind } from './facts.ts';
import type { DocumentRow } from './queries.ts';

/** What documents say by themselves, in the languages that are built in; others get English. */
const en = {
  labelled: (label: string, text: string) => `${label}: ${text}`,
  Invoice: 'Invoice',
  CreditNote: 'Credit note',
  number: { Invoice: 'Invoice no.', CreditNote: 'Credit note no.' },
  date: 'Date',
  orderNumber: 'Order no.',
  orderDate: 'Order date',
  customerNumber: 'Customer no.',
  deliveryDate: 'Delivery date',
  buyerVatId: 'Your VAT id',
  credits: (number: number, date: string) => `For invoice ${number} of ${date}`,
  delivery: 'Delivery address',
  position: 'No.',
  article: 'Item no.',
  name: 'Description',
  quantity: 'Quantity',
  unitPrice: 'Unit price',
  taxRate: 'VAT',
  amount: 'Amount',
  carried: 'Carried forward',
  subTotal: 'Goods',
  basketDiscount: 'Discount',
  coupon: 'Coupon',
  deposit: 'Deposit',
  ecoParticipation: 'Recycling fee',
  shipping: 'Delivery',
  payment: 'Payment',
  rounding: 'Rounding',
  net: 'Net',
  tax: (rate: string) => `VAT ${rate}`,
  gross: 'Gross',
  taxHead: 'VAT rate',
  taxAmount: 'VAT',
  total: { Invoice: 'Total', CreditNote: 'Credited amount' },
  totalNet: 'Total net',
  paidBy: 'Payment method',
  due: (date: string) => `Payable by ${date} without deduction.`,
  transfer: (reference: string) => `Please transfer to this account, reference ${reference}:`,
  paid: 'The amount has been paid.',
  asAgreed: 'Payable as agreed.',
  credited: 'The amount will be credited to you.',
  export: 'Export outside the European Union, free of VAT.',
  noTax: 'No VAT is charged.',
  bank: 'Bank',
  vatId: 'VAT id',
  taxNumber: 'Tax no.',
  phone: 'Phone',
  page: (page: number, pages: number) => `Page ${page} of ${pages}`,
};
export type Words = typeof en;

const de: Words = {
  labelled: en.labelled,
  Invoice: 'Rechnung',
  CreditNote: 'Gutschrift',
  number: { Invoice: 'Rechnungs-Nr.', CreditNote: 'Gutschrift-Nr.' },
  date: 'Datum',
  orderNumber: 'Bestell-Nr.',
  orderDate: 'Bestelldatum',
  customerNumber: 'Kunden-Nr.',
  deliveryDate: 'Lieferdatum',
  buyerVatId: 'Ihre USt-IdNr.',
  credits: (number, date) => `Zur Rechnung ${number} vom ${date}`,
  delivery: 'Lieferanschrift',
  position: 'Pos.',
  article: 'Artikel-Nr.',
  name: 'Bezeichnung',
  quantity: 'Menge',
  unitPrice: 'Einzelpreis',
  taxRate: 'USt.',
  amount: 'Betrag',
  carried: 'Übertrag',
  subTotal: 'Warenwert',
  basketDiscount: 'Rabatt',
  coupon: 'Gutschein',
  deposit: 'Pfand',
  ecoParticipation: 'Recyclingbeitrag',
  shipping: 'Lieferung',
  payment: 'Zahlung',
  rounding: 'Rundung',
  net: 'Netto',
  tax: (rate) => `USt. ${rate}`,
  gross: 'Brutto',
  taxHead: 'USt.-Satz',
  taxAmount: 'USt.',
  total: { Invoice: 'Gesamtbetrag', CreditNote: 'Gutschriftsbetrag' },
  totalNet: 'Summe netto',
  paidBy: 'Zahlungsart',
  due: (date) => `Zahlbar bis ${date} ohne Abzug.`,
  transfer: (reference) => `Bitte überweisen Sie auf dieses Konto, Verwendungszweck ${reference}:`,
  paid: 'Der Betrag ist bezahlt.',
  asAgreed: 'Zahlbar wie vereinbart.',
  credited: 'Der Betrag wird Ihnen gutgeschrieben.',
  export: 'Steuerfreie Ausfuhrlieferung.',
  noTax: 'Es wird keine Umsatzsteuer berechnet.',
  bank: 'Bank',
  vatId: 'USt-IdNr.',
  taxNumber: 'Steuer-Nr.',
  phone: 'Tel.',
  page: (page, pages) => `Seite ${page} von ${pages}`,
};

const fr: Words = {
  labelled: (label, text) => `${label} : ${text}`,
  Invoice: 'Facture',
  CreditNote: 'Note de crédit',
  number: { Invoice: 'Facture n°', CreditNote: 'Note de crédit n°' },
  date: 'Date',
  orderNumber: 'Commande n°',
  orderDate: 'Date de commande',
  customerNumber: 'Client n°',
  deliveryDate: 'Date de livraison',
  buyerVatId: 'Votre n° de TVA',
  credits: (number, date) => `Pour la facture ${number} du ${date}`,
  delivery: 'Adresse de livraison',
  position: 'N°',
  article: 'Référence',
  name: 'Désignation',
  quantity: 'Quantité',
  unitPrice: 'Prix unitaire',
  taxRate: 'TVA',
  amount: 'Montant',
  carried: 'Report',
  subTotal: 'Articles',
  basketDiscount: 'Remise',
  coupon: 'Bon de réduction',
  deposit: 'Consigne',
  ecoParticipation: 'Éco-participation',
  shipping: 'Livraison',
  payment: 'Paiement',
  rounding: 'Arrondi',
  net: 'HT',
  tax: (rate) => `TVA ${rate}`,
  gross: 'TTC',
  taxHead: 'Taux de TVA',
  taxAmount: 'TVA',
  total: { Invoice: 'Total', CreditNote: 'Montant crédité' },
  totalNet: 'Total HT',
  paidBy: 'Mode de paiement',
  due: (date) => `À payer au plus tard le ${date}, sans escompte.`,
  transfer: (reference) => `Merci de virer sur ce compte, référence ${reference} :`,
  paid: 'Le montant a été payé.',
  asAgreed: 'À payer comme convenu.',
  credited: 'Le montant vous sera crédité.',
  export: 'Exportation hors de l’Union européenne, exonérée de TVA.',
  noTax: 'Aucune TVA n’est facturée.',
  bank: 'Banque',
  vatId: 'N° de TVA',
  taxNumber: 'N° fiscal',
  phone: 'Tél.',
  page: (page, pages) => `Page ${page} sur ${pages}`,
};

const WORDS = { en, de, fr };

export function languageOf(locale: string): keyof typeof WORDS {
  const language = locale.slice(0, 2).toLowerCase();
  return Object.hasOwn(WORDS, language) ? (language as keyof typeof WORDS) : 'en';
}

export function wordsIn(locale: string): Words {
  return WORDS[languageOf(locale)];
}

/** `Rechnung 1001` */
export function titleOf(kind: DocumentKind, number: number, locale: string): string {
  return `${wordsIn(locale)[kind]} ${number}`;
}

/** What its file is called: `Rechnung-1001`. */
export function documentName({
  kind,
  number,
  terms,
}: Pick<DocumentRow, 'kind' | 'number' | 'terms'>): string {
  return titleOf(kind, number, terms.locale)
    .normalize('NFD')
    .replaceAll(/[^\w ]/g, '')
    .replaceAll(' ', '-');
}

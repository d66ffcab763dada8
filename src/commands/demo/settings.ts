import { toSeconds } from '../../http/dates.ts';
import type { SettingsFile } from '../../shops/settings/file.ts';

/** Harbour & Hearth: the shop that the README, the tests and a newcomer's first look are about. */
export const demoSettings: SettingsFile = {
  name: 'Harbour & Hearth',
  slogan: {
    en_GB: '<p>Small things from the sea side</p>',
    de_DE: '<p>Kleine Dinge von der Küste</p>',
  },
  email: 'hello@harbour-hearth.example',
  country: 'DE',
  locales: { default: 'en_GB', items: ['en_GB', 'de_DE', 'fr_FR'] },
  currencies: { default: 'EUR', items: ['EUR', 'GBP', 'USD'], rates: { GBP: 0.85, USD: 1.1 } },
  countries: { default: 'DE', items: ['DE', 'AT', 'FR', 'GB', 'CH', 'US'] },
  taxes: {
    model: 'gross',
    displayTaxes: true,
    deliveryThresholdIsActive: false,
    taxFreeOutsideEu: true,
  },
  taxClasses: [
    { key: 'none', name: { en_GB: 'no VAT', de_DE: 'ohne MwSt.', fr_FR: 'sans TVA' }, rates: { DE: 0 } },
    {
      key: 'standard',
      name: { en_GB: 'standard', de_DE: 'normal', fr_FR: 'normal' },
      default: true,
      rates: { DE: 19 },
    },
    { key: 'reduced', name: { en_GB: 'reduced', de_DE: 'ermäßigt', fr_FR: 'réduit' }, rates: { DE: 7 } },
    {
      key: 'digital',
      name: {
        en_GB: 'Digital products and services',
        de_DE: 'Digitale Produkte und Dienste',
        fr_FR: 'Produits et services numériques',
      },
      defaultDigital: true,
      digital: true,
      rates: { DE: 19 },
    },
    {
      key: 'ebooks',
      name: { en_GB: 'eBooks', de_DE: 'E-Books', fr_FR: 'Livres numériques' },
      digital: true,
      rates: { DE: 7 },
    },
  ],
  shippingMethods: [
    {
      key: 'standard',
      name: { en_GB: 'Standard delivery', de_DE: 'Standardversand', fr_FR: 'Livraison standard' },
      kind: 'weight',
      price: 7,
      pricePerKg: 1.19,
    },
    {
      key: 'express',
      name: { en_GB: 'Express delivery', de_DE: 'Expressversand', fr_FR: 'Livraison express' },
      description: {
        en_GB: 'Next working day',
        de_DE: 'Am nächsten Werktag',
        fr_FR: 'Le jour ouvré suivant',
      },
      kind: 'flat',
      price: 12,
    },
    {
      key: 'pickup',
      name: { en_GB: 'Customer pickup', de_DE: 'Selbstabholung', fr_FR: 'Retrait sur place' },
      kind: 'pickup',
    },
    {
      key: 'freight',
      name: { en_GB: 'Freight', de_DE: 'Spedition', fr_FR: 'Fret' },
      kind: 'flat',
      price: 49,
    },
  ],
  paymentMethods: [
    {
      key: 'advance',
      name: { en_GB: 'Payment in advance', de_DE: 'Vorkasse', fr_FR: "Paiement d'avance" },
      price: 0,
    },
    { key: 'invoice', name: { en_GB: 'Invoice', de_DE: 'Rechnung', fr_FR: 'Facture' }, price: 1.5 },
    { key: 'quickpay', name: 'QuickPay', provider: 'QuickPay', price: 0 },
    {
      key: 'paylater',
      name: { en_GB: 'Pay later', de_DE: 'Später bezahlen', fr_FR: 'Payer plus tard' },
      provider: 'PayLater PLUS',
      price: 0,
      additionalData: {
        InvoiceBankName: 'Harbour Bank',
        InvoiceAccountHolderName: 'PayLater PLUS Ltd.',
        InvoiceIBAN: 'DE02120300000000202051',
        InvoiceBIC: 'BYLADEM1001',
      },
    },
  ],
  minimumCart: { code: 'SumProduct', amount: 5 },
  basketDiscounts: [
    { from: 100, absolute: 10 },
    { from: 250, percent: 10 },
  ],
  units: {
    piece: { de_DE: { long: 'Stück' }, fr_FR: { long: 'pièce(s)' } },
    pair: { de_DE: { long: 'Paar' }, fr_FR: { long: 'paire(s)' } },
    carton: { de_DE: { long: 'Kasten' }, fr_FR: { long: 'caisse(s)' } },
    metre: { de_DE: { long: 'Meter', short: 'm' }, fr_FR: { long: 'mètre(s)', short: 'm' } },
    gram: { de_DE: { long: 'Gramm', short: 'g' }, fr_FR: { long: 'gramme(s)', short: 'g' } },
    litre: { de_DE: { long: 'Liter', short: 'l' }, fr_FR: { long: 'litre(s)', short: 'l' } },
  },
  customerGroups: ['Cafes', 'Staff'],
  crossSellingTitle: { en_GB: 'Goes well with', de_DE: 'Passt gut dazu', fr_FR: 'Va bien avec' },
  newsletters: [
    {
      identifier: 'TideLetter_EN',
      language: 'en',
      name: 'Tide letter',
      description: 'What the sea brought in this month',
      subject: 'News from the harbour',
    },
    {
      identifier: 'TideLetter_DE',
      language: 'de',
      name: 'Gezeitenbrief',
      description: 'Was die See diesen Monat gebracht hat',
      subject: 'Neues vom Hafen',
    },
    { identifier: 'Empty_FR', language: 'fr', name: 'Lettre des marées', subject: 'Nouvelles du port' },
  ],
  invoicing: {
    company: 'Harbour & Hearth GmbH',
    street: 'Speicherweg 4',
    zipCode: '20457',
    city: 'Hamburg',
    vatId: 'DE123456789',
    taxNumber: '27/123/45678',
    registration: 'HRB 471100, Amtsgericht Hamburg',
    phone: '+49 40 5550100',
    email: 'invoices@harbour-hearth.example',
    bank: { name: 'Harbour Bank', iban: 'DE02 1203 0000 0000 2020 51', bic: 'BYLADEM1001' },
    paymentDays: 14,
    notes: {
      en_GB: 'Goods remain our property until they are paid for in full.',
      de_DE: 'Die Ware bleibt bis zur vollständigen Bezahlung unser Eigentum.',
      fr_FR: 'Les marchandises restent notre propriété jusqu’à leur paiement intégral.',
    },
    electronic: true,
  },
  theme: { accent: '#0b5d66', showName: true },
};

const MONTH = 30 * 24 * 3_600_000;

/** One coupon for each thing that a cart can say about it; they name products, which must be there. */
export function demoCampaigns(now: Date): NonNullable<SettingsFile['couponCampaigns']> {
  const ago = (months: number) => toSeconds(new Date(now.getTime() - months * MONTH));
  return [
    {
      identifier: 'summer_sale',
      name: { en_GB: 'Summer sale', de_DE: 'Sommerschlussverkauf', fr_FR: "Soldes d'été" },
      type: 'fix',
      amount: 20,
      minimumOrderValue: 60,
      codes: ['SUMMER20', 'SUMMER20B'],
    },
    {
      identifier: 'autumn_15',
      name: { en_GB: 'Autumn days', de_DE: 'Herbsttage', fr_FR: "Jours d'automne" },
      type: 'percent',
      amount: 15,
      codes: ['AUTUMN15'],
    },
    {
      identifier: 'free_freight',
      name: { en_GB: 'Free delivery', de_DE: 'Versandkostenfrei', fr_FR: 'Livraison offerte' },
      type: 'shipping',
      minimumOrderValue: 30,
      codes: ['SHIPFREE'],
    },
    {
      identifier: 'vip_combo',
      name: { en_GB: 'For our regulars', de_DE: 'Für Stammkunden', fr_FR: 'Pour nos habitués' },
      type: 'fix',
      amount: 5,
      waiveShippingCosts: true,
      codes: ['VIPCOMBO'],
    },
    {
      identifier: 'old_news',
      name: { en_GB: 'Half price day', de_DE: 'Halbe Preise', fr_FR: 'Moitié prix' },
      type: 'percent',
      amount: 50,
      validFrom: ago(3),
      validTo: ago(2),
      codes: ['OLDNEWS'],
    },
    {
      identifier: 'one_shot',
      name: { en_GB: 'Sorry for the delay', de_DE: 'Pardon, es war spät', fr_FR: 'Désolés du retard' },
      type: 'fix',
      amount: 10,
      usageLimit: 1,
      codes: ['ONESHOT'],
    },
    {
      identifier: 'recalled',
      name: { en_GB: 'Printed by mistake', de_DE: 'Versehentlich gedruckt', fr_FR: 'Imprimé par erreur' },
      type: 'fix',
      amount: 10,
      codes: [],
      withdrawn: ['RECALLED'],
    },
    {
      identifier: 'knives_only',
      name: { en_GB: 'Sharp week', de_DE: 'Scharfe Woche', fr_FR: 'Semaine tranchante' },
      type: 'percent',
      amount: 10,
      products: ['KN-100', 'KN-101', 'KN-102', 'KN-110', 'KN-120'],
      codes: ['SHARP10'],
    },
    {
      identifier: 'pickup_only',
      name: { en_GB: 'Fetch and save', de_DE: 'Abholen und sparen', fr_FR: 'Retirez, économisez' },
      type: 'fix',
      amount: 3,
      shippingMethods: ['pickup'],
      codes: ['COLLECT3'],
    },
    {
      identifier: 'advance_only',
      name: { en_GB: 'Pay first', de_DE: 'Erst zahlen', fr_FR: "Payez d'abord" },
      type: 'fix',
      amount: 2,
      paymentMethods: ['advance'],
      codes: ['PREPAY2'],
    },
  ];
}

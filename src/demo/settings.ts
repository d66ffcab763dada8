import type { SettingsFile } from '../shop/settings-file.ts';

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
      rates: { DE: 19 },
    },
    {
      key: 'ebooks',
      name: { en_GB: 'eBooks', de_DE: 'E-Books', fr_FR: 'Livres numériques' },
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
};

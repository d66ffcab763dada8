import { SHOP_PLACEHOLDERS, type EmailContext, type EmailKind } from '../../platform/email/kind.ts';

/** A product is in stock again. */
export interface ProductAvailable {
  productName: string;
  productNumber: string;
}

const productUrl = ({ productNumber }: ProductAvailable, { storefront }: EmailContext) =>
  `${storefront}/Products/${encodeURIComponent(productNumber)}`;

export const availabilityEmail: EmailKind<ProductAvailable> = {
  name: 'availability',
  occasion: 'To those who asked to be told, when a product is in stock again.',
  example: { en_GB: { subject: '{productName} is back' } },
  isLimited: true,
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    productName: { meaning: 'Name of the product.', value: ({ productName }) => productName },
    productNumber: { meaning: 'Number of the product.', value: ({ productNumber }) => productNumber },
    productUrl: { meaning: "Address of the product's page.", value: productUrl },
  },
  link: productUrl,
  words: {
    en: {
      subject: 'Available again: {productName}',
      text: 'Good news!\n\n{productName} is available again at {shopName}.',
      link: 'To the product',
      footer:
        'You receive this one mail because this address asked to be told. You need not do anything to unsubscribe.',
    },
    de: {
      subject: 'Wieder verfügbar: {productName}',
      text: 'Gute Nachrichten!\n\n{productName} ist bei {shopName} wieder verfügbar.',
      link: 'Zum Artikel',
      footer:
        'Sie erhalten diese eine E-Mail, weil mit dieser Adresse darum gebeten wurde. Sie müssen sich nicht abmelden.',
    },
    fr: {
      subject: 'De nouveau disponible : {productName}',
      text: 'Bonne nouvelle\u00a0!\n\n{productName} est de nouveau disponible chez {shopName}.',
      link: 'Voir le produit',
      footer:
        'Vous recevez ce seul e-mail car cette adresse a demandé à être prévenue. Aucune désinscription n’est nécessaire.',
    },
  },
};

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
  sample: { productName: 'Ginger tea', productNumber: 'TE-120' },
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    productName: { meaning: 'Name of the product.', value: ({ productName }) => productName },
    productNumber: { meaning: 'Number of the product.', value: ({ productNumber }) => productNumber },
    productUrl: { meaning: "Address of the product's page.", value: productUrl },
  },
  link: productUrl,
  messages: (email) => email.availability,
};

import {
  SHOP_PLACEHOLDERS,
  type EmailContext,
  type EmailWords,
  type InLanguages,
} from '../platform/email/kind.ts';

/** What the kinds of email about an order have in common. */
export const ORDER_EMAIL = {
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    orderNumber: {
      meaning: 'Number of the order.',
      value: ({ orderNumber }: { orderNumber: string }) => orderNumber,
    },
  },
  link: (_: object, { storefront }: EmailContext) => storefront,
};

export const ORDER_WORDS: InLanguages<Pick<EmailWords, 'link' | 'footer'>> = {
  en: {
    link: 'To the shop',
    footer: 'You receive this mail because an order was placed with this address.',
  },
  de: {
    link: 'Zum Shop',
    footer: 'Sie erhalten diese E-Mail, weil mit dieser Adresse bestellt wurde.',
  },
  fr: {
    link: 'Vers la boutique',
    footer: 'Vous recevez cet e-mail car une commande a été passée avec cette adresse.',
  },
};

/** Keeps an amount and its currency on one line. */
export const unbroken = (amount: string) => amount.replaceAll(' ', '\u00a0');

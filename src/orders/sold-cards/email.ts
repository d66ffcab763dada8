import { dateText } from '../../http/dates.ts';
import type { Messages } from '../../kernel/messages.ts';
import { SHOP_PLACEHOLDERS, type EmailKind, type EmailMessages } from '../../platform/email/kind.ts';
import { sampleMoney, SAMPLE_TIME, unbroken } from '../order-email.ts';
import { giftCardPdf, type GiftCardSent } from './pdf.ts';

export const giftCardEmail: EmailKind<GiftCardSent, EmailMessages & Messages['email']['soldGiftCard']> = {
  name: 'giftCard',
  occasion:
    'To the recipient of a gift card that was bought, with its code and a PDF to print, on the day that the buyer has chosen.',
  example: { en_GB: { subject: 'A gift card of {amount} for you' } },
  isLimited: false,
  sample: (locale) => ({
    giftCardId: '019A8C1E-0000-7000-8000-000000001003',
    code: '7QXM-2KTR-9DWA-HP4S',
    amount: sampleMoney(5_000, locale),
    lastDay: dateText(new Date('2029-12-31'), locale),
    issuedAt: SAMPLE_TIME.toISOString(),
    name: 'Anna',
    message: 'Happy birthday!',
    giver: 'Ada Lovelace',
  }),
  attachments: async (db, email) => [
    {
      name: 'gift-card.pdf',
      type: 'application/pdf',
      bytes: await giftCardPdf(db, email),
    },
  ],
  placeholders: {
    ...SHOP_PLACEHOLDERS,
    amount: { meaning: 'What it is worth, with its currency.', value: ({ amount }) => unbroken(amount) },
    name: { meaning: 'The name on it.', value: ({ name }) => name ?? null },
    giver: { meaning: 'Who has bought it for somebody else.', value: ({ giver }) => giver ?? null },
    message: { meaning: 'What the buyer has written.', value: ({ message }) => message ?? null },
  },
  // The code is money, so it is no placeholder: a shop's own words may lack it, or write it into an address.
  sections: ({ code, lastDay }, { code: title, howTo, until }) => [
    {
      title,
      rows: [
        { text: code, as: 'plain' },
        { text: howTo, as: 'plain' },
        ...(lastDay === undefined ? [] : [{ text: until({ day: lastDay }), as: 'plain' as const }]),
      ],
    },
  ],
  link: (_, { storefront }) => `${storefront}/gift-card`,
  messages: (email) => email.soldGiftCard,
};

import type { EmailKind, EmailWords } from '../../platform/email/kind.ts';
import { ORDER_EMAIL, ORDER_WORDS, unbroken } from '../order-email.ts';
import { documentFile } from './file.ts';

/** An invoice or a credit note that was finalised. */
export interface DocumentFinalised {
  orderNumber: string;
  documentId: string;
  documentType: 'Invoice' | 'CreditNote';
  documentNumber: string;
  grandTotal: string;
}

interface DocumentWords extends EmailWords {
  documentTypes: Record<DocumentFinalised['documentType'], string>;
}

export const documentEmail: EmailKind<DocumentFinalised, DocumentWords> = {
  ...ORDER_EMAIL,
  name: 'invoice',
  occasion: 'To the customer, with an invoice or a credit note as PDF.',
  example: { en_GB: { subject: '{shopName}: {documentType} {documentNumber}' } },
  isLimited: false,
  // A document goes with its order, and without it the email would say nothing.
  attachments: async (db, shopId, { documentId }) => {
    const file = await documentFile(db, shopId, documentId);
    return file && [file];
  },
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    documentType: {
      meaning: '"invoice" or "credit note", in the language of the mail.',
      value: ({ documentType }, _, { documentTypes }) => documentTypes[documentType],
    },
    documentNumber: {
      meaning: 'Number of the invoice or credit note.',
      value: ({ documentNumber }) => documentNumber,
    },
    total: { meaning: 'Its total, with its currency.', value: ({ grandTotal }) => unbroken(grandTotal) },
  },
  words: {
    en: {
      ...ORDER_WORDS.en,
      subject: 'Your {documentType} {documentNumber}',
      text: '{shopName} sends you the {documentType} {documentNumber} for your order {orderNumber}. You find it attached as a PDF.\n\nTotal: {total}',
      documentTypes: { Invoice: 'invoice', CreditNote: 'credit note' },
    },
    de: {
      ...ORDER_WORDS.de,
      subject: 'Ihre {documentType} {documentNumber}',
      text: '{shopName} sendet Ihnen die {documentType} {documentNumber} zu Ihrer Bestellung {orderNumber}. Sie finden sie als PDF im Anhang.\n\nGesamtbetrag: {total}',
      documentTypes: { Invoice: 'Rechnung', CreditNote: 'Gutschrift' },
    },
    fr: {
      ...ORDER_WORDS.fr,
      subject: 'Votre {documentType} {documentNumber}',
      text: '{shopName} vous envoie la {documentType} {documentNumber} pour votre commande {orderNumber}. Vous la trouverez en pièce jointe, au format PDF.\n\nTotal\u00a0: {total}',
      documentTypes: { Invoice: 'facture', CreditNote: 'note de crédit' },
    },
  },
};

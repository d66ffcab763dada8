import type { Messages } from '../../kernel/messages.ts';
import type { EmailKind, EmailMessages } from '../../platform/email/kind.ts';
import { ORDER_EMAIL, SAMPLE_ORDER, sampleMoney, unbroken } from '../order-email.ts';
import { deliveredFiles } from './file.ts';

/** An invoice or a credit note that was finalised. */
export interface DocumentFinalised {
  orderId: string;
  orderNumber: string;
  documentId: string;
  documentType: 'Invoice' | 'CreditNote';
  documentNumber: string;
  grandTotal: string;
}

export const documentEmail: EmailKind<DocumentFinalised, EmailMessages & Messages['email']['invoice']> = {
  ...ORDER_EMAIL,
  name: 'invoice',
  occasion:
    'To the customer, with an invoice or a credit note as PDF, and as XML where the customer gets an electronic one beside it.',
  example: { en_GB: { subject: '{shopName}: {documentType} {documentNumber}' } },
  isLimited: false,
  sample: (locale) => ({
    ...SAMPLE_ORDER,
    documentId: '019A8C1E-0000-7000-8000-000000001002',
    documentType: 'Invoice',
    documentNumber: '1001',
    grandTotal: sampleMoney(5_955, locale),
  }),
  // A document is deleted with its order, and without it the email would be empty.
  attachments: async (db, { shopId, facts: { documentId } }) => {
    const files = await deliveredFiles(db, shopId, documentId);
    return files.length > 0 ? files : undefined;
  },
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    documentType: {
      meaning: '"invoice" or "credit note", in the language of the email.',
      value: ({ documentType }, _, { documentTypes }) => documentTypes[documentType],
    },
    documentNumber: {
      meaning: 'Number of the invoice or credit note.',
      value: ({ documentNumber }) => documentNumber,
    },
    total: { meaning: 'Its total, with its currency.', value: ({ grandTotal }) => unbroken(grandTotal) },
  },
  messages: (email) => ({ ...email.aboutOrder, ...email.invoice }),
};

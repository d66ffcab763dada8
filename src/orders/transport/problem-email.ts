import type { Messages } from '../../kernel/messages.ts';
import type { EmailKind, EmailMessages } from '../../platform/email/kind.ts';
import type { DocumentKind } from '../documents/facts.ts';
import { ORDER_EMAIL, orderInAdmin, SAMPLE_ORDER } from '../order-email.ts';

/** An electronic document could not be delivered through the network. */
export interface DocumentProblemFacts {
  orderId: string;
  orderNumber: string;
  documentType: DocumentKind;
  documentNumber: string;
  reason: string;
}

export const documentProblemEmail: EmailKind<
  DocumentProblemFacts,
  EmailMessages & Messages['email']['documentProblem']
> = {
  ...ORDER_EMAIL,
  name: 'documentProblem',
  occasion:
    'To the shop, when an electronic invoice or credit note could not be delivered through the Peppol network.',
  example: { en_GB: { subject: 'Look at {documentType} {documentNumber}' } },
  isLimited: false,
  sample: {
    ...SAMPLE_ORDER,
    documentType: 'Invoice',
    documentNumber: '1001',
    reason: 'e-invoice.be answered 422',
  },
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    documentType: {
      meaning: '"Invoice" or "Credit note", in the language of the email.',
      value: ({ documentType }, _, { documentTypes }) => documentTypes[documentType],
    },
    documentNumber: {
      meaning: 'Number of the invoice or credit note.',
      value: ({ documentNumber }) => documentNumber,
    },
    reason: { meaning: 'What the provider has said.', value: ({ reason }) => reason },
  },
  link: orderInAdmin,
  messages: (email) => ({ ...email.aboutShop, ...email.documentProblem }),
};

import { invalid, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { isId } from '../kernel/ids.ts';
import { EMAIL_QUEUE, queueEmails } from '../platform/email/queue.ts';
import { queueJobs } from '../platform/jobs/queue.ts';
import { documentEmail } from './documents/document-email.ts';
import { emailsOf } from './documents/finalise.ts';
import { findDocument } from './documents/queries.ts';
import { manageOperation, managedOrder, openOrder, record } from './manage-change.ts';
import { EmailAgain } from './manage-schema.ts';
import { emailAddressOf } from './order-email.ts';
import { placedEmails } from './placed-emails.ts';

export const sendOrderEmail = operation({
  ...manageOperation,
  method: 'POST',
  path: '/orders/:orderId/emails',
  name: 'sendOrderEmail',
  summary: 'Send order email',
  description:
    'Sends the order confirmation or one of its documents again, to the current email address of the order. 409: the customer was erased.',
  body: EmailAgain,
  status: 201,
});

export function managedEmails(api: Operations): void {
  api.write(sendOrderEmail, async (call) => {
    const { tx, shopId, body } = call;
    const open = await openOrder(call);
    const { order, settings } = open;
    const to = emailAddressOf(order);
    if (to === undefined) throw new Refusal('ORDER_CUSTOMER_ERASED');
    const documentId = body.documentId ?? null;
    if (documentId === null) {
      const { orderId, locale } = order;
      const toCustomerAlone = { ...settings, emailNewOrders: false };
      const emails = placedEmails({ orderId, email: to, locale }, toCustomerAlone, tx.now);
      await queueJobs(tx, shopId, EMAIL_QUEUE, emails);
      await record(call, open, 'email sent', { email: 'order' });
    } else {
      const document = isId(documentId) ? await findDocument(tx, shopId, documentId) : undefined;
      if (document?.orderId !== order.orderId) throw invalid('UNKNOWN_VALUE', 'documentId');
      const emails = emailsOf(document).map((email) => ({ ...email, to }));
      await queueEmails(tx, shopId, documentEmail, emails);
      await record(call, open, 'email sent', {
        email: 'invoice',
        documentId: document.documentId,
        documentType: document.kind,
        documentNumber: String(document.number),
      });
    }
    return managedOrder(tx, call, order, settings);
  });
}

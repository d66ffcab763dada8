import { invitationEmail } from '../admin/users/invitation-email.ts';
import { supportEnteredEmail } from '../admin/support/entered-email.ts';
import { passwordEmail } from '../admin/users/password-email.ts';
import { hostMessageEmail } from '../host/message-email.ts';
import { availabilityEmail } from '../catalogue/products/availability-email.ts';
import { cartReminder } from '../carts/reminder-email.ts';
import { backorderMovedEmail, backorderReadyEmail } from '../orders/backorder-emails.ts';
import { orderConfirmation } from '../orders/confirmation-email.ts';
import { cancelEmail } from '../orders/cancel-email.ts';
import { returnEmail } from '../orders/return-email.ts';
import { lowStockEmail } from '../catalogue/products/low-stock-email.ts';
import { newOrderEmail } from '../orders/new-order-email.ts';
import { documentEmail } from '../orders/documents/document-email.ts';
import { paymentFailedEmail, paymentProblemEmail, paymentReceivedEmail } from '../orders/payment-emails.ts';
import { paymentInstructionsEmail } from '../orders/payment-instructions-email.ts';
import { giftCardEmail } from '../orders/sold-cards/email.ts';
import { refundEmail } from '../orders/refund-email.ts';
import {
  returnApprovedEmail,
  returnNoticeEmail,
  returnRejectedEmail,
} from '../orders/return-request-emails.ts';
import { downloadsEmail } from '../downloads/downloads-email.ts';
import { fewKeysEmail } from '../downloads/few-keys.ts';
import { newVersionEmail } from '../downloads/new-version-email.ts';
import { reviewInvitation } from '../reviews/invitation-email.ts';
import { shipmentEmail } from '../orders/shipment-email.ts';
import { contactEmail } from '../content/contact-email.ts';
import { accessApprovedEmail } from '../people/access/approved-email.ts';
import { signInEmail } from '../people/accounts/sign-in-email.ts';
import { withdrawalAcknowledgement, withdrawalLink } from '../orders/withdrawal-emails.ts';
import { newsletterConfirmation } from '../people/newsletters/confirmation-email.ts';
import { documentProblemEmail } from '../orders/transport/problem-email.ts';
import type { EmailKind } from '../platform/email/kind.ts';
import { ruleCustomerEmail, ruleEmail } from '../rules/email.ts';
import { deactivationEmail } from '../apps/webhooks/deactivation-email.ts';

/** Every kind of email, in the order in which a settings file lists them. */
export const EMAIL_KINDS: readonly EmailKind[] = [
  orderConfirmation,
  paymentReceivedEmail,
  paymentFailedEmail,
  paymentInstructionsEmail,
  shipmentEmail,
  documentEmail,
  cancelEmail,
  returnEmail,
  refundEmail,
  giftCardEmail,
  returnApprovedEmail,
  returnRejectedEmail,
  withdrawalLink,
  withdrawalAcknowledgement,
  returnNoticeEmail,
  backorderMovedEmail,
  backorderReadyEmail,
  availabilityEmail,
  newsletterConfirmation,
  contactEmail,
  cartReminder,
  reviewInvitation,
  downloadsEmail,
  newVersionEmail,
  fewKeysEmail,
  newOrderEmail,
  lowStockEmail,
  paymentProblemEmail,
  documentProblemEmail,
  signInEmail,
  accessApprovedEmail,
  deactivationEmail,
  ruleEmail,
  ruleCustomerEmail,
  invitationEmail,
  passwordEmail,
  supportEnteredEmail,
  hostMessageEmail,
];

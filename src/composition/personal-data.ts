import { cartPersonalData } from '../carts/personal-data.ts';
import { mailingPersonalData } from '../content/mailings/personal-data.ts';
import { availabilityPersonalData } from '../catalogue/products/availability-personal-data.ts';
import { assistantPersonalData } from '../assistants/personal-data.ts';
import { orderTagPersonalData } from '../orders/tags.ts';
import { taskPersonalData } from '../rules/personal-data.ts';
import { downloadPersonalData } from '../downloads/personal-data.ts';
import { reviewPersonalData } from '../reviews/personal-data.ts';
import { orderPersonalData } from '../orders/personal-data.ts';
import { accessPersonalData } from '../people/access/personal-data.ts';
import { accountPersonalData } from '../people/accounts/personal-data.ts';
import { customerPersonalData } from '../people/customers/notes.ts';
import { giftCardPersonalData } from '../giftcards/personal-data.ts';
import { newsletterPersonalData } from '../people/newsletters/personal-data.ts';
import { privacyRequestPersonalData } from '../people/privacy/requests.ts';
import { emailPersonalData } from '../platform/email/personal-data.ts';
import { fieldPersonalData } from '../fields/personal-data.ts';
import type { PersonalData } from '../platform/personal-data.ts';
import { auditPersonalData } from '../apps/audit-log/personal-data.ts';
import { wishlistPersonalData } from '../storefront/wishlist/personal-data.ts';

/**
 * Every source of personal data beside the customer itself, in the order of an export. Admin users are not included:
 * they are users of the installation and not customers of a shop, may share an address with a customer by chance, and
 * erasing a customer must not lock anyone out.
 */
export const PERSONAL_DATA: readonly PersonalData[] = [
  customerPersonalData,
  accessPersonalData,
  giftCardPersonalData,
  newsletterPersonalData,
  mailingPersonalData,
  availabilityPersonalData,
  // Carts and wish lists of an account are found by the account, so they come before it.
  fieldPersonalData,
  cartPersonalData,
  wishlistPersonalData,
  accountPersonalData,
  emailPersonalData,
  // These find their rows by the orders.
  orderTagPersonalData,
  taskPersonalData,
  reviewPersonalData,
  downloadPersonalData,
  orderPersonalData,
  assistantPersonalData,
  privacyRequestPersonalData,
  auditPersonalData,
];

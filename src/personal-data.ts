import { cartPersonalData } from './carts/personal-data.ts';
import { availabilityPersonalData } from './catalogue/products/availability-personal-data.ts';
import { orderPersonalData } from './orders/personal-data.ts';
import { accountPersonalData } from './people/accounts/personal-data.ts';
import { newsletterPersonalData } from './people/newsletters/personal-data.ts';
import { emailPersonalData } from './platform/email/personal-data.ts';
import type { PersonalData } from './platform/personal-data.ts';
import { auditPersonalData } from './shops/audit-log/personal-data.ts';
import { wishlistPersonalData } from './storefront/wishlist/personal-data.ts';

/**
 * Every source of data about a person beside the customer itself, in the order of an export. People who work in the admin
 * are none of them: they are users of the installation and no customers of a shop, may have the address of a customer by
 * chance, and erasing a customer must not lock anybody out.
 */
export const PERSONAL_DATA: readonly PersonalData[] = [
  newsletterPersonalData,
  availabilityPersonalData,
  // Carts and wish lists of an account are found by the account, so they come before it.
  cartPersonalData,
  wishlistPersonalData,
  accountPersonalData,
  emailPersonalData,
  orderPersonalData,
  auditPersonalData,
];

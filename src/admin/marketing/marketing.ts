import type { ShopPages } from '../pages.ts';
import { abandonedCartPages } from './abandoned-carts.ts';
import { coupons } from './coupons.ts';
import { mailingPages } from './mailings.ts';
import { newsletterPages } from './newsletters.ts';

export function marketing(pages: ShopPages): void {
  coupons(pages);
  mailingPages(pages);
  newsletterPages(pages);
  abandonedCartPages(pages);
}

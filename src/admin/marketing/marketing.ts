import type { ShopPages } from '../pages.ts';
import { abandonedCartPages } from './abandoned-carts.ts';
import { coupons } from './coupons.ts';
import { newsletterPages } from './newsletters.ts';

export function marketing(pages: ShopPages): void {
  coupons(pages);
  newsletterPages(pages);
  abandonedCartPages(pages);
}

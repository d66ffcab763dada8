import type { ShopPages } from '../pages.ts';
import { abandonedCarts } from './abandoned-carts.ts';
import { coupons } from './coupons.ts';
import { newsletters } from './newsletters.ts';

export function marketing(pages: ShopPages): void {
  coupons(pages);
  newsletters(pages);
  abandonedCarts(pages);
}

import type { ShopPages } from '../pages.ts';
import { coupons } from './coupons.ts';

export function marketing(pages: ShopPages): void {
  coupons(pages);
}

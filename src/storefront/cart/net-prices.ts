import { Redirect } from '../../http/page-kit.ts';
import type { Pages } from '../pages.ts';
import { priceViewOf } from '../price-view.ts';
import { setSessionCart, updateVisitorCart } from './visitor-cart.ts';

/** Switches between prices with and without tax, where the shop lets visitors say that they buy as a business. */
export function netPrices(pages: Pages): void {
  pages.post('/net-prices', async (visit, { field, referrerPath }) => {
    visit.updateSession({ isBusiness: field('prices') === 'net' ? true : undefined });
    const { db, session, account, settings } = visit;
    const priceView = priceViewOf(session, account, settings, db.now);
    const cart =
      session.cart && (await updateVisitorCart({ ...visit, priceView }, session.cart.id, () => ({})));
    if (cart) setSessionCart(visit, cart);
    return new Redirect(referrerPath);
  });
}

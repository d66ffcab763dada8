import { readingCurrency } from '../http/locale.ts';
import { Redirect } from './page.ts';
import type { Pages } from './pages.ts';

/** The switch of currencies. */
export function currency(pages: Pages): void {
  pages.take('/currency', {}, async (visit, { field, cameFrom }) => {
    visit.remember({ currency: readingCurrency(field('currency'), visit.settings) });
    return new Redirect(cameFrom);
  });
}

import { readingLocale } from '../../http/locale.ts';
import { Redirect } from '../../http/page-kit.ts';
import { updateAccountLocale } from '../../people/accounts/queries.ts';
import type { Pages } from '../pages.ts';
import { shopPath } from '../visit.ts';

/** Characters of the address of a page, filters included. */
const MAX_ADDRESS_LENGTH = 4_000;

/** Any host: only the path and the query of the address are used. */
const ANY_ORIGIN = 'http://shop.invalid';

/**
 * Chooses the language of this browser, and of the account. The page that has the menu is shown again: its address is
 * in the form, because a page that answers a form has an address that can't be opened.
 */
export function language(pages: Pages): void {
  pages.post(
    '/language',
    async (visit, { field }) => {
      const { db, shopId, settings, account } = visit;
      const locale = readingLocale(
        settings.locales.find((one) => one === field('locale')),
        settings,
      );
      visit.updateSession({ locale });
      if (account) await updateAccountLocale(db, shopId, account.accountId, locale);
      return new Redirect(pagePath({ ...visit, locale }, field('page')));
    },
    { limits: { texts: { page: MAX_ADDRESS_LENGTH } } },
  );
}

/** The path of a page below the shop, whatever the form says. */
function pagePath(visit: Parameters<typeof shopPath>[0], page: string): string {
  const isPath = /^\/(?![/\\])/.test(page) && URL.canParse(page, ANY_ORIGIN);
  if (!isPath) return shopPath(visit, '');
  const { pathname, searchParams } = new URL(page, ANY_ORIGIN);
  searchParams.delete('locale');
  const query = Object.fromEntries([...searchParams.keys()].map((key) => [key, searchParams.getAll(key)]));
  return shopPath(visit, pathname === '/' ? '' : pathname, query);
}

import { notFound } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { messages } from '../../kernel/messages.ts';
import { findSubscribedIds, setSubscriptions } from '../../people/newsletters/queries.ts';
import { Redirect } from '../page.ts';
import type { Pages } from '../pages.ts';
import { to, type Visit } from '../visit.ts';
import { accountPage, whenFormSignedIn, whenSignedIn } from './account-page.ts';

const PATH = '/account/newsletters';
const checkboxOf = (campaignId: string) => `newsletter-${campaignId}`;

/** The newsletters that the confirmed address gets. It needs no other confirmation. */
export function accountNewsletters(pages: Pages): void {
  pages.get(
    PATH,
    whenSignedIn(async (visit, account) => {
      const { db, shopId, locale } = visit;
      const words = messages(locale).storefront.account;
      const subscribed = await findSubscribedIds(db, shopId, account.email);
      return accountPage(visit, account, {
        title: words.newsletters.title,
        path: PATH,
        main: html`<form class="narrow" method="post" action="${to(visit, PATH)}">
          <fieldset class="field">
            <legend>${words.newsletters.intro({ email: account.email })}</legend>
            ${requireCampaigns(visit).map(
              ({ campaignId, name, description }) =>
                html`<label class="choice"
                  ><input
                    type="checkbox"
                    name="${checkboxOf(campaignId)}"
                    value="yes"
                    ${subscribed.has(campaignId.toUpperCase()) && html`checked`}
                  />
                  <span>${name}${description && html`<br /><small>${description}</small>`}</span></label
                >`,
            )}
          </fieldset>
          <button class="button">${words.save}</button>
        </form>`,
      });
    }),
  );

  pages.post(
    PATH,
    whenFormSignedIn(async (visit, account, { field }) => {
      const { db, shopId, locale } = visit;
      const chosen = requireCampaigns(visit)
        .map(({ campaignId }) => campaignId)
        .filter((campaignId) => field(checkboxOf(campaignId)) !== '');
      await db.transaction((tx) => setSubscriptions(tx, shopId, account.email, chosen));
      return new Redirect(to(visit, PATH), messages(locale).storefront.account.newsletters.saved);
    }),
  );
}

function requireCampaigns({ settings }: Visit) {
  if (settings.newsletterCampaigns.length === 0) throw notFound();
  return settings.newsletterCampaigns;
}

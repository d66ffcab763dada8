import { notFound } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { findSubscribedIds, setSubscriptions } from '../../people/newsletters/queries.ts';
import type { NewsletterCampaign } from '../../shops/settings/settings.ts';
import { offeredCampaigns } from '../newsletter/newsletter.ts';
import type { Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import { accountPage, whenFormSignedIn, whenSignedIn } from './account-page.ts';
import { Redirect } from '../../http/page-kit.ts';

const PATH = '/account/newsletters';
const checkboxOf = (campaignId: string) => `newsletter-${campaignId}`;

/** The newsletters that the confirmed address gets. No further confirmation is needed. */
export function accountNewsletters(pages: Pages): void {
  pages.get(
    PATH,
    whenSignedIn(async (visit, account) => {
      const { db, shopId, locale } = visit;
      const messages = messagesIn(locale).storefront.account;
      const subscribed = await findSubscribedIds(db, shopId, account.email);
      return accountPage(visit, account, {
        title: messages.newsletters.title,
        path: PATH,
        main: html`<form class="narrow" method="post" action="${shopPath(visit, PATH)}">
          <fieldset class="field">
            <legend>${messages.newsletters.intro({ email: account.email })}</legend>
            ${shownCampaigns(visit, subscribed).map(
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
          <button class="button">${messages.save}</button>
        </form>`,
      });
    }),
  );

  pages.post(
    PATH,
    whenFormSignedIn(async (visit, account, { field }) => {
      const { db, shopId, locale } = visit;
      const subscribed = await findSubscribedIds(db, shopId, account.email);
      const chosen = shownCampaigns(visit, subscribed)
        .map(({ campaignId }) => campaignId)
        .filter((campaignId) => field(checkboxOf(campaignId)) !== '');
      await db.transaction((tx) => setSubscriptions(tx, shopId, account.email, chosen, locale));
      return new Redirect(shopPath(visit, PATH), messagesIn(locale).storefront.account.newsletters.saved);
    }),
  );
}

/** Newsletters in the visitor's language, and those in others that the address is subscribed to. */
function shownCampaigns(visit: Visit, subscribed: ReadonlySet<string>): NewsletterCampaign[] {
  const offered = offeredCampaigns(visit);
  if (offered.length === 0) throw notFound();
  return visit.settings.newsletterCampaigns.filter(
    (campaign) => offered.includes(campaign) || subscribed.has(campaign.campaignId.toUpperCase()),
  );
}

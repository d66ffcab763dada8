import { emailField } from '../email-field.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { newId } from '../../kernel/ids.ts';
import { isEmailAddress, MAX_EMAIL_ADDRESS_LENGTH } from '../../platform/email/address.ts';
import { queueEmails } from '../../platform/email/queue.ts';
import { newsletterConfirmation } from '../../people/newsletters/confirmation-email.ts';
import { unsubscribeByMailing } from '../../content/mailings/bounces.ts';
import { UNSUBSCRIBE_PATH } from '../../content/mailings/links.ts';
import { findMailing } from '../../content/mailings/queries.ts';
import { requestHash, type NewsletterTokens } from '../../people/newsletters/links.ts';
import {
  confirmRequests,
  findRequests,
  insertRequests,
  mayReceiveSubscriptionEmail,
  unsubscribe,
} from '../../people/newsletters/queries.ts';
import type { StoredCart } from '../../carts/cart.ts';
import type { NewsletterCampaign } from '../../shops/settings/settings.ts';
import { messagesIn, type Messages } from '../../kernel/messages.ts';
import type { Page } from '../page.ts';
import type { Pages, ShopFormRequest } from '../pages.ts';
import { legalNames, shopPath, type Visit } from '../visit.ts';
import { Redirect } from '../../http/page-kit.ts';

const MAX_NAME_LENGTH = 100;
const FORMS_PER_HOUR = 10;
/** A mail provider sends those of all its users from few addresses. */
const ONE_CLICKS_PER_HOUR = 100_000;

/**
 * A visitor who enters an address gets an email with a link to a page, whose button subscribes. Opening the link does
 * not subscribe, because virus scanners open links too. Every response is the same whether or not the address is
 * known.
 */
export function newsletter(pages: Pages, tokens: NewsletterTokens): void {
  pages.get('/newsletter', async (visit) => formPage(visit, EMPTY));

  pages.post(
    '/newsletter',
    async (visit, { field }) => {
      const values = formValues(visit, field);
      const problems = problemsOf(values);
      if (Object.keys(problems).length > 0) return { ...formPage(visit, values, problems), status: 400 };
      await requestSubscription(visit, tokens, values);
      return new Redirect(shopPath(visit, '/newsletter/sent'));
    },
    { perHour: FORMS_PER_HOUR },
  );

  pages.get('/newsletter/sent', async (visit) => {
    const messages = messagesIn(visit.locale).storefront.newsletter;
    return textPage(visit, '/newsletter/sent', messages.sentTitle, messages.sent);
  });

  pages.get('/newsletter/confirm', async (visit, { query }) => {
    const token = query('token') ?? '';
    const requests = await findRequests(visit.db, visit.shopId, tokenHashes(visit, token));
    return requests.length === 0 ? expiredPage(visit) : confirmPage(visit, token, requests);
  });

  pages.post(
    '/newsletter/confirm',
    async (visit, { field }) => {
      const { db, shopId } = visit;
      const hashes = tokenHashes(visit, field('token'));
      const [subscriber] = await db.transaction((tx) => confirmRequests(tx, shopId, hashes));
      if (!subscriber) return expiredPage(visit);
      const token = tokens.unsubscribing(shopId, subscriber.email);
      return new Redirect(shopPath(visit, '/newsletter/confirmed', { token }));
    },
    { perHour: FORMS_PER_HOUR },
  );

  pages.get('/newsletter/confirmed', async (visit, { query }) => {
    const token = query('token') ?? '';
    if (tokens.unsubscriber(visit.shopId, token) === undefined) throw notFound();
    const messages = messagesIn(visit.locale).storefront.newsletter;
    const link = html`<a href="${shopPath(visit, '/newsletter/unsubscribe', { token })}"
      >${messages.unsubscribeButton}</a
    >`;
    return {
      ...textPage(visit, '/newsletter/confirmed', messages.confirmedTitle, messages.confirmed, link),
      query: { token },
    };
  });

  pages.get('/newsletter/unsubscribe', async (visit, { query }) => {
    const token = query('token') ?? '';
    const email = tokens.unsubscriber(visit.shopId, token);
    if (email === undefined) throw notFound();
    return unsubscribePage(visit, token, email);
  });

  pages.post(
    '/newsletter/unsubscribe',
    async (visit, { field }) => {
      const { db, shopId } = visit;
      const email = tokens.unsubscriber(shopId, field('token'));
      if (email === undefined) throw notFound();
      await db.transaction((tx) => unsubscribe(tx, shopId, email));
      return new Redirect(shopPath(visit, '/newsletter/unsubscribed'));
    },
    { perHour: FORMS_PER_HOUR },
  );

  pages.get(UNSUBSCRIBE_PATH, async (visit, { query }) => {
    const token = query('token') ?? '';
    const found = tokens.unsubscriberFrom(visit.shopId, token);
    if (!found) throw notFound();
    return mailingUnsubscribePage(visit, token, found);
  });

  // RFC 8058: email programs send this without a cookie or an origin, and follow no redirect.
  pages.post(
    UNSUBSCRIBE_PATH,
    async (visit, { query }) => {
      const found = tokens.unsubscriberFrom(visit.shopId, query('token') ?? '');
      if (!found) throw notFound();
      await visit.db.transaction((tx) => unsubscribeByMailing(tx, visit.shopId, found));
      return unsubscribedPage(visit);
    },
    { hasSecretPath: true, ignoresBody: true, perHour: ONE_CLICKS_PER_HOUR },
  );

  pages.get('/newsletter/unsubscribed', async (visit) => unsubscribedPage(visit));
}

function unsubscribedPage(visit: Visit): Page {
  const messages = messagesIn(visit.locale).storefront.newsletter;
  return textPage(visit, '/newsletter/unsubscribed', messages.unsubscribedTitle, messages.unsubscribed);
}

/** The newsletters in the visitor's language; all if there are none. */
export function offeredCampaigns({
  settings,
  locale,
}: Pick<Visit, 'settings' | 'locale'>): NewsletterCampaign[] {
  const inLanguage = settings.newsletterCampaigns.filter(({ language }) => locale.startsWith(language));
  return inLanguage.length > 0 ? inLanguage : settings.newsletterCampaigns;
}

interface FormValues {
  email: string;
  name: string;
  campaigns: readonly NewsletterCampaign[];
}

const EMPTY: FormValues = { email: '', name: '', campaigns: [] };

/** A single newsletter needs no checkbox. */
function formValues(visit: Visit, field: ShopFormRequest['field']): FormValues {
  const offered = offeredCampaigns(visit);
  return {
    email: field('email'),
    name: field('name'),
    campaigns: offered.length === 1 ? offered : offered.filter((one) => field(checkboxOf(one)) !== ''),
  };
}

const checkboxOf = ({ campaignId }: NewsletterCampaign) => `newsletter-${campaignId}`;

type Problem = 'wrongEmail' | 'longName' | 'chooseOne';
type Problems = Partial<Record<keyof FormValues, Problem>>;

function problemsOf({ email, name, campaigns }: FormValues): Problems {
  return {
    ...(!isEmailAddress(email) && { email: 'wrongEmail' }),
    ...(name.length > MAX_NAME_LENGTH && { name: 'longName' }),
    ...(campaigns.length === 0 && { campaigns: 'chooseOne' }),
  };
}

/** Serializable, because two concurrent requests would each miss the other's email in the count. */
async function requestSubscription(
  { db, shopId, locale }: Pick<Visit, 'db' | 'shopId' | 'locale'>,
  tokens: NewsletterTokens,
  values: FormValues,
): Promise<void> {
  const { email, campaigns } = values;
  await db.transaction(
    async (tx) => {
      if (!(await mayReceiveSubscriptionEmail(tx, shopId, email))) return;
      const requestId = newId(tx.now);
      const token = tokens.confirming(shopId, requestId);
      const requests = campaigns.map(({ campaignId }) => ({
        campaignId,
        tokenHash: requestHash(token, campaignId),
      }));
      await insertRequests(tx, shopId, { ...values, locale }, requests);
      const newsletters = campaigns.map(({ name }) => name);
      await queueEmails(tx, shopId, newsletterConfirmation, [
        { to: email, locale, facts: { requestId, newsletters } },
      ]);
    },
    { isolation: 'serializable' },
  );
}

/**
 * Asks the buyer of an order by email, as the form does: an assistant has said that the buyer wants the newsletters. A
 * buyer who has ordered with another address has not said it of that one.
 */
export async function askBuyer(
  visit: Pick<Visit, 'db' | 'shopId' | 'locale' | 'settings'>,
  tokens: NewsletterTokens,
  { assistantNotes, billingAddress }: Pick<StoredCart, 'assistantNotes' | 'billingAddress'>,
): Promise<void> {
  const { wantsNewsletter, buyer } = assistantNotes ?? {};
  const email = billingAddress?.emailAddress ?? '';
  if (!wantsNewsletter || email.toLowerCase() !== buyer?.email?.toLowerCase()) return;
  const campaigns = offeredCampaigns(visit);
  if (campaigns.length === 0 || !isEmailAddress(email)) return;
  await requestSubscription(visit, tokens, { email, name: '', campaigns });
}

/** The token does not name its newsletters, so the hashes of all of them are looked up. */
function tokenHashes({ settings }: Visit, token: string): Buffer[] {
  return settings.newsletterCampaigns.map(({ campaignId }) => requestHash(token, campaignId));
}

function formPage(visit: Visit, values: FormValues, problems: Problems = {}): Page {
  const messages = messagesIn(visit.locale).storefront.newsletter;
  return {
    title: messages.title,
    description: messages.intro,
    path: '/newsletter',
    main: html`<h1>${messages.title}</h1>
      <p>${messages.intro}</p>
      ${form(visit, values, problems)}`,
  };
}

function expiredPage(visit: Visit): Page {
  const messages = messagesIn(visit.locale).storefront.newsletter;
  return {
    status: 404,
    title: messages.invalidTitle,
    path: '/newsletter',
    isPrivate: true,
    main: html`<h1>${messages.invalidTitle}</h1>
      <p>${messages.invalid}</p>
      ${form(visit, EMPTY)}`,
  };
}

function form(visit: Visit, values: FormValues, problems: Problems = {}): Markup {
  const messages = messagesIn(visit.locale).storefront.newsletter;
  const offered = offeredCampaigns(visit);
  // A shop without newsletters does not have this page.
  if (offered.length === 0) throw notFound();
  const policy = legalNames(visit)['privacy-policy'];
  return html`<form class="narrow" method="post" action="${shopPath(visit, '/newsletter')}" novalidate>
    ${offered.length === 1 ? about(offered[0]!) : campaignFields(messages, offered, values, problems)}
    ${emailField(messages.email, values.email, problems.email && messages[problems.email])}
    <div class="field">
      <label for="name">${messages.name}</label>
      <input
        id="name"
        name="name"
        value="${values.name}"
        maxlength="${MAX_NAME_LENGTH}"
        autocomplete="name"
        ${errorAttributes(problems, 'name')}
      />
      ${errorText(messages, problems, 'name')}
    </div>
    ${
      policy !== undefined &&
      html`<p>${messages.privacy} <a href="${shopPath(visit, '/legal/privacy-policy')}">${policy}</a></p>`
    }
    <button class="button">${messages.subscribe}</button>
  </form>`;
}

/** The form as a part of another page. `prefix` keeps its ids apart from those of other forms there. */
export function newsletterFields(visit: Visit, prefix: string): Markup {
  const messages = messagesIn(visit.locale).storefront.newsletter;
  const offered = offeredCampaigns(visit);
  const policy = legalNames(visit)['privacy-policy'];
  return html`<form class="narrow" method="post" action="${shopPath(visit, '/newsletter')}">
    ${offered.length > 1 && campaignFields(messages, offered, EMPTY, {})}
    <div class="field">
      <label for="${prefix}newsletter">${messages.email}</label>
      <input
        id="${prefix}newsletter"
        name="email"
        type="email"
        required
        maxlength="${MAX_EMAIL_ADDRESS_LENGTH}"
        autocomplete="email"
      />
      <button class="button">${messages.subscribe}</button>
    </div>
    ${
      policy !== undefined &&
      html`<p>
        <small>${messages.privacy} <a href="${shopPath(visit, '/legal/privacy-policy')}">${policy}</a></small>
      </p>`
    }
  </form>`;
}

function about({ name, description }: NewsletterCampaign): Markup {
  return html`<h2>${name}</h2>
    ${description && html`<p>${description}</p>`}`;
}

/** No checkbox is preselected, because consent needs an action of the visitor. */
function campaignFields(
  messages: Messages['storefront']['newsletter'],
  offered: readonly NewsletterCampaign[],
  { campaigns }: FormValues,
  problems: Problems,
): Markup {
  const isRefused = problems.campaigns !== undefined;
  return html`<fieldset class="field" ${isRefused && html`aria-describedby="campaigns-error"`}>
    <legend>${messages.which}</legend>
    ${offered.map(
      (campaign) =>
        html`<label class="choice"
          ><input
            type="checkbox"
            name="${checkboxOf(campaign)}"
            value="yes"
            ${campaigns.includes(campaign) && html`checked`}
            ${isRefused && html`aria-invalid="true"`}
          />
          <span
            >${campaign.name}${campaign.description && html`<br /><small>${campaign.description}</small>`}</span
          ></label
        >`,
    )}
    ${errorText(messages, problems, 'campaigns')}
  </fieldset>`;
}

function errorAttributes(problems: Problems, key: keyof FormValues): Markup | false {
  return problems[key] !== undefined && html`aria-invalid="true" aria-describedby="${key}-error"`;
}

function errorText(
  messages: Messages['storefront']['newsletter'],
  problems: Problems,
  key: keyof FormValues,
): Markup | false {
  const problem = problems[key];
  return problem !== undefined && html`<p class="error" id="${key}-error">${messages[problem]}</p>`;
}

function confirmPage(
  visit: Visit,
  token: string,
  requests: readonly { campaignId: string; email: string }[],
): Page {
  const messages = messagesIn(visit.locale).storefront.newsletter;
  const requested = visit.settings.newsletterCampaigns.filter(({ campaignId }) =>
    requests.some((request) => request.campaignId === campaignId.toUpperCase()),
  );
  return {
    title: messages.confirmTitle,
    path: '/newsletter/confirm',
    query: { token },
    isPrivate: true,
    main: html`<h1>${messages.confirmTitle}</h1>
      <p>${messages.confirm}</p>
      <p><strong>${requests[0]!.email}</strong></p>
      <ul>
        ${requested.map(({ name }) => html`<li>${name}</li>`)}
      </ul>
      ${tokenForm(visit, '/newsletter/confirm', token, messages.confirmButton)}`,
  };
}

function unsubscribePage(visit: Visit, token: string, email: string): Page {
  const messages = messagesIn(visit.locale).storefront.newsletter;
  return {
    title: messages.unsubscribeTitle,
    path: '/newsletter/unsubscribe',
    query: { token },
    isPrivate: true,
    main: html`<h1>${messages.unsubscribeTitle}</h1>
      <p>${messages.unsubscribe}</p>
      <p><strong>${email}</strong></p>
      ${tokenForm(visit, '/newsletter/unsubscribe', token, messages.unsubscribeButton)}`,
  };
}

/** Names the newsletters of the mailing; without the mailing, the link unsubscribes from all of them. */
async function mailingUnsubscribePage(
  visit: Visit,
  token: string,
  { mailingId, email }: { mailingId: string; email: string },
): Promise<Page> {
  const messages = messagesIn(visit.locale).storefront.newsletter;
  const { newsletterCampaigns } = visit.settings;
  const mailing = await findMailing(visit.db, visit.shopId, mailingId);
  const left = newsletterCampaigns.filter(
    ({ campaignId }) => !mailing || mailing.newsletterIds.includes(campaignId.toUpperCase()),
  );
  return {
    title: messages.unsubscribeTitle,
    path: UNSUBSCRIBE_PATH,
    query: { token },
    isPrivate: true,
    main: html`<h1>${messages.unsubscribeTitle}</h1>
      <p>${messages.unsubscribeFrom}</p>
      <p><strong>${email}</strong></p>
      <ul>
        ${left.map(({ name }) => html`<li>${name}</li>`)}
      </ul>
      <form method="post" action="${shopPath(visit, UNSUBSCRIBE_PATH, { token })}">
        <button class="button">${messages.unsubscribeButton}</button>
      </form>`,
  };
}

function tokenForm(visit: Visit, path: string, token: string, label: string): Markup {
  return html`<form method="post" action="${shopPath(visit, path)}">
    <input type="hidden" name="token" value="${token}" />
    <button class="button">${label}</button>
  </form>`;
}

/** A page with a text and a link to the shop. */
function textPage(visit: Visit, path: string, title: string, text: string, link?: Markup): Page {
  return {
    title,
    path,
    isPrivate: true,
    main: html`<h1>${title}</h1>
      <p>${text}</p>
      ${link && html`<p>${link}</p>`}
      <p>
        <a class="button" href="${shopPath(visit, '')}"
          >${messagesIn(visit.locale).storefront.newsletter.home}</a
        >
      </p>`,
  };
}

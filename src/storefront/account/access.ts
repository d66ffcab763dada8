import { html, type Markup } from '../../http/html.ts';
import { Redirect } from '../../http/page-kit.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { findOrCreateCustomerOf } from '../../people/accounts/customer.ts';
import {
  findAccessRequest,
  MAX_COMPANY_LENGTH,
  MAX_ACCESS_TEXT_LENGTH,
  MAX_VAT_ID_LENGTH,
  saveAccessRequest,
  type AccessRequest,
} from '../../people/access/queries.ts';
import { recordEvents } from '../../platform/events/log.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import { accountPage, whenFormSignedIn, whenSignedIn } from './account-page.ts';
import type { SignedInAccount } from './signed-in-account.ts';

const PATH = '/account/access';
const REQUESTS_PER_HOUR = 10;

interface Typed {
  company: string;
  vatId: string;
  text: string;
}

/** Where visitors who have signed in ask for access to a shop that is for some groups of customers. */
export function accessPages(pages: Pages): void {
  pages.get(
    PATH,
    whenSignedIn(async (visit, account) =>
      // A shopper who may enter has nothing to ask for.
      visit.access === 'members'
        ? pageOf(visit, account, await requestOf(visit, account))
        : new Redirect(shopPath(visit, '')),
    ),
  );

  pages.post(
    PATH,
    whenFormSignedIn(async (visit, account, { field }) => {
      const { db, shopId, locale, settings, access } = visit;
      const { shop, requests } = settings.visibility;
      if (access !== 'members' || shop !== 'groups' || !requests) return new Redirect(shopPath(visit, PATH));
      const typed = { company: field('company'), vatId: field('vatId'), text: field('text') };
      if (typed.company === '') {
        return { ...pageOf(visit, account, await requestOf(visit, account), typed), status: 400 };
      }
      await db.transaction(async (tx) => {
        const customerId = await findOrCreateCustomerOf(tx, shopId, account.email);
        const saved = await saveAccessRequest(tx, shopId, {
          ...typed,
          customerId,
          email: account.email,
          locale,
        });
        if (saved > 0) recordEvents(tx, shopId, [{ type: 'ACCESS_REQUESTED', resourceId: customerId }]);
      });
      return new Redirect(shopPath(visit, PATH), messagesIn(locale).storefront.members.sent);
    }),
    {
      perHour: REQUESTS_PER_HOUR,
      limits: {
        texts: { company: MAX_COMPANY_LENGTH, vatId: MAX_VAT_ID_LENGTH, text: MAX_ACCESS_TEXT_LENGTH },
      },
    },
  );
}

async function requestOf({ db, shopId }: Visit, { customer }: SignedInAccount) {
  return customer ? findAccessRequest(db, shopId, customer.customerId) : undefined;
}

function pageOf(
  visit: Visit,
  account: SignedInAccount,
  request: AccessRequest | undefined,
  refused?: Typed,
): Page {
  const messages = messagesIn(visit.locale).storefront.members;
  const { shop, requests } = visit.settings.visibility;
  const state = request?.state;
  const mayAsk = shop === 'groups' && requests && (state === undefined || state === 'declined');
  return accountPage(visit, account, {
    title: messages.access,
    path: PATH,
    main: html`${state === 'waiting' && html`<p>${messages.waiting}</p>`}
    ${state === 'declined' && html`<p>${messages.declined}</p>`}
    ${
      mayAsk
        ? html`<p>${messages.askText}</p>
            ${form(visit, refused)}`
        : state !== 'waiting' && html`<p>${messages.closed}</p>`
    }`,
  });
}

function form(visit: Visit, refused: Typed | undefined): Markup {
  const messages = messagesIn(visit.locale).storefront.members;
  const isMissing = refused?.company === '';
  return html`<form class="narrow" method="post" action="${shopPath(visit, PATH)}" novalidate>
    <div class="field">
      <label for="company">${messages.company}</label>
      <input
        id="company"
        name="company"
        value="${refused?.company}"
        autocomplete="organization"
        maxlength="${MAX_COMPANY_LENGTH}"
        required
        ${isMissing && html`aria-invalid="true" aria-describedby="company-error"`}
      />
      ${isMissing && html`<p class="error" id="company-error">${messages.companyMissing}</p>`}
    </div>
    <div class="field">
      <label for="vatId">${messages.vatId}</label>
      <input id="vatId" name="vatId" value="${refused?.vatId}" maxlength="${MAX_VAT_ID_LENGTH}" />
    </div>
    <div class="field">
      <label for="text">${messages.message}</label>
      <textarea id="text" name="text" rows="4" maxlength="${MAX_ACCESS_TEXT_LENGTH}">
${refused?.text}</textarea>
    </div>
    <button class="button">${messages.send}</button>
  </form>`;
}

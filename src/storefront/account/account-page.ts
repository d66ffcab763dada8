import { html, type Markup } from '../../http/html.ts';
import { languageTag } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { touchSession } from '../../people/accounts/queries.ts';
import type { Page } from '../page.ts';
import type { ShopFormRequest, PageResponse } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import { navigationLink } from '../layout/navigation-link.ts';
import type { SignedInAccount } from './signed-in-account.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';

/** Milliseconds between two updates of when a browser was last seen. */
const SEEN_EVERY = 10 * 60_000;

/**
 * Shows a page to signed-in visitors, and the sign-in form to others. It also records the use of the session, because
 * the list of sessions must show a stranger who only reads.
 */
export function whenSignedIn(
  handler: (visit: Visit, account: SignedInAccount, request: PageRequest) => Promise<PageResponse>,
): (visit: Visit, request: PageRequest) => Promise<PageResponse> {
  return async (visit, request) => {
    const { db, shopId, account } = visit;
    if (!account) return new Redirect(shopPath(visit, '/account/sign-in'));
    const isDue = db.now.getTime() - account.seenAt.getTime() > SEEN_EVERY;
    if (isDue && !request.isHead) await touchSession(db, shopId, account.sessionId);
    return handler(visit, account, request);
  };
}

/** The same for a form. */
export function whenFormSignedIn(
  handler: (visit: Visit, account: SignedInAccount, form: ShopFormRequest) => Promise<PageResponse>,
): (visit: Visit, form: ShopFormRequest) => Promise<PageResponse> {
  return async (visit, form) =>
    visit.account ? handler(visit, visit.account, form) : new Redirect(shopPath(visit, '/account/sign-in'));
}

/** A page of the account: its title, the way to the other pages, and its own part. */
export function accountPage(
  visit: Visit,
  { email }: SignedInAccount,
  { title, path, main, status, script }: Pick<Page, 'title' | 'path' | 'main' | 'status' | 'script'>,
): Page {
  const messages = messagesIn(visit.locale).storefront.account;
  const sections: [string, string][] = [
    ['/account', messages.orders.title],
    ['/account/addresses', messages.addresses.title],
    ...(visit.settings.newsletterCampaigns.length > 0
      ? [['/account/newsletters', messages.newsletters.title] as [string, string]]
      : []),
    ['/account/devices', messages.security.title],
    ['/account/data', messages.data.title],
  ];
  return {
    title,
    path,
    isPrivate: true,
    hasPersonalData: true,
    ...(status !== undefined && { status }),
    ...(script !== undefined && { script }),
    main: html`<div class="account">
      <nav aria-label="${messages.sections}">
        <ul>
          ${sections.map(([page, name]) => html`<li>${navigationLink(visit, page, name, path)}</li>`)}
        </ul>
      </nav>
      <div class="own-part">
        <h1>${title}</h1>
        ${main}
      </div>
      <form method="post" action="${shopPath(visit, '/account/sign-out')}">
        <p><small>${messages.signedInAs({ email })}</small></p>
        <button class="quiet">${messages.signOut}</button>
      </form>
    </div>`,
  };
}

/** A form that is only a button. */
export function postButton(
  visit: Visit,
  path: string,
  label: string,
  {
    isQuiet = true,
    isDownload = false,
    name,
  }: { isQuiet?: boolean; isDownload?: boolean; name?: string } = {},
): Markup {
  return html`<form method="post" action="${shopPath(visit, path)}" ${isDownload && html`data-download`}>
    <button class="${isQuiet ? 'quiet' : 'button'}" ${name !== undefined && html`aria-label="${name}"`}>
      ${label}
    </button>
  </form>`;
}

/** A day in the visitor's language, such as 16 Nov 2026. */
export function mediumDateText({ locale }: Visit, moment: Date): string {
  return new Intl.DateTimeFormat(languageTag(locale), { dateStyle: 'medium', timeZone: 'UTC' }).format(
    moment,
  );
}

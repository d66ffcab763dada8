import { notFound, type HttpError } from '../http/errors.ts';
import { html } from '../http/html.ts';
import { errorTexts } from '../http/page-kit.ts';
import { searchForm } from './layout/search-form.ts';
import type { Page } from './page.ts';
import type { Pages } from './pages.ts';
import { shopName, shopPath, type Visit } from './visit.ts';
import { messagesIn } from '../kernel/messages.ts';

/** The page for a request that failed. A missing address offers the search instead. */
export function errorPage(visit: Visit, { status, message }: HttpError): Page {
  const messages = messagesIn(visit.locale).storefront.error;
  const { title, text: known } = errorTexts(status, messages);
  const text = status === 404 ? messages.unknown : (known ?? (status >= 500 ? undefined : message));
  return {
    status,
    title,
    path: '',
    isPrivate: true,
    main: html`<div class="hero">
      <h1>${title}</h1>
      ${text !== undefined && html`<p>${text}</p>`} ${status === 404 && searchForm(visit)}
      <p><a class="button" href="${shopPath(visit, '')}">${messages.home}</a></p>
    </div>`,
  };
}

/** The page of a shop that only its own apps may see. */
export function closedPage(visit: Visit): Page {
  return {
    title: shopName(visit),
    path: '',
    isPrivate: true,
    main: html`<div class="hero">
      <h1>${shopName(visit)}</h1>
      <p>${messagesIn(visit.locale).storefront.error.closed}</p>
    </div>`,
  };
}

/** Seconds after which a search engine asks again for a page of a shop that is paused. */
export const PAUSED_FOR = 3_600;

/** The page of a shop that the operator of the installation has suspended, at every address: 503, so that nothing is forgotten. */
export function pausedPage(visit: Visit): Page {
  const messages = messagesIn(visit.locale).storefront.error;
  return {
    status: 503,
    title: shopName(visit),
    path: '',
    isPrivate: true,
    main: html`<div class="hero">
      <h1>${messages.paused}</h1>
      <p>${messages.pausedText({ shop: shopName(visit) })}</p>
    </div>`,
  };
}

/** The page of a demo that is being deleted and created again, which takes a moment. */
export function resettingPage(visit: Visit): Page {
  const messages = messagesIn(visit.locale).storefront.demo;
  return {
    status: 503,
    title: shopName(visit),
    path: '',
    isPrivate: true,
    main: html`<div class="hero">
      <h1>${messages.resetting}</h1>
      <p>${messages.resettingText}</p>
    </div>`,
  };
}

/**
 * The page of a shop that is not open yet, at every address. It is answered with 200 and is not indexed: a 503 would
 * report each new shop as a failure of the service.
 */
function openingSoonPage(visit: Visit): Page {
  const messages = messagesIn(visit.locale).storefront.opening;
  return {
    title: messages.title,
    path: '',
    isPrivate: true,
    main: html`<div class="hero">
      <h1>${messages.title}</h1>
      <p>${messages.text({ shop: shopName(visit) })}</p>
    </div>`,
  };
}

/** What visitors see instead of a page that is not for them. */
export function shutPage(visit: Visit): Page {
  return visit.access === 'members' ? membersPage(visit) : openingSoonPage(visit);
}

/** The page of a shop that is for customers, at every address: it says how to become one of them. */
function membersPage(visit: Visit): Page {
  const messages = messagesIn(visit.locale).storefront.members;
  const isKnown = visit.account !== undefined;
  return {
    title: shopName(visit),
    path: '',
    isPrivate: true,
    main: html`<div class="hero">
      <h1>${shopName(visit)}</h1>
      <p>${isKnown ? messages.notYet : messages.text}</p>
      <p>
        <a class="button" href="${shopPath(visit, isKnown ? '/account/access' : '/account/sign-in')}"
          >${isKnown ? messages.access : messages.signIn}</a
        >
      </p>
    </div>`,
  };
}

/** Answers every other address below a shop's with a page of that shop, so that visitors stay in it. */
export function missingPages(pages: Pages): void {
  pages.get('/*', () => {
    throw notFound();
  });
}

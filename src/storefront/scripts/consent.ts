import { html, type Markup } from '../../http/html.ts';
import { Redirect, type Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import type { Session } from '../session.ts';
import { legalNames, shopPath, type LayoutContext, type Visit } from '../visit.ts';
import { messages } from '../../kernel/messages.ts';

const PATH = '/consent';

/** The question is at the end of every page until it is answered, so it does not block reading. */
export function asksForConsent({ session }: Visit, { path, hasSecretAddress }: Page): boolean {
  return session.consent === undefined && path !== PATH && hasSecretAddress !== true;
}

export function consentBanner(context: LayoutContext): Markup {
  return html`<section class="consent" aria-labelledby="consent.title">
    <h2 id="consent.title">${messages(context.locale).storefront.consent.title}</h2>
    ${question(context)}
  </section>`;
}

/** Refusing is as easy as allowing: two buttons that look the same. */
function question(context: LayoutContext): Markup {
  const words = messages(context.locale).storefront.consent;
  const policy = legalNames(context)['privacy-policy'];
  return html`<p>
      ${words.text}
      ${policy !== undefined && html`<a href="${shopPath(context, '/legal/privacy-policy')}">${words.policy}</a>`}
    </p>
    <form class="actions" method="post" action="${shopPath(context, PATH)}">
      <button name="consent" value="necessary">${words.necessary}</button>
      <button name="consent" value="all">${words.all}</button>
    </form>`;
}

/** The page on which visitors change their choice later. */
export function consent(pages: Pages): void {
  pages.get(PATH, async (visit) => {
    const words = messages(visit.locale).storefront.consent;
    const { consent } = visit.session;
    return {
      title: words.settings,
      path: PATH,
      isPrivate: true,
      main: html`<h1>${words.settings}</h1>
        ${question(visit)}
        <p>${consent && html`<strong>${words.chosen[consent]}</strong>`} ${words.change}</p>`,
    };
  });

  pages.post(PATH, async (visit, { field, referrerPath }) => {
    const consent: Session['consent'] = field('consent') === 'all' ? 'all' : 'necessary';
    visit.updateSession({ consent });
    const isHere = referrerPath === shopPath(visit, PATH);
    return new Redirect(referrerPath, isHere ? messages(visit.locale).storefront.consent.saved : undefined);
  });
}

import { html, type Markup } from '../../http/html.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import type { Session } from '../session.ts';
import { legalNames, shopPath, type LayoutContext, type Visit } from '../visit.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { Redirect } from '../../http/page-kit.ts';

const PATH = '/consent';

/** The question is at the end of every page until it is answered, so it does not block reading. */
export function asksForConsent({ session }: Visit, { path, hasSecretAddress }: Page): boolean {
  return session.consent === undefined && path !== PATH && hasSecretAddress !== true;
}

export function consentBanner(context: LayoutContext): Markup {
  return html`<section class="consent" aria-labelledby="consent.title">
    <h2 id="consent.title">${messagesIn(context.locale).storefront.consent.title}</h2>
    ${question(context)}
  </section>`;
}

/** Refusing is as easy as allowing: two buttons that look the same. */
function question(context: LayoutContext): Markup {
  const messages = messagesIn(context.locale).storefront.consent;
  const policy = legalNames(context)['privacy-policy'];
  return html`<p>
      ${messages.text}
      ${policy !== undefined && html`<a href="${shopPath(context, '/legal/privacy-policy')}">${messages.policy}</a>`}
    </p>
    <form class="actions" method="post" action="${shopPath(context, PATH)}">
      <button name="consent" value="necessary">${messages.necessary}</button>
      <button name="consent" value="all">${messages.all}</button>
    </form>`;
}

/** The page on which visitors change their choice later. */
export function consent(pages: Pages): void {
  pages.get(PATH, async (visit) => {
    const messages = messagesIn(visit.locale).storefront.consent;
    const { consent } = visit.session;
    return {
      title: messages.settings,
      path: PATH,
      isPrivate: true,
      main: html`<h1>${messages.settings}</h1>
        ${question(visit)}
        <p>${consent && html`<strong>${messages.chosen[consent]}</strong>`} ${messages.change}</p>`,
    };
  });

  pages.post(PATH, async (visit, { field, referrerPath }) => {
    const consent: Session['consent'] = field('consent') === 'all' ? 'all' : 'necessary';
    visit.updateSession({ consent });
    const isHere = referrerPath === shopPath(visit, PATH);
    return new Redirect(referrerPath, isHere ? messagesIn(visit.locale).storefront.consent.saved : undefined);
  });
}

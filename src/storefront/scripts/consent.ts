import { html, type Markup } from '../../http/html.ts';
import { Redirect, type Page } from '../page.ts';
import { memoizeBySettings } from '../memoize-by-settings.ts';
import type { Pages } from '../page-registration.ts';
import type { Session } from '../session.ts';
import { legalNames, to, type Visit } from '../visit.ts';
import { messages } from '../../kernel/messages.ts';

const PATH = '/consent';

/** Asked until it is answered, at the end of the page: nobody is kept from reading. */
export function consentBanner(visit: Visit, { path }: Pick<Page, 'path'>): Markup | false {
  return visit.session.consent === undefined && path !== PATH && banner(visit);
}

const banner = memoizeBySettings(
  (visit): Markup =>
    html`<section class="consent" aria-labelledby="consent.title">
      <h2 id="consent.title">${messages(visit.locale).storefront.consent.title}</h2>
      ${question(visit)}
    </section>`,
);

/** Refusing is as easy as allowing: two buttons that look the same. */
const question = memoizeBySettings((visit): Markup => {
  const words = messages(visit.locale).storefront.consent;
  const policy = legalNames(visit)['privacy-policy'];
  return html`<p>
      ${words.text}
      ${policy !== undefined && html`<a href="${to(visit, '/legal/privacy-policy')}">${words.policy}</a>`}
    </p>
    <form class="actions" method="post" action="${to(visit, PATH)}">
      <button name="consent" value="necessary">${words.necessary}</button>
      <button name="consent" value="all">${words.all}</button>
    </form>`;
});

/** Where the choice is changed later. */
export function consent(pages: Pages): void {
  pages.show(PATH, async (visit) => {
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

  pages.take(PATH, {}, async (visit, { field, cameFrom }) => {
    const consent: Session['consent'] = field('consent') === 'all' ? 'all' : 'necessary';
    visit.remember({ consent });
    const isHere = cameFrom === to(visit, PATH);
    return new Redirect(cameFrom, isHere ? messages(visit.locale).storefront.consent.saved : undefined);
  });
}

import { html, type Markup } from '../../http/html.ts';
import { Redirect, type Page } from '../page.ts';
import { memoizeBySettings } from '../memoize-by-settings.ts';
import type { Pages } from '../page-registration.ts';
import type { Session } from '../session.ts';
import { legalNames, to, type Visit } from '../visit.ts';
import { spoken } from '../words.ts';

const consentWords = spoken({
  en: {
    title: 'Your privacy',
    text: 'This shop needs a cookie for your cart and your settings. May the apps that the shop uses also learn who you are and what you order, for example to measure its advertising?',
    all: 'Allow all',
    necessary: 'Only what is necessary',
    policy: 'Privacy policy',
    settings: 'Cookie settings',
    chosen: { all: 'You allow all.', necessary: 'You allow only what is necessary.' },
    change: 'You can change this at any time.',
    saved: 'Your choice is saved.',
  },
  de: {
    title: 'Ihre Privatsphäre',
    text: 'Dieser Shop braucht ein Cookie für Ihren Warenkorb und Ihre Einstellungen. Dürfen die Apps, die der Shop nutzt, auch erfahren, wer Sie sind und was Sie bestellen, zum Beispiel um den Erfolg von Werbung zu messen?',
    all: 'Alles erlauben',
    necessary: 'Nur Notwendiges',
    policy: 'Datenschutzerklärung',
    settings: 'Cookie-Einstellungen',
    chosen: { all: 'Sie erlauben alles.', necessary: 'Sie erlauben nur Notwendiges.' },
    change: 'Sie können das jederzeit ändern.',
    saved: 'Ihre Auswahl ist gespeichert.',
  },
  fr: {
    title: 'Votre vie privée',
    text: 'Cette boutique a besoin d’un cookie pour votre panier et vos préférences. Les applications qu’elle utilise peuvent-elles aussi savoir qui vous êtes et ce que vous commandez, par exemple pour mesurer sa publicité\u00a0?',
    all: 'Tout accepter',
    necessary: 'Uniquement le nécessaire',
    policy: 'Politique de confidentialité',
    settings: 'Gestion des cookies',
    chosen: { all: 'Vous acceptez tout.', necessary: 'Vous n’acceptez que le nécessaire.' },
    change: 'Vous pouvez changer d’avis à tout moment.',
    saved: 'Votre choix est enregistré.',
  },
});

const PATH = '/consent';

/** Asked until it is answered, at the end of the page: nobody is kept from reading. */
export function consentBanner(visit: Visit, { path }: Pick<Page, 'path'>): Markup | false {
  return visit.session.consent === undefined && path !== PATH && banner(visit);
}

const banner = memoizeBySettings(
  (visit): Markup =>
    html`<section class="consent" aria-labelledby="consent.title">
      <h2 id="consent.title">${consentWords(visit.locale).title}</h2>
      ${question(visit)}
    </section>`,
);

/** Refusing is as easy as allowing: two buttons that look the same. */
const question = memoizeBySettings((visit): Markup => {
  const words = consentWords(visit.locale);
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
    const words = consentWords(visit.locale);
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
    return new Redirect(cameFrom, isHere ? consentWords(visit.locale).saved : undefined);
  });
}

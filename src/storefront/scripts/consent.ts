import { html, type Markup } from '../../http/html.ts';
import { Redirect, type Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import type { Session } from '../session.ts';
import { legalNames, to, type LayoutContext, type Visit } from '../visit.ts';
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

/** The question stands at the end of every page until it is answered, so that nobody is kept from reading. */
export function asksForConsent({ session }: Visit, { path }: Page): boolean {
  return session.consent === undefined && path !== PATH;
}

export function consentBanner(context: LayoutContext): Markup {
  return html`<section class="consent" aria-labelledby="consent.title">
    <h2 id="consent.title">${consentWords(context.locale).title}</h2>
    ${question(context)}
  </section>`;
}

/** Refusing is as easy as allowing: two buttons that look the same. */
function question(context: LayoutContext): Markup {
  const words = consentWords(context.locale);
  const policy = legalNames(context)['privacy-policy'];
  return html`<p>
      ${words.text}
      ${policy !== undefined && html`<a href="${to(context, '/legal/privacy-policy')}">${words.policy}</a>`}
    </p>
    <form class="actions" method="post" action="${to(context, PATH)}">
      <button name="consent" value="necessary">${words.necessary}</button>
      <button name="consent" value="all">${words.all}</button>
    </form>`;
}

/** The page on which visitors change their choice later. */
export function consent(pages: Pages): void {
  pages.get(PATH, async (visit) => {
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

  pages.post(PATH, async (visit, { field, referrerPath }) => {
    const consent: Session['consent'] = field('consent') === 'all' ? 'all' : 'necessary';
    visit.updateSession({ consent });
    const isHere = referrerPath === to(visit, PATH);
    return new Redirect(referrerPath, isHere ? consentWords(visit.locale).saved : undefined);
  });
}

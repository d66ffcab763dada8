import { html, type Markup } from '../http/html.ts';
import type { Pages } from './pages.ts';
import { Redirect } from './page.ts';
import { to, type Visit } from './visit.ts';
import { spoken } from './words.ts';

const consentWords = spoken({
  en: {
    title: 'Your privacy',
    text: 'This shop needs a cookie for your cart. May its apps also learn what you order?',
    all: 'Allow all',
    necessary: 'Only what is necessary',
  },
  de: {
    title: 'Ihre Privatsphäre',
    text: 'Dieser Shop braucht ein Cookie für Ihren Warenkorb. Dürfen seine Apps auch erfahren, was Sie bestellen?',
    all: 'Alles erlauben',
    necessary: 'Nur Notwendiges',
  },
  fr: {
    title: 'Votre vie privée',
    text: 'Cette boutique a besoin d’un cookie pour votre panier. Ses applications peuvent-elles aussi savoir ce que vous commandez\u00a0?',
    all: 'Tout accepter',
    necessary: 'Uniquement le nécessaire',
  },
});

/** Asked until it is answered. */
export function consentBanner(visit: Visit): Markup | false {
  if (visit.session.consent !== undefined) return false;
  const words = consentWords(visit.locale);
  return html`<section class="consent" aria-label="${words.title}">
    <p>${words.text}</p>
    <form method="post" action="${to(visit, '/consent')}">
      <button name="consent" value="necessary">${words.necessary}</button>
      <button name="consent" value="all">${words.all}</button>
    </form>
  </section>`;
}

export function consent(pages: Pages): void {
  pages.take('/consent', {}, async (visit, { field, cameFrom }) => {
    visit.remember({ consent: field('consent') === 'all' ? 'all' : 'necessary' });
    return new Redirect(cameFrom);
  });
}

import { notFound, type HttpError } from '../http/errors.ts';
import { html } from '../http/html.ts';
import { searchForm } from './layout/search-form.ts';
import type { Page } from './page.ts';
import type { Pages } from './pages.ts';
import { shopName, to, type Visit } from './visit.ts';
import { spoken } from './words.ts';

const errorWords = spoken<
  Record<'other' | 'unknown' | 'home' | 'closed', string> & Record<'titles' | 'texts', Record<number, string>>
>({
  en: {
    titles: {
      404: 'This page does not exist',
      429: 'Too many tries',
      500: 'Something went wrong on our side',
      503: 'We are back in a moment',
    },
    texts: {
      403: 'The form came from another page than ours. Please open the page again and send it from there.',
      429: 'Please wait a little, then try again.',
      500: 'It is not your fault. Please try again in a moment.',
      503: 'Please try again in a moment.',
    },
    other: 'That did not work',
    unknown: 'It may have been moved, or the product is no longer sold.',
    home: 'To the shop',
    closed: 'This shop is not open to the public.',
  },
  de: {
    titles: {
      404: 'Diese Seite gibt es nicht',
      429: 'Zu viele Versuche',
      500: 'Bei uns ist etwas schiefgegangen',
      503: 'Wir sind gleich wieder da',
    },
    texts: {
      403: 'Das Formular kam nicht von einer Seite dieses Shops. Bitte öffnen Sie die Seite neu und senden Sie es dort ab.',
      429: 'Bitte warten Sie einen Moment und versuchen Sie es dann noch einmal.',
      500: 'Es liegt nicht an Ihnen. Bitte versuchen Sie es gleich noch einmal.',
      503: 'Bitte versuchen Sie es gleich noch einmal.',
    },
    other: 'Das hat nicht geklappt',
    unknown: 'Sie wurde vielleicht verschoben, oder der Artikel wird nicht mehr verkauft.',
    home: 'Zum Shop',
    closed: 'Dieser Shop ist nicht öffentlich.',
  },
  fr: {
    titles: {
      404: 'Cette page n’existe pas',
      429: 'Trop de tentatives',
      500: 'Une erreur est survenue de notre côté',
      503: 'Nous revenons dans un instant',
    },
    texts: {
      403: 'Le formulaire ne provient pas d’une page de cette boutique. Veuillez rouvrir la page et l’envoyer de nouveau.',
      429: 'Veuillez patienter un peu, puis réessayer.',
      500: 'Vous n’y êtes pour rien. Veuillez réessayer dans un instant.',
      503: 'Veuillez réessayer dans un instant.',
    },
    other: 'Cela n’a pas fonctionné',
    unknown: 'Elle a peut-être été déplacée, ou l’article n’est plus vendu.',
    home: 'Vers la boutique',
    closed: 'Cette boutique n’est pas publique.',
  },
});

/** The page for a request that failed. A missing address offers the search instead. */
export function errorPage(visit: Visit, { status, message }: HttpError): Page {
  const words = errorWords(visit.locale);
  const title = words.titles[status] ?? words.other;
  const text =
    status === 404 ? words.unknown : (words.texts[status] ?? (status >= 500 ? undefined : message));
  return {
    status,
    title,
    path: '',
    isPrivate: true,
    main: html`<div class="hero">
      <h1>${title}</h1>
      ${text !== undefined && html`<p>${text}</p>`} ${status === 404 && searchForm(visit)}
      <p><a class="button" href="${to(visit, '')}">${words.home}</a></p>
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
      <p>${errorWords(visit.locale).closed}</p>
    </div>`,
  };
}

/** Answers every other address below a shop's with a page of that shop, so that visitors stay in it. */
export function missingPages(pages: Pages): void {
  pages.get('/*', () => {
    throw notFound();
  });
}

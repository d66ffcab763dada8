import type { HttpError } from '../http/errors.ts';
import { html } from '../http/html.ts';
import type { Page } from './page.ts';
import { shopName, to, type Visit } from './visit.ts';
import { spoken } from './words.ts';

const errorWords = spoken<
  Record<'other' | 'unknown' | 'home' | 'closed', string> & { titles: Record<number, string> }
>({
  en: {
    titles: {
      404: 'This page does not exist',
      429: 'Too many tries',
      503: 'We are back in a moment',
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
      503: 'Wir sind gleich wieder da',
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
      503: 'Nous revenons dans un instant',
    },
    other: 'Cela n’a pas fonctionné',
    unknown: 'Elle a peut-être été déplacée, ou l’article n’est plus vendu.',
    home: 'Vers la boutique',
    closed: 'Cette boutique n’est pas publique.',
  },
});

/** What people read when something is refused or missing. */
export function errorPage(visit: Visit, { status, message }: HttpError): Page {
  const words = errorWords(visit.locale);
  const title = words.titles[status] ?? words.other;
  const text = status === 404 ? words.unknown : status >= 500 ? undefined : message;
  return {
    status,
    title,
    path: '',
    isPrivate: true,
    main: html`<div class="hero">
      <h1>${title}</h1>
      ${text !== undefined && html`<p>${text}</p>`}
      <p><a class="button" href="${to(visit, '')}">${words.home}</a></p>
    </div>`,
  };
}

/** Of a shop that only its own apps may see. */
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

import { html } from '../http/html.ts';
import type { HttpError } from '../http/errors.ts';
import type { AdminPage } from './page.ts';
import type { ShopVisit, Visit } from './visit.ts';

/** The page for a request that failed. */
export function errorPage(visit: Visit<'anybody'> | ShopVisit, { status, message }: HttpError): AdminPage {
  const words = visit.words.error;
  const titles: Readonly<Record<number, string>> = words.titles;
  const texts: Readonly<Record<number, string>> = words.texts;
  return {
    status,
    title: titles[status] ?? words.other,
    main: html`<div class="card prose">
      <p>${texts[status] ?? (status >= 500 ? words.later : message)}</p>
      <p><a class="button" href="${'base' in visit ? visit.base : '/admin'}">${words.back}</a></p>
    </div>`,
  };
}

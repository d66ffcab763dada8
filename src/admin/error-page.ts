import { html } from '../http/html.ts';
import type { HttpError } from '../http/errors.ts';
import { FormLimitError } from '../http/form-fields.ts';
import { errorTexts } from '../http/page-kit.ts';
import { refusalText, type Labels } from './components/validation.ts';
import type { AdminPage } from './page.ts';
import type { ShopVisit, Visit } from './visit.ts';

/** The page for a request that failed; a refused form has labels. */
export function errorPage(
  visit: Visit<'anybody'> | ShopVisit,
  refusal: HttpError,
  labels?: Labels,
): AdminPage {
  const { status } = refusal;
  const messages = visit.messages.error;
  const { title, text } = errorTexts(status, messages);
  return {
    status,
    title,
    main: html`<div class="card prose">
      <p>
        ${formLimitText(refusal, visit) ?? text ?? (status >= 500 ? messages.later : refusalText(visit, refusal, labels))}
      </p>
      <p><a class="button" href="${'base' in visit ? visit.base : '/admin'}">${messages.back}</a></p>
    </div>`,
  };
}

/** The browser enforces the limit of a field, so this appears after pasting many lines, or without a browser. */
function formLimitText(refusal: HttpError, { messages, language }: Visit<'anybody'>): string | undefined {
  if (!(refusal instanceof FormLimitError)) return undefined;
  const { formLimits } = messages.error;
  const limit = new Intl.NumberFormat(language).format(refusal.limit);
  const { unit, field } = refusal;
  return unit === 'values' || field === undefined
    ? formLimits.values({ limit })
    : formLimits[unit]({ field, limit });
}

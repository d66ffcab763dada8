import { html, type Markup } from '../../http/html.ts';
import { shopPath, type Visit } from '../visit.ts';

/** A code that was not accepted; the message stands beside its field. */
export interface RejectedCode {
  code: string;
  message: string;
}

/** The form for a code of a coupon or a gift card. */
export function codeForm(
  visit: Visit,
  {
    path,
    id,
    label,
    maxLength,
    button,
    rejected,
  }: {
    path: string;
    id: string;
    label: string;
    maxLength: number;
    button: string;
    rejected: RejectedCode | undefined;
  },
): Markup {
  return html`<form class="field" method="post" action="${shopPath(visit, path)}">
    <label for="${id}">${label}</label>
    <input
      id="${id}"
      name="code"
      maxlength="${maxLength}"
      required
      autocomplete="off"
      autocapitalize="characters"
      value="${rejected?.code ?? ''}"
      ${rejected && html`aria-invalid="true" aria-describedby="${id}-error"`}
    />
    ${rejected && html`<p class="error" id="${id}-error">${rejected.message}</p>`}
    <button class="quiet">${button}</button>
  </form>`;
}

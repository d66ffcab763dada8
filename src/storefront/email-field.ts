import { html, type Markup } from '../http/html.ts';
import { LONGEST_EMAIL_ADDRESS } from '../platform/email/address.ts';

/** The field of a form for an email address; `problem` says at the field what is wrong with `value`. */
export function emailField(label: string, value: string, problem?: string): Markup {
  return html`<div class="field">
    <label for="email">${label}</label>
    <input
      id="email"
      name="email"
      type="email"
      value="${value}"
      required
      maxlength="${LONGEST_EMAIL_ADDRESS}"
      autocomplete="email"
      ${problem !== undefined && html`aria-invalid="true" aria-describedby="email-error"`}
    />
    ${problem !== undefined && html`<p class="error" id="email-error">${problem}</p>`}
  </div>`;
}

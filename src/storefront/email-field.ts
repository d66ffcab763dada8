import { html, type Markup } from '../http/html.ts';
import { MAX_EMAIL_ADDRESS_LENGTH } from '../platform/email/address.ts';

/** The field of a form for an email address; `problem` is the error of `value`, shown at the field. */
export function emailField(label: string, value: string, problem?: string): Markup {
  return html`<div class="field">
    <label for="email">${label}</label>
    <input
      id="email"
      name="email"
      type="email"
      value="${value}"
      required
      maxlength="${MAX_EMAIL_ADDRESS_LENGTH}"
      autocomplete="email"
      ${problem !== undefined && html`aria-invalid="true" aria-describedby="email-error"`}
    />
    ${problem !== undefined && html`<p class="error" id="email-error">${problem}</p>`}
  </div>`;
}

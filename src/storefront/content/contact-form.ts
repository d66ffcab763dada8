import { html, type Markup } from '../../http/html.ts';
import { MAX_EMAIL_ADDRESS_LENGTH } from '../../platform/email/address.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { legalNames, shopPath, type Visit } from '../visit.ts';

export const CONTACT_PATH = '/contact';
export const MAX_CONTACT_LENGTH = 5_000;
export const MAX_SENDER_NAME_LENGTH = 100;

export interface ContactValues {
  name: string;
  email: string;
  message: string;
}

export type ContactProblems = Partial<Record<keyof ContactValues, string>>;

/** The field that people do not see: what fills it in is a program. */
export const TRAP = 'website';

/**
 * The fields of a contact form. They hold nothing of the visitor, so that the page can be cached; a refused form is
 * shown with its values on a page of its own. `prefix` keeps the ids of several forms of a page apart.
 */
export function contactFields(
  visit: Visit,
  prefix: string,
  values?: ContactValues,
  problems: ContactProblems = {},
): Markup {
  const messages = messagesIn(visit.locale).storefront.content.contact;
  const policy = legalNames(visit)['privacy-policy'];
  const attributes = (name: keyof ContactValues) =>
    problems[name] !== undefined && html`aria-invalid="true" aria-describedby="${prefix}${name}-error"`;
  const problem = (name: keyof ContactValues) =>
    problems[name] !== undefined && html`<p class="error" id="${prefix}${name}-error">${problems[name]}</p>`;
  return html`<form class="narrow" method="post" action="${shopPath(visit, CONTACT_PATH)}">
    <div class="field">
      <label for="${prefix}name">${messages.name}</label>
      <input
        id="${prefix}name"
        name="name"
        value="${values?.name ?? ''}"
        maxlength="${MAX_SENDER_NAME_LENGTH}"
        autocomplete="name"
        ${attributes('name')}
      />
      ${problem('name')}
    </div>
    <div class="field">
      <label for="${prefix}email">${messages.email}</label>
      <input
        id="${prefix}email"
        name="email"
        type="email"
        value="${values?.email ?? ''}"
        required
        maxlength="${MAX_EMAIL_ADDRESS_LENGTH}"
        autocomplete="email"
        ${attributes('email')}
      />
      ${problem('email')}
    </div>
    <div class="field">
      <label for="${prefix}message">${messages.message}</label>
      <textarea
        id="${prefix}message"
        name="message"
        rows="6"
        required
        maxlength="${MAX_CONTACT_LENGTH}"
        ${attributes('message')}
      >
${values?.message ?? ''}</textarea>
      ${problem('message')}
    </div>
    <div hidden>
      <label for="${prefix}${TRAP}">${messages.trap}</label>
      <input id="${prefix}${TRAP}" name="${TRAP}" autocomplete="off" tabindex="-1" />
    </div>
    ${
      policy !== undefined &&
      html`<p>${messages.privacy} <a href="${shopPath(visit, '/legal/privacy-policy')}">${policy}</a></p>`
    }
    <button class="button">${messages.send}</button>
  </form>`;
}

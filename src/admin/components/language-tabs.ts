import { html, type Markup } from '../../http/html.ts';
import type { AdminMessages, Language } from '../messages.ts';
import { languageName } from './language-name.ts';

/**
 * Shows one language of a form at a time, says how many of its fields are empty although another language has a text, and
 * copies texts into them. The parts of a language have the attribute `data-language`. Without scripts, and in a shop with
 * one language, the form shows everything.
 */
export function languageTabs(
  locales: readonly string[],
  language: Language,
  messages: AdminMessages,
): Markup | false {
  if (locales.length < 2) return false;
  const { label, all, empty, copyFrom, copy } = messages.form.languages;
  const nameOf = (locale: string) => languageName(locale, language, locales);
  return html`<div class="language-tabs with-script" data-languages role="group" aria-label="${label}">
    ${locales.map(
      (locale) =>
        html`<button type="button" data-show="${locale}" aria-pressed="false">
          ${nameOf(locale)} <span class="quiet" data-empty="${empty}"></span>
        </button>`,
    )}
    <button type="button" data-show="" aria-pressed="true">${all}</button>
    <span class="copy-texts" data-copy hidden>
      <select aria-label="${copyFrom}">
        ${locales.map((locale) => html`<option value="${locale}">${nameOf(locale)}</option>`)}
      </select>
      <button type="button">${copy}</button>
    </span>
  </div>`;
}

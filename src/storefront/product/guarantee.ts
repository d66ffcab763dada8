import type { DurabilityGuarantee } from '../../catalogue/products/facts.ts';
import { formatNumber } from '../../http/amount-text.ts';
import { html, webAddress, type Markup } from '../../http/html.ts';
import { languageTag } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { guaranteeFileIn } from '../../shops/legal/guarantee-files.ts';
import { guaranteeNotice, sellsToEuConsumers } from '../../shops/legal/guarantee-notice.ts';
import { isKnownBusiness } from '../price-view.ts';
import type { Visit } from '../visit.ts';

/**
 * The notice on the legal guarantee, which consumers must see before the purchase and not only find behind a link. A
 * customer who is known as a business does not get it. The
 * official file is shown where the operator has placed it in the visitor's language; else the same facts as text.
 */
export function legalGuaranteeNotice(
  visit: Pick<Visit, 'settings' | 'locale' | 'guaranteeFiles' | 'account'>,
): Markup | false {
  const { settings, locale } = visit;
  if (!sellsToEuConsumers(settings) || isKnownBusiness(visit.account, settings)) return false;
  const notice = guaranteeNotice(settings, locale);
  const file = guaranteeFileIn(visit.guaranteeFiles, locale);
  const { title, duration, texts } = notice;
  const link = html`<p><a href="${notice.address}" rel="noopener">${notice.more}</a></p>`;
  const language = notice.language !== languageTag(locale).slice(0, 2) && html`lang="${notice.language}"`;
  if (file) {
    return html`<section class="legal-guarantee official" aria-labelledby="legal-guarantee" ${language}>
      <h2 id="legal-guarantee" class="visually-hidden">${title}</h2>
      <img src="${file.path}" alt="${[title, duration, ...texts].join('. ')}" />
      ${link}
    </section>`;
  }
  return html`<section class="legal-guarantee" aria-labelledby="legal-guarantee" ${language}>
    <h2 id="legal-guarantee">${title}</h2>
    <p class="duration">${duration}</p>
    ${texts.map((text) => html`<p>${text}</p>`)} ${link}
  </section>`;
}

/** The label of the producer's guarantee. Its colours and font are its own, whatever the theme of the shop is. */
export function garanLabel(
  { settings, locale }: Pick<Visit, 'settings' | 'locale'>,
  guarantee: DurabilityGuarantee | undefined,
): Markup | false {
  if (!guarantee || !sellsToEuConsumers(settings)) return false;
  const messages = messagesIn(locale).guarantee;
  const { brand, model } = guarantee;
  const years = messages.years({ amount: formatNumber(guarantee.years, locale) });
  return html`<div class="garan" role="img" aria-label="${messages.labelText({ years, brand, model })}">
    <strong class="word">GARAN</strong>
    <span class="years">${years}</span>
    <span class="what">${brand} ${model}</span>
  </div>`;
}

/** The label with what a consumer must know of the guarantee: who gives it, and where its terms are. */
export function garanDetails(visit: Visit, guarantee: DurabilityGuarantee | undefined): Markup | false {
  const label = garanLabel(visit, guarantee);
  if (!guarantee || !label) return false;
  const messages = messagesIn(visit.locale).guarantee;
  const { guarantor: name, address, termsUrl } = guarantee;
  const terms = webAddress(termsUrl);
  return html`<section class="durability" aria-labelledby="durability">
    <h2 id="durability">${messages.label}</h2>
    ${label}
    <p>
      ${messages.guarantor({ name, address })}${
        terms !== undefined && html`<br /><a href="${terms}" rel="noopener">${messages.terms}</a>`
      }<br />${messages.reminder}
    </p>
  </section>`;
}

import { html, type Markup } from '../../http/html.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { PAGES } from '../../shops/legal/schema.ts';
import { compactText, memoizeBySettings, type Surroundings } from '../memoize-by-settings.ts';
import { messages } from '../../kernel/messages.ts';
import { legalNames, shopName, to } from '../visit.ts';

/** The same on every page of a language. */
export const footerText = memoizeBySettings((visit): string => {
  const { locale, settings } = visit;
  if (!settings.publicCatalogue) return '';
  const words = messages(locale).storefront.layout;
  const names = legalNames(visit);
  const link = (path: string, text: string) => html`<li><a href="${to(visit, path)}">${text}</a></li>`;
  return compactText(
    html`<footer class="bottom">
      <div class="bar">
        <nav aria-label="${words.information}">
          <h2>${words.information}</h2>
          <ul>
            ${PAGES.map(({ page }) => names[page] !== undefined && link(`/legal/${page}`, names[page]))}
            ${settings.newsletterCampaigns.length > 0 && link('/newsletter', words.newsletter)}
            ${link('/consent', words.cookies)}
          </ul>
        </nav>
        ${methods(visit, words.payment, settings.paymentMethods)}
        ${methods(visit, words.shipping, settings.shippingMethods)} ${contact(visit)}
      </div>
      <p class="bar">© ${shopName(visit)}</p>
    </footer>`,
  );
});

function methods(
  { locale, settings }: Surroundings,
  title: string,
  list: readonly { key: string; name: Localised }[],
): Markup | false {
  return (
    list.length > 0 &&
    html`<section>
      <h2>${title}</h2>
      <ul>
        ${list.map(({ key, name }) => html`<li>${textIn(name, locale, settings.defaultLocale) ?? key}</li>`)}
      </ul>
    </section>`
  );
}

function contact(visit: Surroundings): Markup {
  const { invoicing, email } = visit.settings;
  const { company, street, zipCode, city, phone } = invoicing;
  const lines = [company ?? shopName(visit), street, [zipCode, city].filter(Boolean).join(' ')];
  return html`<section>
    <h2>${messages(visit.locale).storefront.layout.contact}</h2>
    <address>
      ${lines.filter(Boolean).map((line) => html`<span>${line}</span>`)}
      ${phone !== undefined && html`<a href="${`tel:${phone.replaceAll(/[^\d+]/g, '')}`}">${phone}</a>`}
      <a href="${`mailto:${email}`}">${email}</a>
    </address>
  </section>`;
}

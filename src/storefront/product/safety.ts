import type { Product } from '../../catalogue/products/schema.ts';
import { html, webAddress, type Markup } from '../../http/html.ts';
import { languageTag } from '../../http/locale.ts';
import { withCountryIn } from '../../shops/countries/countries.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Visit } from '../visit.ts';

type Party = NonNullable<NonNullable<Product['safetyInfo']>['manufacturer']>;

/** Who is responsible for the safety of a product, and its warnings: Regulation (EU) 2023/988, article 19. */
export function safetyView({ locale }: Visit, { safetyInfo }: Product): Markup | false {
  if (!safetyInfo) return false;
  const messages = messagesIn(locale).safety;
  const { manufacturer, responsiblePerson, text } = safetyInfo;
  return html`<section class="safety">
    <h2>${messages.title}</h2>
    ${text && textLines(text).map((line) => html`<p>${line}</p>`)}
    ${manufacturer && party(messages.manufacturer, manufacturer, languageTag(locale))}
    ${responsiblePerson && party(messages.responsiblePerson, responsiblePerson, languageTag(locale))}
  </section>`;
}

function party(title: string, { name, address, contact }: Party, language: string): Markup {
  return html`<h3>${title}</h3>
    <address>
      ${[name, ...withCountryIn(textLines(address), language)].map((line) => html`${line}<br />`)}
      ${contactLink(contact)}
    </address>`;
}

const textLines = (text: string) => text.split(/\r?\n/).filter((line) => line.trim() !== '');

function contactLink(contact: string): Markup | string {
  const address = webAddress(contact);
  if (address !== undefined) return html`<a href="${address}" rel="noopener">${contact}</a>`;
  return contact.includes('@') ? html`<a href="mailto:${contact}">${contact}</a>` : contact;
}

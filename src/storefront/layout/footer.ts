import { html, type Markup } from '../../http/html.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { PAGES } from '../../shops/legal/schema.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { legalNames, shopName, type LayoutContext } from '../visit.ts';
import { navigationLink } from './navigation-link.ts';

interface FooterLink {
  path: string;
  text: string;
}

function legalLinks(context: LayoutContext): FooterLink[] {
  const names = legalNames(context);
  const { settings, locale } = context;
  const messages = messagesIn(locale).storefront;
  return [
    ...(settings.withdrawal.days > 0 ? [{ path: '/withdraw', text: messages.withdrawal.start }] : []),
    ...PAGES.flatMap(({ page }) => {
      const text = names[page];
      return text === undefined ? [] : [{ path: `/legal/${page}`, text }];
    }),
    ...(Object.keys(settings.accessibility).length > 0
      ? [{ path: '/accessibility', text: messages.legal.accessibility }]
      : []),
  ];
}

/** The links of the footer that lead to pages of the shop. */
export function footerLinks(context: LayoutContext): FooterLink[] {
  const { settings, locale } = context;
  const messages = messagesIn(locale).storefront.layout;
  return [
    ...legalLinks(context),
    ...(settings.newsletterCampaigns.length > 0 ? [{ path: '/newsletter', text: messages.newsletter }] : []),
    { path: '/consent', text: messages.cookies },
  ];
}

/** `currentPath` is the page itself, whose link is marked. */
export function footer(context: LayoutContext, currentPath: string | undefined): Markup {
  const { locale, settings } = context;
  const messages = messagesIn(locale).storefront.layout;
  return html`<footer class="bottom">
    <div class="bar">
      <nav aria-label="${messages.information}">
        <h2>${messages.information}</h2>
        <ul>
          ${footerLinks(context).map(
            // The law requires the withdrawal link to stand out.
            ({ path, text }) =>
              html`<li>
                ${navigationLink(context, path, path === '/withdraw' ? html`<strong>${text}</strong>` : text, currentPath)}
              </li>`,
          )}
        </ul>
      </nav>
      ${methods(context, messages.payment, settings.paymentMethods)}
      ${methods(context, messages.shipping, settings.shippingMethods)} ${contact(context)}
    </div>
    <p class="bar">© ${shopName(context)}</p>
  </footer>`;
}

/** Links that the law requires on every page. */
export function legalFooter(context: LayoutContext): Markup {
  return html`<footer class="bottom">
    <nav class="bar legal" aria-label="${messagesIn(context.locale).storefront.layout.information}">
      <ul>
        ${legalLinks(context).map(
          ({ path, text }) => html`<li>${navigationLink(context, path, text, undefined)}</li>`,
        )}
      </ul>
    </nav>
    <p class="bar">© ${shopName(context)}</p>
  </footer>`;
}

function methods(
  { locale, settings }: LayoutContext,
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

function contact(context: LayoutContext): Markup {
  const { invoicing, email } = context.settings;
  const { company, street, zipCode, city, phone } = invoicing;
  const lines = [company ?? shopName(context), street, [zipCode, city].filter(Boolean).join(' ')];
  return html`<section>
    <h2>${messagesIn(context.locale).storefront.layout.contact}</h2>
    <address>
      ${lines.filter(Boolean).map((line) => html`<span>${line}</span>`)}
      ${phone !== undefined && html`<a href="${`tel:${phone.replaceAll(/[^\d+]/g, '')}`}">${phone}</a>`}
      <a href="${`mailto:${email}`}">${email}</a>
    </address>
  </section>`;
}

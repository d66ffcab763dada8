import { html, type Markup } from '../../http/html.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { PAGES } from '../../shops/legal/schema.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { legalNames, shopName, type LayoutContext } from '../visit.ts';
import { menuItems, menuList } from './menu.ts';
import { navigationLink } from './navigation-link.ts';

interface FooterLink {
  path: string;
  text: string;
}

/** The legal texts that are public. */
function textLinks(context: LayoutContext): FooterLink[] {
  const names = legalNames(context);
  return PAGES.flatMap(({ page }) => {
    const text = names[page];
    return text === undefined ? [] : [{ path: `/legal/${page}`, text }];
  });
}

function legalLinks(context: LayoutContext): FooterLink[] {
  const { settings, locale } = context;
  const messages = messagesIn(locale).storefront;
  return [
    ...(settings.withdrawal.days > 0 ? [{ path: '/withdraw', text: messages.withdrawal.start }] : []),
    ...textLinks(context),
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
          ${menuList(context, menuItems(context, settings.menus.footer), currentPath)}
          ${footerLinks(context).map(
            // The law requires the withdrawal link to stand out.
            ({ path, text }) =>
              html`<li>
                ${navigationLink(context, path, path === '/withdraw' ? html`<strong>${text}</strong>` : text, currentPath)}
              </li>`,
          )}
        </ul>
      </nav>
      ${methods(context, messages.payment, offeredMethods(context))}
      ${methods(context, messages.shipping, settings.shippingMethods)} ${contact(context)}
    </div>
    <p class="bar">© ${shopName(context)}</p>
  </footer>`;
}

/** Links that the law requires on every page. */
export function legalFooter(context: LayoutContext): Markup {
  return shortFooter(context, legalLinks(context));
}

/** A shop that is not open yet shows who is going to sell, and nothing of what. */
export function closedFooter(context: LayoutContext): Markup {
  return shortFooter(context, textLinks(context));
}

function shortFooter(context: LayoutContext, links: readonly FooterLink[]): Markup {
  return html`<footer class="bottom">
    ${
      links.length > 0 &&
      html`<nav class="bar legal" aria-label="${messagesIn(context.locale).storefront.layout.information}">
        <ul>
          ${links.map(({ path, text }) => html`<li>${navigationLink(context, path, text, undefined)}</li>`)}
        </ul>
      </nav>`
    }
    <p class="bar">© ${shopName(context)}</p>
  </footer>`;
}

/** A method that lacks its data is not offered. */
function offeredMethods({ settings, layout }: LayoutContext) {
  return settings.paymentMethods.filter(({ paymentMethodId }) =>
    layout.completePayments.has(paymentMethodId),
  );
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

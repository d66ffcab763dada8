import { displayName } from '../../kernel/display-names.ts';
import { notFound } from '../../http/errors.ts';
import { escapeHtml, html, plainText, type Markup } from '../../http/html.ts';
import { findPublishedPage } from '../../shops/legal/queries.ts';
import { registrationText } from '../../shops/legal/registration-text.ts';
import { PAGES, type LegalContent, type PageName } from '../../shops/legal/schema.ts';
import { merchantHtml, prepareMerchantHtml } from '../../content/merchant-html/merchant-html.ts';
import { textMarkdown } from '../markdown/list-markdown.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { shopPath, type Visit } from '../visit.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { languageTag } from '../../http/locale.ts';

/** A legal text is valid in its own language only, so a page without a text in this one links to another language. */
export function legalPages(pages: Pages): void {
  pages.get('/legal/:page', async (visit, { params }) => {
    const page = PAGES.find((known) => known.page === params['page'])?.page;
    if (!page) throw notFound();
    const { db, shopId, locale, settings } = visit;
    const content = (await findPublishedPage(db, shopId, page, locale)) ?? {};
    if (hasText(content, page)) {
      await prepareMerchantHtml(visit, content['shortDescription'], content['description']);
      return textPage(visit, page, content);
    }
    const { defaultLocale } = settings;
    const other =
      locale === defaultLocale ? {} : ((await findPublishedPage(db, shopId, page, defaultLocale)) ?? {});
    return missingPage(visit, page, hasText(other, page));
  });
}

const CONTACT = ['company', 'contactPerson', 'address', 'phone', 'email'];

function hasText(content: LegalContent, page: PageName): boolean {
  const keys = ['shortDescription', 'description', ...(page === 'contact-information' ? CONTACT : [])];
  return keys.some((key) => (content[key] ?? '').trim() !== '');
}

/** The lengths of a description in search results, and of an address. */
const MAX_SUMMARY_LENGTH = 1_000;
const MAX_ADDRESS_LENGTH = 2_000;

function textPage(visit: Visit, page: PageName, content: LegalContent): Page {
  const { name, navigationCaption, title, shortDescription = '', description = '' } = content;
  const heading =
    [name, navigationCaption, title].find((text) => text?.trim()) ??
    messagesIn(visit.locale).storefront.legal.names[page];
  const summary = plainText(shortDescription, MAX_SUMMARY_LENGTH).replaceAll('\n', ' ');
  return {
    title: title?.trim() || heading,
    ...(summary !== '' && { description: summary }),
    path: `/legal/${page}`,
    markdown: textMarkdown(heading, [
      shortDescription,
      ...(page === 'contact-information' ? contactTexts(visit, content) : []),
      description,
    ]),
    main: html`<article class="prose">
      <h1>${heading}</h1>
      ${merchantHtml(visit, shortDescription)} ${page === 'contact-information' && contact(visit, content)}
      ${merchantHtml(visit, description)} ${page === 'contact-information' && registrations(visit)}
    </article>`,
  };
}

/** The lines of the contact data as plain texts, which are read as markup. */
function contactTexts({ settings }: Visit, content: LegalContent): string[] {
  const text = (key: string) => (content[key] ?? '').trim();
  const email = text('email') || settings.email;
  const plain = [text('company'), text('contactPerson'), text('phone'), email].map(escapeHtml);
  return [plain[0]!, text('address'), ...plain.slice(1)].filter((line) => line !== '');
}

function contact({ locale, settings }: Visit, content: LegalContent): Markup {
  const messages = messagesIn(locale).storefront.legal;
  const text = (key: string) => (content[key] ?? '').trim();
  const person = [text('contactPerson'), text('contactPersonJobTitle')]
    .filter((one) => one !== '')
    .join(', ');
  const address = [text('company'), ...plainText(text('address'), MAX_ADDRESS_LENGTH).split('\n')].filter(
    (line) => line !== '',
  );
  const phone = text('phone');
  const email = text('email') || settings.email;
  return html`<dl class="contact">
    ${
      address.length > 0 &&
      html`<div>
        <dt>${messages.address}</dt>
        <dd>${address.map((line, index) => html`${index > 0 && html`<br />`}${line}`)}</dd>
      </div>`
    }
    ${
      person !== '' &&
      html`<div>
        <dt>${messages.person}</dt>
        <dd>${person}</dd>
      </div>`
    }
    ${
      phone !== '' &&
      html`<div>
        <dt>${messages.phone}</dt>
        <dd><a href="tel:${phone.replaceAll(/[^\d+]/g, '')}">${phone}</a></dd>
      </div>`
    }
    <div>
      <dt>${messages.email}</dt>
      <dd><a href="mailto:${email}">${email}</a></dd>
    </div>
  </dl>`;
}

/** The numbers of the registers of producers, which the law wants to be found on the pages of a shop. */
function registrations({ locale, settings }: Visit): Markup | false {
  if (settings.producerRegistrations.length === 0) return false;
  return html`<h2>${messagesIn(locale).registrations.title}</h2>
    <ul>
      ${settings.producerRegistrations.map((one) => html`<li>${registrationText(one, locale)}</li>`)}
    </ul>`;
}

function missingPage(visit: Visit, page: PageName, isElsewhere: boolean): Page {
  const { locale, settings, layout } = visit;
  const messages = messagesIn(locale).storefront.legal;
  const heading = layout.legalNames[locale]?.[page] ?? messages.names[page];
  const path = `/legal/${page}`;
  const language = languageTag(settings.defaultLocale);
  const named = displayName(language.slice(0, 2), 'language', languageTag(locale));
  return {
    title: heading,
    path,
    isPrivate: true,
    main: html`<h1>${heading}</h1>
      <p>${messages.missing}</p>
      ${
        isElsewhere &&
        html`<p>
          <a href="${shopPath(visit, path, { locale: settings.defaultLocale })}" hreflang="${language}"
            >${messages.readIn({ language: named })}</a
          >
        </p>`
      }`,
  };
}

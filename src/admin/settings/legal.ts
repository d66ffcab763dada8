import type { TObject } from 'typebox';
import { gapsOf, isDraft, withoutDraftMarks, withSeller } from '../../shops/legal/draft.ts';
import { findLegalStates } from '../../shops/legal/queries.ts';
import { LEGAL_PAGES, listLegalPages } from '../../shops/legal/routes.ts';
import { notFound } from '../../http/errors.ts';
import type { FormLimits } from '../../http/form-fields.ts';
import { encodeHtml, html, safe, type Markup } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { PAGES, type LegalContent, type PageName } from '../../shops/legal/schema.ts';
import { STYLESHEET } from '../../storefront/layout/assets.ts';
import { toStyle } from '../../storefront/layout/theme.ts';
import { merchantHtml, prepareMerchantHtml } from '../../content/merchant-html/merchant-html.ts';
import {
  declareForm,
  readFields,
  showFields,
  type DeclaredField,
  type DeclaredForm,
} from '../components/declared-form.ts';
import { chip } from '../components/format.ts';
import { problemOf } from '../components/form.ts';
import { languageName } from '../components/language-name.ts';
import { RICH_TEXT_SCRIPTS } from '../components/rich-text.ts';
import { requireUnchanged, versionField, versionOf } from '../components/version.ts';
import { SETTINGS_SCRIPT } from '../layout/assets.ts';
import type { AdminFile } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { settingsBreadcrumbs } from './section-page.ts';
import { type FormRequest, type PageRequest, Redirect } from '../../http/page-kit.ts';

type Content = Partial<Record<string, string>>;

/** Texts of these fields may hold markup and have several lines. */
const LONG = new Set(['shortDescription', 'description', 'address']);

/** The texts of a page. */
function formOf(body: TObject): DeclaredForm {
  return declareForm({ body }, ({ settings: { legalView } }) => {
    const labels: Readonly<Record<string, string>> = legalView.fields;
    const fields = Object.keys(body.properties).map((name): [string, DeclaredField] => [
      name,
      {
        kind: LONG.has(name) ? 'rich text' : 'text',
        label: labels[name] ?? name,
        rows: name === 'description' ? 18 : 4,
      },
    ]);
    return Object.fromEntries(fields);
  });
}

/** The longest limit applies to all pages: the operation knows the limits of each. */
const LIMITS: FormLimits = {
  texts: Object.fromEntries(
    PAGES.flatMap(({ request }) => Object.entries(request.properties)).map(([name, schema]) => [
      name,
      (schema as { maxLength: number }).maxLength,
    ]),
  ),
};

export function legalTexts(pages: ShopPages): void {
  pages.get('/settings/legal', 'legal_read', async (visit) => {
    const { locales } = visit.settings;
    const messages = visit.messages.settings;
    const nameOfLanguage = (one: string) => languageName(one, visit.language, visit.settings.locales);
    const [drafts, ...summaries] = await Promise.all([
      findLegalStates(visit.db, visit.shopId),
      ...locales.map((locale) => visit.call(listLegalPages, { query: { locale } })),
    ]);
    const stateOf = (page: PageName, key: (typeof PAGES)[number]['key'], index: number) => {
      const isDraft = drafts.some(
        (text) => text.page === page && text.locale === locales[index] && text.isDraft,
      );
      if (isDraft) return chip(messages.legalView.draft, 'bad');
      return summaries[index]![key]
        ? chip(messages.legalView.written, 'good')
        : chip(messages.legalView.missing, 'warning');
    };
    return {
      title: messages.pages.legal,
      menu: 'settings',
      breadcrumbs: settingsBreadcrumbs(visit),
      main: html`<div class="list">
        <table>
          <thead>
            <tr>
              <th scope="col">${messages.pages.legal}</th>
              ${locales.map((locale) => html`<th scope="col">${nameOfLanguage(locale)}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${PAGES.map(
              ({ page, key }) =>
                html`<tr>
                  <td>
                    <a href="${adminPath(visit, `/settings/legal/${page}`)}">${titleOf(visit, page)}</a>
                  </td>
                  ${locales.map(
                    (locale, index) =>
                      html`<td data-title="${nameOfLanguage(locale)}">
                        <a href="${adminPath(visit, `/settings/legal/${page}`, { locale })}"
                          >${stateOf(page, key, index)}</a
                        >
                      </td>`,
                  )}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`,
    };
  });

  pages.form(
    '/settings/legal/:page',
    { read: 'legal_read', write: 'legal_write' },
    {
      show: async (visit, request, draft) => {
        const { page, request: schema } = pageOf(request);
        const locale = localeOf(visit, request);
        const stored = await readPage(visit, page, locale);
        const content = shownContent(visit, stored);
        const messages = visit.messages.settings;
        const isDisabled = !visit.may('legal_write');
        const field = showFields(formOf(schema), visit, { values: content, isDisabled, draft });
        const nameOfLanguage = (one: string) => languageName(one, visit.language, visit.settings.locales);
        const preview = adminPath(visit, `/settings/legal/${page}/preview`, { locale });
        return {
          title: titleOf(visit, page),
          menu: 'settings',
          breadcrumbs: [
            ...settingsBreadcrumbs(visit),
            { href: adminPath(visit, '/settings/legal'), text: messages.pages.legal },
          ],
          scripts: [SETTINGS_SCRIPT, ...RICH_TEXT_SCRIPTS],
          main: html`<nav class="tabs" aria-label="${messages.emailView.languages}">
              ${visit.settings.locales.map(
                (one) =>
                  html`<a
                    href="${adminPath(visit, `/settings/legal/${page}`, { locale: one })}"
                    ${one === locale && html`aria-current="page"`}
                    >${nameOfLanguage(one)}</a
                  >`,
              )}
            </nav>
            <div class="sides even">
              <form method="post" class="card" data-settings>
                ${problemOf(draft)} ${versionField(stored)} ${draftNote(visit, content as LegalContent)}
                <p class="hint">${messages.legalView.about}</p>
                ${Object.keys(schema.properties).map((name) => field(name))}
                ${
                  !isDisabled &&
                  html`<div class="actions">
                    <button class="main">${visit.messages.form.save}</button>
                    <button class="without-script" formaction="${preview}" formtarget="preview">
                      ${messages.preview.show}
                    </button>
                  </div>`
                }
              </form>
              <section class="card stay">
                <h2>${messages.preview.title}</h2>
                <iframe
                  class="preview"
                  name="preview"
                  title="${messages.preview.title}"
                  src="${preview}"
                  data-preview="${preview}"
                  sandbox=""
                ></iframe>
              </section>
            </div>`,
        };
      },
      save: async (visit, form) => {
        const { page, request: schema } = pageOf(form);
        const locale = localeOf(visit, form);
        const before = await readPage(visit, page, locale);
        requireUnchanged(form, before, visit.messages);
        const typed = typedPage(visit, form, schema) as LegalContent;
        // A draft without gaps that the merchant saves is meant to be published; with gaps it keeps its marks. Undoing
        // the change makes it a draft again.
        const isFinished = isDraft(before as LegalContent) && gapsOf(typed).length === 0;
        const body = isFinished ? withoutDraftMarks(typed) : typed;
        await visit.call(LEGAL_PAGES[page].update, { query: { locale }, body });
        const path = adminPath(visit, `/settings/legal/${page}`, { locale });
        const version = versionOf(await readPage(visit, page, locale));
        return new Redirect(path, {
          text: isDraft(body) ? visit.messages.settings.legalView.stillDraft : visit.messages.form.saved,
          undo: { action: path, fields: { ...(before as Record<string, string>), version } },
        });
      },
    },
    { limits: LIMITS },
  );

  pages.file('/settings/legal/:page/preview', 'legal_read', async (visit, request) => {
    const { page } = pageOf(request);
    return preview(visit, page, shownContent(visit, await readPage(visit, page, localeOf(visit, request))));
  });

  pages.post(
    '/settings/legal/:page/preview',
    'legal_read',
    async (visit, form) => {
      const { page, request: schema } = pageOf(form);
      return preview(visit, page, typedPage(visit, form, schema));
    },
    { limits: LIMITS },
  );
}

/** Says that the text is not public, and which gaps are left. */
function draftNote({ messages }: ShopVisit, content: LegalContent): Markup | false {
  if (!isDraft(content)) return false;
  const gaps = gapsOf(content);
  return html`<div class="problem" role="status">
    <p>${chip(messages.settings.legalView.draft, 'bad')} ${messages.settings.legalView.draftNote}</p>
    ${gaps.length > 0 && html`<p>${messages.settings.legalView.draftGaps} ${gaps.join(', ')}</p>`}
  </div>`;
}

function pageOf({ params }: PageRequest) {
  const found = PAGES.find(({ page }) => page === params['page']);
  if (!found) throw notFound();
  return found;
}

const localeOf = ({ settings, locale }: ShopVisit, { query }: PageRequest): string =>
  settings.locales.find((one) => one === query('locale')) ?? locale;

const titleOf = ({ language }: ShopVisit, page: PageName): string =>
  messagesIn(language).storefront.legal.names[page];

const readPage = (visit: ShopVisit, page: PageName, locale: string) =>
  visit.call(LEGAL_PAGES[page].read, { query: { locale } }) as Promise<Content>;

/** Nothing is filled into a text that the merchant has finished. */
const shownContent = ({ settings }: ShopVisit, stored: Content): Content =>
  isDraft(stored as LegalContent) ? withSeller(stored as LegalContent, settings.invoicing) : stored;

function typedPage(visit: ShopVisit, form: FormRequest, schema: TObject): Content {
  const typed = Object.entries(readFields(formOf(schema), form, visit) as Content);
  return Object.fromEntries(typed.filter(([, text]) => text));
}

/** As the shop shows it: without scripts, styles and forms. */
async function preview(visit: ShopVisit, page: PageName, content: Content): Promise<AdminFile> {
  const texts = [content['shortDescription'], content['address'], content['description']];
  await prepareMerchantHtml(visit, ...texts);
  const parts = texts.map((text) => merchantHtml(visit, text ?? ''));
  return {
    type: 'text/html; charset=utf-8',
    content: encodeHtml`<!doctype html>
      <html lang="${visit.locale.slice(0, 2)}">
        <head>
          <meta charset="utf-8" />
          <title>${titleOf(visit, page)}</title>
          <style>${safe(STYLESHEET.content.toString())}</style>
          ${toStyle(visit.settings.theme).element}
        </head>
        <body>
          <main>
            <h1>${content['name'] ?? titleOf(visit, page)}</h1>
            ${parts.map((part) => html`<div class="prose">${part}</div>`)}
          </main>
        </body>
      </html>`,
  };
}

import { Type } from 'typebox';
import { findCategoryTargets } from '../categories/queries.ts';
import { isPublic } from '../../content/pages/page.ts';
import { countPages, findPages, type ListedPage } from '../../content/pages/queries.ts';
import { createPage } from '../../content/pages/routes.ts';
import { PAGE_KINDS, PageBody, type PageKind } from '../../content/pages/schema.ts';
import { dateText } from '../../http/dates.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { Redirect } from '../../http/page-kit.ts';
import { defaultHome } from '../../storefront/content/default-home.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { chip } from '../components/format.ts';
import { problemOf } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

const PER_PAGE = 50;

const NEW_PAGE = declareForm(
  {
    body: Type.Object({
      kind: PageBody.properties.kind,
      category: PageBody.properties.category,
      title: Type.String({ maxLength: 200 }),
    }),
  },
  ({ pages }) => ({
    kind: {
      kind: 'choice',
      label: pages.kind,
      choices: PAGE_KINDS.map((value) => ({ value, text: pages.kinds[value] })),
    },
    title: { label: pages.title },
    category: { kind: 'choice', label: pages.category, empty: '–' },
  }),
);

/** The pages that a shop writes itself, and the form for a new one. */
export function contentPages(pages: ShopPages): void {
  pages.get('/pages', 'legal_read', async (visit, request) => {
    const { db, shopId, messages } = visit;
    const page = Math.min(Math.max(1, Math.trunc(Number(request.query('page') ?? 1)) || 1), 100);
    const range = { page, resultsPerPage: PER_PAGE, offset: (page - 1) * PER_PAGE };
    const rows = await findPages(db, shopId, undefined, range);
    const count = await countPages(db, shopId);
    return {
      title: messages.layout.menuEntries.pages,
      menu: 'pages',
      actions:
        visit.may('legal_write') &&
        html`<a class="button main" href="${adminPath(visit, '/pages/new')}">${messages.pages.new}</a>`,
      main: html`${
          rows.length === 0
            ? html`<p class="card quiet">${messages.pages.empty}</p>`
            : html`<div class="card">${table(visit, rows)}</div>`
        }
        <div class="actions">
          ${page > 1 && html`<a class="button" href="?page=${page - 1}">${messages.list.previous}</a>`}
          ${count > page * PER_PAGE && html`<a class="button" href="?page=${page + 1}">${messages.list.next}</a>`}
        </div>`,
    };
  });

  pages.form(
    '/pages/new',
    { read: 'legal_write', write: 'legal_write' },
    {
      show: async (visit, request, draft) => {
        const { db, shopId, locale, settings, messages } = visit;
        const categories = await findCategoryTargets(db, shopId);
        const field = showFields(NEW_PAGE, visit, { values: { kind: request.query('kind') }, draft });
        return {
          title: messages.pages.new,
          menu: 'pages',
          breadcrumbs: [{ href: adminPath(visit, '/pages'), text: messages.layout.menuEntries.pages }],
          main: html`<form method="post" class="card narrow">
            ${problemOf(draft)} ${field('kind')} ${field('title')}
            ${field('category', {
              choices: categories.map(({ alias, name }) => ({
                value: alias,
                text: textIn(name, locale, settings.defaultLocale) ?? alias,
              })),
            })}
            <p class="hint">${messages.pages.newHint}</p>
            <button class="main">${messages.pages.create}</button>
          </form>`,
        };
      },
      save: async (visit, form) => {
        const { settings } = visit;
        const { kind, category, title } = readFields(NEW_PAGE, form, visit);
        const { pageId } = await visit.call(createPage, {
          body: {
            kind,
            ...(kind === 'category' && { category }),
            texts: (kind === 'home' ? settings.locales : [settings.defaultLocale]).map((locale) => ({
              locale,
              title,
              // What the built-in front page shows is where one's own begins.
              blocks: kind === 'home' ? defaultHome(settings, locale) : [],
            })),
          },
        });
        return new Redirect(adminPath(visit, `/pages/${pageId}`), visit.messages.pages.created);
      },
    },
    optionsOf(NEW_PAGE),
  );
}

export function listedPageTitle(
  { locale, settings, messages }: ShopVisit,
  { kind, category, texts }: { kind: string; category: string | null; texts: ListedPage['texts'] },
): string {
  const titles = Object.fromEntries(
    texts.flatMap(({ locale: one, title }) => (title === null ? [] : [[one, title]])),
  );
  const title = textIn(titles, locale, settings.defaultLocale) ?? Object.values(titles)[0];
  if (title !== undefined) return title;
  if (kind === 'home' || kind === 'category')
    return [messages.pages.kinds[kind], category].filter((part) => part !== null).join(': ');
  return messages.pages.untitled;
}

function table(visit: ShopVisit, rows: readonly ListedPage[]): Markup {
  const messages = visit.messages.pages;
  return html`<table>
    <thead>
      <tr>
        <th>${messages.name}</th>
        <th>${messages.kind}</th>
        <th>${messages.state}</th>
        <th>${messages.changed}</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            <td><a href="${adminPath(visit, `/pages/${row.pageId}`)}">${listedPageTitle(visit, row)}</a></td>
            <td>${messages.kinds[row.kind satisfies PageKind]}</td>
            <td>${chip(messages.states[stateOf(visit, row)])}</td>
            <td>${dateText(row.changedAt, visit.language)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function stateOf({ db }: ShopVisit, page: Pick<ListedPage, 'publishAt'>): 'draft' | 'scheduled' | 'public' {
  if (page.publishAt === null) return 'draft';
  return isPublic(page, db.now) ? 'public' : 'scheduled';
}

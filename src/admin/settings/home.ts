import { textIn } from '../../http/locale.ts';
import { html, type Markup } from '../../http/html.ts';
import { notFound } from '../../http/errors.ts';
import { Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { PAGES } from '../../shops/legal/schema.ts';
import { settingsAsFile } from '../../shops/settings/conversion.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { findCategoryTargets } from '../categories/queries.ts';
import { declaredButton, declareHidden, readFields } from '../components/declared-form.ts';
import { pictureCard } from '../media/media.ts';
import type { ShopPages } from '../pages.ts';
import { findProductNames } from '../search/queries.ts';
import { findProductHits } from '../search/search.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { savedNotice, saveSettings } from './save.ts';
import { sectionPage, settingsBreadcrumbs } from './section-page.ts';

const MAX_SEARCH_LENGTH = 100;
const MAX_CATEGORIES_SHOWN = 30;

/** A kind and an id; empty: the button leads nowhere. */
const TARGET = declareHidden({ target: 100 });

/** What the button of the front page can lead to; `value` is the kind and the id. */
interface Target {
  value: string;
  text: string;
  note?: string | undefined;
}

/** The front page: its texts are a form, its picture and the target of its button are chosen. */
export function homeSettingsPages(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, {
    name: 'home',
    // The cards beside the form show them. What a settings file names otherwise stays as it is.
    leftOut: ['home.picture', 'home.link'],
    fields: (_visit, { file }) =>
      html`<input type="hidden" name="home.picture" value="${file.home?.picture ?? ''}" />
        <input type="hidden" name="home.link" value="${file.home?.link ?? ''}" />`,
    beside: async (visit) =>
      html`<div class="stack">${pictureCard(visit, 'home')} ${targetCard(visit)}</div>`,
  });

  pages.get('/settings/home/target', 'settings_write', async (visit, request) => {
    const messages = visit.messages.media.target;
    const text = (request.query('q') ?? '').trim().slice(0, MAX_SEARCH_LENGTH);
    const groups = await findTargets(visit, text);
    return {
      title: messages.choose,
      menu: 'settings',
      breadcrumbs: [
        ...settingsBreadcrumbs(visit),
        { href: adminPath(visit, '/settings/home'), text: visit.messages.settings.pages.home },
      ],
      main: html`<div class="narrow stack">
        <form class="card filters" method="get">
          <label class="hidden" for="target-search">${messages.search}</label>
          <input
            type="search"
            id="target-search"
            name="q"
            value="${text}"
            maxlength="${MAX_SEARCH_LENGTH}"
            placeholder="${messages.search}"
          />
          <button>${visit.messages.media.find}</button>
        </form>
        ${groups.map(
          ({ title, targets }) =>
            targets.length > 0 &&
            html`<section class="card">
              <h2>${title}</h2>
              <form method="post" class="targets">
                ${targets.map(
                  (target) =>
                    html`<button name="target" value="${target.value}" class="link">
                      ${target.text}
                      ${target.note !== undefined && html`<span class="quiet">${target.note}</span>`}
                    </button>`,
                )}
              </form>
            </section>`,
        )}
      </div>`,
    };
  });

  pages.post('/settings/home/target', 'settings_write', async (visit, form) => {
    const { target } = readFields(TARGET, form, visit);
    const link = target === '' ? undefined : await linkTo(visit, target);
    const { link: _replaced, ...home } = settingsAsFile(visit.settings, { textsByLocale: true }).home ?? {};
    const file = { home: { ...home, ...(link !== undefined && { link }) } };
    const applied = await saveSettings(visit, file, format);
    return new Redirect(adminPath(visit, '/settings/home'), await savedNotice(visit, applied));
  });
}

function targetCard(visit: ShopVisit): Markup {
  const messages = visit.messages.media.target;
  const { link } = visit.settings.home;
  return html`<section class="card" id="field-home.link">
    <h2>${messages.title}</h2>
    <p class="${link === null ? 'quiet' : ''}">${link ?? messages.none}</p>
    ${
      visit.may('settings_write') &&
      html`<div class="actions">
        <a class="button" href="${adminPath(visit, '/settings/home/target')}">${messages.choose}</a>
        ${
          link !== null &&
          declaredButton(
            TARGET,
            visit,
            { target: '' },
            { action: adminPath(visit, '/settings/home/target'), text: messages.remove },
          )
        }
      </div>`
    }
  </section>`;
}

async function findTargets(
  visit: ShopVisit,
  text: string,
): Promise<{ title: string; targets: readonly Target[] }[]> {
  const { db, shopId, locale, language, settings } = visit;
  const isFound = (name: string) => name.toLowerCase().includes(text.toLowerCase());
  const names = messagesIn(language).storefront.legal.names;
  const [categories, products] = await Promise.all([
    findCategoryTargets(db, shopId),
    text === '' ? [] : findProductHits(visit, text),
  ]);
  const titles = visit.messages.layout.menuEntries;
  return [
    {
      title: titles.products,
      targets: products.map(({ productId, text: name, note }) => ({
        value: `product ${productId}`,
        text: name,
        note,
      })),
    },
    {
      title: titles.categories,
      targets: categories
        .map(({ categoryId, alias, name }) => ({
          value: `category ${categoryId}`,
          text: textIn(name, locale, settings.defaultLocale) ?? alias,
        }))
        .filter((category) => isFound(category.text))
        .slice(0, MAX_CATEGORIES_SHOWN),
    },
    {
      title: visit.messages.media.target.pages,
      targets: PAGES.map(({ page }) => ({ value: `page ${page}`, text: names[page] })).filter((page) =>
        isFound(page.text),
      ),
    },
  ];
}

/** The path of a target in the shop. */
async function linkTo({ db, shopId }: ShopVisit, target: string): Promise<string> {
  const [kind, id = ''] = target.split(' ', 2);
  if (kind === 'page' && PAGES.some(({ page }) => page === id)) return `/legal/${id}`;
  if (!isId(id)) throw notFound();
  if (kind === 'product') {
    const [product] = await findProductNames(db, shopId, [id]);
    if (product) return `/Products/${encodeURIComponent(product.productNumber)}`;
  }
  if (kind === 'category') {
    const found = (await findCategoryTargets(db, shopId)).find(({ categoryId }) => categoryId === id);
    if (found) return `/Categories/${encodeURIComponent(found.alias)}`;
  }
  throw notFound();
}

import type { Static } from 'typebox';
import { isBlockType, MAX_BLOCKS } from '../../content/blocks.ts';
import { pathOfPage } from '../../content/pages/page.ts';
import { findPage, findTexts, findPageVersion, findPageVersions } from '../../content/pages/queries.ts';
import { deletePage, previewPage, updatePage } from '../../content/pages/routes.ts';
import { loadPage } from '../../content/pages/save-page.ts';
import { PageBody, PageText, type PageAnswer } from '../../content/pages/schema.ts';
import { dateTimeText } from '../../http/dates.ts';
import { isRefusal, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { type FormRequest, type PageRequest, Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { shopPath } from '../../storefront/visit.ts';
import {
  declareForm,
  declareHidden,
  optionsOf,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { RICH_TEXT_SCRIPTS } from '../components/rich-text.ts';
import { problemText, refuseField } from '../components/validation.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import { PAGES_SCRIPT } from '../layout/assets.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, storefrontLink, type ShopVisit } from '../visit.ts';
import {
  blockInput,
  blockList,
  changedBlocks,
  editorLanguages,
  pictureField,
  EDITING,
} from './block-editor.ts';
import { blockLimits, readBlocks, toBlock, toTyped, type TypedBlock } from './block-forms.ts';
import { listedPageTitle } from './page-list.ts';

/** The fields of a page, and those of its text in one language. */
const PAGE = declareForm({ body: PageBody }, ({ pages }) => ({
  published: { kind: 'tick', label: pages.published, hint: pages.publishedHint },
  publishAt: { label: pages.publishAt, hint: pages.publishAtHint, placeholder: '2026-12-01T08:00Z' },
  author: { label: pages.author },
  picture: { label: pages.pictureOf },
}));
const TEXT = declareForm({ body: PageText }, ({ pages }) => ({
  title: { label: pages.title },
  slug: { label: pages.slug, hint: pages.slugHint },
  pageTitle: { label: pages.pageTitle },
  description: { kind: 'long text', label: pages.description, rows: 2 },
  summary: { kind: 'long text', label: pages.summary, rows: 3 },
  pictureText: { label: pages.pictureOfText },
}));

const RESTORED = declareHidden({ version: 10 });

/** A page has up to sixty blocks with some fields each. */
const MAX_VALUES = 2_900;

type Answer = Static<typeof PageAnswer>;

/** The editor of a page: one language at a time. */
export function pageEditor(pages: ShopPages): void {
  const { labels, limits } = optionsOf(PAGE, TEXT);
  const texts = { ...limits.texts, ...blockLimits((form) => optionsOf(form).limits.texts ?? {}) };
  pages.form(
    '/pages/:pageId',
    { read: 'legal_read', write: 'legal_write' },
    { show, save },
    { labels, limits: { texts, values: MAX_VALUES } },
  );

  pages.post('/pages/:pageId/delete', 'legal_write', async (visit, { params }) => {
    const pageId = params['pageId']!;
    if (!isId(pageId)) throw notFound();
    await visit.call(deletePage, { params: { pageId } });
    return new Redirect(adminPath(visit, '/pages'), visit.messages.pages.deleted);
  });

  pages.post('/pages/:pageId/restore', 'legal_write', async (visit, form) => {
    const page = await readPage(visit, form);
    const version = Math.trunc(Number(readFields(RESTORED, form, visit).version));
    const isVersion = version > 0 && version < 2 ** 31;
    const found = isVersion && (await findPageVersion(visit.db, visit.shopId, page.pageId, version));
    if (!found) throw notFound();
    const { locales } = visit.settings;
    // Whether the page is public does not change with its content.
    await visit.call(updatePage, {
      params: { pageId: page.pageId },
      body: {
        ...found.content,
        published: page.published,
        publishAt: page.publishAt,
        texts: found.content.texts.filter(({ locale }) => locales.includes(locale)),
      },
    });
    return new Redirect(
      adminPath(visit, `/pages/${page.pageId}`),
      visit.messages.pages.restored({ version }),
    );
  });
}

async function readPage(visit: ShopVisit, { params }: PageRequest): Promise<Answer> {
  const pageId = params['pageId']!;
  const page = isId(pageId) ? await loadPage(visit.db, visit.shopId, pageId) : undefined;
  if (!page) throw notFound();
  return page;
}

/** The language that is edited. */
function localeOf({ settings, locale }: ShopVisit, request: PageRequest): string {
  const asked = request.query('locale');
  return settings.locales.find((one) => one === asked) ?? locale;
}

/** What the editor shows: the stored page, or what was typed. */
interface Edited {
  locale: string;
  page: Readonly<Record<'published' | 'publishAt' | 'author' | 'picture', string | boolean | null>>;
  text: Readonly<Record<string, string | null>>;
  blocks: readonly TypedBlock[];
  /** The typed values are not those of the page yet. */
  isChanged: boolean;
  /** The path of the preview, below the storefront. */
  preview?: string;
}

async function show(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const page = await readPage(visit, request);
  const locale = localeOf(visit, request);
  if (draft) return editor(visit, page, { ...readTyped(visit, locale, draft), isChanged: true }, draft);
  const { blocks: _blocks, ...text } = page.texts.find((one) => one.locale === locale) ?? { blocks: [] };
  return editor(visit, page, {
    locale,
    page: { ...page, published: page.published },
    text,
    blocks: await storedBlocks(visit, page.pageId, locale),
    isChanged: false,
  });
}

async function storedBlocks(visit: ShopVisit, pageId: string, locale: string): Promise<TypedBlock[]> {
  const texts = await findTexts(visit.db, visit.shopId, pageId);
  const blocks = texts.find((one) => one.locale === locale)?.blocks ?? [];
  return blocks.map((block) => toTyped(block, visit.messages));
}

function readTyped(
  visit: ShopVisit,
  locale: string,
  form: Pick<FormRequest, 'field' | 'fieldList'>,
): Omit<Edited, 'isChanged'> {
  const page = readFields(PAGE, form, visit);
  const text = readFields(TEXT, form, visit);
  return {
    locale,
    page: {
      published: page.published ?? false,
      publishAt: page.publishAt ?? null,
      author: page.author ?? null,
      picture: page.picture ?? null,
    },
    text,
    blocks: readBlocks(form, visit.messages, isBlockType, MAX_BLOCKS + 1),
  };
}

async function save(visit: ShopVisit, form: FormRequest): Promise<Redirect | AdminPage> {
  const page = await readPage(visit, form);
  const locale = localeOf(visit, form);
  const typed = readTyped(visit, locale, form);
  const { do: pressed, from: wanted, newType } = readFields(EDITING, form, visit);
  const [step = '', at = ''] = pressed.split(' ', 2);
  if (step === 'preview') {
    const { path } = await inPlace(visit, page, typed, (body) =>
      visit.call(previewPage, { params: { pageId: page.pageId }, body }),
    );
    return editor(visit, page, { ...typed, isChanged: true, preview: path });
  }
  if (step === 'copy') {
    const from = visit.settings.locales.find((one) => one === wanted);
    if (from === undefined) throw notFound();
    const blocks = await storedBlocks(visit, page.pageId, from);
    return editor(visit, page, { ...typed, blocks, isChanged: true });
  }
  if (step !== '') {
    const blocks = changedBlocks(typed.blocks, step, Number(at), newType);
    return editor(visit, page, { ...typed, blocks, isChanged: true });
  }
  requireUnchanged(form, page.version, visit.messages);
  await inPlace(visit, page, typed, (body) =>
    visit.call(updatePage, { params: { pageId: page.pageId }, body }),
  );
  return new Redirect(adminPath(visit, `/pages/${page.pageId}`, { locale }), visit.messages.form.saved);
}

/** Calls an operation with the page as it is typed. A refusal names the place of its field in the form. */
async function inPlace<Result>(
  visit: ShopVisit,
  page: Answer,
  typed: Omit<Edited, 'isChanged'>,
  call: (body: PageBody) => Promise<Result>,
): Promise<Result> {
  const { locale } = typed;
  const blocks = typed.blocks.map(toBlock);
  const isEmpty = Object.values(typed.text).every((text) => (text ?? '') === '') && blocks.length === 0;
  const others = page.texts.filter((text) => text.locale !== locale) as PageBody['texts'];
  // A language without any content is none of the page, as long as it has another one.
  const texts = isEmpty && others.length > 0 ? others : [...others, { ...typed.text, locale, blocks }];
  const body = {
    kind: page.kind,
    category: page.category,
    ...typed.page,
    publishAt: (typed.page.publishAt as string | null) || page.publishAt,
    texts,
  } as PageBody;
  try {
    return await call(body);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const [problem] = error.problems;
    const [, rest] = /^texts[.[]\d+\]?\.(.*)$/.exec(problem?.field ?? '') ?? [];
    if (!problem || rest === undefined) throw error;
    throw refuseField(blockInput(rest, typed.blocks), problemText(visit, problem, labelsOf(visit)));
  }
}

const labelsOf = ({ messages: { pages } }: ShopVisit) => ({
  ...pages.fields,
  title: pages.title,
  slug: pages.slug,
});

async function editor(visit: ShopVisit, page: Answer, edited: Edited, draft?: Draft): Promise<AdminPage> {
  const { messages } = visit;
  const words = messages.pages;
  const mayWrite = visit.may('legal_write');
  const { kind, pageId } = page;
  const stored = await findPage(visit.db, visit.shopId, pageId);
  const field = showFields(PAGE, visit, { values: edited.page, draft });
  const text = showFields(TEXT, visit, { values: edited.text, draft });
  const slug = page.texts.find(({ locale }) => locale === edited.locale)?.slug ?? null;
  const path = pathOfPage(page.kind as 'page', slug);
  const hasAddress = kind === 'page' || kind === 'post';
  return {
    title: listedPageTitle(visit, page),
    menu: 'pages',
    scripts: [...RICH_TEXT_SCRIPTS, PAGES_SCRIPT],
    breadcrumbs: [{ href: adminPath(visit, '/pages'), text: messages.layout.menuEntries.pages }],
    ...(edited.preview !== undefined && { frames: [originOf(visit.storefront)] }),
    actions: html`${
      stored?.publishAt &&
      stored.publishAt <= visit.db.now &&
      path !== undefined &&
      html`<a
        class="button"
        href="${storefrontLink(visit, localPath(visit, edited.locale, path))}"
        target="_blank"
        rel="noopener"
        >${words.view}</a
      >`
    }
    ${
      mayWrite &&
      buttonForm({
        action: adminPath(visit, `/pages/${pageId}/delete`),
        text: messages.form.delete,
        kind: 'danger',
        confirm: words.confirmDelete,
      })
    }`,
    main: html`${editorLanguages(visit, {
        path: `/pages/${pageId}`,
        present: page.texts.map(({ locale }) => locale),
        current: edited.locale,
      })}
      ${edited.preview !== undefined && previewFrames(visit, edited.locale, edited.preview)}
      <form method="post" class="page-editor">
        <div class="actions stay-above">
          ${mayWrite && html`<button class="main">${messages.form.save}</button>`}
          ${mayWrite && html`<button name="do" value="preview" formaction="#preview" formnovalidate>${words.preview}</button>`}
          ${edited.isChanged && html`<span class="quiet" role="status">${words.unsaved}</span>`}
        </div>
        ${problemOf(draft)} ${versionField(page.version)}
        <div class="sides">
          <div class="stack">
            <section class="card">
              ${text('title')} ${hasAddress && text('slug')} ${kind === 'post' && text('summary')}
            </section>
            ${blockList(visit, {
              blocks: edited.blocks,
              draft,
              mayWrite,
              others: page.texts.map(({ locale }) => locale).filter((locale) => locale !== edited.locale),
              noText: words.noText,
            })}
          </div>
          <div class="stack">
            <section class="card">
              <h2>${words.settings}</h2>
              ${field('published')} ${field('publishAt')} ${kind === 'post' && field('author')}
              ${pictureField(visit, field('picture'), 'field-picture', 'field-pictureText')}
              ${text('pictureText')}
            </section>
            <section class="card">${text('pageTitle')} ${text('description')}</section>
          </div>
        </div>
      </form>
      ${await versionCard(visit, page)}`,
  };
}

const originOf = (address: string) => new URL(address).origin;

/** The path of a page in this language, as the storefront writes it. */
const localPath = ({ settings }: ShopVisit, locale: string, path: string) =>
  shopPath({ base: '', locale, settings }, path);

function previewFrames(visit: ShopVisit, locale: string, path: string): Markup {
  const messages = visit.messages.pages;
  const address = visit.storefront + localPath(visit, locale, path);
  return html`<section class="card" id="preview">
    <h2>${messages.preview}</h2>
    <p class="hint">
      ${messages.previewHint} <a href="${address}" target="_blank" rel="noopener">${messages.openPreview}</a>
    </p>
    <div class="page-previews">
      <figure>
        <figcaption>${messages.phone}</figcaption>
        <iframe
          class="phone"
          src="${address}"
          title="${messages.preview}: ${messages.phone}"
          loading="lazy"
        ></iframe>
      </figure>
      <figure>
        <figcaption>${messages.wide}</figcaption>
        <iframe
          class="wide"
          src="${address}"
          title="${messages.preview}: ${messages.wide}"
          loading="lazy"
        ></iframe>
      </figure>
    </div>
  </section>`;
}

async function versionCard(visit: ShopVisit, page: Answer): Promise<Markup | false> {
  const versions = await findPageVersions(visit.db, visit.shopId, page.pageId);
  const { pages: messages } = visit.messages;
  return (
    versions.length > 1 &&
    html`<section class="card">
      <h2>${messages.versions}</h2>
      <table>
        <tbody>
          ${versions.map(
            ({ version, savedAt, author }) =>
              html`<tr>
                <td>${version}</td>
                <td>${dateTimeText(savedAt, visit.language)}</td>
                <td>${author}</td>
                <td>
                  ${
                    version !== page.version &&
                    visit.may('legal_write') &&
                    buttonForm({
                      action: adminPath(visit, `/pages/${page.pageId}/restore`),
                      text: messages.restore,
                      fields: { version: String(version) },
                    })
                  }
                </td>
              </tr>`,
          )}
        </tbody>
      </table>
    </section>`
  );
}

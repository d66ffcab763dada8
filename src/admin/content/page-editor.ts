import type { Static } from 'typebox';
import { BLOCK_TYPES, isBlockType, MAX_BLOCKS, type BlockType } from '../../content/blocks.ts';
import { pathOfPage } from '../../content/pages/page.ts';
import { findPage, findTexts, findVersion, findVersions } from '../../content/pages/queries.ts';
import { deletePage, previewPage, updatePage } from '../../content/pages/routes.ts';
import { loadPage } from '../../content/pages/save-page.ts';
import { PageBody, PageText, type PageAnswer } from '../../content/pages/schema.ts';
import { dateTimeText } from '../../http/dates.ts';
import { isRefusal, notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { type FormRequest, type PageRequest, Redirect } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { shopPath } from '../../storefront/visit.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { buttonForm, choiceField, problemOf } from '../components/form.ts';
import { languageName } from '../components/language-name.ts';
import { RICH_TEXT_SCRIPTS } from '../components/rich-text.ts';
import { problemText, refuseField } from '../components/validation.ts';
import { requireUnchanged, versionField } from '../components/version.ts';
import { PAGES_SCRIPT } from '../layout/assets.ts';
import { ACTION_ICONS } from '../layout/icons.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, storefrontLink, type ShopVisit } from '../visit.ts';
import {
  BLOCK_FORMS,
  blockLimits,
  emptyBlock,
  fieldNames,
  ITEM_FORMS,
  readBlocks,
  toBlock,
  toTyped,
  type TypedBlock,
} from './block-forms.ts';
import { titleOf } from './page-list.ts';

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
    const version = Math.trunc(Number(form.field('version')));
    const isVersion = version > 0 && version < 2 ** 31;
    const found = isVersion && (await findVersion(visit.db, visit.shopId, page.pageId, version));
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
  const [step = '', at = ''] = form.field('do').split(' ', 2);
  if (step === 'preview') {
    const { path } = await inPlace(visit, page, typed, (body) =>
      visit.call(previewPage, { params: { pageId: page.pageId }, body }),
    );
    return editor(visit, page, { ...typed, isChanged: true, preview: path });
  }
  if (step === 'copy') {
    const from = visit.settings.locales.find((one) => one === form.field('from'));
    if (from === undefined) throw notFound();
    const blocks = await storedBlocks(visit, page.pageId, from);
    return editor(visit, page, { ...typed, blocks, isChanged: true });
  }
  if (step !== '') {
    const blocks = changedBlocks(typed.blocks, step, Number(at), form.field('newType'));
    return editor(visit, page, { ...typed, blocks, isChanged: true });
  }
  requireUnchanged(form, page.version, visit.messages);
  await inPlace(visit, page, typed, (body) =>
    visit.call(updatePage, { params: { pageId: page.pageId }, body }),
  );
  return new Redirect(adminPath(visit, `/pages/${page.pageId}`, { locale }), visit.messages.form.saved);
}

/** The blocks after a button of the editor. An unknown step changes nothing. */
export function changedBlocks(
  blocks: readonly TypedBlock[],
  step: string,
  at: number,
  newType: string,
): TypedBlock[] {
  if (step === 'add') {
    return isBlockType(newType) && blocks.length < MAX_BLOCKS
      ? [...blocks, emptyBlock(newType)]
      : [...blocks];
  }
  const block = blocks[at];
  if (!block) return [...blocks];
  const others = blocks.toSpliced(at, 1);
  switch (step) {
    case 'up':
      return others.toSpliced(Math.max(0, at - 1), 0, block);
    case 'down':
      return others.toSpliced(at + 1, 0, block);
    case 'remove':
      return others;
    case 'duplicate':
      return blocks.length < MAX_BLOCKS ? blocks.toSpliced(at, 0, block) : [...blocks];
    case 'more': {
      const max = ITEM_FORMS[block.type]?.max ?? 0;
      const items = block.items.length < max ? [...block.items, {}] : block.items;
      return blocks.with(at, { ...block, items });
    }
    default:
      return [...blocks];
  }
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
    throw refuseField(inputOf(rest, typed.blocks), problemText(visit, problem, labelsOf(visit)));
  }
}

/** `blocks.3.questions.0.answer` is the input `blocks.3.items.0.answer`. */
function inputOf(field: string, blocks: readonly TypedBlock[]): string {
  const [, index, list, rest] = /^blocks\.(\d+)\.(\w+)\.(\d+\.\w+)$/.exec(field) ?? [];
  if (index === undefined) return field.replace(/^(blocks\.\d+\.\w+)\.\d+$/, '$1');
  const { type } = blocks[Number(index)] ?? {};
  return type && ITEM_FORMS[type]?.name === list ? `blocks.${index}.items.${rest}` : field;
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
    title: titleOf(visit, page),
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
    main: html`${languages(visit, page, edited.locale)}
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
            ${blockList(visit, page, edited, draft)}
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

function languages(visit: ShopVisit, page: Answer, current: string): Markup | false {
  const { settings, language, messages } = visit;
  if (settings.locales.length < 2) return false;
  return html`<nav class="language-tabs" aria-label="${messages.pages.language}">
    ${settings.locales.map((locale) => {
      const isThere = page.texts.some((text) => text.locale === locale);
      return html`<a
        class="button"
        href="${adminPath(visit, `/pages/${page.pageId}`, { locale })}"
        ${locale === current && html`aria-current="page"`}
        >${languageName(locale, language, settings.locales)}${!isThere && ' –'}</a
      >`;
    })}
  </nav>`;
}

function blockList(visit: ShopVisit, page: Answer, edited: Edited, draft: Draft | undefined): Markup {
  const words = visit.messages.pages;
  const mayWrite = visit.may('legal_write');
  const { settings, language } = visit;
  const others = page.texts.filter(({ locale }) => locale !== edited.locale);
  return html`<section aria-labelledby="blocks">
    <h2 id="blocks">${words.blocks}</h2>
    <input type="hidden" name="count" value="${edited.blocks.length}" />
    ${edited.blocks.length === 0 && html`<p class="card quiet">${others.length > 0 ? words.noText : words.noBlocks}</p>`}
    ${edited.blocks.map((block, index) => blockCard(visit, block, index, edited.blocks.length, draft))}
    ${
      mayWrite &&
      html`<div class="card row" id="add">
        ${choiceField({
          name: 'newType',
          label: words.addBlock,
          choices: BLOCK_TYPES.map((value) => ({ value, text: words.types[value] })),
          value: 'richText' satisfies BlockType,
        })}
        <button name="do" value="add" formaction="#add" formnovalidate>${words.add}</button>
      </div>`
    }
    ${
      mayWrite &&
      others.length > 0 &&
      html`<div class="card row">
        ${choiceField({
          name: 'from',
          label: words.copyFrom,
          choices: others.map(({ locale }) => ({
            value: locale,
            text: languageName(locale, language, settings.locales),
          })),
        })}
        <button name="do" value="copy" formaction="#blocks" formnovalidate>${words.copy}</button>
      </div>`
    }
  </section>`;
}

function blockCard(
  visit: ShopVisit,
  { type, values, items }: TypedBlock,
  index: number,
  count: number,
  draft: Draft | undefined,
): Markup {
  const { messages } = visit;
  const words = messages.pages;
  const prefix = `blocks.${index}.`;
  const name = `${index + 1}. ${words.types[type]}`;
  const list = ITEM_FORMS[type];
  const step = (action: string, sign: Markup | string, label: string, target = index) =>
    html`<button
      name="do"
      value="${action} ${index}"
      formaction="#block-${target}"
      formnovalidate
      aria-label="${label}"
      title="${label}"
    >
      ${sign}
    </button>`;
  return html`<section class="card block" id="block-${index}" aria-labelledby="block-${index}-name">
    <div class="actions">
      <h3 id="block-${index}-name">${name}</h3>
      ${
        visit.may('legal_write') &&
        html`${index > 0 && step('up', ACTION_ICONS.up, words.moveUp({ name }), index - 1)}
        ${index < count - 1 && step('down', ACTION_ICONS.down, words.moveDown({ name }), index + 1)}
        ${step('duplicate', ACTION_ICONS.copy, words.duplicate({ name }))}
        ${step('remove', '×', words.remove({ name }))}`
      }
    </div>
    <input type="hidden" name="${prefix}type" value="${type}" />
    ${blockFields(visit, BLOCK_FORMS[type], values, prefix, draft)}
    ${
      list &&
      html`<input type="hidden" name="${prefix}items" value="${items.length}" /> ${items.map(
          (item, at) =>
            html`<fieldset class="stack">
              <legend>${words.entry({ number: at + 1 })}</legend>
              ${blockFields(visit, list.form, item, `${prefix}items.${at}.`, draft)}
            </fieldset>`,
        )}
        ${
          items.length < list.max &&
          html`<button name="do" value="more ${index}" formaction="#block-${index}" formnovalidate>
            ${words.more}
          </button>`
        }`
    }
  </section>`;
}

function blockFields(
  visit: ShopVisit,
  form: (typeof BLOCK_FORMS)[BlockType],
  values: Readonly<Record<string, string>>,
  prefix: string,
  draft: Draft | undefined,
): Markup {
  const field = showFields(form, visit, {
    values: { ...values, line: values['line'] === 'yes' },
    draft,
    prefix,
  });
  return html`${fieldNames(form, visit.messages).map((name) =>
    name === 'picture'
      ? pictureField(visit, field(name), `field-${prefix}picture`, `field-${prefix}alt`)
      : field(name),
  )}`;
}

/** The field of an address, with a button that chooses a picture of the library where scripts run. */
function pictureField(visit: ShopVisit, field: Markup, input: string, alt: string): Markup {
  if (!visit.may('products_read')) return field;
  return html`${field}<button
      type="button"
      class="with-script"
      data-choose-picture="${adminPath(visit, '/media', { for: 'text' })}"
      data-close="${visit.messages.form.cancel}"
      data-input="${input}"
      data-alt="${alt}"
    >
      ${visit.messages.pages.choosePicture}
    </button>`;
}

const originOf = (address: string) => new URL(address).origin;

/** The path of a page in this language, as the storefront writes it. */
const localPath = ({ settings }: ShopVisit, locale: string, path: string) =>
  shopPath({ base: '', locale, settings }, path);

function previewFrames(visit: ShopVisit, locale: string, path: string): Markup {
  const words = visit.messages.pages;
  const address = visit.storefront + localPath(visit, locale, path);
  return html`<section class="card" id="preview">
    <h2>${words.preview}</h2>
    <p class="hint">
      ${words.previewHint} <a href="${address}" target="_blank" rel="noopener">${words.openPreview}</a>
    </p>
    <div class="page-previews">
      <figure>
        <figcaption>${words.phone}</figcaption>
        <iframe
          class="phone"
          src="${address}"
          title="${words.preview}: ${words.phone}"
          loading="lazy"
        ></iframe>
      </figure>
      <figure>
        <figcaption>${words.wide}</figcaption>
        <iframe class="wide" src="${address}" title="${words.preview}: ${words.wide}" loading="lazy"></iframe>
      </figure>
    </div>
  </section>`;
}

async function versionCard(visit: ShopVisit, page: Answer): Promise<Markup | false> {
  const versions = await findVersions(visit.db, visit.shopId, page.pageId);
  const { pages: words } = visit.messages;
  return (
    versions.length > 1 &&
    html`<section class="card">
      <h2>${words.versions}</h2>
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
                      text: words.restore,
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

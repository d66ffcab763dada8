import { wordsQuery } from '../../catalogue/search/conditions.ts';
import type { Term } from '../../catalogue/search/query.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import { sql, type Sql } from '../../db/sql.ts';
import type { PageRange } from '../../http/paging.ts';
import type { StoredPage, StoredText } from './page.ts';
import type { PageKind, PageBody } from './schema.ts';

/** Versions of a page that are kept. */
export const MAX_VERSIONS = 20;

/** The number of the version that an editor writes for its preview: it is none of those that were saved. */
const PREVIEW = 0;

export interface PageRow extends StoredPage {
  /** The alias of its category. */
  category: string | null;
}

/** The texts of a page without their blocks. */
export type TextTitle = Pick<StoredText, 'locale' | 'title' | 'slug'>;

const columns = (shopId: string) => sql`
  upper(page.page_id::text) as "pageId", page.kind, upper(page.category_id::text) as "categoryId", (
    select alias from category where category.shop_id = ${shopId} and category.category_id = page.category_id
  ) as category, page.publish_at as "publishAt", page.author, page.picture, page.version,
  page.created_at as "createdAt", page.changed_at as "changedAt"`;

export interface ListedPage extends PageRow {
  texts: TextTitle[];
}

/** All kinds, or one; the last changed first. */
export function findPages(
  db: Queries,
  shopId: string,
  kind: PageKind | undefined,
  { offset, resultsPerPage }: PageRange,
) {
  return db.many<ListedPage>(sql`
    select ${columns(shopId)}, (
      select coalesce(json_agg(json_build_object('locale', locale, 'title', title, 'slug', slug) order by locale), '[]')
      from page_text where page_text.shop_id = ${shopId} and page_text.page_id = page.page_id
    ) as texts
    from page
    where page.shop_id = ${shopId} and page.kind = coalesce(${kind ?? null}::text, page.kind)
    order by page.changed_at desc, page.page_id limit ${resultsPerPage} offset ${offset}`);
}

export async function countPages(db: Queries, shopId: string, kind?: PageKind): Promise<number> {
  const row = await db.one<{ pages: number }>(sql`
    select count(*) as pages from page where shop_id = ${shopId} and kind = coalesce(${kind ?? null}::text, kind)`);
  return row!.pages;
}

export function findPage(db: Queries, shopId: string, pageId: string) {
  return db.one<PageRow>(sql`
    select ${columns(shopId)} from page where page.shop_id = ${shopId} and page.page_id = ${pageId}`);
}

export function lockPage(tx: Transaction, shopId: string, pageId: string) {
  return tx.one<Pick<StoredPage, 'kind' | 'publishAt' | 'version'>>(sql`
    select kind, publish_at as "publishAt", version from page
    where shop_id = ${shopId} and page_id = ${pageId} for no key update`);
}

export function findTexts(db: Queries, shopId: string, pageId: string) {
  return db.many<StoredText>(sql`
    select locale, slug, title, page_title as "pageTitle", description, summary, picture_text as "pictureText", blocks
    from page_text where shop_id = ${shopId} and page_id = ${pageId} order by locale`);
}

/** A page as visitors see it in one language. */
export interface ShownPage extends StoredPage {
  text: StoredText;
  /** The languages that it exists in, with the end of its address in each. */
  slugs: Readonly<Record<string, string | null>>;
}

const shownColumns = (shopId: string) => sql`
  upper(page.page_id::text) as "pageId", page.kind, upper(page.category_id::text) as "categoryId",
  page.publish_at as "publishAt", page.author, page.picture, page.version,
  page.created_at as "createdAt", page.changed_at as "changedAt",
  json_build_object('locale', shown.locale, 'slug', shown.slug, 'title', shown.title, 'pageTitle', shown.page_title,
    'description', shown.description, 'summary', shown.summary, 'pictureText', shown.picture_text,
    'blocks', shown.blocks) as text, (
    select json_object_agg(other.locale, other.slug) from page_text other
    where other.shop_id = ${shopId} and other.page_id = page.page_id
  ) as slugs`;

/** What a version of a page holds. */
interface NewVersion {
  author: string;
  content: PageBody;
  /** The uploaded pictures that the content names. */
  imageKeys: readonly string[];
}

/** One preview of a page replaces the one before. */
export function replacePreview(
  tx: Transaction,
  shopId: string,
  pageId: string,
  { author, content, imageKeys }: NewVersion,
) {
  return tx.run(sql`
    insert into page_version (shop_id, page_id, version, saved_at, author, content, image_keys)
    values (${shopId}, ${pageId}, ${PREVIEW}, ${tx.now}, ${author}, ${JSON.stringify(content)}::jsonb,
      ${imageKeys}::uuid[])
    on conflict (shop_id, page_id, version)
      do update set saved_at = excluded.saved_at, author = excluded.author, content = excluded.content,
        image_keys = excluded.image_keys`);
}

/** A page as it was last written in the editor, in this language. */
export async function findPreview(
  db: Queries,
  shopId: string,
  pageId: string,
  locale: string,
): Promise<ShownPage | undefined> {
  const row = await db.one<Omit<ShownPage, 'text' | 'slugs'> & { content: PageBody }>(sql`
    select upper(page.page_id::text) as "pageId", page.kind, upper(page.category_id::text) as "categoryId",
      page.publish_at as "publishAt", page.author, page.picture, page.version,
      page.created_at as "createdAt", page.changed_at as "changedAt", page_version.content
    from page join page_version on page_version.shop_id = ${shopId} and page_version.page_id = page.page_id
    where page.shop_id = ${shopId} and page.page_id = ${pageId} and page_version.version in (page.version, ${PREVIEW})
    order by page_version.saved_at desc, page_version.version desc limit 1`);
  if (!row) return undefined;
  const { content, ...page } = row;
  const text = (content.texts as StoredText[]).find((one) => one.locale === locale) ?? content.texts[0];
  return { ...page, author: content.author ?? null, text: text as StoredText, slugs: {} };
}

/** By its address, drafts too. */
export function findBySlug(db: Queries, shopId: string, locale: string, kind: PageKind, slug: string) {
  return db.one<ShownPage>(sql`
    select ${shownColumns(shopId)} from page_text shown
    join page on page.shop_id = ${shopId} and page.page_id = shown.page_id
    where shown.shop_id = ${shopId} and shown.locale = ${locale} and shown.kind = ${kind} and shown.slug = ${slug}`);
}

/** The same in whichever language the address is from, for links that name no language or another one. */
export function findLocalesOfSlug(
  db: Queries,
  shopId: string,
  kind: PageKind,
  slug: string,
  locales: readonly string[],
) {
  return db.many<{ pageId: string; locale: string }>(sql`
    select upper(page_id::text) as "pageId", locale from page_text
    where shop_id = ${shopId} and kind = ${kind} and slug = ${slug} and locale = any (${locales}::text[])
    order by locale`);
}

export function findShown(db: Queries, shopId: string, pageId: string, locale: string) {
  return db.one<ShownPage>(sql`
    select ${shownColumns(shopId)} from page_text shown
    join page on page.shop_id = ${shopId} and page.page_id = shown.page_id
    where shown.shop_id = ${shopId} and shown.page_id = ${pageId} and shown.locale = ${locale}`);
}

/** The front page, or the top of a category, in each language. */
export function findPlaced(db: Queries, shopId: string, categoryId: string | undefined) {
  const isPlace =
    categoryId === undefined ? sql`page.kind = 'home'` : sql`page.category_id = ${categoryId}::uuid`;
  return db.many<ShownPage>(sql`
    select ${shownColumns(shopId)} from page
    join page_text shown on shown.shop_id = ${shopId} and shown.page_id = page.page_id
    where page.shop_id = ${shopId} and ${isPlace}`);
}

/** A post in lists. */
export interface ListedPost {
  pageId: string;
  publishAt: Date | null;
  author: string | null;
  picture: string | null;
  changedAt: Date;
  title: string | null;
  slug: string | null;
  summary: string | null;
  pictureText: string | null;
}

/** The public posts in a language, the newest first. */
export function findPosts(db: Queries, shopId: string, locale: string, limit: number, offset: number) {
  return db.many<ListedPost>(sql`
    select upper(page.page_id::text) as "pageId", page.publish_at as "publishAt", page.author, page.picture,
      page.changed_at as "changedAt", page_text.title, page_text.slug, page_text.summary,
      page_text.picture_text as "pictureText"
    from page join page_text on page_text.shop_id = ${shopId} and page_text.page_id = page.page_id
    where page.shop_id = ${shopId} and page.kind = 'post' and page.publish_at <= ${db.now}
      and page_text.locale = ${locale}
    order by page.publish_at desc, page.page_id limit ${limit} offset ${offset}`);
}

/** Whether a public page has a contact form. */
export async function hasContactForm(db: Queries, shopId: string): Promise<boolean> {
  const row = await db.one<{ found: boolean }>(sql`
    select exists (
      select from page join page_text on page_text.shop_id = ${shopId} and page_text.page_id = page.page_id
      where page.shop_id = ${shopId} and page.publish_at <= ${db.now}
        and page_text.blocks @> '[{"type": "contactForm"}]'
    ) as found`);
  return row!.found;
}

/** The addresses of public pages and posts in all languages, for the sitemap. */
export function findPageAddresses(db: Queries, shopId: string) {
  return db.many<{ kind: PageKind; slugs: Readonly<Record<string, string>> }>(sql`
    select page.kind, json_object_agg(page_text.locale, page_text.slug) as slugs
    from page join page_text on page_text.shop_id = ${shopId} and page_text.page_id = page.page_id
    where page.shop_id = ${shopId} and page.kind in ('page', 'post') and page.publish_at <= ${db.now}
    group by page.page_id, page.kind order by page.page_id`);
}

export async function findCategoryId(
  db: Queries,
  shopId: string,
  alias: string,
): Promise<string | undefined> {
  const row = await db.one<{ categoryId: string }>(sql`
    select upper(category_id::text) as "categoryId" from category where shop_id = ${shopId} and alias = ${alias}`);
  return row?.categoryId;
}

export function insertPage(tx: Transaction, shopId: string, page: StoredPage) {
  const { pageId, kind, categoryId, publishAt, author, picture, version, createdAt, changedAt } = page;
  return tx.run(sql`
    insert into page (shop_id, page_id, kind, category_id, publish_at, author, picture, version, created_at, changed_at)
    values (${shopId}, ${pageId}, ${kind}, ${categoryId}, ${publishAt}, ${author}, ${picture}, ${version},
      ${createdAt}, ${changedAt})`);
}

export function updatePageRow(
  tx: Transaction,
  shopId: string,
  {
    pageId,
    publishAt,
    author,
    picture,
    version,
    changedAt,
  }: Pick<StoredPage, 'pageId' | 'publishAt' | 'author' | 'picture' | 'version' | 'changedAt'>,
) {
  return tx.run(sql`
    update page set publish_at = ${publishAt}, author = ${author}, picture = ${picture}, version = ${version},
      changed_at = ${changedAt}
    where shop_id = ${shopId} and page_id = ${pageId}`);
}

export function deletePageRow(tx: Transaction, shopId: string, pageId: string) {
  return tx.run(sql`delete from page where shop_id = ${shopId} and page_id = ${pageId}`);
}

/** Returns the ends of the addresses that the page had. */
export function deleteTexts(tx: Transaction, shopId: string, pageId: string) {
  return tx.many<{ slug: string | null }>(sql`
    delete from page_text where shop_id = ${shopId} and page_id = ${pageId} returning slug`);
}

const textRows = insertInto('page_text', {
  pageId: 'uuid',
  locale: 'text',
  kind: 'text',
  slug: 'text',
  title: 'text',
  pageTitle: 'text',
  description: 'text',
  summary: 'text',
  pictureText: 'text',
  blocks: 'jsonb',
});

export function insertTexts(
  tx: Transaction,
  shopId: string,
  { pageId, kind }: Pick<StoredPage, 'pageId' | 'kind'>,
  texts: readonly StoredText[],
) {
  return tx.run(
    textRows(
      shopId,
      texts.map((text) => ({ ...text, pageId, kind })),
    ),
  );
}

export interface SearchText {
  locale: string;
  /** Of the text search of PostgreSQL. */
  dictionary: string;
  words: string;
  excerpt: string;
}

/** What the search of the shop finds the page by, in each of its languages. */
export function updateSearchWords(
  tx: Transaction,
  shopId: string,
  pageId: string,
  texts: readonly SearchText[],
) {
  return tx.run(sql`
    update page_text set excerpt = given.excerpt,
      search_words = setweight(to_tsvector(given.dictionary, coalesce(page_text.title, '')), 'A')
        || to_tsvector(given.dictionary, given.words)
    from json_to_recordset(${JSON.stringify(texts)})
      as given (locale text, dictionary regconfig, words text, excerpt text)
    where page_text.shop_id = ${shopId} and page_text.page_id = ${pageId} and page_text.locale = given.locale`);
}

/** A page in the results of a search. */
export interface FoundPage {
  kind: PageKind;
  slug: string;
  title: string;
  excerpt: string;
}

/**
 * The public pages and posts in a language that have all words, the best first; and when the next one becomes public,
 * in milliseconds since 1970.
 */
export async function searchPageTexts(
  db: Queries,
  shopId: string,
  locale: string,
  terms: readonly Term[],
  limit: number,
): Promise<{ pages: FoundPage[]; nextPublication: number | null }> {
  const [pages, next] = await Promise.all([
    db.many<FoundPage>(sql`
      select page_text.kind, page_text.slug, page_text.title, page_text.excerpt
      from page_text join page on page.shop_id = ${shopId} and page.page_id = page_text.page_id
      where page_text.shop_id = ${shopId} and page_text.locale = ${locale} and page_text.slug is not null
        and page.publish_at <= ${db.now} and page_text.search_words @@ ${wordsQuery(terms, locale)}
      order by ts_rank(page_text.search_words, ${wordsQuery(terms, locale)}) desc, page.publish_at desc, page.page_id
      limit ${limit}`),
    db.one<{ at: Date | null }>(sql`
      select min(publish_at) as at from page where shop_id = ${shopId} and publish_at > ${db.now}`),
  ]);
  return { pages, nextPublication: next?.at?.getTime() ?? null };
}

export interface VersionTitle {
  version: number;
  savedAt: Date;
  author: string;
}

export function findPageVersions(db: Queries, shopId: string, pageId: string) {
  return db.many<VersionTitle>(sql`
    select version, saved_at as "savedAt", author from page_version
    where shop_id = ${shopId} and page_id = ${pageId} and version > ${PREVIEW} order by version desc limit ${MAX_VERSIONS}`);
}

export function findPageVersion(db: Queries, shopId: string, pageId: string, version: number) {
  return db.one<{ content: PageBody }>(sql`
    select content from page_version
    where shop_id = ${shopId} and page_id = ${pageId} and version = ${version}`);
}

export async function insertVersion(
  tx: Transaction,
  shopId: string,
  pageId: string,
  { version, author, content, imageKeys }: NewVersion & { version: number },
): Promise<void> {
  await tx.run(sql`
    insert into page_version (shop_id, page_id, version, saved_at, author, content, image_keys)
    values (${shopId}, ${pageId}, ${version}, ${tx.now}, ${author}, ${JSON.stringify(content)}::jsonb,
      ${imageKeys}::uuid[])`);
  await tx.run(sql`
    delete from page_version
    where shop_id = ${shopId} and page_id = ${pageId} and version > ${PREVIEW} and version <= ${version - MAX_VERSIONS}`);
}

/** The pages that show a picture as they are now, drafts too; the last changed first. */
export function findPagesWithPicture(db: Queries, shopId: string, imageKey: string) {
  return db.many<ListedPage>(sql`
    select ${columns(shopId)}, (
      select coalesce(json_agg(json_build_object('locale', locale, 'title', title, 'slug', slug) order by locale), '[]')
      from page_text where page_text.shop_id = ${shopId} and page_text.page_id = page.page_id
    ) as texts
    from page join page_version
      on page_version.shop_id = ${shopId} and page_version.page_id = page.page_id
        and page_version.version = page.version
    where page.shop_id = ${shopId} and page_version.image_keys @> array[${imageKey}::uuid]
    order by page.changed_at desc, page.page_id`);
}

/**
 * Replaces the files of a picture by others, in every page that names it, and keeps the new state as a version. The
 * database does it, so memory does not grow with the pages. The former key stays in the list of pictures: a text may name
 * a file in a way that is not replaced. Returns the ids of the pages.
 */
export async function replacePageFiles(
  tx: Transaction,
  shopId: string,
  {
    before,
    after,
    files,
    author,
  }: {
    before: string;
    after: string;
    /** As many for each picture, so that the text of the statement is always the same. */
    files: readonly (readonly [from: string, to: string])[];
    author: string;
  },
): Promise<string[]> {
  const replaced = (text: Sql) =>
    files.reduce((inner, [from, to]) => sql`replace(${inner}, ${from}, ${to})`, text);
  const rows = await tx.many<{ pageId: string }>(sql`
    select upper(page.page_id::text) as "pageId" from page join page_version
      on page_version.shop_id = ${shopId} and page_version.page_id = page.page_id
        and page_version.version = page.version
    where page.shop_id = ${shopId} and page_version.image_keys @> array[${before}::uuid]
    order by page.page_id`);
  const pageIds = rows.map(({ pageId }) => pageId);
  if (pageIds.length === 0) return [];
  await tx.run(sql`
    update page set version = version + 1, changed_at = ${tx.now}, picture = ${replaced(sql`picture`)}
    where shop_id = ${shopId} and page_id = any (${pageIds}::uuid[])`);
  await tx.run(sql`
    update page_text set blocks = ${replaced(sql`blocks::text`)}::jsonb
    where shop_id = ${shopId} and page_id = any (${pageIds}::uuid[])`);
  await tx.run(sql`
    insert into page_version (shop_id, page_id, version, saved_at, author, content, image_keys)
    select ${shopId}, page.page_id, page.version, ${tx.now}, ${author},
      ${replaced(sql`former.content::text`)}::jsonb, former.image_keys || ${after}::uuid
    from page join page_version former
      on former.shop_id = ${shopId} and former.page_id = page.page_id and former.version = page.version - 1
    where page.shop_id = ${shopId} and page.page_id = any (${pageIds}::uuid[])`);
  await tx.run(sql`
    delete from page_version using page
    where page_version.shop_id = ${shopId} and page_version.page_id = any (${pageIds}::uuid[])
      and page.shop_id = ${shopId} and page.page_id = page_version.page_id
      and page_version.version > ${PREVIEW} and page_version.version <= page.version - ${MAX_VERSIONS}`);
  return pageIds;
}

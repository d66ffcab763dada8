import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { plainText } from '../../http/html.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { isDraft } from './draft.ts';
import type { LegalContent, PageName } from './schema.ts';

export async function findLegalPage(
  db: Queries,
  shopId: string,
  page: PageName,
  locale: string,
): Promise<LegalContent | undefined> {
  const row = await db.one<{ content: LegalContent }>(sql`
    select content from legal_page where shop_id = ${shopId} and page = ${page} and locale = ${locale}`);
  return row?.content;
}

/** The same for visitors, who do not see drafts. */
export async function findPublishedPage(
  db: Queries,
  shopId: string,
  page: PageName,
  locale: string,
): Promise<LegalContent | undefined> {
  const row = await db.one<{ content: LegalContent }>(sql`
    select content from legal_page
    where shop_id = ${shopId} and page = ${page} and locale = ${locale} and not is_draft`);
  return row?.content;
}

/** Which texts exist, and which of them are still drafts. */
export function findLegalStates(db: Queries, shopId: string) {
  return db.many<{ page: PageName; locale: string; isDraft: boolean }>(sql`
    select page, locale, is_draft as "isDraft" from legal_page
    where shop_id = ${shopId} and content <> '{}'`);
}

/** A legal text as plain text, for emails. */
export interface LegalText {
  page: PageName;
  title: string;
  text: string;
}

/** The pages that have a finished text, in their order, each in the first of the locales that has one. */
export async function findLegalTexts(
  db: Queries,
  shopId: string,
  pages: readonly PageName[],
  locales: readonly string[],
): Promise<LegalText[]> {
  const rows = await db.many<{ page: PageName; locale: string; content: LegalContent }>(sql`
    select page, locale, content from legal_page
    where shop_id = ${shopId} and page = any (${pages}::text[]) and locale = any (${locales}::text[])
      and not is_draft`);
  return pages.flatMap((page) => {
    const texts = rows
      .filter((row) => row.page === page)
      .toSorted((one, other) => locales.indexOf(one.locale) - locales.indexOf(other.locale))
      .map((row) => ({
        page,
        title: row.content['name']?.trim() || messagesIn(row.locale).storefront.legal.names[page],
        text: [row.content['shortDescription'], row.content['description']]
          .map((markup) => plainText(markup ?? '').replaceAll('\n', '\n\n'))
          .filter((part) => part !== '')
          .join('\n\n'),
      }));
    return texts.find(({ text }) => text !== '') ?? [];
  });
}

/** The titles of the pages; null for a page without a text that could be its title. */
export function findPageNames(db: Queries, shopId: string, locale: string) {
  return db.many<{ page: PageName; name: string | null }>(sql`
    select page, coalesce(
      nullif(btrim(content ->> 'name'), ''),
      nullif(btrim(content ->> 'navigationCaption'), ''),
      nullif(btrim(content ->> 'title'), '')) as name
    from legal_page where shop_id = ${shopId} and locale = ${locale}`);
}

export async function replaceLegalPage(
  tx: Transaction,
  shopId: string,
  page: PageName,
  locale: string,
  content: LegalContent,
): Promise<LegalContent> {
  const row = await tx.one<{ content: LegalContent }>(sql`
    insert into legal_page (shop_id, page, locale, content, is_draft)
    values (${shopId}, ${page}, ${locale}, ${content}, ${isDraft(content)})
    on conflict (shop_id, page, locale) do update set content = excluded.content, is_draft = excluded.is_draft
    returning content`);
  return row!.content;
}

import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Settings } from '../../shops/settings/settings.ts';

type Menus = Settings['menus'];
type MenuEntry = Menus['header'][number]['entries'][number];

/** What the entries of the menus lead to, as far as visitors may see it. */
export interface MenuTargets {
  /** By alias. */
  categories: readonly string[];
  /** By number. */
  products: readonly string[];
  /** The ends of their addresses by language, and the former addresses by which the menus name them. */
  pages: readonly {
    kind: 'page' | 'post';
    slugs: Readonly<Record<string, string>>;
    formerPaths: readonly string[];
  }[];
  /** When the next of the pages is published, in milliseconds since 1970; null: none is planned. */
  nextPublication: number | null;
}

export const NO_TARGETS: MenuTargets = { categories: [], products: [], pages: [], nextPublication: null };

export type LinkTarget =
  | { kind: 'category' | 'product' | 'page' | 'post'; name: string }
  | { kind: 'address'; link: string };

const KINDS = { Categories: 'category', Products: 'product', pages: 'page', posts: 'post' } as const;

/** What a link leads to: a category, a product or a page by its path, else an address. */
export function menuTargetOf(link: string): LinkTarget {
  const [, folder, end] = /^\/(Categories|Products|pages|posts)\/([^/?#]+)$/.exec(link) ?? [];
  // An end that is no valid escape is no name of anything, so it stays an address.
  if (folder === undefined || end === undefined || /%(?![\dA-Fa-f]{2})/.test(end))
    return { kind: 'address', link };
  return { kind: KINDS[folder as keyof typeof KINDS], name: decodeText(end) };
}

/** Decodes escaped UTF-8; bytes that are none become replacement characters, which name nothing. */
function decodeText(text: string): string {
  const bytes = text.replaceAll(/%([\dA-Fa-f]{2})|[^%]+/g, (part, hex?: string) =>
    hex === undefined ? Buffer.from(part).toString('latin1') : String.fromCodePoint(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function namesOf({ header, footer }: Menus): Record<Exclude<LinkTarget['kind'], 'address'>, string[]> {
  const names: ReturnType<typeof namesOf> = { category: [], product: [], page: [], post: [] };
  const entries: MenuEntry[] = [...header, ...footer].flatMap((entry) => [entry, ...entry.entries]);
  for (const { link } of entries) {
    const target = menuTargetOf(link);
    if (target.kind !== 'address') names[target.kind].push(target.name);
  }
  return names;
}

/** Products change without a change of the settings, so shops whose menus name products ask for them on each page. */
export async function findMenuProducts(
  db: Queries,
  { shopId, menus }: Pick<Settings, 'shopId' | 'menus'>,
): Promise<readonly string[]> {
  const numbers = namesOf(menus).product;
  if (numbers.length === 0) return [];
  const rows = await db.many<{ number: string }>(sql`
    select product_number as number from product
    where shop_id = ${shopId} and product_number = any (${numbers}::text[]) and visible order by product_number`);
  return rows.map(({ number }) => number);
}

export async function findMenuTargets(
  db: Queries,
  settings: Pick<Settings, 'shopId' | 'menus'>,
): Promise<MenuTargets> {
  const { shopId, menus } = settings;
  if (menus.header.length === 0 && menus.footer.length === 0) return NO_TARGETS;
  const { category, page, post } = namesOf(menus);
  const paths = [...page.map((name) => `/pages/${name}`), ...post.map((name) => `/posts/${name}`)];
  const [products, categories, pages] = await Promise.all([
    findMenuProducts(db, settings),
    db.many<{ alias: string }>(sql`
      select alias from category
      where shop_id = ${shopId} and alias = any (${category}::text[]) and visible order by alias`),
    db.many<MenuTargets['pages'][number] & { publishAt: Date }>(sql`
      select page.kind, page.publish_at as "publishAt", json_object_agg(page_text.locale, page_text.slug) as slugs,
        array(
          select source_key from redirect
          where shop_id = ${shopId} and redirect.page_id = page.page_id and source_key = any (${paths}::text[])
        ) as "formerPaths"
      from page join page_text on page_text.shop_id = ${shopId} and page_text.page_id = page.page_id
      where page.shop_id = ${shopId} and page.publish_at is not null and page.page_id in (
        select page_id from page_text
        where shop_id = ${shopId}
          and (kind = 'page' and slug = any (${page}::text[]) or kind = 'post' and slug = any (${post}::text[]))
        union all
        select page_id from redirect
        where shop_id = ${shopId} and source_key = any (${paths}::text[]) and page_id is not null)
      group by page.page_id, page.kind, page.publish_at order by page.page_id`),
  ]);
  const planned = pages.map(({ publishAt }) => publishAt.getTime()).filter((at) => at > db.now.getTime());
  return {
    products,
    categories: categories.map(({ alias }) => alias),
    pages: pages
      .filter(({ publishAt }) => publishAt <= db.now)
      .map(({ kind, slugs, formerPaths }) => ({ kind, slugs, formerPaths })),
    nextPublication: planned.length > 0 ? Math.min(...planned) : null,
  };
}

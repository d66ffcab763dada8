import type { Queries } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import type { Localised } from '../http/locale.ts';
import type { PageName } from '../shops/legal/schema.ts';
import { scriptType } from '../shops/script-tags/script-type.ts';
import type { Settings } from '../shops/settings/settings.ts';

/** What is around every page of a shop. All of it moves the version of the settings when it changes. */
export interface Frame {
  categories: NavigationEntry[];
  /** The pages that have a name in a locale: `names.de_DE['privacy-policy']`. */
  legalNames: Readonly<Record<string, Partial<Record<PageName, string>>>>;
  scripts: { url: string; type: ReturnType<typeof scriptType> }[];
}

export interface NavigationEntry {
  alias: string;
  name: Localised;
  children: { alias: string; name: Localised }[];
}

/** Around the pages of a shop that is closed. */
export const NO_FRAME: Frame = { categories: [], legalNames: {}, scripts: [] };

const frames = new WeakMap<Settings, Frame>();

/** Settings of one version are one object, so the frame is kept as long as they are. */
export async function frameOf(db: Queries, settings: Settings): Promise<Frame> {
  let frame = frames.get(settings);
  if (!frame) {
    frame = await findFrame(db, settings.shopId);
    frames.set(settings, frame);
  }
  return frame;
}

/** More would not be a menu. */
const MOST_ENTRIES = 40;

async function findFrame(db: Queries, shopId: string): Promise<Frame> {
  const row = await db.one<Omit<Frame, 'scripts'> & { scripts: string[] }>(sql`
    select (
      select coalesce(json_agg(json_build_object('alias', alias, 'name', caption, 'children', children)
        order by position, number), '[]')
      from (
        select entry.alias, entry.position, entry.number, entry.name || entry.navigation_caption as caption, (
            select coalesce(json_agg(json_build_object('alias', alias, 'name', caption)
              order by position, number), '[]')
            from (
              select alias, name || navigation_caption as caption, position, number from category child
              where child.shop_id = entry.shop_id and child.parent_id = entry.category_id
                and child.visible and child.visible_in_navigation
              order by position, number limit ${MOST_ENTRIES}
            ) as children
          ) as children
        from category entry
        join category root on root.shop_id = entry.shop_id and root.category_id = entry.parent_id
        where entry.shop_id = ${shopId} and root.parent_id is null and root.visible
          and entry.visible and entry.visible_in_navigation
        order by entry.position, entry.number limit ${MOST_ENTRIES}
      ) as entries
    ) as categories, (
      select coalesce(json_object_agg(locale, names), '{}') from (
        select locale, json_object_agg(page, name) as names from (
          select locale, page, coalesce(
            nullif(btrim(content ->> 'navigationCaption'), ''),
            nullif(btrim(content ->> 'name'), ''),
            nullif(btrim(content ->> 'title'), '')) as name
          from legal_page where shop_id = ${shopId}
        ) as named
        where name is not null group by locale
      ) as by_locale
    ) as "legalNames", (
      select coalesce(json_agg(script_url order by created_at, script_tag_id), '[]')
      from script_tag where shop_id = ${shopId}
    ) as scripts`);
  return { ...row!, scripts: row!.scripts.map((url) => ({ url, type: scriptType(url) })) };
}

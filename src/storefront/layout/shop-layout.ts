import type { AppPaymentMethod } from '../../apps/manifest/schema.ts';
import type { CacheKind } from '../../db/cache.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Localised } from '../../http/locale.ts';
import type { PaymentDeps } from '../../orders/payments/calls.ts';
import { findPaymentGaps } from '../../orders/payments/payment-data.ts';
import type { PageName } from '../../shops/legal/schema.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { toAppScripts, type PageScripts } from '../scripts/app-scripts.ts';
import { findMenuProducts, findMenuTargets, NO_TARGETS, type MenuTargets } from './menu-targets.ts';
import { toStyle, type Style } from './theme.ts';

/**
 * The layout data of every page of a shop. Any change of it changes the version of the settings, except that of what the
 * menus lead to: a product is hidden, or the time of a page has come. There is another object then.
 */
export interface ShopLayout {
  settingsVersion: number;
  categories: NavigationEntry[];
  menuTargets: MenuTargets;
  /** The legal pages that are public and have a name in a locale: `legalNames.de_DE['privacy-policy']`. */
  legalNames: Readonly<Record<string, Partial<Record<PageName, string>>>>;
  /** The ids of the payment methods that lack none of their data: others are not offered. */
  completePayments: ReadonlySet<string>;
  /** What an app demands of payments, by the id of the payment method. */
  appPayments: ReadonlyMap<string, AppPaymentMethod>;
  scripts: PageScripts;
  /** Scripts loaded before consent, because app and merchant declare them necessary. */
  necessaryScripts: PageScripts;
  style: Style;
}

export interface NavigationEntry {
  alias: string;
  name: Localised;
  children: { alias: string; name: Localised }[];
}

const layoutCache: CacheKind<ShopLayout> = { name: 'shop layouts', limit: { megabytes: 16 } };

export async function loadShopLayout(
  db: Queries,
  settings: Settings,
  payments: Pick<PaymentDeps, 'providers' | 'loadKey'>,
): Promise<ShopLayout> {
  const cache = db.caches.of(layoutCache);
  const cached = cache.get(settings.shopId);
  if (cached?.settingsVersion === settings.version && (await areTargetsCurrent(db, settings, cached)))
    return cached;
  // A shop that shows nothing to callers without a token shows nothing around its pages either.
  const row = settings.publicCatalogue ? (await findLayout(db, settings.shopId))! : CLOSED;
  const menuTargets = settings.publicCatalogue ? await findMenuTargets(db, settings) : NO_TARGETS;
  const gaps = settings.publicCatalogue ? await findPaymentGaps(db, settings, payments) : [];
  const { load, necessary: agreed } = settings.appScripts;
  const loaded = load ? row.scripts : [];
  const layout = {
    ...row,
    menuTargets,
    settingsVersion: settings.version,
    completePayments: new Set(
      gaps.flatMap(({ method, missing }) => (missing.length === 0 ? [method.paymentMethodId] : [])),
    ),
    appPayments: new Map(
      gaps.flatMap(({ method, app }) => (app ? [[method.paymentMethodId, app.method] as const] : [])),
    ),
    scripts: toAppScripts(loaded.map(({ url }) => url)),
    necessaryScripts: toAppScripts(
      loaded.flatMap(({ url, necessary }) => (necessary && agreed.includes(url) ? [url] : [])),
    ),
    style: toStyle(settings.theme),
  };
  cache.set(settings.shopId, layout, 2 * JSON.stringify([row, menuTargets]).length);
  return layout;
}

async function areTargetsCurrent(
  db: Queries,
  settings: Settings,
  { menuTargets: { products, nextPublication } }: ShopLayout,
): Promise<boolean> {
  if (nextPublication !== null && nextPublication <= db.now.getTime()) return false;
  if (!settings.publicCatalogue) return true;
  const current = await findMenuProducts(db, settings);
  return current.join('\n') === products.join('\n');
}

type LayoutRow = Pick<ShopLayout, 'categories' | 'legalNames'> & {
  scripts: { url: string; necessary: boolean }[];
};

const CLOSED: LayoutRow = { categories: [], legalNames: {}, scripts: [] };

/** A longer menu would be unreadable. */
const MAX_ENTRIES = 40;

function findLayout(db: Queries, shopId: string) {
  return db.one<LayoutRow>(sql`
    select (
      select coalesce(json_agg(json_build_object('alias', alias, 'name', caption, 'children', children)
        order by position, number), '[]')
      from (
        select entry.alias, entry.position, entry.number, entry.name || entry.navigation_caption as caption, (
            select coalesce(json_agg(json_build_object('alias', alias, 'name', caption)
              order by position, number), '[]')
            from (
              select alias, name || navigation_caption as caption, position, number from category child
              where child.shop_id = ${shopId} and child.parent_id = entry.category_id
                and child.visible and child.visible_in_navigation
              order by position, number limit ${MAX_ENTRIES}
            ) as children
          ) as children
        from category entry
        join category root on root.shop_id = entry.shop_id and root.category_id = entry.parent_id
        where entry.shop_id = ${shopId} and root.parent_id is null and root.visible
          and entry.visible and entry.visible_in_navigation
        order by entry.position, entry.number limit ${MAX_ENTRIES}
      ) as entries
    ) as categories, (
      select coalesce(json_object_agg(locale, names), '{}') from (
        select locale, json_object_agg(page, name) as names from (
          select locale, page, coalesce(
            nullif(btrim(content ->> 'navigationCaption'), ''),
            nullif(btrim(content ->> 'name'), ''),
            nullif(btrim(content ->> 'title'), '')) as name
          from legal_page where shop_id = ${shopId} and not is_draft
        ) as named
        where name is not null group by locale
      ) as by_locale
    ) as "legalNames", (
      select coalesce(json_agg(json_build_object('url', script_url, 'necessary', necessary)
        order by created_at, script_tag_id), '[]')
      from script_tag where shop_id = ${shopId}
    ) as scripts`);
}

import { pathOfPage } from '../../content/pages/page.ts';
import { html, webAddress, type Markup } from '../../http/html.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { categoryPath, type LayoutContext } from '../visit.ts';
import { menuTargetOf } from './menu-targets.ts';
import { navigationLink } from './navigation-link.ts';

type Menu = Settings['menus']['header'];

interface MenuItem {
  text: string;
  /** The path of a page of the shop, or an address elsewhere. */
  to: { path: string } | { href: string };
  entries: MenuItem[];
}

/** The entries of a menu that visitors see. An entry that is left out takes those below it with it. */
export function menuItems(context: LayoutContext, menu: Menu): MenuItem[] {
  return menu.flatMap((entry) => {
    const item = itemOf(context, entry);
    const below = entry.entries.flatMap((one) => itemOf(context, one) ?? []);
    return item ? [{ ...item, entries: below }] : [];
  });
}

function itemOf(
  context: LayoutContext,
  { text, link }: { text: Localised; link: string },
): MenuItem | undefined {
  const to = destinationOf(context, link);
  const shown = textIn(text, context.locale, context.settings.defaultLocale);
  return to && shown ? { text: shown, to, entries: [] } : undefined;
}

/** undefined: visitors do not see it, or not in this language. */
function destinationOf(
  { layout, locale, settings }: LayoutContext,
  link: string,
): MenuItem['to'] | undefined {
  const { categories, products, pages } = layout.menuTargets;
  const target = menuTargetOf(link);
  switch (target.kind) {
    case 'category':
      return categories.includes(target.name) ? { path: categoryPath(target.name) } : undefined;
    case 'product':
      return products.includes(target.name)
        ? { path: `/Products/${encodeURIComponent(target.name)}` }
        : undefined;
    case 'address': {
      if (link.startsWith('/')) return { path: link === '/' ? '' : link };
      const href = webAddress(link);
      return href === undefined ? undefined : { href };
    }
    case 'page':
    case 'post': {
      const ofKind = pages.filter(({ kind }) => kind === target.kind);
      const formerPath = `/${target.kind}s/${target.name}`;
      // Two pages can have the same slug in different languages.
      const page =
        ofKind.find(({ slugs }) => slugs[settings.defaultLocale] === target.name) ??
        ofKind.find(({ slugs }) => Object.values(slugs).includes(target.name)) ??
        ofKind.find(({ formerPaths }) => formerPaths.includes(formerPath));
      const path = pathOfPage(target.kind, page?.slugs[locale] ?? null);
      return path === undefined ? undefined : { path };
    }
  }
}

export function pathsOfItems(items: readonly MenuItem[]): string[] {
  return items.flatMap(({ to, entries }) => ['path' in to ? [to.path] : [], pathsOfItems(entries)].flat());
}

/** The entries as the items of a list. */
export function menuList(
  context: LayoutContext,
  items: readonly MenuItem[],
  currentPath: string | undefined,
): Markup[] {
  return items.map(
    ({ text, to, entries }) =>
      html`<li>
        ${'path' in to ? navigationLink(context, to.path, text, currentPath) : html`<a href="${to.href}">${text}</a>`}
        ${
          entries.length > 0 &&
          html`<ul>
            ${menuList(context, entries, currentPath)}
          </ul>`
        }
      </li>`,
  );
}

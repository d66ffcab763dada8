import type { Static } from 'typebox';
import { storefrontUrl } from '../../http/links.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import type { Link } from '../../http/schemas.ts';
import { imagesOf } from '../../platform/media/images.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import type { CategoryRow, CategoryTitle } from './queries.ts';
import type { Category } from './schema.ts';

/** How categories are rendered. */
export interface CategoryView {
  settings: Settings;
  locale: string;
  link: (path: string) => string;
  origin: string;
}

/** The response of the API, which pages also pass to the scripts of apps. */
export function toCategory(row: CategoryRow, view: CategoryView): Static<typeof Category> {
  const { settings, locale, link, origin } = view;
  const { categoryId, alias, parent } = row;
  const text = (texts: Localised) => textIn(texts, locale, settings.defaultLocale);
  const root = `${storefrontUrl(origin, settings)}/Categories`;
  return {
    categoryId,
    alias,
    name: text(row.name) ?? alias,
    visible: row.visible,
    visibleInNavigation: row.visibleInNavigation,
    pageTitle: text(row.pageTitle),
    navigationCaption: text(row.navigationCaption),
    description: text(row.description),
    specialOffer: row.specialOffer,
    facetedSearchShowFacetsOnCategory: row.showFacets,
    facetedSearchCategoryStartDepth: row.facetStartDepth,
    images:
      row.imageKey !== null && row.imageSizes !== null
        ? imagesOf(origin, settings.shopId, row.imageKey, row.imageSizes, { isZoomEnabled: false })
        : [],
    parent: parent && titledLink('parent', parent, view),
    subCategories: row.children.map((child) => titledLink('child', child, view)),
    sfUrl: row.isRoot ? root : `${root}/${encodeURIComponent(alias)}`,
    links: [{ rel: 'products', href: link(`/products?categoryId=${categoryId}`) }],
  };
}

export function titledLink(
  rel: string,
  { categoryId, alias, name }: CategoryTitle,
  view: CategoryView,
): Link {
  const title = textIn(name, view.locale, view.settings.defaultLocale) ?? alias;
  return { rel, href: view.link(`/categories/${categoryId}`), title };
}

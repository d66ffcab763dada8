import { anyText } from '../../catalogue/products/render.ts';
import { parseQuery } from '../../catalogue/search/query.ts';
import { filterFields, wantedValues } from '../../fields/filter.ts';
import { isId } from '../../kernel/ids.ts';
import type { Choice } from '../components/form.ts';
import type { ListState } from '../components/list-state.ts';
import type { ShopVisit } from '../visit.ts';
import { categoryTree } from './category-tree.ts';
import type { ProductFilter, StockFilter } from './list-queries.ts';
import type { CategoryChoice } from './queries.ts';

/** The filters of the list beside those of custom fields. */
export const PRODUCT_FILTERS: readonly string[] = ['q', 'visible', 'stock', 'category'];

const STOCKS: readonly string[] = ['in', 'low', 'out'] satisfies StockFilter[];

export function toProductFilter(
  { locale, settings }: ShopVisit,
  { sort, filter, limit, offset }: ListState,
): ProductFilter {
  const [visible, stock, category] = [filter('visible'), filter('stock'), filter('category')];
  return {
    locale,
    terms: parseQuery(filter('q')),
    isVisible: visible === 'yes' ? true : visible === 'no' ? false : undefined,
    stock: STOCKS.includes(stock) ? (stock as StockFilter) : undefined,
    categoryId: isId(category) ? category : undefined,
    wanted: wantedValues(filterFields(settings, 'product'), filter),
    sort: sort?.endsWith('price') ? 'price' : 'name',
    direction: sort?.startsWith('-') ? 'desc' : 'asc',
    limit,
    offset,
  };
}

/** A longer list would make every page of products heavy. The page of a category lists its products too. */
const MAX_CHOICES = 100;

/** The categories below the root; if there are many, the highest in the tree, and the chosen one. */
export function categoryChoices(
  { locale, settings }: ShopVisit,
  categories: readonly CategoryChoice[],
  chosen: string,
): Choice[] {
  const printed = categoryTree(categories).filter(({ parentId }) => parentId !== null);
  const highest = printed.toSorted((left, right) => left.depth - right.depth).slice(0, MAX_CHOICES);
  const offered = new Set([...highest.map(({ categoryId }) => categoryId), chosen.toUpperCase()]);
  return printed
    .filter(({ categoryId }) => offered.has(categoryId))
    .map(({ categoryId, name, depth }) => ({
      value: categoryId,
      text: `${'– '.repeat(depth - 1)}${anyText(name, locale, settings.defaultLocale) ?? ''}`,
    }));
}

import type { CategoryChoice } from './queries.ts';

type PrintedCategory = CategoryChoice & { depth: number };

/** The categories in tree order: each below its parent, with its depth. Roots have depth 0. */
export function categoryTree(categories: readonly CategoryChoice[]): PrintedCategory[] {
  const below = new Map<string | null, CategoryChoice[]>();
  for (const category of categories) {
    const siblings = below.get(category.parentId);
    if (siblings) siblings.push(category);
    else below.set(category.parentId, [category]);
  }
  const print = (parentId: string | null, depth: number): PrintedCategory[] =>
    (below.get(parentId) ?? []).flatMap((category) => [
      { ...category, depth },
      ...print(category.categoryId, depth + 1),
    ]);
  return print(null, 0);
}

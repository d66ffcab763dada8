import type { Problem } from './problem.ts';
import { groupProblems, periodProblems } from './promotion-checks.ts';
import { duplicateProblems, repeatedProblems, type Frame } from './rules.ts';
import type { SettingsFile } from './schema.ts';

/** A shop for groups is for at least one, which it has. */
export function* visibilityProblems({ visibility }: SettingsFile, frame: Frame): Generator<Problem> {
  if (!visibility) return;
  const { shop, groups = [] } = visibility;
  const path = ['visibility', 'groups'];
  yield* groupProblems(path, groups, frame);
  yield* repeatedProblems(path, groups);
  if (shop === 'groups' && groups.length === 0) {
    yield {
      path: ['visibility'],
      text: 'groups is missing: a shop for groups needs it',
      rule: { name: 'missing', field: 'groups' },
    };
  }
}

/** Checks of price lists that no schema can express. */
export function* priceListProblems({ priceLists = [] }: SettingsFile, frame: Frame): Generator<Problem> {
  yield* duplicateProblems('priceLists', 'key', priceLists);
  for (const [index, list] of priceLists.entries()) {
    const path = ['priceLists', index];
    yield* periodProblems(path, list);
    yield* groupProblems([...path, 'customerGroups'], list.customerGroups, frame);
    yield* repeatedProblems([...path, 'customerGroups'], list.customerGroups);
  }
}

import type { Problem } from './problem.ts';
import { groupProblems, periodProblems } from './promotion-checks.ts';
import { duplicateProblems, repeatedProblems, type Frame } from './rules.ts';
import type { SettingsFile } from './schema.ts';

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

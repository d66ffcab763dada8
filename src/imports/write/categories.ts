import {
  createPaths,
  findCategoryTree,
  missingPaths,
  readPaths,
} from '../../catalogue/products/category-paths.ts';
import { lockCategory, updateCategoryRow } from '../../catalogue/categories/queries.ts';
import type { GivenRedirect } from '../../catalogue/redirects/save.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import type { CategoryRecord, Read } from '../records.ts';
import { batches, type ImportRun } from '../run.ts';
import { categoryPathText } from './products.ts';
import { redirectTo, type PlannedTarget } from './redirects.ts';

const BATCH = { records: 200, characters: 1_000_000 };

/** Categories in their order, with their texts. One that has a text here keeps it. */
export async function writeCategories(
  run: ImportRun,
  records: AsyncIterable<Read<CategoryRecord>>,
): Promise<void> {
  const { db, shopId, report, isCheck } = run;
  for await (const batch of batches(run, records, BATCH)) {
    const settings = await shopSettings(db, shopId);
    const { defaultLocale } = settings;
    const known = await findCategoryTree(db, shopId, defaultLocale);
    for (const record of batch)
      report.count('category', known.idOf.has(keyOf(record)) ? 'unchanged' : 'created');
    if (isCheck) continue;
    await db.transaction(async (tx) => {
      await moveSettingsVersion(tx, shopId);
      const tree = await findCategoryTree(tx, shopId, defaultLocale);
      await createPaths(tx, shopId, defaultLocale, tree, missingPaths(tree, batch.map(pathOf)));
      const planned: PlannedTarget[] = [];
      for (const record of batch) {
        const categoryId = tree.idOf.get(keyOf(record));
        const row = categoryId === undefined ? undefined : await lockCategory(tx, shopId, categoryId);
        if (!row) continue;
        const { description, place, formerAddresses } = record;
        const texts = typeof description === 'string' ? { [defaultLocale]: description } : description;
        const added = Object.entries(texts).filter(
          ([locale, text]) => text !== '' && settings.locales.includes(locale) && !row.description[locale],
        );
        if (added.length > 0) {
          const next = { ...row.description, ...Object.fromEntries(added) };
          await updateCategoryRow(tx, shopId, { ...row, description: next });
        }
        for (const source of formerAddresses) {
          const redirect: GivenRedirect = { source, status: 301, kind: 'category', target: row.alias };
          planned.push({ place, of: 'category', redirect });
        }
      }
      await redirectTo(run, tx, planned);
    });
  }
}

/** As files of products write it. */
const pathOf = ({ path }: CategoryRecord): string => readPaths(categoryPathText(path))[0] ?? '';
const keyOf = (record: CategoryRecord): string => pathOf(record).toLowerCase();

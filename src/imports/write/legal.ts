import { isDeepStrictEqual } from 'node:util';
import { recordEvents } from '../../platform/events/log.ts';
import { isDraft } from '../../shops/legal/draft.ts';
import { findLegalPage, replaceLegalPage } from '../../shops/legal/queries.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import type { LegalRecord, Read } from '../records.ts';
import { batches, type ImportRun } from '../run.ts';

const BATCH = { records: 10, characters: 2_000_000 };

/** Legal texts take the place of drafts only: a text that a merchant has published here is never overwritten. */
export async function writeLegal(run: ImportRun, records: AsyncIterable<Read<LegalRecord>>): Promise<void> {
  const { db, shopId, report, isCheck } = run;
  for await (const batch of batches(run, records, BATCH)) {
    const { locales } = await shopSettings(db, shopId);
    await db.transaction(async (tx) => {
      if (!isCheck) await moveSettingsVersion(tx, shopId);
      for (const { kind, place, page, locale, content } of batch) {
        const name = `${page} (${locale})`;
        if (!locales.includes(locale)) {
          report.refuse({ kind, place, name, text: 'is in a language that this shop does not have' });
          continue;
        }
        const present = await findLegalPage(tx, shopId, page, locale);
        const isEmpty = !present || Object.keys(present).length === 0;
        if (!isEmpty && isDeepStrictEqual(present, content)) report.count('legal', 'unchanged');
        else if (isEmpty || isDraft(present)) {
          report.count('legal', isEmpty ? 'created' : 'changed');
          if (isCheck) continue;
          await replaceLegalPage(tx, shopId, page, locale, content);
          const data = { changed: [`legal/${page}`] };
          recordEvents(tx, shopId, [{ type: 'SETTINGS_CHANGED', resourceId: null, data }]);
        } else {
          report.count('legal', 'kept');
          report.add({ kind, place, name, text: 'there is a text here already' });
        }
      }
    });
  }
}

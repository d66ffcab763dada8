import type { Transaction } from '../../db/database.ts';
import { domainsOf, redirectRefusal } from '../../catalogue/redirects/refusals.ts';
import { saveRedirects, type GivenRedirect } from '../../catalogue/redirects/save.ts';
import type { SourcePlace, Read, RecordKind, RedirectRecord } from '../records.ts';
import { batches, type ImportRun } from '../run.ts';

const BATCH = { records: 1_000, characters: 2_000_000 };

export interface PlannedTarget {
  place: SourcePlace;
  of: RecordKind;
  redirect: GivenRedirect;
}

/** Keeps the addresses of imported things. */
export async function redirectTo(
  { shopId, report }: ImportRun,
  tx: Transaction,
  planned: readonly PlannedTarget[],
): Promise<(boolean | undefined)[]> {
  if (planned.length === 0) return [];
  const problems = await saveRedirects(
    tx,
    shopId,
    planned.map(({ redirect }) => redirect),
    { origin: 'imported', domains: await domainsOf(tx, shopId), replaces: true },
  );
  for (const [index, problem] of problems.entries()) {
    if (problem === undefined) continue;
    const { place, of, redirect } = planned[index]!;
    report.add({
      kind: of,
      place,
      name: redirect.source,
      text: `its address is not redirected: ${redirectRefusal(redirect, problem).message}`,
    });
  }
  return problems.map((problem) => problem === undefined);
}

/**
 * The redirects that the other shop had. One that leads to an old address of a product leads to the product itself, so
 * this comes after the products.
 */
export async function writeRedirects(
  run: ImportRun,
  records: AsyncIterable<Read<RedirectRecord>>,
  resolve: (tx: Transaction, target: string) => Promise<Pick<GivenRedirect, 'kind' | 'target'>>,
): Promise<void> {
  const { db, isCheck, report } = run;
  for await (const batch of batches(run, records, BATCH)) {
    if (isCheck) {
      report.count('redirect', 'created', batch.length);
      continue;
    }
    const saved = await db.transaction(async (tx) => {
      const planned: PlannedTarget[] = [];
      for (const { place, source, target } of batch) {
        planned.push({
          place,
          of: 'redirect',
          redirect: { source, status: 301, ...(await resolve(tx, target)) },
        });
      }
      return redirectTo(run, tx, planned);
    });
    for (const isSaved of saved) report.count('redirect', isSaved ? 'created' : 'refused');
  }
}

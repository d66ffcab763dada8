import { BEFORE_ALL, type After, type AccountingPeriod } from './accounting-queries.ts';

/** Reads the rows of a period part by part, each beginning after the last row of the one before. */
export async function* inParts<Row>(
  { from }: AccountingPeriod,
  find: (part: { after: After; limit: number }) => Promise<Row[]>,
  { limit, placeOf }: { limit: number; placeOf: (row: Row) => After },
): AsyncGenerator<Row> {
  for (let after: After = { at: from, id: BEFORE_ALL }; ;) {
    const rows = await find({ after, limit });
    yield* rows;
    if (rows.length < limit) return;
    after = placeOf(rows.at(-1)!);
  }
}

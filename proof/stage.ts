import type { Reply } from '../bench/client.ts';
import type { Call } from '../bench/targets.ts';
import type { Progress } from '../src/commands/progress.ts';
import type { Database } from '../src/db/database.ts';

/** Where a check takes place: a service that answers, and its database to look into. */
export interface Stage {
  send(call: Call): Promise<Reply>;
  look<Result>(work: (db: Database) => Promise<Result>): Promise<Result>;
  progress(what: string, total: number): Progress;
  /** How many it is here of what is so many in a full run. */
  size(full: number): number;
}

/** Something that must hold, on a stage that has what it needs; `run` says what was seen, or throws. */
export interface Check<Needed extends Stage = Stage> {
  name: string;
  summary: string;
  /** What is missing here to run it; undefined: nothing. */
  skip?: () => string | undefined;
  /** Milliseconds after which it counts as failed; 20 minutes by default. */
  endsWithin?: number;
  run: (stage: Needed) => Promise<string>;
}

/** What must hold does not. */
export class Refuted extends Error {
  override name = 'Refuted';
}

export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Refuted(otherwise);
}

export function mustEqual(what: string, found: unknown, expected: unknown): void {
  const [is, wanted] = [JSON.stringify(found), JSON.stringify(expected)];
  must(is === wanted, `${what}: ${brief(is)} instead of ${brief(wanted)}`);
}

/** Lists may have thousands of entries; the beginning of them says enough. */
function brief(text: string | undefined): string | undefined {
  return text && text.length > 300 ? `${text.slice(0, 300)}... (${text.length} characters)` : text;
}

/** Does it for all of them at once, or for so many at a time. */
export async function allAtOnce<Item, Result>(
  stage: Stage,
  what: string,
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
  atATime = items.length,
): Promise<Result[]> {
  const progress = stage.progress(what, items.length);
  const results: Result[] = [];
  const left = items.entries();
  const workOff = async () => {
    for (const [index, item] of left) {
      results[index] = await work(item, index);
      progress.advance(1);
    }
  };
  await Promise.all(times(atATime, workOff));
  progress.end();
  return results;
}

export function times<Result>(count: number, make: (index: number) => Result): Result[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** `12,345` */
export function many(count: number): string {
  return count.toLocaleString('en');
}

export function countOf(values: readonly number[], wanted: number): number {
  return values.filter((value) => value === wanted).length;
}

/** `201: 1,000, 409: 9,000` */
export function tally(statuses: readonly number[]): string {
  const kinds = [...new Set(statuses)].toSorted((left, right) => left - right);
  return kinds.map((status) => `${status}: ${many(countOf(statuses, status))}`).join(', ');
}

export function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

/** In a random order. */
export function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ item }) => item);
}

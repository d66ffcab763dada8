import type { Queries, Transaction } from '../db/database.ts';

/** A customer whose data is exported or erased. */
export interface Person {
  customerId: string;
  createdAt: Date;
  /** The known email addresses of this person, in lower case. */
  emails: string[];
}

/** The email address of an order whose customer was erased: an answer must have one. */
export const ERASED_EMAIL = 'erased@invalid.invalid';

export interface ErasureOptions {
  /** The app that asked for it; null: the command line. */
  appId: string | null;
  /** Orders that are not finished are erased as well. */
  force: boolean;
  afterCommit: (work: () => void) => void;
}

/** The result of erasing a source. */
export interface Erased {
  /** By the names in `counts`. */
  counts: Record<string, number>;
  /** Ids of carts: responses stored for idempotent retries that name one of them are deleted. */
  cartIds?: string[];
}

/**
 * The data about a person that a module holds. `src/composition/personal-data.ts` lists the sources of all modules; an export
 * contains their sections, an erasure their counts.
 */
export interface PersonalData {
  /** The lists in an export, by their keys. */
  sections: Readonly<Record<string, ExportSection>>;
  /** The meaning of each count that `erase` returns. */
  counts?: Readonly<Record<string, string>>;
  /** Locks the data to erase before anything is erased, and throws a conflict when the person cannot be erased yet. */
  lock?(tx: Transaction, shopId: string, person: Person, options: ErasureOptions): Promise<void>;
  erase?(tx: Transaction, shopId: string, person: Person, options: ErasureOptions): Promise<Erased>;
}

export interface ExportSection {
  description: string;
  /** Yields the entries in batches, so only one batch is in memory. */
  read(db: Queries, shopId: string, person: Person, origin: string): AsyncIterable<readonly object[]>;
}

/** A section whose few entries are read by one statement. */
export function section(
  description: string,
  find: (db: Queries, shopId: string, person: Person) => Promise<readonly object[]>,
): ExportSection {
  return {
    description,
    read: async function* (db, shopId, person) {
      yield await find(db, shopId, person);
    },
  };
}

/** A section of many entries; `find` returns those after the last one that was read. */
export function batchedSection<Row extends object>(
  description: string,
  find: (db: Queries, shopId: string, person: Person, last: Row | undefined) => Promise<readonly Row[]>,
  render: (db: Queries, shopId: string, origin: string) => Promise<(row: Row) => object>,
): ExportSection {
  return {
    description,
    read: async function* (db, shopId, person, origin) {
      const toEntry = await render(db, shopId, origin);
      let last: Row | undefined;
      for (;;) {
        const rows = await find(db, shopId, person, last);
        if (rows.length === 0) return;
        yield rows.map(toEntry);
        last = rows.at(-1);
      }
    },
  };
}

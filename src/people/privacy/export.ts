import type { Queries } from '../../db/database.ts';
import { toMilliseconds } from '../../http/dates.ts';
import { newPauses } from '../../http/pauses.ts';
import type { PersonalData } from '../../platform/personal-data.ts';
import type { CustomerData } from './queries.ts';

export interface ExportRequest {
  shopId: string;
  person: CustomerData;
  /** Scheme and host of its links. */
  origin: string;
  /** Called with the number of entries of a section written since the last call. */
  onEntries?: ((section: string, count: number) => void) | undefined;
}

/**
 * All data held about a person, as the text of one JSON object. It is streamed, with at most one batch of a section in
 * memory.
 */
export async function* exportText(
  db: Queries,
  sources: readonly PersonalData[],
  { shopId, person, origin, onEntries }: ExportRequest,
): AsyncGenerator<string> {
  const { customerId, customerNumber, createdAt, customerGroup, billingAddress, vatCheck, internalNote } =
    person;
  const head = {
    customerId,
    exportedOn: toMilliseconds(db.now),
    customer: {
      customerNumber,
      creationDate: toMilliseconds(createdAt),
      customerGroup,
      billingAddress,
      vatCheck,
      internalNote,
    },
    emailAddresses: person.emails,
  };
  const pause = newPauses();
  let separator = '{';
  for (const [name, value] of Object.entries(head)) {
    yield `${separator}"${name}":${JSON.stringify(value)}`;
    separator = ',';
  }
  for (const [name, section] of sources.flatMap(({ sections }) => Object.entries(sections))) {
    yield `,"${name}":[`;
    let comma = '';
    for await (const entries of section.read(db, shopId, person, origin)) {
      if (entries.length === 0) continue;
      for (const entry of entries) {
        yield comma + JSON.stringify(entry);
        comma = ',';
        await pause();
      }
      onEntries?.(name, entries.length);
    }
    yield ']';
  }
  yield '}';
}

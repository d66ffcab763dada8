import { createHash } from 'node:crypto';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { newPauses } from '../http/pauses.ts';
import type { MediaStorage } from '../platform/media/storage.ts';
import type { ImportRecord, SourcePlace, Read, RecordKind, RecordProblem } from './records.ts';

/** What an import has done with the records of one kind. */
export interface Counts {
  created: number;
  changed: number;
  unchanged: number;
  /** They were edited here since they were imported, and are left as they are. */
  kept: number;
  refused: number;
}

export interface ReportLine {
  kind: RecordKind;
  place: SourcePlace;
  /** What it is about: a number, a name. */
  name: string;
  text: string;
}

/** More lines are counted only. */
const MAX_LINES = 100_000;

export class ImportReport {
  readonly counts = new Map<RecordKind, Counts>();
  readonly lines: ReportLine[] = [];
  left = 0;
  pictures = 0;

  count(kind: RecordKind, what: keyof Counts, number = 1): void {
    const counts = this.counts.get(kind) ?? { created: 0, changed: 0, unchanged: 0, kept: 0, refused: 0 };
    counts[what] += number;
    this.counts.set(kind, counts);
  }

  add(line: ReportLine): void {
    if (this.lines.length < MAX_LINES) this.lines.push(line);
    else this.left++;
  }

  /** A record that is not taken at all. */
  refuse(line: ReportLine): void {
    this.count(line.kind, 'refused');
    this.add(line);
  }
}

export interface ImportRun {
  db: Database;
  config: Config;
  media: MediaStorage;
  shopId: string;
  /** Names the other shop in the table of imported records. */
  source: string;
  /** Only says what would happen. */
  isCheck: boolean;
  report: ImportReport;
  onProgress: (records: number) => void;
  /** Ends the import between two records. */
  signal?: AbortSignal | undefined;
  /**
   * The process serves requests meanwhile, so batches are small; a merchant has started it, so the plan of the shop counts.
   */
  isInService?: boolean | undefined;
}

/** Of a record, wherever it was read. */
export function hashOf({ place: _place, ...record }: ImportRecord): string {
  return createHash('sha256').update(JSON.stringify(record)).digest('hex');
}

const isProblem = (record: Read): record is RecordProblem => record.kind === 'problem';

export interface BatchLimits {
  records: number;
  /** Characters of all records. */
  characters: number;
}

/** Each batch is prepared at once, while requests wait. */
const IN_SERVICE: BatchLimits = { records: 50, characters: 200_000 };

/** The readable records in batches; the others are reported, as is a record that comes a second time. */
export async function* batches<Kind extends ImportRecord>(
  { report, onProgress, signal, isInService }: ImportRun,
  records: AsyncIterable<Read<Kind>>,
  limits: BatchLimits,
): AsyncGenerator<Kind[]> {
  const pause = newPauses();
  const maxRecords = isInService ? Math.min(IN_SERVICE.records, limits.records) : limits.records;
  const maxCharacters = isInService ? IN_SERVICE.characters : limits.characters;
  let batch = new Map<string, Kind>();
  let characters = 0;
  for await (const record of records) {
    signal?.throwIfAborted();
    await pause();
    onProgress(1);
    if (isProblem(record)) {
      report.refuse({ kind: record.of, place: record.place, name: '', text: record.text });
      continue;
    }
    const name = record.sourceId;
    if (name.length > 300 || batch.has(name)) {
      const text = batch.has(name) ? 'comes a second time' : 'has an id of more than 300 characters';
      report.refuse({ kind: record.kind, place: record.place, name, text });
      continue;
    }
    batch.set(name, record);
    characters += JSON.stringify(record).length;
    if (batch.size < maxRecords && characters < maxCharacters) continue;
    yield [...batch.values()];
    batch = new Map();
    characters = 0;
  }
  if (batch.size > 0) yield [...batch.values()];
}

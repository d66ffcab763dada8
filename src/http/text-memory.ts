import type { Queries } from '../db/database.ts';

export const MEGABYTE = 1024 * 1024;

/** What an entry costs beside its text, roughly. */
const OVERHEAD = 400;

/** Bounded by the bytes of its texts; the oldest make room, and what is asked for again is simply rendered again. */
export class TextMemory<Entry> {
  readonly #entries = new Map<string, { entry: Entry; bytes: number }>();
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** How many entries there are. */
  get size(): number {
    return this.#entries.size;
  }

  /** What they take, roughly. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key)?.entry;
  }

  keep(key: string, entry: Entry, textBytes: number): void {
    const bytes = textBytes + OVERHEAD;
    this.#bytes += bytes - (this.#entries.get(key)?.bytes ?? 0);
    this.#entries.delete(key);
    this.#entries.set(key, { entry, bytes });
    for (const [oldest, { bytes: freed }] of this.#entries) {
      if (this.#bytes <= this.#mostBytes) break;
      this.#entries.delete(oldest);
      this.#bytes -= freed;
    }
  }
}

const memories = new WeakMap<object, Map<string, TextMemory<unknown>>>();

/** The cache of this name; made at its first use. Per database, because tests have many in one process. */
export function textMemory<Entry>({ source }: Queries, name: string, megabytes: number): TextMemory<Entry> {
  let named = memories.get(source);
  if (!named) memories.set(source, (named = new Map()));
  let memory = named.get(name);
  if (!memory) named.set(name, (memory = new TextMemory(megabytes * MEGABYTE)));
  return memory as TextMemory<Entry>;
}

/** All caches of rendered texts by name, for the metrics. */
export function textMemories({ source }: Queries): ReadonlyMap<string, TextMemory<unknown>> {
  return memories.get(source) ?? new Map();
}

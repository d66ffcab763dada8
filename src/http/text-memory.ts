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

import { createHash } from 'node:crypto';

/** Initial size of the table; it doubles before it is three quarters full. */
const FIRST_SIZE = 1_024;

/**
 * The line of each product number in a file. A file may have a million of them, so instead of its text a number takes
 * twelve bytes in a table outside the heap: 64 bits of its hash, and its line. The chance that two of a million
 * numbers have the same hash is one in thirty million.
 */
export class NumberLines {
  /** The two halves of each hash. */
  #low = new Uint32Array(FIRST_SIZE);
  #high = new Uint32Array(FIRST_SIZE);
  /** 0 marks a free place: the first line of a file is its header. */
  #lines = new Uint32Array(FIRST_SIZE);
  #count = 0;

  has(number: string): boolean {
    return this.lineOf(number) !== undefined;
  }

  lineOf(number: string): number | undefined {
    const [low, high] = hashOf(number);
    return this.#lines[this.#placeOf(low, high)] || undefined;
  }

  set(number: string, line: number): void {
    if (4 * this.#count >= 3 * this.#lines.length) this.#grow();
    const [low, high] = hashOf(number);
    if (this.#put(low, high, line)) this.#count++;
  }

  /** Sets the line of a number that has none yet; otherwise returns the line that it has. */
  add(number: string, line: number): number | undefined {
    if (4 * this.#count >= 3 * this.#lines.length) this.#grow();
    const [low, high] = hashOf(number);
    const known = this.#lines[this.#placeOf(low, high)];
    if (known) return known;
    this.#put(low, high, line);
    this.#count++;
    return undefined;
  }

  /** The place of the hash, or the free place for it. */
  #placeOf(low: number, high: number): number {
    const last = this.#lines.length - 1;
    let place = low & last;
    while (this.#lines[place] !== 0 && (this.#low[place] !== low || this.#high[place] !== high)) {
      place = (place + 1) & last;
    }
    return place;
  }

  /** Whether it is new. */
  #put(low: number, high: number, line: number): boolean {
    const place = this.#placeOf(low, high);
    const isNew = this.#lines[place] === 0;
    this.#low[place] = low;
    this.#high[place] = high;
    this.#lines[place] = line;
    return isNew;
  }

  /** Moving halves as numbers is ten times as fast as moving whole hashes, which would be BigInts. */
  #grow(): void {
    const [low, high, lines] = [this.#low, this.#high, this.#lines];
    this.#low = new Uint32Array(2 * lines.length);
    this.#high = new Uint32Array(2 * lines.length);
    this.#lines = new Uint32Array(2 * lines.length);
    for (let place = 0; place < lines.length; place++) {
      if (lines[place] !== 0) this.#put(low[place]!, high[place]!, lines[place]!);
    }
  }
}

function hashOf(number: string): [low: number, high: number] {
  const hash = createHash('sha256').update(number).digest();
  return [hash.readUInt32LE(0), hash.readUInt32LE(4)];
}

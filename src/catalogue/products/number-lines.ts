import { createHash } from 'node:crypto';

/** Places of the table at the beginning; it doubles before it is three quarters full. */
const FIRST_SIZE = 1_024;

/**
 * In which line of a file each product number stands. A file may have a million of them, so instead of its text a number
 * takes twelve bytes in a table outside of the heap: 64 bits of its hash, and its line. That two of a million numbers have
 * the same hash is as likely as one in thirty million.
 */
export class NumberLines {
  #hashes = new BigUint64Array(FIRST_SIZE);
  /** 0 where the table is free: the first line of a file is its header. */
  #lines = new Uint32Array(FIRST_SIZE);
  #count = 0;

  has(number: string): boolean {
    return this.lineOf(number) !== undefined;
  }

  lineOf(number: string): number | undefined {
    return this.#lines[this.#placeOf(hashOf(number))] || undefined;
  }

  set(number: string, line: number): void {
    if (4 * this.#count >= 3 * this.#lines.length) this.#grow();
    if (this.#put(hashOf(number), line)) this.#count++;
  }

  /** Where the hash is, or the free place where it would be. */
  #placeOf(hash: bigint): number {
    const last = this.#lines.length - 1;
    let place = Number(hash & BigInt(last));
    while (this.#lines[place] !== 0 && this.#hashes[place] !== hash) place = (place + 1) & last;
    return place;
  }

  /** Whether it is new. */
  #put(hash: bigint, line: number): boolean {
    const place = this.#placeOf(hash);
    const isNew = this.#lines[place] === 0;
    this.#hashes[place] = hash;
    this.#lines[place] = line;
    return isNew;
  }

  #grow(): void {
    const [hashes, lines] = [this.#hashes, this.#lines];
    this.#hashes = new BigUint64Array(2 * hashes.length);
    this.#lines = new Uint32Array(2 * lines.length);
    for (const [place, line] of lines.entries()) if (line !== 0) this.#put(hashes[place]!, line);
  }
}

function hashOf(number: string): bigint {
  return createHash('sha256').update(number).digest().readBigUInt64LE();
}

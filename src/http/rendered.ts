import { hash } from 'node:crypto';

/** JSON that is encoded already, and the hash of it: what is kept for many answers is hashed once. */
export interface Encoded {
  bytes: Buffer;
  tag: string;
}

export function encoded(json: string): Encoded {
  const bytes = Buffer.from(json);
  return { bytes, tag: tagOf(bytes) };
}

/** What an ETag is made of. */
export function tagOf(content: string | Buffer): string {
  return hash('sha1', content, 'base64');
}

/**
 * An answer that is JSON text already. What is costly to build is rendered once, or kept in the database as text;
 * it goes out as it is, without the schema's serialiser.
 */
export class Rendered {
  readonly #content: string | Buffer;
  /** Known without hashing the whole answer. */
  readonly tag: string | undefined;

  constructor(content: string | Buffer, tag?: string) {
    this.#content = content;
    this.tag = tag;
  }

  get json(): string {
    return this.#content.toString();
  }

  get bytes(): Buffer {
    return typeof this.#content === 'string' ? Buffer.from(this.#content) : this.#content;
  }
}

/**
 * An answer that is JSON text already. What is costly to build is rendered once, or kept in the database as text;
 * it goes out as it is, without the schema's serialiser.
 */
export class Rendered {
  readonly #content: string | Buffer;

  constructor(content: string | Buffer) {
    this.#content = content;
  }

  get json(): string {
    return this.#content.toString();
  }

  get bytes(): Buffer {
    return typeof this.#content === 'string' ? Buffer.from(this.#content) : this.#content;
  }
}

import { hash } from 'node:crypto';

/** JSON that is serialised already, with its ETag: a shared answer is serialised and hashed once. */
export class RawJson {
  readonly bytes: Buffer;
  readonly etag: string;

  constructor(bytes: Buffer, etag: string) {
    this.bytes = bytes;
    this.etag = etag;
  }
}

/** The ETag of an answer, without its quotes. */
export function etagOf(content: string | Buffer): string {
  return hash('sha1', content, 'base64');
}

const etagsOfBytes = new WeakMap<Buffer, string>();

/** The same for bytes that are often sent again, as cached answers are: they are hashed once. They must not change. */
export function etagOfBytes(bytes: Buffer): string {
  let etag = etagsOfBytes.get(bytes);
  if (etag === undefined) etagsOfBytes.set(bytes, (etag = etagOf(bytes)));
  return etag;
}

export function toRawJson(value: unknown): RawJson {
  const bytes = Buffer.from(JSON.stringify(value));
  return new RawJson(bytes, etagOf(bytes));
}

/**
 * An object whose fields are values, raw JSON, or lists of raw JSON. Raw parts are copied as they are, so a long list
 * costs no serialising; its ETag is made from theirs, so it costs no hashing either.
 */
export function joinRawJson(fields: Readonly<Record<string, unknown>>): RawJson {
  const parts: Buffer[] = [];
  let etags = '';
  /** The text between two raw parts. */
  let text = '{';
  const append = ({ bytes, etag }: RawJson) => {
    parts.push(Buffer.from(text), bytes);
    etags += text + etag;
    text = '';
  };
  Object.entries(fields).forEach(([name, value], index) => {
    text += `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`;
    if (value instanceof RawJson) append(value);
    else if (isRawList(value)) {
      value.forEach((item, place) => {
        text += place > 0 ? ',' : '[';
        append(item);
      });
      text += ']';
    } else text += JSON.stringify(value);
  });
  text += '}';
  parts.push(Buffer.from(text));
  return new RawJson(Buffer.concat(parts), etagOf(etags + text));
}

/**
 * An object with some fields that change more often than the others. The others are serialised once; all are joined and
 * hashed only when the changing ones have changed.
 */
export class RawTemplate {
  /** The texts before, between and after the values that change: parts of one buffer, that of `#filled` if there is one. */
  #parts: readonly Buffer[];
  readonly #changing: readonly string[];
  readonly #etag: string;
  #filled: { state: unknown; json: RawJson } | undefined;

  constructor(fields: Readonly<Record<string, unknown>>, changing: readonly string[]) {
    const texts = [''];
    const found: string[] = [];
    let separator = '{';
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined) continue;
      const isChanging = changing.includes(name);
      texts[texts.length - 1] +=
        `${separator}${JSON.stringify(name)}:${isChanging ? '' : JSON.stringify(value)}`;
      if (isChanging) texts.push('');
      if (isChanging) found.push(name);
      separator = ',';
    }
    texts[texts.length - 1] += separator === '{' ? '{}' : '}';
    // One buffer for all parts: it is encoded and hashed in one go.
    const bytes = Buffer.from(texts.join(''));
    let end = 0;
    this.#parts = texts.map((text) => bytes.subarray(end, (end += Buffer.byteLength(text))));
    this.#changing = found;
    this.#etag = etagOf(bytes);
  }

  /** Bytes without the values that change. */
  get size(): number {
    return this.#parts.reduce((sum, part) => sum + part.length, 0);
  }

  /** The object with the values of the changing fields, which `fields` derives from this state alone. */
  fill(state: unknown, fields: () => Readonly<Record<string, unknown>>): RawJson {
    if (this.#filled && this.#filled.state === state) return this.#filled.json;
    const current = fields();
    const values = this.#changing.map((name) => JSON.stringify(current[name]));
    const pieces = this.#parts.flatMap((part, index) =>
      index === 0 ? [part] : [Buffer.from(values[index - 1]!), part],
    );
    const bytes = Buffer.concat(pieces);
    const json = new RawJson(bytes, etagOf(`${this.#etag} ${values.join()}`));
    let end = 0;
    // The parts are the pieces with even numbers. In the new buffer they take no memory of their own.
    this.#parts = pieces
      .map(({ length }) => bytes.subarray(end, (end += length)))
      .filter((_, index) => index % 2 === 0);
    this.#filled = { state, json };
    return json;
  }
}

function isRawList(value: unknown): value is RawJson[] {
  return Array.isArray(value) && value[0] instanceof RawJson;
}

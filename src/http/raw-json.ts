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

function isRawList(value: unknown): value is RawJson[] {
  return Array.isArray(value) && value[0] instanceof RawJson;
}

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

/** An object with some fields that change more often than the others: the others are serialised once. */
export interface RawTemplate {
  /** The texts before, between and after the values that change. */
  parts: readonly Buffer[];
  changing: readonly string[];
  etag: string;
}

export function toRawTemplate(
  fields: Readonly<Record<string, unknown>>,
  changing: readonly string[],
): RawTemplate {
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
  const parts = texts.map((text) => bytes.subarray(end, (end += Buffer.byteLength(text))));
  return { parts, changing: found, etag: etagOf(bytes) };
}

/** The object with the current values of these fields. */
export function fillRawTemplate(
  { parts, changing, etag }: RawTemplate,
  fields: Readonly<Record<string, unknown>>,
): RawJson {
  const values = changing.map((name) => JSON.stringify(fields[name]));
  const bytes = parts.flatMap((part, index) =>
    index === 0 ? [part] : [Buffer.from(values[index - 1]!), part],
  );
  return new RawJson(Buffer.concat(bytes), etagOf(`${etag} ${values.join()}`));
}

function isRawList(value: unknown): value is RawJson[] {
  return Array.isArray(value) && value[0] instanceof RawJson;
}

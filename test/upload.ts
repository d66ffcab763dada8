import { randomUUID } from 'node:crypto';
import { sql } from '../src/db/sql.ts';
import { newId } from '../src/kernel/ids.ts';
import type { CallOptions, Service } from './service.ts';

/** A picture of 2 x 1 pixels. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAD0lEQVQImWM4IScnJ3cCAAcjAglsbbqYAAAAAElFTkSuQmCC',
  'base64',
);

export interface Part {
  name?: string;
  filename?: string;
  /** Other lines of its head. */
  head?: string[];
  content: Buffer | string;
}

/** A body of the type multipart/form-data, as clients send it. */
export function formOf(...parts: Part[]): { body: Buffer; headers: Record<string, string> } {
  const boundary = randomUUID();
  const pieces = parts.flatMap(({ name = 'image', filename, head = [], content }) => {
    const disposition = [
      'form-data',
      `name="${name}"`,
      ...(filename === undefined ? [] : [`filename="${filename}"`]),
    ].join('; ');
    const lines = [`--${boundary}`, `Content-Disposition: ${disposition}`, ...head, '', ''];
    return [Buffer.from(lines.join('\r\n')), Buffer.from(content), Buffer.from('\r\n')];
  });
  return {
    body: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

/** Uploads one file. */
export function sendImage(
  service: Service,
  path: string,
  filename: string,
  content: Buffer | string,
  options: CallOptions = {},
) {
  const { body, headers } = formOf({ filename, content });
  return service.call('POST', path, { ...options, body, headers: { ...headers, ...options.headers } });
}

/** A product of which nothing matters but that it is there. */
export async function givenPlainProduct(
  { db }: Service,
  shopId: string,
  { visible = true, productNumber = `P-${randomUUID()}` } = {},
): Promise<string> {
  const productId = newId(db.now);
  await db.run(sql`
    insert into product (shop_id, product_id, product_number, kind, created_at, version, visible, prices, facts)
    values (${shopId}, ${productId}, ${productNumber}, 'regular', ${db.now}, 1, ${visible}, '{}', '{}')`);
  return productId;
}

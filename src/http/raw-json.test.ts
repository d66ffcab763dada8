import { expect, test } from 'vitest';
import { joinRawJson, RawTemplate, toRawJson } from './raw-json.ts';

test('an object of values, raw JSON and lists of it is the JSON of the same object', () => {
  const item = { name: 'Tea "green"', price: null };
  const other = { name: 'Käse, 12 °C', links: [] };
  const object = { results: 2, empty: [], 'a "key"': 'x', items: [item, other], first: item, none: null };
  const joined = joinRawJson({
    ...object,
    items: [toRawJson(item), toRawJson(other)],
    first: toRawJson(item),
  });
  expect(joined.bytes.toString()).toBe(JSON.stringify(object));
  expect(joinRawJson({}).bytes.toString()).toBe('{}');
});

test('the ETag is that of the content', () => {
  const list = (results: number, ...names: string[]) =>
    joinRawJson({ results, items: names.map((name) => toRawJson({ name })) });
  expect(list(2, 'Tea', 'Salt').etag).toBe(list(2, 'Tea', 'Salt').etag);
  const others = [list(3, 'Tea', 'Salt'), list(2, 'Salt', 'Tea'), list(2, 'Tea'), list(2, 'Tea', 'Salz')];
  for (const other of others) expect(other.etag).not.toBe(list(2, 'Tea', 'Salt').etag);
});

test('a template is the JSON of the object with the current values, whatever they were before', () => {
  const object = { name: 'Käse "mild"', stock: 0, text: 'Ä', tags: ['a'], availability: '', none: undefined };
  const template = new RawTemplate(object, ['stock', 'availability']);
  const fill = (stock: number | null) =>
    template.fill(stock, () => ({ stock, availability: stock === null ? 'Größe' : `${stock} left` }));
  for (const stock of [7, null, 7, 120_000, 0, null]) {
    const availability = stock === null ? 'Größe' : `${stock} left`;
    expect(fill(stock).bytes.toString()).toBe(JSON.stringify({ ...object, stock, availability }));
  }
  const seven = fill(7);
  expect(fill(7)).toBe(seven);
  expect(fill(8).etag).not.toBe(seven.etag);
  expect(fill(7).etag).toBe(seven.etag);
  // The earlier answer may still be on its way to a client.
  expect(seven.bytes.toString()).toContain('"stock":7,');
});

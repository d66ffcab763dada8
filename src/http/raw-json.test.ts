import { expect, test } from 'vitest';
import { joinRawJson, toRawJson } from './raw-json.ts';

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

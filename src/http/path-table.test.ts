import { describe, expect, test } from 'vitest';
import { createPathTable } from './path-table.ts';

const table = createPathTable<string>();
for (const pattern of [
  '/widgets',
  '/widgets/:widgetId',
  '/widgets/export',
  '/widgets/:widgetId/parts/:partId',
])
  table.add(pattern, pattern);

describe('the address', () => {
  test.each([
    ['/widgets', '/widgets', {}],
    ['/widgets/', '/widgets', {}],
    ['/widgets?page=/widgets/1', '/widgets', {}],
    ['/widgets#x', '/widgets', {}],
    ['http://shop.example/widgets/1', '/widgets/:widgetId', { widgetId: '1' }],
    ['/%77idgets/a%2Fb%20c', '/widgets/:widgetId', { widgetId: 'a/b c' }],
    ['/widgets/export', '/widgets/export', {}],
    ['/widgets/exports', '/widgets/:widgetId', { widgetId: 'exports' }],
    // A segment with a name that leads nowhere is tried as any other one.
    ['/widgets/export/parts/2', '/widgets/:widgetId/parts/:partId', { widgetId: 'export', partId: '2' }],
  ])('%s has the pattern %s', (url, value, params) => {
    expect(table.find(url)).toEqual({ value, params });
  });

  test.each(['/', '', '/widget', '/widgets/1/parts', '/widgets/1/parts/2/3', '/'.repeat(10_000)])(
    '%# has none',
    (url) => {
      expect(table.find(url)).toBeUndefined();
    },
  );
});

test.each([
  ['/widgets', []],
  ['/widgets/export', ['/widgets/:widgetId']],
  ['/widgets/:widgetId', []],
])('without %s its paths would have the patterns %j', (pattern, values) => {
  expect(table.findAfter(pattern)).toEqual(values);
});

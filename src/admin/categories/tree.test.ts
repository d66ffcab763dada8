import { expect, test } from 'vitest';
import type { TreeRow } from './queries.ts';
import { placeOf, stepTo, treeOf } from './tree.ts';

/** root: a (a1, a2), b, c */
const rows: TreeRow[] = [
  ['root', null],
  ['a', 'root'],
  ['a1', 'a'],
  ['b', 'root'],
  ['a2', 'a'],
  ['c', 'root'],
].map(([categoryId, parentId]) => ({
  categoryId: categoryId!,
  parentId: parentId!,
  name: {},
  alias: categoryId!,
  visible: true,
  products: 0,
}));

test('rows become a tree', () => {
  const [root] = treeOf(rows);
  expect(root!.children.map(({ categoryId, children }) => [categoryId, children.length])).toEqual([
    ['a', 2],
    ['b', 0],
    ['c', 0],
  ]);
});

test.each([
  ['b', 'up', { parentId: 'root', position: 0 }],
  ['a', 'up', undefined],
  ['b', 'down', { parentId: 'root', position: 2 }],
  ['c', 'down', undefined],
  ['b', 'in', { parentId: 'a', position: 2 }],
  ['a', 'in', undefined],
  ['a1', 'out', { parentId: 'root', position: 1 }],
  ['b', 'out', undefined],
  ['root', 'up', undefined],
  ['nothing', 'up', undefined],
] as const)('%s one step %s', (categoryId, direction, place) => {
  expect(stepTo(rows, categoryId, direction)).toEqual(place);
});

test('a category knows its place', () => {
  expect(placeOf(rows, 'a2')).toEqual({ parentId: 'a', position: 1 });
  expect(placeOf(rows, 'root')).toBeUndefined();
});

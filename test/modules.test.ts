import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

/**
 * The modules stand in one order, which CONTRIBUTING.md draws: each imports only itself and those above it in the
 * drawing. The drawing is the rule: this test reads it from there. Imports of types count, because a reader follows
 * them as well.
 */

const root = path.join(import.meta.dirname, '..');
const drawing = /```modules\n(.*?)```/s.exec(readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8'))![1]!;

/** A line of the drawing begins with a folder of src/, or with files of it: `app.ts, main.ts   what they are`. */
const layers = drawing
  .trim()
  .split('\n')
  .map((line) => line.split(/\s{2,}/, 1)[0]!.split(', '));

const layerOf = new Map(layers.flatMap((names, layer) => names.map((name) => [name, layer])));

const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => path.posix.join('src', file));

const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

const importsOf = new Map(
  files.map((file) => {
    const imports = [...readFileSync(path.join(root, file), 'utf8').matchAll(IMPORT)];
    return [file, imports.map(([, name]) => path.posix.join(path.posix.dirname(file), name!))];
  }),
);

const moduleOf = (file: string) => file.split('/')[1]!;

test('every file of src belongs to a module of the drawing, and there are at most a dozen folders', () => {
  expect(files.filter((file) => !layerOf.has(moduleOf(file)))).toEqual([]);
  expect([...layerOf.keys()].filter((name) => !name.endsWith('.ts')).length).toBeLessThanOrEqual(12);
});

test('modules import only those above them in the drawing of CONTRIBUTING.md', () => {
  const wrong = [...importsOf].flatMap(([file, imported]) =>
    imported
      .filter((other) => layerOf.get(moduleOf(other))! > layerOf.get(moduleOf(file))!)
      .map((other) => `${file} -> ${other}`),
  );
  expect(wrong).toEqual([]);
});

test('no files import each other in a circle', () => {
  const circles: string[] = [];
  const finished = new Set<string>();
  const visit = (file: string, way: readonly string[]) => {
    if (finished.has(file)) return;
    if (way.includes(file)) {
      circles.push([...way.slice(way.indexOf(file)), file].join(' -> '));
      return;
    }
    for (const other of importsOf.get(file) ?? []) visit(other, [...way, file]);
    finished.add(file);
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

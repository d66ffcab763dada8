import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { quickFiles, SAMPLES } from './quick.ts';

const ROOT = path.join(import.meta.dirname, '..');

test('a quick run has the pure tests and the samples, and nothing that starts a service besides', () => {
  const files = quickFiles(ROOT);
  expect(SAMPLES.filter((name) => !existsSync(path.join(ROOT, name)))).toEqual([]);
  expect(files).toEqual(expect.arrayContaining([...SAMPLES, 'src/pricing/totals.test.ts']));
  expect(files).not.toContain('src/checkout/order.test.ts');
  expect(files.length).toBeGreaterThan(50);
});

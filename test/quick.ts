import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Parts of the shared test code that start nothing. */
const PURE_HELPERS = [
  'generated-carts',
  'generated-orders',
  'naive-totals',
  'priced-carts',
  'seed',
  'totals-properties',
  'zip',
];

/** One file for each module that goes through HTTP or to the database, so that a quick run notices when little works. */
export const SAMPLES = [
  'src/db/database.test.ts',
  'src/http/compression.test.ts',
  'src/shops/legal/legal.test.ts',
  'src/catalogue/categories/subcategories.test.ts',
  'src/people/customers/customers.test.ts',
  'src/orders/orders.test.ts',
  'src/checkout/checkout.test.ts',
  'src/storefront/listing/catalogue.test.ts',
  'src/admin/home/home.test.ts',
  'test/modules.test.ts',
  'test/openapi.test.ts',
];

const isPure = (text: string) =>
  [...text.matchAll(/from '([^']+)'/g)].every(
    ([, name = '']) =>
      !['pg', 'node:child_process'].includes(name) &&
      !/\/embedded|\/database\.ts$/.test(name) &&
      (!name.includes('/test/') || PURE_HELPERS.includes(path.basename(name, '.ts'))),
  );

/** The tests of `npm test -- --quick`: all that start no service, and one file of each module that does. */
export function quickFiles(root: string): string[] {
  const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => path.join('src', name));
  return [...files.filter((name) => isPure(readFileSync(path.join(root, name), 'utf8'))), ...SAMPLES];
}

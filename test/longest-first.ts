import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long, the longest first, above all those of a few lines. A file runs in one worker, so one that begins last leaves the other
 * workers idle. Vitest remembers how long files took, but a fresh clone remembers nothing: there it begins with the
 * largest files and ends with the smallest, some of which sweep over everything.
 */
const LONG_FILES = [
  'test/browser/pages.test.ts',
  'test/browser/merchants-day.test.ts',
  'test/start.test.ts',
  'test/cli.test.ts',
  'test/hostile.test.ts',
  'test/access.test.ts',
  'test/tenants.test.ts',
  'test/browser/account.test.ts',
  'test/security/imports.test.ts',
  'test/plans.test.ts',
  'test/browser/own-pages.test.ts',
  'src/db/embedded.test.ts',
  'test/browser/purchase.test.ts',
  'test/browser/admin-products.test.ts',
  'test/broken-forms.test.ts',
  'test/security/event-loop.test.ts',
  'test/contract.test.ts',
  'test/crash.test.ts',
  'test/side-by-side.test.ts',
  'src/host/backups/backups.test.ts',
  'src/host/support.test.ts',
  'src/carts/plain-store.test.ts',
  'src/commands/backup/backup.test.ts',
  'src/platform/media/s3.test.ts',
  'src/storefront/hostile.test.ts',
  'test/browser/visitors.test.ts',
  'test/mail-crash.test.ts',
  'test/races.test.ts',
  'test/security/statements.test.ts',
];

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- this is no array
    const sorted = await super.sort(files);
    const nameOf = ({ moduleId }: TestSpecification) => path.relative(this.ctx.config.root, moduleId);
    const long = LONG_FILES.flatMap((name) => sorted.filter((file) => nameOf(file) === name));
    return [...long, ...sorted.filter((file) => !long.includes(file))];
  }
}

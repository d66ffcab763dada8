import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { COMPILED_FILES, compiledProgram } from './test/compiled-program.ts';
import LongestFirst from './test/longest-first.ts';
import { quickFiles } from './test/quick.ts';

/** Set by `npm test` for a whole run; a single file is run from its source. */
const isCompiled = process.env['KONTOR_TEST_COMPILED'] !== undefined;

export default defineConfig({
  plugins: isCompiled ? [compiledProgram()] : [],
  test: {
    server: { deps: { external: isCompiled ? [COMPILED_FILES] : [] } },
    include: process.env['KONTOR_TEST_QUICK']
      ? quickFiles(import.meta.dirname)
      : ['src/**/*.test.ts', 'test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    // The examples name the package; its tests run its source.
    alias: [
      ['@kontor/client/app', 'app.ts'],
      ['@kontor/client/testing', 'testing.ts'],
      ['@kontor/client', 'index.ts'],
    ].map(([find = '', file = '']) => ({
      find,
      replacement: fileURLToPath(new URL(`packages/client/src/${file}`, import.meta.url)),
    })),
    globalSetup: 'test/global-setup.ts',
    reporters: ['default', './test/summary-reporter.ts'],
    // Generous, because the workers share the cores with PostgreSQL, browsers and processes of the tests.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Every file has its own database and its own service, so the files of a worker can share the modules. Loading
    // and warming up the whole application for each file took as long as the tests themselves.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // One less than there are cores is usual, but a worker often waits for PostgreSQL or for a process it has started, so
    // that three of them leave two cores idle for a quarter of the time.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    // Most code of a test runs a few times only: V8 compiles it for speed later than usual, and collects short-lived
    // objects in larger steps.
    execArgv: ['--interrupt-budget=500000', '--min-semi-space-size=32', '--max-semi-space-size=64'],
    unstubEnvs: true,
  },
});

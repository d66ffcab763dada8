import type { Reporter, TestModule } from 'vitest/node';
import { summaryLines, type FinishedFile } from './summary.ts';

/** Prints the summary after that of Vitest. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = summaryLines(modules.map(toFinishedFile));
    if (lines.length > 0) console.log(`${lines.join('\n')}\n`);
  }
}

function toFinishedFile(module: TestModule): FinishedFile {
  const tests = [...module.children.allTests()];
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return {
    name: module.relativeModuleId,
    milliseconds: collectDuration + setupDuration + duration,
    tests: tests.length,
    skipReasons: tests.map((test) => {
      const result = test.result();
      return result.state === 'skipped' ? result.note : undefined;
    }),
  };
}

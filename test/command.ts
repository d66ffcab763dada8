import { vi } from 'vitest';
import { runCommand } from '../src/commands/run.ts';
import type { Ended } from './process.ts';

/**
 * Runs a command as `kontor` does, but in this process: most of the time of a short command goes into the start of its
 * process. One after the other, because all of them print to the same place.
 */
export async function kontorHere(words: string[], environment: Record<string, string>): Promise<Ended> {
  const printed = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      printed[name] += String(text);
      return true;
    }),
  );
  try {
    return { code: await runCommand(words, environment, process), ...printed };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

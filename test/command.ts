import { vi } from 'vitest';
import { runCommand } from '../src/commands/run.ts';
import { addressIn, waitFor, type Ended, type Running } from './process.ts';

/**
 * Runs a command as `kontor` does, but in this process: most of the time of a short command goes into the start of its
 * process. One after the other, because all of them print to the same place.
 */
export function kontorHere(words: string[], environment: Record<string, string>): Promise<Ended> {
  return begin(words, environment).ended;
}

/**
 * Starts the service in this process and waits until it says where it is: a process of its own spends three seconds of
 * processor time on loading and building what is here already. For tests of what it serves and says, not of how a
 * process begins and ends. No other command may run here until it has stopped.
 */
export async function serveHere(
  environment: Record<string, string>,
): Promise<Pick<Running, 'address' | 'stdout' | 'stop'>> {
  const { printed, ended } = begin(['serve'], { PORT: '0', LOG_LEVEL: 'warn', ...environment });
  let hasEnded = false;
  void ended.then(() => (hasEnded = true));
  await waitFor(() => addressIn(printed.stdout) !== undefined || hasEnded);
  const address = addressIn(printed.stdout);
  if (address === undefined) throw new Error(`did not start: ${printed.stdout}${printed.stderr}`);
  const stop = () => {
    process.emit('SIGTERM');
    return ended;
  };
  return { address, stdout: () => printed.stdout, stop };
}

/** What a command listens to until its process ends. */
const EVENTS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'exit'] as const;

function begin(words: string[], environment: Record<string, string>) {
  const printed = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      printed[name] += String(text);
      return true;
    }),
  );
  const before = EVENTS.map((event) => process.rawListeners(event));
  const run = async (): Promise<Ended> => {
    try {
      return { code: await runCommand(words, environment, process), ...printed };
    } finally {
      for (const spy of spies) spy.mockRestore();
      EVENTS.forEach((event, index) => {
        const added = process.rawListeners(event).filter((listener) => !before[index]!.includes(listener));
        for (const listener of added) process.off(event, listener as () => void);
      });
    }
  };
  return { printed, ended: run() };
}

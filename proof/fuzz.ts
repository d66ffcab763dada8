/**
 * `npm run fuzz [-- --requests 1000000] [-- --seed N] [-- --processes 2]`: damaged requests to every operation, through
 * the whole service in this process, on an embedded database of its own. Ends with 1 when an answer was 500 or above,
 * not in the words of the contract, or slower than two seconds, and prints the request that did it.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Writable } from 'node:stream';
import { buildApp } from '../src/composition/app.ts';
import { duration, startProgress } from '../src/commands/progress.ts';
import { readConfig } from '../src/config.ts';
import { openDatabase } from '../src/db/database.ts';
import { startEmbedded } from '../src/db/embedded.ts';
import { migrate } from '../src/db/migrate.ts';
import { createLog } from '../src/platform/log.ts';
import { describeFinding, fuzz, serviceOf, type FuzzReport } from '../test/fuzz/run.ts';

const HELP = `Usage: npm run fuzz [-- OPTIONS]

  --requests NUMBER   how many, over all processes (default 50000)
  --seed NUMBER       what the damage is chosen by (default: the time)
  --processes NUMBER  each with a database and a seed of its own: seed, seed + 1, ... (default 1)
  --help              this text
`;

/** What a process tells the one that has started it. */
type Message =
  | { progress: number }
  | { finding: string }
  | {
      done: {
        requests: number;
        findings: number;
        statuses: [number, number][];
        slowest: FuzzReport['slowest'];
      };
    };

interface Options {
  requests: number;
  seed: number;
  processes: number;
}

const say = (text: string) => process.stdout.write(`${text}\n`);

let isStopped = false;
const CHILD = 'KONTOR_FUZZ_CHILD';

process.exitCode = await main(process.argv.slice(2));

async function main(words: string[]): Promise<number> {
  let options: Options | undefined;
  try {
    options = readOptions(words);
  } catch (error) {
    process.stderr.write(`fuzz: ${(error as Error).message}\n${HELP}`);
    return 2;
  }
  if (!options) {
    process.stdout.write(HELP);
    return 0;
  }
  // The first signal ends the run in order, with what was found until then.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isStopped = true));
  if (process.env[CHILD] !== undefined) return child(options);
  return (await parent(options)) ? 0 : 1;
}

function readOptions(words: string[]): Options | undefined {
  const { values } = parseArgs({
    args: words,
    options: {
      requests: { type: 'string', default: '50000' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
      processes: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const whole = (name: 'requests' | 'seed' | 'processes', most: number) => {
    const number = Number(values[name]);
    if (!Number.isInteger(number) || number < 1 || number > most) {
      throw new Error(`--${name} needs a whole number from 1 to ${most}`);
    }
    return number;
  };
  return { requests: whole('requests', 1e9), seed: whole('seed', 4e9), processes: whole('processes', 64) };
}

/** Whether all answers were right. */
async function parent({ requests, seed, processes }: Options): Promise<boolean> {
  const began = performance.now();
  say(
    `Seed ${seed}, ${requests.toLocaleString('en')} requests, ${processes} process${processes === 1 ? '' : 'es'}`,
  );
  const progress = startProgress('requests', requests);
  const results: Extract<Message, { done: unknown }>['done'][] = [];
  let isComplete = true;
  await Promise.all(
    Array.from({ length: processes }, async (_, index) => {
      const share = Math.floor(requests / processes) + (index < requests % processes ? 1 : 0);
      const worker = fork(
        import.meta.filename,
        ['--requests', String(Math.max(share, 1)), '--seed', String(seed + index)],
        { env: { ...process.env, [CHILD]: '1' }, execArgv: process.execArgv },
      );
      worker.on('message', (message: Message) => {
        if ('progress' in message) progress.advance(message.progress);
        else if ('finding' in message) say(`FOUND (seed ${seed + index}) ${message.finding}`);
        else results.push(message.done);
      });
      // A terminal sends Ctrl-C to all of us, kill only to this one.
      const end = () => void worker.kill('SIGTERM');
      process.once('SIGTERM', end);
      const [code] = await once(worker, 'exit');
      if (code !== 0) isComplete = false;
    }),
  );
  progress.end();
  const sum = (value: (result: (typeof results)[number]) => number) =>
    results.reduce((total, result) => total + value(result), 0);
  const statuses = new Map<number, number>();
  for (const [status, count] of results.flatMap((result) => result.statuses)) {
    statuses.set(status, (statuses.get(status) ?? 0) + count);
  }
  const slowest = results.map((result) => result.slowest).toSorted((left, right) => right.ms - left.ms)[0];
  const found = sum(({ findings }) => findings);
  say(
    `answers  ${[...statuses]
      .toSorted(([left], [right]) => left - right)
      .map(([status, count]) => `${status}: ${count.toLocaleString('en')}`)
      .join(', ')}`,
  );
  say(`slowest  ${Math.round(slowest?.ms ?? 0)} ms, ${slowest?.operation}`);
  say(
    `${found === 0 && isComplete ? 'ok' : 'FAIL'}  ${sum((result) => result.requests).toLocaleString('en')} requests, ${found} found, seed ${seed}, ${duration(performance.now() - began)}`,
  );
  return found === 0 && isComplete;
}

async function child({ requests, seed }: Options): Promise<number> {
  const tell = (message: Message) => process.send!(message);
  const folder = await mkdtemp(path.join(tmpdir(), 'kontor-fuzz-'));
  // PostgreSQL runs as another user when this runs as root.
  await chmod(folder, 0o755);
  const data = path.join(folder, 'data');
  const server = await startEmbedded(data, {
    log: () => {},
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  });
  const db = openDatabase({ connection: server.connection });
  try {
    await migrate(db, () => {});
    const config = readConfig({
      KONTOR_DATA: data,
      RATE_LIMIT: '0',
      RATE_LIMIT_ANONYMOUS: '0',
      WEBHOOK_ALLOW: '127.0.0.0/8',
    });
    const app = await buildApp({ config, db, log: createLog('error', errorLines()) });
    let unsaid = 0;
    const report = await fuzz(serviceOf(app, db, config), {
      requests,
      seed,
      isStopped: () => isStopped,
      onProgress: (more) => {
        unsaid += more;
        if (unsaid < 100) return;
        tell({ progress: unsaid });
        unsaid = 0;
      },
      onFinding: (finding) => tell({ finding: describeFinding(finding) }),
    });
    tell({ progress: unsaid });
    await app.close();
    const { findings, statuses, slowest } = report;
    tell({
      done: { requests: report.requests, findings: findings.length, statuses: [...statuses], slowest },
    });
    return 0;
  } finally {
    await db.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    process.disconnect();
  }
}

/** The stack of a 500 is what one looks for first. */
function errorLines(): Writable {
  return new Writable({
    write: (chunk, _encoding, done) => {
      process.stderr.write(String(chunk));
      done();
    },
  });
}

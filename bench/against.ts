import type { Database } from '../src/db/database.ts';
import { answeringTime, cpuTimes, cpuUsed } from './cpu-time.ts';
import { load, tryOnce, type Round, type Subject } from './load.ts';
import { median } from './report.ts';

/** One of the two versions, with the process whose time is measured. */
export interface Contender {
  pid: number;
  db: Database;
  /** The same target for each version, in the same order. */
  subjects: readonly Subject[];
  /** Waits for the background work of a round. */
  settle: () => Promise<void>;
}

interface CostlyRound extends Round {
  /** Milliseconds of CPU per request. */
  nodeMs: number;
  /** The part of it in the thread that answers requests. */
  answeringMs: number;
  postgresMs: number;
}

/** A figure of both versions; `spread` is that of the rounds' own ratios. */
export interface Change {
  name: string;
  now: number;
  before: number;
  ratio: number;
  spread: readonly [number, number];
}

export interface AgainstOptions {
  rounds: number;
  seconds: number;
}

/** Requests after which the code of a target is compiled; a slow machine gets only so many rounds for them. */
const WARM_UP_REQUESTS = 4_000;
const MAX_WARM_UP_ROUNDS = 8;

/**
 * Measures two versions in alternating rounds, so that the state of the machine is the same for both. Requests a second
 * and response times suffer from other work on the machine; CPU time per request hardly does.
 */
export async function measureAgainst(
  now: Contender,
  before: Contender,
  { rounds, seconds }: AgainstOptions,
  say: (line: string) => void,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const [index, subject] of now.subjects.entries()) {
    const sides = [
      { contender: now, subject, measured: [] as CostlyRound[] },
      { contender: before, subject: before.subjects[index]!, measured: [] as CostlyRound[] },
    ] as const;
    for (const side of sides) {
      await tryOnce(side.subject);
      await warmUp(side.subject, seconds);
    }
    for (let round = 0; round < rounds; round++) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        side.measured.push(await measureRound(side.contender, side.subject, seconds));
      }
    }
    const [ours, theirs] = sides.map(({ measured }) => measured) as [CostlyRound[], CostlyRound[]];
    say(`${subject.name}: measured ${rounds} rounds of each`);
    changes.push(...changesOf(subject, ours, theirs));
  }
  return changes;
}

async function warmUp(subject: Subject, seconds: number): Promise<void> {
  let requests = 0;
  for (let round = 0; round < MAX_WARM_UP_ROUNDS && requests < WARM_UP_REQUESTS; round++) {
    requests += (await load(subject, seconds)).requests;
  }
}

/** The work that is left when a round ends, such as emails, is part of its cost. */
async function measureRound(
  { pid, db, settle }: Contender,
  subject: Subject,
  seconds: number,
): Promise<CostlyRound> {
  await settle();
  const began = await cpuTimes(pid, db);
  const answeringBegan = await answeringTime(pid);
  const round = await load(subject, seconds);
  await settle();
  const ended = await cpuTimes(pid, db);
  const answeringMs = ((await answeringTime(pid)) - answeringBegan) / round.requests;
  const nodeMs = ((ended.get(pid) ?? 0) - (began.get(pid) ?? 0)) / round.requests;
  return { ...round, nodeMs, answeringMs, postgresMs: cpuUsed(began, ended) / round.requests - nodeMs };
}

function changesOf({ name, flow }: Subject, now: CostlyRound[], before: CostlyRound[]): Change[] {
  const change = (what: string, figure: (round: CostlyRound) => number): Change => {
    const ratios = now.map((round, index) => figure(round) / figure(before[index]!));
    return {
      name: `${name}: ${what}`,
      now: median(now.map(figure)),
      before: median(before.map(figure)),
      ratio: median(ratios),
      spread: [Math.min(...ratios), Math.max(...ratios)],
    };
  };
  const isCpuKnown = process.platform === 'linux';
  return [
    change('requests a second', ({ requestsPerSecond }) => requestsPerSecond),
    change('p95, ms', ({ p95Ms }) => p95Ms),
    ...(flow ?? []).map((step) => change(`p95 of ${step.name}, ms`, ({ stepMs }) => stepMs![step.name]!.p95)),
    ...(isCpuKnown ? [change('CPU of Node per request, ms', ({ nodeMs }) => nodeMs)] : []),
    ...(isCpuKnown
      ? [change('CPU of the thread that answers per request, ms', ({ answeringMs }) => answeringMs)]
      : []),
    ...(isCpuKnown ? [change('CPU of PostgreSQL per request, ms', ({ postgresMs }) => postgresMs)] : []),
  ];
}

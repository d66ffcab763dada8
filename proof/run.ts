/**
 * `npm run proof [-- --only NAME,NAME] [-- --scale 0.1] [-- --list]`: what must hold in a shop whatever happens at
 * the same moment, tried out on the real service over HTTP: nothing is sold twice, no coupon is redeemed too often,
 * no order is lost, not even by kill -9. Needs nothing but `npm ci`; listens on 127.0.0.1 only; takes minutes.
 * `KONTOR_TEST_CITUS_URL` runs it on a cluster; the check `worker` needs one, see docs/operations/citus.md.
 */
import { parseArgs } from 'node:util';
import { endEverything, endOnSignals } from '../bench/processes.ts';
import { duration } from '../src/commands/progress.ts';
import { backorders } from './backorders.ts';
import { bundles } from './bundles.ts';
import { coupon } from './coupon.ts';
import { crash } from './crash.ts';
import { giftCards } from './gift-cards.ts';
import { events } from './events.ts';
import { hostLife } from './host-life.ts';
import { licenceKeys } from './licence-keys.ts';
import { oneOrder } from './one-order.ts';
import { opposite } from './opposite.ts';
import { oversell } from './oversell.ts';
import { payments } from './payments.ts';
import { race } from './race.ts';
import { startProofService, type ProofService } from './service.ts';
import { staff } from './staff.ts';
import { Refuted, type Check } from './stage.ts';
import { totals } from './totals.ts';
import { worker } from './worker.ts';

const CHECKS: Check<ProofService>[] = [
  oversell,
  opposite,
  bundles,
  backorders,
  coupon,
  giftCards,
  licenceKeys,
  oneOrder,
  race,
  crash,
  events,
  payments,
  totals,
  staff,
  hostLife,
  worker,
];
const ENDS_WITHIN = 20 * 60_000;

const HELP = `Usage: npm run proof [-- OPTIONS]

  --only NAME[,NAME]  only these checks
  --scale NUMBER      sizes of the full run times this, above 0 (default 1)
  --list              say what is checked, and end
  --help              this text
`;

const say = (text: string) => process.stdout.write(`${text}\n`);

process.exitCode = await main(process.argv.slice(2));

async function main(words: string[]): Promise<number> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions(words);
  } catch (error) {
    process.stderr.write(`proof: ${(error as Error).message}\n${HELP}`);
    return 2;
  }
  const { checks, scale, isHelp, isList } = options;
  if (isHelp) process.stdout.write(HELP);
  else if (isList) for (const { name, summary } of CHECKS) say(`${name.padEnd(10)} ${summary}`);
  else return (await prove(checks, scale)) ? 0 : 1;
  return 0;
}

function readOptions(words: string[]) {
  const { values } = parseArgs({
    args: words,
    options: {
      only: { type: 'string' },
      scale: { type: 'string', default: '1' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const scale = Number(values.scale);
  if (!(scale > 0 && scale <= 100)) throw new Error('--scale needs a number above 0 and up to 100');
  const names = values.only?.split(',') ?? CHECKS.map(({ name }) => name);
  const unknown = names.find((wanted) => !CHECKS.some(({ name }) => name === wanted));
  if (unknown !== undefined) throw new Error(`there is no check ${JSON.stringify(unknown)}, see --list`);
  const checks = CHECKS.filter(({ name }) => names.includes(name));
  return { checks, scale, isHelp: values.help, isList: values.list };
}

/** Whether all of them hold. Ends what it has started, also when it is interrupted. */
async function prove(checks: readonly Check<ProofService>[], scale: number): Promise<boolean> {
  const possible = checks.filter(isPossible);
  if (possible.length === 0) return true;
  const isInterrupted = endOnSignals();
  try {
    const service = await startProofService(scale);
    let doAllHold = true;
    for (const check of possible) {
      const holds = await holdsIn(service, check, isInterrupted);
      doAllHold &&= holds;
    }
    return doAllHold;
  } finally {
    await endEverything();
  }
}

/** Says what is missing, if anything is. */
function isPossible({ name, skip }: Check<ProofService>): boolean {
  const missing = skip?.();
  if (missing !== undefined) say(`skip ${name}: ${missing}`);
  return missing === undefined;
}

/** Says in one line whether it holds. */
async function holdsIn(
  service: ProofService,
  { name, run, endsWithin = ENDS_WITHIN }: Check<ProofService>,
  isInterrupted: () => boolean,
): Promise<boolean> {
  const began = performance.now();
  const seconds = () => duration(performance.now() - began);
  try {
    const seen = await inTime(run(service), endsWithin);
    say(`ok   ${name}: ${seen} (${seconds()})`);
    return true;
  } catch (error) {
    // When its service is ended, a check fails: that is no news.
    if (isInterrupted()) return false;
    say(`FAIL ${name}: ${(error as Error).message} (${seconds()})`);
    if (!(error instanceof Refuted)) process.stderr.write(`${(error as Error).stack}\n`);
    process.stderr.write(`The service's last words:\n${await service.lastWords()}\n`);
    return false;
  }
}

async function inTime<Result>(work: Promise<Result>, limit: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Refuted(`not done within ${duration(limit)}`)), limit);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

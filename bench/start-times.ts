import { mkdtemp, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attachEmbedded } from '../src/db/embedded.ts';
import { atEnd, startServer } from './processes.ts';

export interface StartTimes {
  firstStartMs: number;
  restartMs: number[];
  idleMegabytes: number;
}

const IDLE_AFTER = 10_000;

/** The service as a newcomer runs it: on an empty folder, with its embedded database. */
export async function measureStarts(
  installation: string,
  workFolder: string,
  restarts: number,
): Promise<StartTimes> {
  const data = await mkdtemp(path.join(workFolder, 'data-'));
  const start = () =>
    startServer({
      name: 'Kontor',
      words: ['bin/kontor.js', 'serve'],
      folder: installation,
      environment: { KONTOR_DATA: data },
      logFile: path.join(workFolder, 'start.log'),
      probe: '/rs/shops/DemoShop/currencies',
    });
  // A Kontor that had to be killed leaves its PostgreSQL running, which is stopped here.
  atEnd(() => attachEmbedded(data, { log: () => {} }).then((embedded) => embedded.stop()));
  let server = await start();
  const firstStartMs = server.startMs;
  const restartMs: number[] = [];
  for (let count = 0; count < restarts; count++) {
    await server.stop();
    server = await start();
    restartMs.push(server.startMs);
  }
  await sleep(IDLE_AFTER - server.startMs);
  const idleMegabytes = await residentMegabytes(server.pid);
  await server.stop();
  return { firstStartMs, restartMs, idleMegabytes };
}

export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
}

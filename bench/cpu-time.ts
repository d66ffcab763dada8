import { readdir, readFile } from 'node:fs/promises';
import type { Database } from '../src/db/database.ts';

/** Clock ticks of Linux on every machine that Node runs on. */
const TICK_MS = 10;

/** Milliseconds of CPU by process. */
export type CpuTimes = ReadonlyMap<number, number>;

/** Of the server, with the processes that it has started, and of the connections of PostgreSQL; empty without /proc. */
export async function cpuTimes(serverPid: number, db: Database): Promise<CpuTimes> {
  if (process.platform !== 'linux') return new Map();
  const { rows } = await db.pool.query<{ pid: number }>(
    "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
  );
  const times = await Promise.all(rows.map(async ({ pid }) => [pid, await timeOf(pid)] as const));
  const ofServer = await Promise.all([serverPid, ...(await childrenOf(serverPid))].map(timeOf));
  return new Map([...times, [serverPid, ofServer.reduce((sum, time) => sum + time, 0)]]);
}

/** The processes that serve, where PROCESSES is more than one. */
export async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

/** Megabytes that a server takes alone, and its part of what its processes share. */
export async function megabytesOf(serverPid: number): Promise<number> {
  const kilobytes = await Promise.all(
    [serverPid, ...(await childrenOf(serverPid))].map(async (pid) => {
      const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
      return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    }),
  );
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024;
}

/** What was used in between, whatever else the machine was doing. A connection that has ended meanwhile is not counted. */
export function cpuUsed(before: CpuTimes, after: CpuTimes): number {
  return [...after].reduce((sum, [pid, time]) => sum + time - (before.get(pid) ?? 0), 0);
}

/** Of the thread of the server that answers requests; 0 where there is no /proc. */
export function answeringTime(serverPid: number): Promise<number> {
  return timeIn(`/proc/${serverPid}/task/${serverPid}/stat`);
}

const timeOf = (pid: number) => timeIn(`/proc/${pid}/stat`);

/** A connection that has ended counts nothing. */
async function timeIn(file: string): Promise<number> {
  const stat = await readFile(file, 'utf8').catch(() => '');
  // Behind the name, which may have blanks in it, stands the state.
  const [, , , , , , , , , , , user = 0, system = 0] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(user) + Number(system)) * TICK_MS;
}

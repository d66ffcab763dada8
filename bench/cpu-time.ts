import { readFile } from 'node:fs/promises';
import type { Database } from '../src/db/database.ts';

/** Clock ticks of Linux on every machine that Node runs on. */
const TICK_MS = 10;

/**
 * Milliseconds of CPU that the server and the connections of PostgreSQL have used: what does not depend on other programs.
 * NaN where there is no /proc.
 */
export async function cpuTime(serverPid: number, db: Database): Promise<number> {
  if (process.platform !== 'linux') return Number.NaN;
  const { rows } = await db.pool.query<{ pid: number }>(
    "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
  );
  const times = await Promise.all([serverPid, ...rows.map(({ pid }) => pid)].map(timeOf));
  return times.reduce((sum, time) => sum + time, 0);
}

/** A connection that has ended counts nothing. */
async function timeOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // Behind the name, which may have blanks in it, stands the state.
  const [, , , , , , , , , , , user = 0, system = 0] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(user) + Number(system)) * TICK_MS;
}

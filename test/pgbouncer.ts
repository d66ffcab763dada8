import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { runAs, serverAccount } from '../src/db/embedded-account.ts';
import type { Connection } from './cluster.ts';
import { waitFor } from './process.ts';

const pidFile = (folder: string) => path.join(folder, 'pgbouncer/pgbouncer.pid');

/** Whether the tests run through PgBouncer: `KONTOR_TEST_PGBOUNCER=1 npm test`. It must be installed. */
export const IS_POOLED = process.env['KONTOR_TEST_PGBOUNCER'] === '1';

const PORT = 6432;

/**
 * Starts PgBouncer in transaction mode in front of the server. It listens on a socket in the folder only. As root it runs
 * as the user of PostgreSQL, because it refuses to run as root, and because the socket of the server is that user's.
 */
export async function startPgbouncer(
  folder: string,
  { host, port = 5432, user }: Connection,
): Promise<{ connection: Connection; stop: () => Promise<void> }> {
  const account = await serverAccount(path.join(folder, 'postgres'));
  const home = path.join(folder, 'pgbouncer');
  await mkdir(home);
  if (account) await chown(home, account.uid, account.gid);
  const settings = path.join(home, 'pgbouncer.ini');
  await writeFile(
    settings,
    `[databases]
* = host=${host} port=${port} user=${user}

[pgbouncer]
listen_addr =
listen_port = ${PORT}
unix_socket_dir = ${home}
auth_type = any
pool_mode = transaction
default_pool_size = 8
max_client_conn = 2000
; A test file leaves its database, and its connections are needed by the next one.
server_idle_timeout = 5
; Otherwise PgBouncer keeps whoever asks for a database that is away waiting for two minutes.
query_wait_timeout = 10
logfile = ${path.join(home, 'pgbouncer.log')}
pidfile = ${pidFile(folder)}
`,
  );
  const child = spawn('pgbouncer', ['-q', settings], {
    env: { PATH: `${process.env['PATH']}:/usr/sbin` },
    stdio: ['ignore', 'ignore', 'inherit'],
    ...runAs(account),
  });
  const ended = once(child, 'exit');
  const connection = { host: home, port: PORT, ...(user !== undefined && { user }) };
  await waitFor(() => isAnswering(connection));
  return {
    connection,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Ends the PgBouncer of a run that was killed. */
export async function endForgottenPgbouncer(folder: string): Promise<void> {
  const pid = await readFile(pidFile(folder), 'utf8').catch(() => '');
  // The number may be another process's by now.
  const command = await readFile(`/proc/${pid.trim()}/cmdline`, 'utf8').catch(() => '');
  if (command.includes(folder)) process.kill(Number(pid), 'SIGTERM');
}

async function isAnswering(connection: Connection): Promise<boolean> {
  const client = new pg.Client({ ...connection, database: 'postgres' });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}

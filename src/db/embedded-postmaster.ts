import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientConfig, DatabaseError } from 'pg';
import { errorCode, statIfThere } from './embedded-account.ts';
import { giveTo, rotateLog, socketFolder } from './embedded-folders.ts';
import {
  type EmbeddedCluster,
  explainProgramFailure,
  isAlive,
  PASSWORD_FILE,
  program,
  run,
  surroundings,
} from './embedded-init.ts';

/** Where a server listens: the folder of its socket, or 127.0.0.1 on Windows. */
export interface ServerAddress {
  host: string;
  port: number;
}

export interface ServerConnection {
  client: Client;
  address: ServerAddress;
  /** Whether this call has started the server. */
  launched: boolean;
}

const SERVER_SETTINGS: Record<string, string> = {
  max_connections: '100',
  shared_buffers: '128MB',
  max_wal_size: '512MB',
  // Compilation pays off for long reports; here it would cost more than the queries do.
  jit: 'off',
  // Most reads hit the memory of the system already, and I/O processes take processors from the service.
  io_method: 'sync',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Errors of statements reach the service, which logs them; here they would fill the disk, with customers' data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
};

/** How `pg` connects. `ssl` is set so that PGSSLMODE in the environment does not reach a local socket. */
export async function connectionTo(
  cluster: EmbeddedCluster,
  address: ServerAddress,
  applicationName: string,
): Promise<ClientConfig> {
  const connection: ClientConfig = {
    ...address,
    user: 'kontor',
    database: 'kontor',
    application_name: applicationName,
    ssl: false,
  };
  const passwordFile = path.join(cluster.pgdata, PASSWORD_FILE);
  if (await statIfThere(passwordFile)) connection.password = await readFile(passwordFile, 'utf8');
  return connection;
}

const CLEARS_UP_WITHIN = 10_000;
const RECOVERS_WITHIN = 5 * 60_000;

/**
 * Connects to the server of the folder, and starts the server if there is none. It finds out by connecting: the number
 * in `postmaster.pid` may be stale, or belong to another container.
 */
export async function connectOrLaunch(
  cluster: EmbeddedCluster,
  applicationName: string,
  usual?: ServerAddress,
): Promise<ServerConnection> {
  const began = Date.now();
  let launched = false;
  for (;;) {
    const found = await connectRunning(cluster, applicationName);
    if (typeof found === 'object') return { ...found, launched };
    const waited = Date.now() - began;
    if (found === 'absent') {
      // Made even if there is a usual one: a clean-up of the temporary folder may have removed the socket's.
      const fresh = await freshAddress(cluster);
      const problem = await launch(cluster, usual ?? fresh);
      launched = problem === undefined;
      if (launched) continue;
      // After a kill -9 of everything the remains need a moment to go; no other problem improves by waiting.
      const passing = /lock file|shared memory|Address already in use/.test(problem ?? '');
      if (!passing || waited > CLEARS_UP_WITHIN) {
        throw new Error(`PostgreSQL does not start in ${cluster.pgdata}: ${problem}`);
      }
    } else if (waited > RECOVERS_WITHIN) {
      throw new Error(
        `PostgreSQL in ${cluster.pgdata} runs but accepts no connections: see ${logFile(cluster)}.`,
      );
    }
    await sleep(100);
  }
}

type Found = { client: Client; address: ServerAddress } | 'busy' | 'absent';

async function connectRunning(cluster: EmbeddedCluster, applicationName: string): Promise<Found> {
  const address = (await readPidFile(cluster.pgdata))?.address;
  if (!address) return 'absent';
  const connection = await connectionTo(cluster, address, applicationName);
  const client = new Client({ ...connection, connectionTimeoutMillis: 5000 });
  // Without a listener the end of the server would end this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return { client, address };
  } catch (error) {
    const code = errorCode(error);
    // 57P..: it is starting or shutting down. 53300: all connections are taken.
    if (code?.startsWith('57P') || code === '53300') return 'busy';
    if (code === 'EACCES' || error instanceof DatabaseError) throw error;
    return 'absent';
  }
}

interface PidFile {
  pid: number;
  address: ServerAddress | undefined;
  ready: boolean;
}

/** `postmaster.pid`, whose lines PostgreSQL describes in pidfile.h. It is written bit by bit. */
export async function readPidFile(pgdata: string): Promise<PidFile | undefined> {
  const text = await readFile(path.join(pgdata, 'postmaster.pid'), 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  });
  const [pid, , , port, socket, listens, , status] = text.split('\n').map((line) => line.trim());
  if (!pid) return undefined;
  const host = socket || listens;
  return {
    pid: Number(pid),
    address: host && port ? { host, port: Number(port) } : undefined,
    ready: status === 'ready',
  };
}

async function freshAddress({ pgdata, account }: EmbeddedCluster): Promise<ServerAddress> {
  if (process.platform === 'win32') return { host: '127.0.0.1', port: await freePort() };
  // The port is only part of the socket's name.
  return { host: await socketFolder(pgdata, account), port: 5432 };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('No free port on 127.0.0.1.');
  return address.port;
}

/** Returns when the server is ready, or with the reason why it has ended. */
async function launch(cluster: EmbeddedCluster, address: ServerAddress): Promise<string | undefined> {
  await giveTo(cluster.pgdata, cluster.account);
  await removeForeignPidFile(cluster.pgdata);
  await rotateLog(logFile(cluster));
  const output = await open(logFile(cluster), 'a+', 0o600);
  try {
    const { size } = await output.stat();
    // Its own process group and no pipe to us: Ctrl-C is ours to handle, and it survives our end.
    const child = spawn(program(cluster, 'postgres'), await serverArguments(cluster, address), {
      ...surroundings(cluster),
      detached: true,
      windowsHide: true,
      stdio: ['ignore', output.fd, output.fd],
    });
    await once(child, 'spawn').catch(async (error: unknown) => {
      throw await explainProgramFailure(cluster, 'postgres', error);
    });
    child.unref();
    cluster.onLaunch();
    while (child.exitCode === null && child.signalCode === null) {
      const file = await readPidFile(cluster.pgdata);
      if (file?.pid === child.pid && file?.ready) return undefined;
      await sleep(10);
    }
    const { buffer, bytesRead } = await output.read({ buffer: Buffer.alloc(4096), position: size });
    return reasonIn(buffer.toString('utf8', 0, bytesRead)) || `see ${logFile(cluster)}.`;
  } finally {
    await output.close();
  }
}

function reasonIn(output: string): string {
  const lines = output.match(/(?:FATAL|PANIC|HINT|DETAIL): .*/g) ?? [];
  return lines.map((line) => line.replace(/\s+/g, ' ')).join(' ');
}

async function serverArguments(cluster: EmbeddedCluster, { host, port }: ServerAddress): Promise<string[]> {
  const overTcp = process.platform === 'win32';
  const settings: Record<string, string> = {
    ...SERVER_SETTINGS,
    listen_addresses: overTcp ? host : '',
    // A list: quoted, a folder may have a comma in its name.
    unix_socket_directories: overTcp ? '' : `"${host.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    ...(await statementStatistics(cluster)),
    ...cluster.settings,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return ['-D', cluster.pgdata, '-p', String(port), ...options];
}

async function statementStatistics({ binaries }: EmbeddedCluster): Promise<Record<string, string>> {
  const extensions = path.join(binaries.native, 'share/postgresql/extension');
  const available = await statIfThere(path.join(extensions, 'pg_stat_statements.control'));
  return available ? { shared_preload_libraries: 'pg_stat_statements' } : {};
}

/**
 * Process ids repeat from one run of a container to the next. PostgreSQL takes any living process of its user with
 * that id for its predecessor and would never start again. A second server on the folder is still impossible:
 * PostgreSQL also checks what is attached to the folder's shared memory.
 */
async function removeForeignPidFile(pgdata: string): Promise<void> {
  const pid = (await readPidFile(pgdata))?.pid;
  if (pid === undefined || !(await isForeign(pid))) return;
  await rm(path.join(pgdata, 'postmaster.pid'), { force: true });
}

/** Only Linux can tell without another program; elsewhere the answer is no. */
async function isForeign(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command !== '' && !path.basename(command.split('\0')[0] ?? '').startsWith('postgres');
}

const STOPS_WITHIN = 60_000;

/** A fast shutdown: ends the connections, writes everything out, returns when the server is gone. */
export async function stopPostmaster(cluster: EmbeddedCluster): Promise<void> {
  const pid = (await readPidFile(cluster.pgdata))?.pid;
  if (pid === undefined || !isAlive(pid) || (await isForeign(pid))) return;
  if (process.platform === 'win32') {
    await run(cluster, 'pg_ctl', ['stop', '-D', cluster.pgdata, '-m', 'fast', '-w']);
    return;
  }
  // Not by pg_ctl: a second Ctrl-C would end it and not the server.
  process.kill(pid, 'SIGINT');
  if (await hasGone(cluster, pid, STOPS_WITHIN)) return;
  cluster.log(
    `PostgreSQL (process ${pid}) does not end: ending it at once, it recovers with the next start.`,
  );
  process.kill(pid, 'SIGQUIT');
  await hasGone(cluster, pid, STOPS_WITHIN);
}

async function hasGone({ pgdata }: EmbeddedCluster, pid: number, within: number): Promise<boolean> {
  const deadline = Date.now() + within;
  while ((await readPidFile(pgdata))?.pid === pid && isAlive(pid)) {
    if (Date.now() > deadline) return false;
    await sleep(10);
  }
  // The file goes a little before the process does.
  for (let left = 100; left > 0 && isAlive(pid); left--) await sleep(10);
  return true;
}

function logFile({ dataFolder }: EmbeddedCluster): string {
  return path.join(dataFolder, 'postgres.log');
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, PoolConfig } from 'pg';
import { openDataFolder } from './data-folder.ts';
import { serverAccount } from './embedded-account.ts';
import { packageFolder, usableBinaries } from './embedded-binaries.ts';
import { pgdataFolder, SYSTEM_FOLDER } from './embedded-folders.ts';
import { type EmbeddedCluster, initialise } from './embedded-init.ts';
import {
  connectionTo,
  connectOrLaunch,
  type ServerConnection,
  stopPostmaster,
} from './embedded-postmaster.ts';

export interface EmbeddedServer {
  /** How `pg` connects: socket folder as host, database `kontor`, user `kontor`. On Windows: 127.0.0.1 and a port. */
  connection: PoolConfig;
  /** Stops PostgreSQL cleanly (fast shutdown, waits) if this process owns it. End the pools first. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  log: (line: string) => void;
  /** Further settings of PostgreSQL, such as `fsync: 'off'` for tests. */
  settings?: Record<string, string>;
  /** Called when a program of PostgreSQL has been started, which needs this process no more until it is ready. */
  onLaunch?: () => void;
}

/** Another process owns the folder; the message says which one and what to do. */
export class FolderInUse extends Error {
  override name = 'FolderInUse';
}

/** For the service: the exclusive owner of the folder, which restarts PostgreSQL should it end by itself. */
export async function startEmbedded(dataFolder: string, options: EmbeddedOptions): Promise<EmbeddedServer> {
  const cluster = await openCluster(dataFolder, options);
  const name = `kontor serve ${process.pid}`;
  const session = await takeOwnership(cluster, name);
  if (!session.launched) options.log(`PostgreSQL was still running in ${cluster.pgdata}: going on with it.`);
  // Watched before anything else is awaited, so that no exit goes unnoticed.
  const stop = keepOwning(cluster, name, session);
  return { connection: await connectionTo(cluster, session.address, name), stop };
}

/**
 * For the command line: uses the running server of the folder, or starts one temporarily. The last command to leave a
 * server that no service owns stops it.
 */
export async function attachEmbedded(dataFolder: string, options: EmbeddedOptions): Promise<EmbeddedServer> {
  const cluster = await openCluster(dataFolder, options);
  const name = `kontor command ${process.pid}`;
  const session = await joinServer(cluster, name);
  let stopped: Promise<void> | undefined;
  return {
    connection: await connectionTo(cluster, session.address, name),
    stop: () => (stopped ??= leaveServer(cluster, name, session.client)),
  };
}

async function openCluster(
  dataFolder: string,
  { log, settings = {}, onLaunch = () => {} }: EmbeddedOptions,
): Promise<EmbeddedCluster> {
  const installed = packageFolder();
  const folder = await openDataFolder(dataFolder);
  const account = await serverAccount(`${folder}/postgres`);
  const pgdata = await pgdataFolder(folder, account, log);
  const copyHomes = account ? [SYSTEM_FOLDER, folder] : [folder];
  const binaries = await usableBinaries(installed, account, copyHomes, log);
  const cluster = { dataFolder: folder, pgdata, binaries, account, settings, log, onLaunch };
  await initialise(cluster);
  return cluster;
}

/*
 * Advisory locks in the database of a folder show its owner; they end with the process that holds them. They are sound
 * here, unlike elsewhere: an embedded database is always one server.
 */
const LOCKS = 0x6b6f6e74;
/** Held by the service, or by a command while no service runs. */
const OWNER = 1;
/** Shared by the commands that use the server; a process that holds it alone may stop the server. */
const PRESENT = 2;

const WAIT_FOR_SERVICE = 3_000;
const WAIT_FOR_COMMAND = 10_000;

async function takeOwnership(
  cluster: EmbeddedCluster,
  name: string,
  known?: ServerConnection,
): Promise<ServerConnection> {
  const began = Date.now();
  let session = await connectOrLaunch(cluster, name, known?.address);
  for (;;) {
    const holder = await ownOrHolder(session.client);
    if (holder === 'me') return session;
    if (holder === 'server gone') {
      session = await connectOrLaunch(cluster, name, known?.address);
      continue;
    }
    // A service that was killed just now may still seem connected; a command ends soon by itself.
    const patience = holder.startsWith('kontor command') ? WAIT_FOR_COMMAND : WAIT_FOR_SERVICE;
    if (Date.now() - began > patience) {
      await session.client.end();
      throw folderInUse(cluster.dataFolder, holder);
    }
    await sleep(100);
  }
}

function folderInUse(folder: string, holder: string): FolderInUse {
  const [, kind, pid] = holder.split(' ');
  const who = kind === 'command' ? 'a kontor command' : 'another Kontor';
  return new FolderInUse(
    `The data folder ${folder} is in use by ${who} (process ${pid ?? 'unknown'}): stop that one first, or choose another folder with KONTOR_DATA.`,
  );
}

async function ownOrHolder(client: Client): Promise<string> {
  try {
    if (await lockIsFree(client, OWNER)) return 'me';
    const { rows } = await client.query<{ holder: string }>(
      `select application_name as holder
         from pg_locks join pg_stat_activity using (pid)
        where locktype = 'advisory' and classid = $1 and objid = $2 and granted
          and database = (select oid from pg_database where datname = current_database())`,
      [LOCKS, OWNER],
    );
    return rows[0]?.holder ?? '';
  } catch {
    return 'server gone';
  }
}

/** Takes the lock if it is free. */
async function lockIsFree(client: Client, lock: number): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1, $2) as taken', [
    LOCKS,
    lock,
  ]);
  return rows[0]?.taken === true;
}

const MAX_PAUSE = 5_000;

/** Watches the connection that holds the lock: it ends with PostgreSQL. Returns a stop function. */
function keepOwning(cluster: EmbeddedCluster, name: string, first: ServerConnection): () => Promise<void> {
  const stopping = new AbortController();
  let owned: ServerConnection | undefined;
  let recovery: Promise<void> = Promise.resolve();
  let stopped: Promise<void> | undefined;

  function watch(session: ServerConnection): void {
    owned = session;
    session.client.once('end', () => {
      owned = undefined;
      if (!stopping.signal.aborted) recovery = recover();
    });
  }

  async function recover(): Promise<void> {
    cluster.log('The connection to PostgreSQL ended unexpectedly: starting it again.');
    for (let pause = 100; !stopping.signal.aborted; pause = Math.min(pause * 2, MAX_PAUSE)) {
      try {
        watch(await takeOwnership(cluster, name, first));
        cluster.log('PostgreSQL is back.');
        return;
      } catch (error) {
        cluster.log(`PostgreSQL is not back yet: ${String(error)}`);
        await sleep(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }

  async function stop(): Promise<void> {
    stopping.abort();
    await recovery;
    // The lock is held until the server has gone: a waiting process must not get a server that is about to end.
    const session = owned;
    if (session) await stopPostmaster(cluster);
    await session?.client.end();
  }

  watch(first);
  return () => (stopped ??= stop());
}

async function joinServer(cluster: EmbeddedCluster, name: string): Promise<ServerConnection> {
  for (;;) {
    const session = await connectOrLaunch(cluster, name);
    try {
      // Waits while a command that leaves is stopping the server, and then fails.
      await session.client.query('select pg_advisory_lock_shared($1, $2)', [LOCKS, PRESENT]);
      await lockIsFree(session.client, OWNER);
      return session;
    } catch {
      await session.client.end();
    }
  }
}

async function leaveServer(cluster: EmbeddedCluster, name: string, client: Client): Promise<void> {
  try {
    if (await isLast(client, name)) await stopPostmaster(cluster);
  } catch (error) {
    cluster.log(`PostgreSQL could not be left in order: ${String(error)}`);
  }
  await client.end();
}

/**
 * Whether no other process uses the server or waits for it. Of two commands that leave at the same moment, one gets
 * the lock of those present, and then waits for the connection of the other to end.
 */
async function isLast(client: Client, name: string): Promise<boolean> {
  await client.query('select pg_advisory_unlock_shared($1, $2)', [LOCKS, PRESENT]);
  // A command that is still present checks again when it leaves.
  if (!(await lockIsFree(client, PRESENT))) return false;
  for (let patience = 40; patience > 0; patience--) {
    const others = await othersOf(client, name);
    if (others.length === 0) return true;
    // A service that waits for us, or a person with psql, also keeps the server running. An owner without a name has
    // just gone.
    if (!others.every((other) => other === '' || other.startsWith('kontor command'))) return false;
    await sleep(25);
  }
  return false;
}

/** The owner of the server, if it is another process, and the connected clients. */
async function othersOf(client: Client, name: string): Promise<string[]> {
  const owner = await ownOrHolder(client);
  const { rows } = await client.query<{ other: string }>(
    `select application_name as other from pg_stat_activity
      where backend_type = 'client backend' and application_name <> $1`,
    [name],
  );
  return [...(owner === 'me' ? [] : [owner]), ...rows.map(({ other }) => other)];
}

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFile,
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type PoolConfig, type QueryResultRow } from 'pg';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { newOpenFolder } from '../../test/folder.ts';
import { type SystemAccount, accountsOf, runAs, serverAccount } from './embedded-account.ts';
import { packageFolder, usableBinaries } from './embedded-binaries.ts';
import { rotateLog, socketFolder } from './embedded-folders.ts';
import { isAlive } from './embedded-init.ts';
import { readPidFile } from './embedded-postmaster.ts';
import { attachEmbedded, type EmbeddedServer, FolderInUse, startEmbedded } from './embedded.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

// Running as another user is only needed, and only possible, when we are root.
const asRoot = process.getuid?.() === 0;
// These tests look at /proc, at modes of files or at sockets, which other systems have not or have otherwise.
const onLinux = process.platform === 'linux';
const fast = { log: () => undefined, settings: { fsync: 'off' } };

const folders: string[] = [];
const servers: EmbeddedServer[] = [];
const children: ChildProcess[] = [];

async function newFolder(): Promise<string> {
  const folder = await newOpenFolder();
  folders.push(folder);
  return folder;
}

/** With a database that nobody has used: a copy, because making one takes four times as long as starting it. */
async function newDatabaseFolder(): Promise<string> {
  const folder = await newFolder();
  await addDatabase(folder);
  return folder;
}

async function addDatabase(folder: string): Promise<void> {
  database ??= newFolder().then(async (made) => {
    await (await startEmbedded(made, fast)).stop();
    return made;
  });
  // With the owners of the files, because PostgreSQL refuses a folder that is not its own.
  execFileSync('cp', ['-a', `${await database}/.`, folder]);
}

let database: Promise<string> | undefined;

async function started(server: Promise<EmbeddedServer>): Promise<EmbeddedServer> {
  servers.push(await server);
  return server;
}

async function query<Row extends QueryResultRow>(connection: PoolConfig, text: string): Promise<Row[]> {
  const client = new Client(connection);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

async function postmasterOf(dataFolder: string): Promise<number> {
  const pid = (await readPidFile(path.join(dataFolder, 'postgres')))?.pid;
  if (pid === undefined) throw new Error(`no server runs in ${dataFolder}`);
  return pid;
}

/** What other processes run: in a whole run the compiled program, which Node loads without a compiler. */
const [PROGRAM, MODULE, LOADER] =
  process.env['KONTOR_TEST_COMPILED'] === undefined
    ? [import.meta.dirname, 'embedded.ts', ['--import', 'tsx']]
    : [path.join(import.meta.dirname, '../../compiled/db'), 'embedded.js', []];

/**
 * A process of its own that starts the server and says so in lines of JSON. As another user it needs a copy of the
 * source that this user can read, and changes to that user only when Node and its packages are loaded: root's home
 * folder, where many people clone, is closed to all others.
 */
function otherProcess(
  dataFolder: string,
  call: 'startEmbedded' | 'attachEmbedded',
  { account, source = PROGRAM }: { account?: SystemAccount; source?: string } = {},
): { process: ChildProcess; says: Promise<Said> } {
  const become = account
    ? `process.setgroups([]); process.setgid(${account.gid}); process.setuid(${account.uid});`
    : '';
  const code = `
    const { ${call} } = await import(${JSON.stringify(path.join(source, MODULE))});
    ${become}
    try {
      const { connection } = await ${call}(${JSON.stringify(dataFolder)}, { log: () => {}, settings: { fsync: 'off' } });
      console.log(JSON.stringify({ connection }));
      process.stdin.resume();
    } catch (error) {
      console.log(JSON.stringify({ name: error.name, message: error.message }));
    }`;
  const args = [...LOADER, '--input-type=module', '--eval', code];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const says = once(createInterface(child.stdout), 'line').then(([line]) => JSON.parse(line) as Said);
  return { process: child, says };
}

interface Said {
  connection?: PoolConfig;
  name?: string;
  message?: string;
}

async function waitUntil(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await sleep(10);
}

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const server of servers.splice(0)) await server.stop();
});

afterAll(async () => {
  for (const folder of folders) {
    const pid = (await readPidFile(path.join(folder, 'postgres')).catch(() => undefined))?.pid;
    if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGQUIT');
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
});

describe('a server of its own', () => {
  test('starts on an empty folder, keeps what was written, and leaves nothing running', async () => {
    const folder = path.join(await newFolder(), 'data');
    const lines: string[] = [];
    const first = await started(startEmbedded(folder, { log: (line) => lines.push(line) }));
    expect(lines).toEqual([`Creating the database in ${folder}/postgres.`]);
    expect(first.connection).toMatchObject({ user: 'kontor', database: 'kontor' });
    await query(first.connection, 'create table kept (n int)');
    await query(first.connection, 'insert into kept values (7)');
    const pid = await postmasterOf(folder);
    await first.stop();
    await first.stop();
    expect(isAlive(pid)).toBe(false);
    expect(await readPidFile(path.join(folder, 'postgres'))).toBeUndefined();
    expect(await readdir(folder)).toEqual(['postgres', 'postgres.log']);

    const again = await started(startEmbedded(folder, { log: (line) => lines.push(line) }));
    expect(await query(again.connection, 'select n from kept')).toEqual([{ n: 7 }]);
    expect(lines).toHaveLength(1);
    expect(await readFile(path.join(folder, 'postgres.log'), 'utf8')).not.toContain('not properly shut down');
  });

  test('is durable, quiet and reachable by its socket alone', async () => {
    const folder = await newDatabaseFolder();
    const { connection } = await started(startEmbedded(folder, { log: () => undefined }));
    const [row] = await query<{ settings: object }>(
      connection,
      `select json_object_agg(name, setting) as settings from pg_settings
        where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums', 'listen_addresses', 'jit',
                       'io_method', 'TimeZone', 'shared_preload_libraries', 'max_connections', 'server_encoding')`,
    );
    expect(row?.settings).toEqual({
      fsync: 'on',
      full_page_writes: 'on',
      synchronous_commit: 'on',
      data_checksums: 'on',
      listen_addresses: process.platform === 'win32' ? '127.0.0.1' : '',
      jit: 'off',
      io_method: 'sync',
      TimeZone: 'UTC',
      shared_preload_libraries: 'pg_stat_statements',
      max_connections: '100',
      server_encoding: 'UTF8',
    });
    await expect(query(connection, `select 'secret of a customer'::int`)).rejects.toThrow('invalid input');
    expect(await readFile(path.join(folder, 'postgres.log'), 'utf8')).not.toContain('secret');
  });

  test.runIf(onLinux)('is closed to other users', async () => {
    const folder = await newDatabaseFolder();
    await started(startEmbedded(folder, fast));
    const pgdata = path.join(folder, 'postgres');
    expect((await stat(pgdata)).mode & 0o777).toBe(0o700);
    expect((await stat(path.join(pgdata, '.s.PGSQL.5432'))).mode & 0o777).toBe(0o700);
    expect((await readFile(path.join(pgdata, 'pg_hba.conf'), 'utf8')).match(/^host.*/gm)).toEqual(
      Array.from({ length: 4 }, () => expect.stringMatching(/reject$/)),
    );
  });

  test('knows letters beyond ASCII, whatever the locale of the system', async () => {
    const { connection } = await started(startEmbedded(await newDatabaseFolder(), fast));
    await query(connection, 'create extension pg_trgm');
    await query(connection, 'create extension unaccent');
    const rows = await query(
      connection,
      `select to_tsvector('german', '„Öl“ – Äpfel')::text as words, cardinality(show_trgm('Öl')) as trigrams,
              lower('ÄÉ') as lower, unaccent('Crème') as plain, array_to_string(array['ä', 'z', 'a'], '') < 'b' as sorts`,
    );
    expect(rows).toEqual([
      { words: "'apfel':2 'ol':1", trigrams: 3, lower: 'äé', plain: 'Creme', sorts: false },
    ]);
  });

  test.runIf(onLinux)('gets neither our secrets nor our terminal', async () => {
    vi.stubEnv('KONTOR_TEST_SECRET', 'hush');
    vi.stubEnv('PGPORT', '7777');
    const folder = await newDatabaseFolder();
    await started(startEmbedded(folder, fast));
    vi.unstubAllEnvs();
    const pid = await postmasterOf(folder);
    expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.toContain('hush');
    expect(await processGroup(pid)).toBe(pid);
  });

  test('says what is wrong with its folder', async () => {
    const folder = await newFolder();
    await mkdir(path.join(folder, 'postgres'));
    await writeFile(path.join(folder, 'postgres/other'), '');
    await expect(startEmbedded(folder, fast)).rejects.toThrow('is there but holds no database');
    expect(await readdir(folder)).toEqual(['postgres']);

    await writeFile(path.join(folder, 'postgres/PG_VERSION'), '12\n');
    await expect(startEmbedded(folder, fast)).rejects.toThrow('was made by PostgreSQL 12');
    await writeFile(path.join(folder, 'file'), '');
    await expect(startEmbedded(path.join(folder, 'file'), fast)).rejects.toThrow('KONTOR_DATA');
  });

  test('says at once why PostgreSQL does not start', async () => {
    const folder = await newDatabaseFolder();
    const began = Date.now();
    await expect(
      startEmbedded(folder, { ...fast, settings: { fsync: 'off', work_mem: 'much' } }),
    ).rejects.toThrow('invalid value for parameter "work_mem": "much"');
    expect(Date.now() - began).toBeLessThan(8_000);
  });

  test.runIf(onLinux)('puts its socket into a short private folder when the path is long', async () => {
    const folder = path.join(await newFolder(), 'a'.repeat(60), 'b'.repeat(60));
    await mkdir(folder, { recursive: true });
    await addDatabase(folder);
    const { connection } = await started(startEmbedded(folder, fast));
    const host = String(connection.host);
    folders.push(host);
    expect(path.dirname(host)).toBe(tmpdir());
    expect((await stat(host)).mode & 0o777).toBe(0o700);
    expect((await stat(host)).uid).toBe((await stat(path.join(folder, 'postgres'))).uid);
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    const command = await started(attachEmbedded(folder, fast));
    expect(command.connection.host).toBe(host);
  });

  test('turns its log over when it has grown', async () => {
    const log = path.join(await newFolder(), 'postgres.log');
    await rotateLog(log);
    await appendFile(log, 'a line');
    await rotateLog(log);
    expect(await readdir(path.dirname(log))).toEqual(['postgres.log']);
    await truncate(log, 11 * 1024 * 1024);
    await rotateLog(log);
    expect(await readdir(path.dirname(log))).toEqual(['postgres.log.1']);
  });
});

describe('one owner', () => {
  test('a second start is refused with the number of the first, which goes on', async () => {
    const folder = await newDatabaseFolder();
    const first = await started(startEmbedded(folder, fast));
    const refusal = startEmbedded(folder, fast);
    await expect(refusal).rejects.toThrow(FolderInUse);
    await expect(refusal).rejects.toThrow(
      `The data folder ${folder} is in use by another Kontor (process ${process.pid})`,
    );
    expect(await query(first.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('of two that start on an empty folder at the same moment one wins', async () => {
    const folder = await newFolder();
    const said = await Promise.all([
      otherProcess(folder, 'startEmbedded').says,
      otherProcess(folder, 'startEmbedded').says,
    ]);
    expect(said.map(({ name }) => name ?? 'started').toSorted()).toEqual(['FolderInUse', 'started']);
    const { connection } = said.find((each) => each.connection) ?? {};
    expect(
      await query(connection ?? {}, 'select datname from pg_database where datname = $$kontor$$'),
    ).toHaveLength(1);
    expect(await readdir(folder)).toEqual(['postgres', 'postgres.log']);
    for (const child of children) child.kill('SIGKILL');
    await started(startEmbedded(folder, fast));
  });
});

describe('after a crash', () => {
  test('an initialisation that was killed is begun again', async () => {
    const folder = await newFolder();
    const other = otherProcess(folder, 'startEmbedded');
    other.says.catch(() => undefined);
    await waitUntil(async () => (await readdir(folder)).some((name) => name.includes('.init-')));
    other.process.kill('SIGKILL');
    await once(other.process, 'exit');
    expect(await readdir(folder)).not.toContain('postgres');
    const { connection } = await started(startEmbedded(folder, fast));
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await readdir(folder)).toEqual(['postgres', 'postgres.log']);
  });

  test('of Node alone its server is taken over, and stopped like our own', async () => {
    const folder = await newDatabaseFolder();
    const other = otherProcess(folder, 'startEmbedded');
    const { connection } = await other.says;
    const pid = await postmasterOf(folder);
    other.process.kill('SIGKILL');
    // `close` comes only when nobody holds the pipes any more: not PostgreSQL either.
    await once(other.process, 'close');
    expect(isAlive(pid)).toBe(true);

    const lines: string[] = [];
    const server = await started(startEmbedded(folder, { ...fast, log: (line) => lines.push(line) }));
    expect(lines).toEqual([`PostgreSQL was still running in ${folder}/postgres: going on with it.`]);
    expect(await postmasterOf(folder)).toBe(pid);
    expect(server.connection.host).toBe(connection?.host);
    await server.stop();
    expect(isAlive(pid)).toBe(false);
  });

  test('of everything the next start has all that was committed', async () => {
    const folder = await newDatabaseFolder();
    const other = otherProcess(folder, 'startEmbedded');
    const { connection } = await other.says;
    await query(connection ?? {}, 'create table kept as select 7 as n');
    const pid = await postmasterOf(folder);
    process.kill(pid, 'SIGKILL');
    other.process.kill('SIGKILL');
    const server = await started(startEmbedded(folder, fast));
    expect(await postmasterOf(folder)).not.toBe(pid);
    expect(await query(server.connection, 'select n from kept')).toEqual([{ n: 7 }]);
  });

  test.runIf(onLinux)(
    'a stranger who got the number of the old server does not stop the new one',
    async () => {
      const folder = await newDatabaseFolder();
      const { uid, gid } = await stat(path.join(folder, 'postgres'));
      const stranger = spawn('sleep', ['60'], { uid, gid, stdio: 'ignore' });
      children.push(stranger);
      await once(stranger, 'spawn');
      const pidFile = path.join(folder, 'postgres/postmaster.pid');
      await writeFile(
        pidFile,
        `${stranger.pid}\n${folder}/postgres\n1\n5432\n${folder}/postgres\n\n  1 1\nready\n`,
      );
      await chown(pidFile, uid, gid);
      await started(startEmbedded(folder, fast));
      expect(await postmasterOf(folder)).not.toBe(stranger.pid);
      expect(stranger.exitCode).toBe(null);
    },
  );

  test('of PostgreSQL its owner starts it again and is still the owner', async () => {
    const folder = await newDatabaseFolder();
    const lines: string[] = [];
    const server = await started(startEmbedded(folder, { ...fast, log: (line) => lines.push(line) }));
    const pid = await postmasterOf(folder);
    process.kill(pid, 'SIGKILL');
    await waitUntil(() => lines.includes('PostgreSQL is back.'));
    expect(lines).toContain('The connection to PostgreSQL ended unexpectedly: starting it again.');
    expect(await query(server.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    await expect(startEmbedded(folder, fast)).rejects.toThrow(FolderInUse);
    const next = await postmasterOf(folder);
    await server.stop();
    expect(isAlive(next)).toBe(false);
  });

  test('of PostgreSQL a stop that comes at once leaves nothing behind', async () => {
    const folder = await newDatabaseFolder();
    const server = await started(startEmbedded(folder, fast));
    process.kill(await postmasterOf(folder), 'SIGKILL');
    await sleep(20);
    await server.stop();
    const left = (await readPidFile(path.join(folder, 'postgres')))?.pid ?? 0;
    expect(left !== 0 && isAlive(left)).toBe(false);
  });
});

describe('a command', () => {
  test('uses the server of a running service and leaves it running', async () => {
    const folder = await newDatabaseFolder();
    const service = await started(startEmbedded(folder, fast));
    const command = await started(attachEmbedded(folder, fast));
    expect(command.connection.host).toBe(service.connection.host);
    await command.stop();
    expect(await query(service.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('starts a server for itself; the last of several stops it', async () => {
    const folder = await newDatabaseFolder();
    const first = await started(attachEmbedded(folder, fast));
    const second = await started(attachEmbedded(folder, fast));
    const pid = await postmasterOf(folder);
    await first.stop();
    expect(await query(second.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    await second.stop();
    expect(isAlive(pid)).toBe(false);
  });

  test('many that come and go at the same time do not end each other', async () => {
    const folder = await newDatabaseFolder();
    const come = async (): Promise<unknown> => {
      const command = await attachEmbedded(folder, fast);
      try {
        return await query(command.connection, 'select 1 as one');
      } finally {
        await command.stop();
      }
    };
    for (let round = 0; round < 3; round++) {
      const answers = Array.from({ length: 6 }, async (_, index) => sleep(index * 15).then(come));
      expect(await Promise.all(answers)).toEqual(Array.from({ length: 6 }, () => [{ one: 1 }]));
    }
    expect(await readPidFile(path.join(folder, 'postgres'))).toBeUndefined();
  });

  test('does not stop a server that a person is connected to', async () => {
    const folder = await newDatabaseFolder();
    const command = await started(attachEmbedded(folder, fast));
    const person = new Client({ ...command.connection, application_name: 'psql' });
    await person.connect();
    await command.stop();
    expect((await person.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await person.end();
    const next = await started(attachEmbedded(folder, fast));
    const pid = await postmasterOf(folder);
    await next.stop();
    expect(isAlive(pid)).toBe(false);
  });

  test('hands its server to a service that starts meanwhile', async () => {
    const folder = await newDatabaseFolder();
    const command = await started(attachEmbedded(folder, fast));
    const pid = await postmasterOf(folder);
    const service = started(startEmbedded(folder, fast));
    /** When the service last asked whether the folder is free; undefined before it first asks and after it gives up. */
    const askedAt = async () => {
      const [session] = await query<{ askedAt: string }>(
        command.connection,
        `select query_start::text as "askedAt" from pg_stat_activity
         where application_name = 'kontor serve ${process.pid}'`,
      );
      return session?.askedAt;
    };
    await waitUntil(async () => (await askedAt()) !== undefined);
    // Longer than a service waits for another service.
    const realNow = Date.now;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => realNow() + 4_000);
    // Of the next two questions the second follows a look at the clock that came after the jump.
    for (const _ of ['first', 'second']) {
      const before = await askedAt();
      await waitUntil(async () => (await askedAt()) !== before);
      expect(await askedAt()).toBeDefined();
    }
    clock.mockRestore();
    await expect(Promise.race([service, Promise.resolve('waits')])).resolves.toBe('waits');
    await command.stop();
    const { connection } = await service;
    expect(await postmasterOf(folder)).toBe(pid);
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe.runIf(asRoot && onLinux)('as root', () => {
  test('runs as another user, and stays with the one who owns the folder', async () => {
    const folder = await newDatabaseFolder();
    expect((await stat(path.join(folder, 'postgres'))).uid).not.toBe(0);

    const nobody = await accountOfNobody();
    execFileSync('chown', ['-R', `${nobody.uid}:${nobody.gid}`, path.join(folder, 'postgres')]);
    await (await startEmbedded(folder, fast)).stop();
    expect((await stat(path.join(folder, 'postgres'))).uid).toBe(nobody.uid);

    execFileSync('chown', ['-R', '0:0', path.join(folder, 'postgres')]);
    await (await startEmbedded(folder, fast)).stop();
    expect((await stat(path.join(folder, 'postgres'))).uid).not.toBe(0);
  });

  test('a database it has made is refused to an ordinary user in one line', async () => {
    const folder = await newDatabaseFolder();
    await started(startEmbedded(folder, fast));
    const ordinary = { account: await accountOfNobody(), source: await readableSource() };
    const said = await otherProcess(folder, 'attachEmbedded', ordinary).says;
    expect(said.message).toMatch(/^The data folder .* cannot be used \(EACCES\): start Kontor as the user /);
    await chmod(folder, 0o755);
    const inside = await otherProcess(folder, 'attachEmbedded', ordinary).says;
    expect(inside.message).toMatch(/postgres belongs to another user \(uid \d+\): start Kontor as that user/);
  });

  test('opens a closed data folder for the group of that user alone', async () => {
    const folder = await newDatabaseFolder();
    await chown(folder, 0, 0);
    await chmod(folder, 0o700);
    await started(startEmbedded(folder, fast));
    const { uid, gid, mode } = await stat(folder);
    const account = await serverAccount('/nonexistent');
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 0, gid: account!.gid, mode: 0o710 });
  });

  test('closes a data folder of an older version to all but that group, and finds its database again', async () => {
    const folder = await newDatabaseFolder();
    const first = await startEmbedded(folder, fast);
    await query(first.connection, 'create table kept as select 7 as n');
    await first.stop();
    await chown(folder, 0, 0);
    await chmod(folder, 0o755);
    const second = await started(startEmbedded(folder, fast));
    expect(await query(second.connection, 'select n from kept')).toEqual([{ n: 7 }]);
    expect((await stat(folder)).mode & 0o777).toBe(0o710);
  });

  test('below a closed folder the data goes to a place that stays the same', async () => {
    const home = await newFolder();
    await chmod(home, 0o700);
    const folder = path.join(home, 'data');
    const lines: string[] = [];
    const noisy = { ...fast, log: (line: string) => lines.push(line) };
    const first = await started(startEmbedded(folder, noisy));
    const place = await readlink(path.join(folder, 'postgres'));
    folders.push(place);
    expect(place).toMatch(/^\/var\/lib\/kontor\/data-[0-9a-f]{12}$/);
    expect(lines[0]).toMatch(new RegExp(`who may not enter ${folder}: the database is in ${place}\\.$`));
    await query(first.connection, 'create table kept as select 7 as n');
    await first.stop();

    await chmod(home, 0o755);
    const second = await started(startEmbedded(folder, noisy));
    expect(lines.at(-1)).toBe(`The database of ${folder} is in ${place}.`);
    expect(await query(second.connection, 'select n from kept')).toEqual([{ n: 7 }]);
    await second.stop();

    await rm(place, { recursive: true });
    await expect(startEmbedded(folder, noisy)).rejects.toThrow(`leads to ${place}, which is not there`);
  });

  test('data that has become unreachable is never replaced by an empty database', async () => {
    const home = await newFolder();
    const folder = path.join(home, 'data');
    await mkdir(folder);
    await addDatabase(folder);
    await chmod(home, 0o700);
    await expect(startEmbedded(folder, fast)).rejects.toThrow('chmod o+x');
    expect((await lstat(path.join(folder, 'postgres'))).isDirectory()).toBe(true);
  });

  test('a package below a closed folder is copied once, with its links', async () => {
    const home = await newFolder();
    const copies = await newFolder();
    const hidden = path.join(home, 'package');
    await cp(packageFolder(), hidden, { recursive: true, verbatimSymlinks: true });
    await removeLinks(path.join(hidden, 'native/lib'));
    await chmod(home, 0o700);
    const account = await serverAccount('/nonexistent');
    const lines: string[] = [];
    const use = async () =>
      usableBinaries(hidden, account, ['/etc/passwd/none', copies], (line) => lines.push(line));
    const { native, version } = await use();
    expect(native).toBe(path.join(copies, `postgresql-${version}`, 'native'));
    const options = { ...runAs(account), cwd: '/', encoding: 'utf8' } as const;
    expect(execFileSync(path.join(native, 'bin/postgres'), ['--version'], options)).toContain('PostgreSQL');
    expect((await use()).native).toBe(native);
    expect(lines).toHaveLength(1);
    await expect(usableBinaries(hidden, account, ['/etc/passwd/none'], () => undefined)).rejects.toThrow(
      'DATABASE_URL',
    );
  });

  test('a socket folder that a stranger has made is refused', async () => {
    const long = `/${'x'.repeat(100)}-${process.pid}`;
    const account = await serverAccount('/nonexistent');
    const folder = await socketFolder(long, account);
    folders.push(folder);
    await chown(folder, 12345, 12345);
    await expect(socketFolder(long, account)).rejects.toThrow('belongs to another user');
  });
});

describe('the package of the platform', () => {
  test('what is not there is said in one line with the way out', () => {
    expect(() => packageFolder('sunos', 'x64')).toThrow(/sunos-x64.*DATABASE_URL/);
    const [platform, name] = onLinux ? ['win32', 'windows-x64'] : ['linux', 'linux-x64'];
    expect(() => packageFolder(platform, 'x64')).toThrow(
      new RegExp(`${name} is not installed.*DATABASE_URL`),
    );
  });

  test.runIf(onLinux)('gets the links that its install script would have made', async () => {
    const folder = await newFolder();
    await mkdir(path.join(folder, 'native/lib'), { recursive: true });
    await writeFile(path.join(folder, 'package.json'), '{"version":"18.0.0"}');
    await writeFile(path.join(folder, 'native/lib/libpq.so.5.18'), '');
    await writeFile(
      path.join(folder, 'native/pg-symlinks.json'),
      '[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]',
    );
    const link = path.join(folder, 'native/lib/libpq.so.5');
    for (let time = 0; time < 2; time++) {
      const used = await usableBinaries(folder, undefined, [], () => undefined);
      expect(used).toEqual({ native: path.join(folder, 'native'), version: '18.0.0' });
      expect(await readlink(link)).toBe('libpq.so.5.18');
    }
    if (asRoot) return;
    await rm(link);
    await chmod(path.dirname(link), 0o555);
    const copies = await newFolder();
    const { native } = await usableBinaries(folder, undefined, [copies], () => undefined);
    await chmod(path.dirname(link), 0o755);
    expect(await readlink(path.join(native, 'lib/libpq.so.5'))).toBe('libpq.so.5.18');
  });
});

/** A copy of this folder that every user can read, with the package that is looked up while it runs. */
async function readableSource(): Promise<string> {
  const folder = await newFolder();
  const source = path.join(folder, 'db');
  await cp(PROGRAM, source, { recursive: true });
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  const installed = packageFolder();
  const modules = path.resolve(installed, '../..');
  const copy = path.join(folder, 'node_modules', path.relative(modules, installed));
  for (const part of ['package.json', 'dist']) {
    await cp(path.join(installed, part), path.join(copy, part), { recursive: true });
  }
  await symlink(path.join(modules, 'pg'), path.join(folder, 'node_modules/pg'));
  execFileSync('chmod', ['-R', 'a+rX', folder]);
  return source;
}

async function accountOfNobody(): Promise<SystemAccount> {
  const accounts = accountsOf(await readFile('/etc/passwd', 'utf8'));
  const nobody = accounts.find(({ name }) => name === 'nobody');
  if (!nobody) throw new Error('there is no user nobody here');
  return nobody;
}

async function processGroup(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  return Number(text.slice(text.lastIndexOf(')')).split(' ')[3]);
}

async function removeLinks(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await rm(path.join(folder, entry.name));
  }
}

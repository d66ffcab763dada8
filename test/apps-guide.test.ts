import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { kontorHere } from './command.ts';
import { newStartedFolder } from './first-start.ts';
import { cleanUp, newFolder, startKontor, waitFor, type Running } from './process.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** A part of docs/apps.md, done as it is written: its files are written, its commands are called. */
const guide = readFileSync(path.join(import.meta.dirname, '../docs/apps.md'), 'utf8')
  .split('## An app in ten minutes')[1]!
  .split('\n## ', 1)[0]!;
const blocks = [...guide.matchAll(/```(js|sh)\n(.*?)```/gs)].map(([, kind, text]) => ({ kind, text: text! }));
const files = blocks.filter(({ kind }) => kind === 'js').map(({ text }) => text);
const commands = blocks.filter(({ kind }) => kind === 'sh').map(({ text }) => text.trim());

const programs: ChildProcess[] = [];
afterAll(async () => {
  for (const program of programs) program.kill();
  await cleanUp();
});

/** A program of Node that runs beside the test, and what it has said. */
function start(words: string[], { folder, ...environment }: { folder: string } & NodeJS.ProcessEnv) {
  const program = spawn(process.execPath, words, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  programs.push(program);
  let said = '';
  for (const stream of [program.stdout, program.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  return { program, said: () => said };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

let data: string;
let service: Running;
beforeAll(async () => {
  data = await newStartedFolder();
  service = await startKontor({ KONTOR_DATA: data });
});

/** The files of the guide in a folder of their own, for an app on a port of its own. */
async function begin() {
  const appPort = await freePort();
  const here = (text: string) =>
    text
      .replaceAll('http://localhost:8080', service.address)
      .replaceAll('localhost:3000', `localhost:${appPort}`)
      .replaceAll('listen(3000', `listen(${appPort}`);
  const folder = path.join(await newFolder(), 'app');
  await mkdir(folder);
  for (const text of files) {
    const [, name] = /^\/\/ (\w+\.mjs)\n/.exec(text)!;
    await writeFile(path.join(folder, name!), here(text));
  }
  expect(files).toHaveLength(2);
  return { appPort, folder, here };
}

test('an app in ten minutes, as the guide says it', async () => {
  const { folder, here } = await begin();
  const run = async (words: string[]) => {
    const ended = await kontorHere(words, { KONTOR_DATA: data, PORT: new URL(service.address).port });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    return ended.stdout;
  };

  const [create, startApp, install, order] = commands.map(here) as [string, string, string, string];
  expect(commands).toHaveLength(4);
  expect(create).toMatch(/^npx kontor app create /);
  const created = await run(create.split(' ').slice(2));
  const [, clientId] = /([0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12})/.exec(created)!;
  const [, clientSecret] = /\b([A-Za-z0-9]{32})\b/.exec(created)!;

  expect(startApp).toBe('CLIENT_ID=… CLIENT_SECRET=… node app.mjs');
  const app = start(['app.mjs'], { folder, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret });
  await waitFor(() => app.said().includes('listening'));

  expect(install).toMatch(/^npx kontor app install /);
  const words = install.split(' ').slice(2);
  const consent = `${service.address}/admin/shops/DemoShop/apps/${clientId}/install`;
  expect(await run(words)).toBe(`${consent}\n`);
  // A merchant who is not signed in comes back to it.
  const stranger = await fetch(consent, { redirect: 'manual' });
  expect([stranger.status, stranger.headers.get('location')]).toEqual([
    303,
    expect.stringContaining(encodeURIComponent(`/admin/shops/DemoShop/apps/${clientId}/install`)),
  ]);
  const address = (await run([...words, '--agreed'])).trim();
  expect(new URL(address).searchParams.get('api_url')).toBe(`${service.address}/rs/shops/DemoShop`);
  const installed = await fetch(address, { redirect: 'manual' });
  expect([installed.status, app.said()]).toEqual([302, 'listening\ninstalled\n']);

  expect(order).toBe('node order.mjs');
  const ordering = start(['order.mjs'], { folder });
  await waitFor(() => /^ORD\d+\/\d+\n$/.test(ordering.said()));
  await waitFor(() => app.said().endsWith(`ORDER_CREATE ${ordering.said()}`), 30_000);

  // Uninstalled, it hears of nothing more.
  await run(['app', 'delete', 'DemoShop', 'Notifier']);
  const again = start(['order.mjs'], { folder });
  await waitFor(() => again.said().startsWith('ORD'));
  expect(app.said().match(/ORDER_CREATE/g)).toHaveLength(1);
});

test('events are shown as they come, and sent on with a signature', async () => {
  const { appPort, folder } = await begin();
  const kontorFile = path.join(import.meta.dirname, '../bin/kontor.js');
  const words = `webhook listen DemoShop --types ORDER_CREATE,STOCK_OUT --forward http://localhost:${appPort}/hook`;
  const { program, said } = start([kontorFile, ...words.split(' ')], { folder, KONTOR_DATA: data });
  await waitFor(() => said().includes('whsec_'), 30_000);
  expect(said()).toMatch(
    /^Waiting for events of DemoShop\. Ctrl\+C ends it\.\nSent to http:\/\/localhost:\d+\/hook, signed with whsec_\S+\n$/,
  );
  const [secret] = /whsec_\S+/.exec(said())!;
  const app = start(['app.mjs'], { folder, CLIENT_ID: 'none', CLIENT_SECRET: secret });
  await waitFor(() => app.said().includes('listening'));
  start(['order.mjs'], { folder });
  await waitFor(() => app.said().includes('ORDER_CREATE ORD') && said().endsWith(' ms\n'), 30_000);
  expect(said()).toMatch(
    /^\S+Z {2}\d+ {2}ORDER_CREATE {2}[0-9A-F-]{36} {2}\{"orderNumber":"ORD\S+"\}\n {2}200 after \d+ ms$/m,
  );
  program.kill('SIGINT');
  const code = await new Promise((resolve) => {
    program.once('exit', resolve);
  });
  expect(code).toBe(0);
});

import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { newStartedFolder } from './first-start.ts';
import { cleanUp, kontor, newFolder, startKontor, waitFor } from './process.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** The first part of docs/apps.md, done as it is written: its files are written, its commands are called. */
const guide = readFileSync(path.join(import.meta.dirname, '../docs/apps.md'), 'utf8').split(
  '## Address and token',
)[0]!;
const blocks = [...guide.matchAll(/```(js|sh)\n(.*?)```/gs)].map(([, kind, text]) => ({ kind, text: text! }));
const files = blocks.filter(({ kind }) => kind === 'js').map(({ text }) => text);
const commands = blocks.filter(({ kind }) => kind === 'sh').map(({ text }) => text.trim());

const apps: ChildProcess[] = [];
afterAll(async () => {
  for (const app of apps) app.kill();
  await cleanUp();
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

test('an app in ten minutes, as the guide says it', async () => {
  const data = await newStartedFolder();
  const service = await startKontor({ KONTOR_DATA: data });
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

  const run = async (words: string[]) => {
    const ended = await kontor(words, { KONTOR_DATA: data, PORT: new URL(service.address).port });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    return ended.stdout;
  };
  const start = (words: string[], environment: NodeJS.ProcessEnv = {}) => {
    const app = spawn(process.execPath, words, {
      cwd: folder,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    apps.push(app);
    let said = '';
    for (const stream of [app.stdout, app.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    }
    return () => said;
  };

  const [create, startApp, install, order] = commands.map(here) as [string, string, string, string];
  expect(commands).toHaveLength(4);
  expect(create).toMatch(/^npx kontor app create /);
  const created = await run(create.split(' ').slice(2));
  const [, clientId] = /([0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12})/.exec(created)!;
  const [, clientSecret] = /\b([A-Za-z0-9]{32})\b/.exec(created)!;

  expect(startApp).toBe('CLIENT_ID=… CLIENT_SECRET=… node app.mjs');
  const app = start(['app.mjs'], { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret });
  await waitFor(() => app().includes('listening'));

  expect(install).toMatch(/^npx kontor app install /);
  const address = (await run(install.split(' ').slice(2))).trim().split('\n').at(-1)!;
  const installed = await fetch(address, { redirect: 'manual' });
  expect([installed.status, app()]).toEqual([302, 'listening\ninstalled\n']);

  expect(order).toBe('node order.mjs');
  const ordered = start(['order.mjs']);
  await waitFor(() => /^ORD\d+\/\d+\n$/.test(ordered()));
  await waitFor(() => app().endsWith(`ORDER_CREATE ${ordered()}`), 30_000);

  // Uninstalled, it hears of nothing more, and its address leads nowhere.
  await run(['app', 'delete', 'DemoShop', 'Notifier']);
  const again = start(['order.mjs']);
  await waitFor(() => again().startsWith('ORD'));
  expect(app().match(/ORDER_CREATE/g)).toHaveLength(1);
});

test('events are shown as they come, and sent on with a signature', async () => {
  const data = await newStartedFolder();
  const service = await startKontor({ KONTOR_DATA: data });
  const appPort = await freePort();
  const folder = await newFolder();
  const [app, order] = files.map((text) =>
    text.replaceAll('http://localhost:8080', service.address).replaceAll('3000', String(appPort)),
  ) as [string, string];
  await writeFile(path.join(folder, 'app.mjs'), app);
  await writeFile(path.join(folder, 'order.mjs'), order);
  const listening = spawn(
    process.execPath,
    [
      path.join(import.meta.dirname, '../bin/kontor.js'),
      ...['webhook', 'listen', 'DemoShop', '--types', 'ORDER_CREATE,STOCK_OUT'],
      ...['--forward', `http://localhost:${appPort}/hook`],
    ],
    { env: { ...process.env, KONTOR_DATA: data }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  apps.push(listening);
  let said = '';
  listening.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await waitFor(() => said.includes('whsec_'), 30_000);
  expect(said).toMatch(
    /^Waiting for events of DemoShop\. Ctrl\+C ends it\.\nSent to http:\/\/localhost:\d+\/hook, signed with whsec_\S+\n$/,
  );
  const secret = /whsec_\S+/.exec(said)![0];
  const receiver = spawn(process.execPath, ['app.mjs'], {
    cwd: folder,
    env: { ...process.env, CLIENT_ID: 'none', CLIENT_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  apps.push(receiver);
  let heard = '';
  receiver.stdout.setEncoding('utf8').on('data', (text: string) => (heard += text));
  await waitFor(() => heard.includes('listening'));
  const ordering = spawn(process.execPath, ['order.mjs'], { cwd: folder, stdio: 'ignore' });
  apps.push(ordering);
  await waitFor(() => /ORDER_CREATE ORD/.test(heard) && / ms\n$/.test(said), 30_000);
  expect(said).toMatch(
    /^\S+Z {2}\d+ {2}ORDER_CREATE {2}[0-9A-F-]{36} {2}\{"orderNumber":"ORD\S+"\}\n {2}200 after \d+ ms$/m,
  );
  listening.kill('SIGINT');
  const code = await new Promise((resolve) => {
    listening.once('exit', resolve);
  });
  expect(code).toBe(0);
});

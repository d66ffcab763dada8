import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { authorise, deleteApp, requireInstallable } from '../apps/apps.ts';
import {
  fetchManifestText,
  readManifest,
  type FetchDeps,
  type ReadManifest,
} from '../apps/manifest/fetch-manifest.ts';
import { addApp, agree, register } from '../apps/manifest/install.ts';
import { ManifestProblem, manifestAddress } from '../apps/manifest/manifest.ts';
import { findAppIdByAddress } from '../apps/manifest/queries.ts';
import { inLanguage, type Manifest } from '../apps/manifest/schema.ts';
import type { ReceiverPolicy } from '../apps/webhooks/receiver-address.ts';
import { newWebhookSecret } from '../apps/webhooks/signature.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { configuredOrigin, shopUrl } from '../http/links.ts';
import { lookUp } from '../http/public-address.ts';
import { newId } from '../kernel/ids.ts';
import { readEvents, type EventRow } from '../platform/events/queries.ts';
import { installationKey, unseal } from '../platform/sealing.ts';
import { print, recordCommand, withShop, type Handlers } from './command.ts';
import { CommandProblem } from './problem.ts';
import { forward, eventLine, listen, untilStopped } from './webhook.ts';

/** Milliseconds between two looks at the manifest. */
const LOOK_EVERY = 1_000;
/** Milliseconds for a service that starts with an empty folder, and for the page that installs the app. */
const STARTS_WITHIN = 120_000;
const INSTALLS_WITHIN = 10_000;

export const handlers = {
  'app dev': async ({ config, arguments: [shopId, typed] }) => {
    const address = localAddress(typed!);
    const origin = configuredOrigin(config);
    const stop = untilStopped();
    const service = await startMissingService(origin, stop.signal);
    try {
      if (stop.signal.aborted) return;
      await withShop(config, shopId!, (db) =>
        develop(db, { config, shopId: shopId!, address, origin, signal: stop.signal }),
      );
    } finally {
      stop.end();
      await service?.stop();
    }
  },
} satisfies Handlers;

interface Developing {
  config: Config;
  shopId: string;
  address: URL;
  /** Of the service. */
  origin: string;
  signal: AbortSignal;
}

/** Who runs the command has chosen the address, and may call everything from this machine anyway. */
const ANY_ADDRESS: ReceiverPolicy = {
  problemOf: () => undefined,
  addressesOf: (url) => lookUp(url.hostname.replace(/^\[|\]$/g, '')),
};

/** What an app that is developed asks for now. */
interface Known extends ReadManifest {
  text: string;
}

async function develop(db: Database, developing: Developing): Promise<void> {
  const { config, shopId, address, origin, signal } = developing;
  const deps = { policy: ANY_ADDRESS, isOwnOrigin: (other: string) => other === origin };
  const key = await installationKey(config);
  // Events from before the installation are not the app's.
  const { last: after } = await readEvents(db, shopId, { after: 0, types: [], limit: 1 });
  const known = await read(deps, address);
  const appId = await install(db, { ...developing, ...deps, key }, known);
  printNextSteps(developing, appId, known.manifest);

  const { secretSealed } = await requireInstallable(db, shopId, appId);
  const app = { appId, clientSecret: unseal(key, secretSealed) };
  const webhook = { secret: newWebhookSecret(), webhookId: newId(db.now) };
  const types = () => known.manifest.webhooks.map(({ eventType }) => eventType);
  const send = async (event: EventRow) => {
    print(eventLine(event));
    for (const { url } of known.manifest.webhooks.filter(({ eventType }) => eventType === event.type)) {
      const answer = await forward(db, shopId, event, { ...webhook, url: new URL(url), origin, app });
      print(`  ${new URL(url).pathname}: ${answer}`);
    }
  };
  const takeOver = async ({ manifest, icon }: ReadManifest) => {
    await db.transaction((tx) =>
      agree(tx, shopId, appId, { manifest: withoutWebhooks(manifest), icon }, { ...deps, key }),
    );
    print('The manifest has changed, and is in force.');
  };
  await Promise.all([
    listen(db, shopId, { after, types, signal }, send),
    watch(known, { deps, address, signal }, takeOver),
  ]);
}

/** As the merchant does it: the app is registered, its manifest is agreed to, and its page gets a code. */
async function install(
  db: Database,
  { shopId, address, origin, key, ...deps }: Developing & FetchDeps & { key: Buffer },
  { manifest: asked, icon }: ReadManifest,
): Promise<string> {
  const manifest = withoutWebhooks(asked);
  const installing = { ...deps, key, origin };
  const known = await findAppIdByAddress(db, shopId, address.href);
  const appId = await db.transaction((tx) =>
    addApp(tx, installing, shopId, { manifest, icon, address: address.href }),
  );
  try {
    await register(db, shopId, appId, manifest, installing);
  } catch (error) {
    // An app that has refused its first registration leaves nothing in the shop.
    if (known === undefined) await db.transaction((tx) => deleteApp(tx, shopId, appId));
    throw error;
  }
  const page = await db.transaction(async (tx) => {
    await agree(tx, shopId, appId, { manifest, icon }, installing);
    const made = await authorise(tx, key, shopId, appId, shopUrl(origin, shopId));
    await recordCommand(tx, shopId, 'app dev', { appId });
    return made;
  });
  const { status } = await fetch(page, { redirect: 'manual', signal: AbortSignal.timeout(INSTALLS_WITHIN) });
  if (status < 400) return appId;
  throw new CommandProblem(
    `The app answers ${status} at ${new URL(page).pathname}, where it gets its token.`,
  );
}

/** The command sends them itself: the service may not call this machine, and shows nobody what was answered. */
function withoutWebhooks(manifest: Manifest): Manifest {
  return { ...manifest, webhooks: [] };
}

async function read(deps: FetchDeps, address: URL): Promise<Known> {
  const text = await fetchManifestText(deps, address);
  return { text, ...(await readManifest(deps, address, text)) };
}

/** Takes over what changes. A problem is shown once, and the app works on as it was before. */
async function watch(
  known: Known,
  { deps, address, signal }: { deps: FetchDeps; address: URL; signal: AbortSignal },
  takeOver: (read: ReadManifest) => Promise<void>,
): Promise<void> {
  let problem: string | undefined;
  while (!signal.aborted) {
    await sleep(LOOK_EVERY, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    try {
      const text = await fetchManifestText(deps, address);
      if (text !== known.text) {
        const changed = await readManifest(deps, address, text);
        await takeOver(changed);
        Object.assign(known, { text, ...changed });
      } else if (problem !== undefined) {
        print('The app answers as before.');
      }
      problem = undefined;
    } catch (error) {
      if (!(error instanceof ManifestProblem)) throw error;
      if (error.message !== problem) print(`${error.message}.`);
      problem = error.message;
    }
  }
}

function printNextSteps({ shopId, origin }: Developing, appId: string, manifest: Manifest): void {
  const { name, pages, blocks, actions, calls, webhooks, settings } = manifest;
  const admin = `${origin}/admin/shops/${shopId}`;
  const page = `${admin}/apps/${appId}`;
  const lines: [label: string, text: string][] = [
    ['In the admin', page],
    ...(settings.length === 0 ? [] : [['Its settings', `${page}/settings`] as [string, string]]),
    ...pages.map((one): [string, string] => [inLanguage(one.title, 'en'), `${page}/pages/${one.name}`]),
    ...blocks.map((one): [string, string] => [inLanguage(one.title, 'en'), `a block: ${one.place}`]),
    ...actions.map((one): [string, string] => [
      inLanguage(one.title, 'en'),
      `an action on orders: ${admin}/orders`,
    ]),
    ...calls.map((one): [string, string] => [
      one.kind,
      `${new URL(one.url).pathname}, within ${one.timeoutMs} ms`,
    ]),
    ...webhooks.map((one): [string, string] => [one.eventType, new URL(one.url).pathname]),
  ];
  const width = Math.max(...lines.map(([label]) => label.length));
  print(`${name} is installed in ${shopId}.\n`);
  for (const [label, text] of lines) print(`  ${label.padEnd(width)}  ${text}`);
  print(
    `\nChange the manifest, and it is in force within a second. Ctrl+C ends this, and the app stays installed;`,
  );
  print(`to uninstall it: npx kontor app delete ${shopId} ${appId}`);
}

/** A service that answers already is used; else one is started, which ends with the command. */
async function startMissingService(
  origin: string,
  signal: AbortSignal,
): Promise<{ stop: () => Promise<void> } | undefined> {
  if (await isReady(origin)) return undefined;
  print(`No service answers at ${origin}: starting one.`);
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, 'serve'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // A group of its own: Ctrl+C in a terminal reaches this process alone, which ends the service when it is done.
    detached: true,
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await ended;
  };
  for (const deadline = Date.now() + STARTS_WITHIN; !(await isReady(origin));) {
    if (signal.aborted) break;
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new CommandProblem(`The service could not be started. Try: npx kontor serve`);
    }
    await sleep(200, undefined, { signal }).catch(() => {});
  }
  return { stop };
}

async function isReady(origin: string): Promise<boolean> {
  try {
    const { ok } = await fetch(`${origin}/ready`, { signal: AbortSignal.timeout(2_000) });
    return ok;
  } catch {
    // Nobody listens there, or not yet.
    return false;
  }
}

/** `localhost:3000`, as people type it, is on this machine. */
function localAddress(typed: string): URL {
  return manifestAddress(/^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `http://${typed}`);
}

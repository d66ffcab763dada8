import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import { configuredOrigin } from '../http/links.ts';
import { newId } from '../kernel/ids.ts';
import { readEvents, type EventRow } from '../platform/events/queries.ts';
import { EVENT_TYPE_NAMES, isEventType, type EventType } from '../platform/events/types.ts';
import { deliveryIdOf, messageIdOf } from '../apps/webhooks/delivery-id.ts';
import { callbackBody, readEntity } from '../apps/webhooks/render.ts';
import { newWebhookSecret, signatureHeaders } from '../apps/webhooks/signature.ts';
import { WEBHOOK_ENTITIES } from '../composition/webhook-entities.ts';
import { print, withShop, type Handlers } from './command.ts';
import { CommandProblem } from './problem.ts';

/** Milliseconds between two reads of the log. */
const LOOK_EVERY = 250;
const ANSWERS_WITHIN = 10_000;

export const handlers = {
  'webhook listen': ({ config, arguments: [shopId], options }) => {
    const types = parseTypes(options['types']);
    const forwardTo = parseAddress(options['forward']);
    const origin = configuredOrigin(config);
    return withShop(config, shopId!, async (db) => {
      const { last } = await readEvents(db, shopId!, { after: 0, types: [], limit: 1 });
      const after = parsePosition(options['after'], last);
      const receiver = forwardTo && {
        url: forwardTo,
        secret: newWebhookSecret(),
        webhookId: newId(db.now),
      };
      print(`Waiting for events of ${shopId}. Ctrl+C ends it.`);
      if (receiver) print(`Sent to ${receiver.url.href}, signed with ${receiver.secret}`);
      const stop = untilStopped();
      try {
        await listen(db, shopId!, { after, types: () => types, signal: stop.signal }, async (event) => {
          print(eventLine(event));
          if (receiver) print(`  ${await forward(db, shopId!, event, { ...receiver, origin })}`);
        });
      } finally {
        stop.end();
      }
    });
  },
} satisfies Handlers;

/** Ctrl+C, `kill`, and a terminal that is closed. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A signal that comes when the process is asked to end; until `end`, that does not end it by itself. */
export function untilStopped(): { signal: AbortSignal; end: () => void } {
  const ending = new AbortController();
  const stop = () => ending.abort();
  for (const name of STOP_SIGNALS) process.once(name, stop);
  const end = () => {
    for (const name of STOP_SIGNALS) process.off(name, stop);
  };
  return { signal: ending.signal, end };
}

interface Listening {
  after: number;
  /** Is asked each time, because an app may name others while it is developed. */
  types: () => readonly EventType[];
  signal: AbortSignal;
}

/** Calls `onEvent` for each event, one after the other, until the signal comes. */
export async function listen(
  db: Database,
  shopId: string,
  { after, types, signal }: Listening,
  onEvent: (event: EventRow) => Promise<void>,
): Promise<void> {
  let position = after;
  while (!signal.aborted) {
    const page = await readEvents(db, shopId, { after: position, types: types(), limit: 100 });
    for (const event of page.events) {
      if (signal.aborted) break;
      await onEvent(event);
    }
    position = page.next;
    if (page.events.length === 0 && page.next === page.last) {
      await sleep(LOOK_EVERY, undefined, { signal }).catch(() => {});
    }
  }
}

interface Receiver {
  url: URL;
  secret: string;
  webhookId: string;
  origin: string;
  /** The app that is called, which sees what its tokens may read; absent: what everybody may see. */
  app?: { appId: string; clientSecret: string };
}

/** Sends an event as a webhook does, and prints the response in a line. */
export async function forward(
  db: Database,
  shopId: string,
  event: EventRow,
  { url, secret, webhookId, origin, app }: Receiver,
): Promise<string> {
  const entity = await readEntity(db, WEBHOOK_ENTITIES, {
    shopId,
    event,
    recipient: { origin, appId: app?.appId ?? null },
  });
  const body = callbackBody(event, { shopId, webhookId, origin, entity });
  const headers = signatureHeaders(
    { own: [secret], client: app?.clientSecret },
    { messageId: messageIdOf(deliveryIdOf(shopId, webhookId, event.position)), at: db.now, body },
  );
  const began = performance.now();
  try {
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWERS_WITHIN),
    });
    return `${status} after ${Math.round(performance.now() - began)} ms`;
  } catch (error) {
    const { cause, message } = error as Error;
    return `not delivered: ${(cause as { code?: string } | undefined)?.code ?? message}`;
  }
}

/** `2026-11-16T08:30:00.000Z  4711  ORDER_CREATE  0193A5F0-...  {"orderNumber":"..."}` */
export function eventLine({ position, at, type, resourceId, data }: EventRow): string {
  const facts = Object.keys(data).length === 0 ? [] : [JSON.stringify(data)];
  return [at.toISOString(), position, type, ...(resourceId === null ? [] : [resourceId]), ...facts].join(
    '  ',
  );
}

function parseTypes(text: string | boolean | undefined): readonly EventType[] {
  if (text === undefined) return EVENT_TYPE_NAMES;
  const names = String(text)
    .split(',')
    .map((name) => name.trim());
  const unknown = names.find((name) => !isEventType(name));
  if (unknown !== undefined) {
    throw new CommandProblem(
      `There is no type ${JSON.stringify(unknown)}. The types are: ${EVENT_TYPE_NAMES.join(', ')}`,
    );
  }
  return names.filter(isEventType);
}

function parseAddress(text: string | boolean | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(String(text)) ? new URL(String(text)) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new CommandProblem(
    `--forward is an address such as http://localhost:3000/hook, not ${JSON.stringify(text)}.`,
  );
}

function parsePosition(text: string | boolean | undefined, last: number): number {
  if (text === undefined) return last;
  const position = Number(text);
  if (Number.isSafeInteger(position) && position >= 0 && position <= last) return position;
  throw new CommandProblem(`--after is a position from 0 to ${last}, not ${JSON.stringify(text)}.`);
}

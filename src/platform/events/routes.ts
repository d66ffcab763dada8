import { Readable } from 'node:stream';
import { Type, type Static } from 'typebox';
import type { Queries } from '../../db/database.ts';
import { hasScope, type Caller } from '../../http/callers.ts';
import { invalid, missingScope, Refusal, retryAfter } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id, Nullable, Timestamp } from '../../http/schemas.ts';
import { entityUrlOf } from './entity-url.ts';
import { readEvents, type EventPage, type EventRow } from './queries.ts';
import {
  EVENT_TYPES,
  EVENT_TYPES_TEXT,
  EVENT_TYPE_CHOICE,
  EVENT_TYPE_NAMES,
  isEventType,
  type EventType,
} from './types.ts';
import type { EventWaiting } from './waiting.ts';

const EventItem = Type.Object(
  {
    position: Type.Integer({ description: 'Its place in the log of the shop: 1, 2, 3 …', examples: [4711] }),
    eventType: Type.Unsafe<EventType>({
      ...EVENT_TYPE_CHOICE,
      type: 'string',
      description: 'What happened.',
      examples: ['ORDER_CREATE'],
    }),
    createdOn: { ...Timestamp, examples: ['2026-11-15T08:30:00.000Z'] },
    resource: Type.String({ description: 'The kind of resource.', examples: ['order'] }),
    resourceId: Nullable({ ...Id, description: 'Its id; null: the shop itself.' }),
    entityUrl: Nullable(
      Type.String({
        description: 'Where it can be read; null: nowhere.',
        examples: ['https://shop.example/rs/shops/DemoShop/orders/0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E'],
      }),
    ),
    appId: Nullable({
      ...Id,
      description: 'The app that caused it; null: a shopper, a command or the service itself.',
    }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What changed.',
      examples: [{ changed: ['price'] }],
    }),
  },
  { title: 'shop event' },
);

const EventList = Type.Object(
  {
    items: Type.Array(EventItem, { description: 'The events after the position, in order.' }),
    next: Type.Integer({ description: 'Send it as `after` to read on.', examples: [4711] }),
  },
  { title: 'event list' },
);

const MAX_EVENTS = 1_000;
const MAX_WAIT = 25;
/** Milliseconds after which a stream without events sends a sign of life. */
const HEARTBEAT = 15_000;
/** Milliseconds after which a stream ends: the client resumes from its last event, with a token that is still valid. */
const STREAM_LASTS = 3_600_000;

const listEvents = operation({
  under: 'manage',
  method: 'GET',
  path: '/events',
  name: 'listEvents',
  summary: 'List events',
  description:
    'The events of the shop, in the order of their commits. A client that continues from the last `next` misses no event and sees none twice. With `wait`, the answer comes when there is a new event, or after that many seconds. With `Accept: text/event-stream` the events come as server-sent events; a disconnected client resumes with Last-Event-ID. Events are stored for 30 days by default. 410: the events after this position are deleted; the answer names the oldest one left.\n\n' +
    'Without `types` all events come that the scopes of the token allow:\n\n' +
    EVENT_TYPES_TEXT,
  tag: 'events',
  labels: [],
  access: 'any token',
  produces: 'event stream',
  query: Type.Object({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Only events after this position; absent: from the oldest stored event.',
        examples: [4711],
      }),
    ),
    types: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description: 'Only these types, with commas between them.',
        examples: ['ORDER_CREATE,ORDER_PAID'],
      }),
    ),
    limit: Type.Integer({
      minimum: 1,
      maximum: MAX_EVENTS,
      default: 100,
      description: 'The most events of one answer.',
      examples: [100],
    }),
    wait: Type.Integer({
      minimum: 0,
      maximum: MAX_WAIT,
      default: 0,
      description: 'Seconds to wait when there is nothing new.',
      examples: [20],
    }),
  }),
  answer: EventList,
});

export function events(api: Operations, waiting: EventWaiting): void {
  api.read(
    listEvents,
    async ({ db, shopId, query, caller, currentCaller, link, wantsEventStream, lastEventId, header }) => {
      const types = typesFor(caller, query.types);
      const after = wantsEventStream && lastEventId !== undefined ? positionOf(lastEventId) : query.after;
      const first = await readFrom(db, shopId, { after, types, limit: query.limit });
      const toItem = (event: EventRow) => toEvent(event, link);
      if (!wantsEventStream && (first.events.length > 0 || query.wait === 0)) {
        return { items: first.events.map(toItem), next: first.next };
      }
      const leave = waiting.enter(shopId);
      if (!leave) {
        throw new Refusal('TOO_MANY_EVENT_READERS', {}, retryAfter(5));
      }
      /** Waits and continues reading; undefined: the token was revoked, or the service ends. */
      const readOn = async (position: number, milliseconds: number) => {
        await waiting.wait(shopId, position, milliseconds);
        const current = await currentCaller();
        if (!current || waiting.isClosed) return undefined;
        const allowed = types.filter((type) => isAllowed(current, type));
        return readEvents(db, shopId, { after: position, types: allowed, limit: query.limit });
      };
      if (wantsEventStream) {
        // Kept alive, the connection would keep the service from ending.
        header('connection', 'close');
        const stream = Readable.from(streamed(first, readOn, toItem));
        // A client that does not read would hold its place for ever.
        const end = setTimeout(() => stream.destroy(), STREAM_LASTS + HEARTBEAT).unref();
        return stream.once('close', () => {
          clearTimeout(end);
          leave();
        });
      }
      try {
        const until = performance.now() + query.wait * 1000;
        let page = first;
        while (page.events.length === 0 && performance.now() < until) {
          const later = await readOn(page.next, until - performance.now());
          if (!later) break;
          page = later;
        }
        if (waiting.isClosed) header('connection', 'close');
        return { items: page.events.map(toItem), next: page.next };
      } finally {
        leave();
      }
    },
  );
}

function isAllowed(caller: Caller, type: EventType): boolean {
  const { scope } = EVENT_TYPES[type];
  return scope === null || hasScope(caller, scope);
}

/** The requested types, or all that the caller may read. */
function typesFor(caller: Caller, asked: string | undefined): EventType[] {
  if (asked === undefined) return EVENT_TYPE_NAMES.filter((type) => isAllowed(caller, type));
  const types = asked.split(',').map((type) => type.trim());
  for (const type of types) {
    if (!isEventType(type)) throw invalid('UNKNOWN_VALUE', 'types');
    if (!isAllowed(caller, type)) throw missingScope(EVENT_TYPES[type].scope!);
  }
  return types as EventType[];
}

function positionOf(text: string): number {
  const position = Number(text);
  if (!Number.isSafeInteger(position) || position < 0) throw invalid('WRONG_FORMAT', 'Last-Event-ID');
  return position;
}

/** Refuses a position whose successor was deleted, and one that never existed. */
async function readFrom(
  db: Queries,
  shopId: string,
  { after, types, limit }: { after: number | undefined; types: readonly EventType[]; limit: number },
) {
  let page = await readEvents(db, shopId, { after: after ?? 0, types, limit });
  // Without a position the log begins with its oldest remaining event.
  if (after === undefined && page.oldest > 1) {
    page = await readEvents(db, shopId, { after: page.oldest - 1, types, limit });
  }
  const position = after ?? page.oldest - 1;
  if (position < page.oldest - 1) {
    throw new Refusal('EVENTS_GONE', { position, oldest: page.oldest });
  }
  if (position > page.last) throw invalid('OUT_OF_RANGE', 'after');
  return page;
}

/** Server-sent events, as long as the client reads them. */
async function* streamed(
  first: EventPage,
  readOn: (position: number, milliseconds: number) => Promise<EventPage | undefined>,
  toItem: (event: EventRow) => Static<typeof EventItem>,
): AsyncGenerator<string> {
  const until = performance.now() + STREAM_LASTS;
  let page: EventPage | undefined = first;
  while (page && performance.now() < until) {
    for (const event of page.events) {
      yield `id: ${event.position}\nevent: ${event.type}\ndata: ${JSON.stringify(toItem(event))}\n\n`;
    }
    // A comment: it keeps proxies from closing the connection.
    if (page.events.length === 0) yield ': waiting\n\n';
    page = await readOn(page.next, page.next < page.last ? 0 : HEARTBEAT);
  }
}

function toEvent(event: EventRow, link: (path: string) => string): Static<typeof EventItem> {
  return {
    position: event.position,
    eventType: event.type,
    createdOn: event.at.toISOString(),
    resource: EVENT_TYPES[event.type].resource,
    resourceId: event.resourceId,
    entityUrl: entityUrlOf(event, link),
    appId: event.appId,
    data: event.data,
  };
}

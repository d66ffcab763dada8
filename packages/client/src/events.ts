import { KontorError } from './error.ts';
import type { Answer, Init } from './paths.ts';
import { pause, waitAfter } from './retry.ts';
import type { EventList, EventType, ShopEvent } from './schema.ts';

export interface EventOptions {
  /** Only events after this position; absent: from the oldest there is. */
  after?: number;
  /** Only these types; absent: all that the token may read. */
  types?: readonly EventType[];
  /** The most events of one page; absent: 100. */
  limit?: number;
  /** Ends the iteration. */
  signal?: AbortSignal;
  /** Is told why the events are interrupted, each time before they are asked for again. */
  onInterruption?: (error: unknown) => void;
}

const PATH = '/manage/shops/{shopId}/events';
type ReadPage = (path: typeof PATH, init: Init<typeof PATH, 'get'>) => Promise<Answer<typeof PATH, 'get'>>;

/** Seconds that the service may wait for something new before it answers with an empty page. */
const MAX_WAIT = 25;

/**
 * The pages of the event log, as they come: without an end, through restarts of the service and lost connections. Store
 * `next` of a page in the transaction of what you did with its events, and begin there the next time: nothing is missed
 * and nothing comes twice. While nothing happens, an empty page comes about twice a minute.
 */
export async function* eventPages(
  readPage: ReadPage,
  { after, types, limit = 100, signal, onInterruption }: EventOptions = {},
): AsyncGenerator<EventList, void, undefined> {
  let position = after;
  let failures = 0;
  const isEnded = () => signal?.aborted === true;
  while (!isEnded()) {
    let page: EventList;
    try {
      page = await readPage(PATH, {
        params: {
          query: {
            ...(position !== undefined && { after: position }),
            ...(types && { types: types.join(',') }),
            limit,
            wait: MAX_WAIT,
          },
        },
        ...(signal && { signal }),
      });
    } catch (error) {
      if (isEnded()) return;
      if (isRefusal(error)) throw error;
      onInterruption?.(error);
      const said = error instanceof KontorError ? error.retryAfter : undefined;
      await pause(said ?? waitAfter({ error }, ++failures), signal);
      continue;
    }
    failures = 0;
    yield page;
    position = page.next;
  }
}

/** The events themselves. The `position` of the last one that you are done with is your next `after`. */
export async function* events(
  readPage: ReadPage,
  options?: EventOptions,
): AsyncGenerator<ShopEvent, void, undefined> {
  for await (const { items } of eventPages(readPage, options)) yield* items;
}

/** The same question would be refused again: a token without the scope, or a position that is gone. */
function isRefusal(error: unknown): boolean {
  return error instanceof KontorError && error.status < 500 && error.status !== 429;
}

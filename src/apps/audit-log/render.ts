import { toMilliseconds } from '../../http/dates.ts';
import type { EntryRow } from './queries.ts';

/** An entry as responses show it. */
export function toEntry({ entryId, at, appId, appName, method, route, object }: EntryRow) {
  return {
    entryId,
    at: toMilliseconds(at),
    // An app that was deleted before its call ended has left no name.
    app: appId === null ? null : { appId, name: appName ?? '' },
    method,
    route,
    object,
  };
}

import type { Queries } from '../../db/database.ts';
import { toSeconds } from '../../http/dates.ts';
import { shopUrl } from '../../http/links.ts';
import { joinRawJson, type RawJson } from '../../http/raw-json.ts';
import { entityUrlOf } from '../../platform/events/entity-url.ts';
import type { EventRow } from '../../platform/events/queries.ts';
import { EVENT_TYPES, type EventResource, type EventType } from '../../platform/events/types.ts';

/**
 * Reads what an event is about, as its GET answers it in the default locale and currency of the shop; `origin` is the
 * scheme and host of its links. undefined: it is gone, or shoppers do not see it.
 */
export type EntityReader = (
  db: Queries,
  shopId: string,
  id: string,
  origin: string,
) => Promise<object | RawJson | undefined>;

/** `src/webhook-entities.ts` lists them; what is missing is sent as an empty object. */
export type WebhookEntities = Partial<Record<EventResource, EntityReader>>;

/** The types of the contract, whose body has no `data`. */
export const CONTRACT_TYPES: ReadonlySet<EventType> = new Set([
  'ORDER_CREATE',
  'ORDER_UPDATE',
  'ORDER_DELETE',
  'PRODUCT_CREATE',
  'PRODUCT_UPDATE',
  'PRODUCT_DELETE',
  'APP_UNINSTALL',
]);

export type SentEvent = Pick<EventRow, 'type' | 'resourceId' | 'at' | 'data'>;

/** The body of a call: the contract's, and what changed for types of our own. */
export function callbackBody(
  event: SentEvent,
  {
    shopId,
    webhookId,
    origin,
    entity,
    isTest = false,
  }: {
    shopId: string;
    webhookId: string;
    origin: string;
    entity: object | RawJson | undefined;
    isTest?: boolean;
  },
): Buffer {
  const baseUrl = shopUrl(origin, shopId);
  return joinRawJson({
    id: webhookId.toUpperCase(),
    baseUrl,
    // An app has no address of its own, and the contract allows no null.
    entityUrl: entityUrlOf(event, (path) => baseUrl + path) ?? baseUrl,
    createdOn: toSeconds(event.at),
    eventType: event.type,
    entity: entity ?? {},
    ...((isTest || !CONTRACT_TYPES.has(event.type)) && { data: event.data }),
  }).bytes;
}

export async function readEntity(
  db: Queries,
  entities: WebhookEntities,
  { shopId, event, origin }: { shopId: string; event: SentEvent; origin: string },
): Promise<object | RawJson | undefined> {
  const { resource } = EVENT_TYPES[event.type];
  return entities[resource]?.(db, shopId, event.resourceId ?? '', origin);
}

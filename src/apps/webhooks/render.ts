import type { Queries } from '../../db/database.ts';
import { toSeconds } from '../../http/dates.ts';
import { shopUrl } from '../../http/links.ts';
import { joinRawJson, type RawJson } from '../../http/raw-json.ts';
import type { ShownField } from '../../fields/value.ts';
import { entityUrlOf } from '../../platform/events/entity-url.ts';
import type { EventRow } from '../../platform/events/queries.ts';
import { EVENT_TYPES, type EventResource, type EventType } from '../../platform/events/types.ts';

/** An order, a product or any other subject of an event, as its GET returns it. */
export type Entity = object | RawJson;

/** The recipient for whom entities are read. */
export interface WebhookReader {
  /** Scheme and host of the links. */
  origin: string;
  /** The app whose tokens decide what it may see; null: it sees what shoppers see. */
  appId: string | null;
}

/**
 * Reads the subjects of events by their ids, as their GET returns them in the default locale and currency of the shop.
 * Deleted entities, and those that the recipient may not read, are missing.
 */
export type EntityReader = (
  db: Queries,
  shopId: string,
  ids: readonly string[],
  recipient: WebhookReader,
) => Promise<ReadonlyMap<string, Entity>>;

/** `src/composition/webhook-entities.ts` lists them; a missing one is sent as an empty object. */
export type WebhookEntities = Partial<Record<EventResource, EntityReader>>;

/** The delivery of an app that was chosen for an order; null: it is none of an app, or the order is gone. */
export type DeliveryOptionReader = (
  db: Queries,
  shopId: string,
  orderId: string,
  origin: string,
) => Promise<{ appId: string; optionId: string | null; name: string } | null>;

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

/** The body of a call: the contract's, plus custom fields on request, and the changes for types of our own. */
export function callbackBody(
  event: SentEvent,
  {
    shopId,
    webhookId,
    origin,
    entity,
    fields,
    deliveryOption,
    isTest = false,
  }: {
    shopId: string;
    webhookId: string;
    origin: string;
    entity: Entity | undefined;
    /** Custom fields, for webhooks that want them. */
    fields?: readonly ShownField[] | undefined;
    /** Of an order, for the same webhooks; undefined: it is left out. */
    deliveryOption?: Awaited<ReturnType<DeliveryOptionReader>> | undefined;
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
    ...(fields && { fields }),
    ...(deliveryOption !== undefined && { deliveryOption }),
    ...((isTest || !CONTRACT_TYPES.has(event.type)) && { data: event.data }),
  }).bytes;
}

/** undefined: it was deleted, or the recipient may not read it. */
export async function readEntity(
  db: Queries,
  entities: WebhookEntities,
  { shopId, event, recipient }: { shopId: string; event: SentEvent; recipient: WebhookReader },
): Promise<Entity | undefined> {
  const id = event.resourceId ?? shopId;
  const found = await entities[EVENT_TYPES[event.type].resource]?.(db, shopId, [id], recipient);
  return found?.get(id);
}

/** How many entities are read at once: few enough that a slow receiver does not hold many in memory. */
const READ_AT_ONCE = 20;

/**
 * Returns a function that reads the entities of these events, which are of one type. It reads those of the next few
 * events as well, because a statement for each would cost more than most calls. An entity is never older than its event.
 */
export function createEntityLoader(
  db: Queries,
  entities: WebhookEntities,
  { shopId, events, recipient }: { shopId: string; events: readonly EventRow[]; recipient: WebhookReader },
): (event: EventRow) => Promise<Entity | undefined> {
  const indexes = new Map(events.map((event, index) => [event.position, index]));
  const loaded = new Map<number, Promise<Entity | undefined>>();
  return async (event) => {
    const read = entities[EVENT_TYPES[event.type].resource];
    if (!read) return undefined;
    if (!loaded.has(event.position)) {
      const index = indexes.get(event.position)!;
      const next = events.slice(index, index + READ_AT_ONCE).filter((one) => !loaded.has(one.position));
      const ids = [...new Set(next.map(({ resourceId }) => resourceId ?? shopId))];
      const found = read(db, shopId, ids, recipient);
      for (const { position, resourceId } of next) {
        const entity = found.then((all) => all.get(resourceId ?? shopId));
        // The caller that awaits it gets the error.
        entity.catch(() => {});
        loaded.set(position, entity);
      }
    }
    const entity = loaded.get(event.position);
    // It is sent once, so it is dropped from memory; it is not read again with the next ones either.
    loaded.set(event.position, SENT);
    return entity;
  };
}

const SENT = Promise.resolve(undefined);

import type { Queries } from '../../db/database.ts';
import { SCOPES_OF } from '../../fields/access.ts';
import type { ShownField } from '../../fields/value.ts';
import { findShownFields, SHOP_RESOURCE_ID } from '../../fields/values.ts';
import { EVENT_TYPES, type EventResource } from '../../platform/events/types.ts';
import { shopSettings, type FieldResource } from '../../shops/settings/settings.ts';
import { hasTokenWith } from '../queries.ts';
import type { SentEvent } from './render.ts';

/** What the subjects of events have fields as. Those of carts are missing, as carts themselves are. */
export const ENTITY_FIELDS: Partial<Record<EventResource, readonly [FieldResource, ...FieldResource[]]>> = {
  order: ['order'],
  product: ['product', 'variation'],
  customer: ['customer'],
  shop: ['shop'],
};

/**
 * The custom fields of the subject of an event that this app may read, in the default language of the shop. Each event
 * reads its own, because the fields of many things are longer than an answer may be.
 */
export async function findEntityFields(
  db: Queries,
  shopId: string,
  { type, resourceId }: SentEvent,
  appId: string,
): Promise<ShownField[]> {
  const { resource } = EVENT_TYPES[type];
  const resources = ENTITY_FIELDS[resource];
  // Every app hears of the shop's settings, and some may not read its fields.
  if (!resources || !(await hasTokenWith(db, shopId, appId, [SCOPES_OF[resources[0]].read]))) return [];
  const settings = await shopSettings(db, shopId);
  const id = resource === 'shop' ? SHOP_RESOURCE_ID : resourceId;
  if (id === null) return [];
  const view = { audience: { appId: appId.toUpperCase() }, locale: settings.defaultLocale };
  const fieldsOf = await findShownFields(db, settings, resources, [id], view);
  return fieldsOf(id);
}

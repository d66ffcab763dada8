import type { Caller } from '../http/callers.ts';
import type { Scope } from '../http/scopes.ts';
import type { CustomField, FieldResource } from '../shops/settings/settings.ts';

/** Who reads or writes custom fields: an app, the people of the shop, or anybody else. Pure. */
export type Audience = { appId: string } | 'merchant' | 'shopper';

export function audienceOf({ app }: Pick<Caller, 'app'>): Audience {
  if (!app) return 'shopper';
  return app.isPerson ? 'merchant' : { appId: app.appId.toUpperCase() };
}

/** The same for all who see the same: a part of the keys of caches. */
export function audienceKey(audience: Audience): string {
  return typeof audience === 'string' ? audience : audience.appId;
}

export function mayRead({ readableBy, appId }: CustomField, audience: Audience): boolean {
  if (readableBy === 'public') return true;
  if (audience === 'shopper') return false;
  return readableBy === 'merchant' || isOwner(appId, audience);
}

/** An app writes in its own namespace only. */
export function mayWrite({ writableBy, appId }: CustomField, audience: Audience): boolean {
  if (writableBy === 'shopper' || isOwner(appId, audience)) return true;
  return writableBy === 'merchant' && audience === 'merchant';
}

export function isOwner(appId: string | null, audience: Audience): boolean {
  return typeof audience === 'object' ? appId === audience.appId : audience === 'merchant' && appId === null;
}

/** The fields that these things have; an order has those of its cart. */
export function fieldsOf(fields: readonly CustomField[], resource: FieldResource): readonly CustomField[] {
  return fields.filter((field) => field.resource === resource || CARRIED[field.resource] === resource);
}

/** What a cart had, its order has. */
const CARRIED: Partial<Record<FieldResource, FieldResource>> = { cart: 'order', cartLine: 'orderLine' };

/** The scopes that the definitions of a resource ask for. */
export const SCOPES_OF: Readonly<Record<FieldResource, { read: Scope; write: Scope }>> = {
  product: { read: 'products_read', write: 'products_write' },
  variation: { read: 'products_read', write: 'products_write' },
  category: { read: 'products_read', write: 'products_write' },
  customer: { read: 'customers_read', write: 'customers_write' },
  cart: { read: 'orders_read', write: 'orders_write' },
  cartLine: { read: 'orders_read', write: 'orders_write' },
  order: { read: 'orders_read', write: 'orders_write' },
  orderLine: { read: 'orders_read', write: 'orders_write' },
  shop: { read: 'products_read', write: 'products_write' },
};

import type { EventRow } from './queries.ts';
import { EVENT_TYPES, type EventResource } from './types.ts';

const PATHS: Readonly<Record<EventResource, string | null>> = {
  order: '/orders/',
  product: '/products/',
  customer: '/customers/',
  'coupon campaign': '/coupon-campaigns/',
  cart: '/carts/',
  app: null,
  shop: '',
};

/** The address of the entity of an event. */
export function entityUrlOf(
  { type, resourceId }: Pick<EventRow, 'type' | 'resourceId'>,
  link: (path: string) => string,
): string | null {
  const path = PATHS[EVENT_TYPES[type].resource];
  return path === null ? null : link(`${path}${path === '' ? '' : resourceId}`);
}

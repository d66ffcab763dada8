import type { ShippingMethod, ShippingZone } from '../settings/settings.ts';

/** The lowest price of a delivery by this method, in minor units; null for pickup, which has no price. */
export function lowestShippingPrice(method: ShippingMethod): number | null {
  if (method.zones.length > 0) return Math.min(...method.zones.map(lowestZonePrice));
  switch (method.kind) {
    case 'pickup':
      return null;
    case 'order_value':
      return method.tiers.length === 0 ? 0 : Math.min(...method.tiers.map((tier) => tier.amount));
    case 'flat':
    case 'weight':
      return method.amount;
  }
}

function lowestZonePrice({ amount, tiers, weights }: ShippingZone): number {
  return amount ?? Math.min(...[...tiers, ...weights].map((step) => step.amount));
}

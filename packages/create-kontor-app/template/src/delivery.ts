import type { DeliveryAnswer, DeliveryQuestion } from '@kontor/client/app';

/** By bike within Germany, for 3.90. */
export function deliveryOptions({ destination }: DeliveryQuestion): DeliveryAnswer {
  if (destination.country !== 'DE') return { options: [] };
  return { options: [{ id: 'bike', name: { en: 'By bike', de: 'Mit dem Rad' }, price: 390 }] };
}

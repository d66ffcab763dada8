import { hash } from 'node:crypto';

/**
 * The id of a delivery is made from the webhook and the position of the event, so that it is the same for every
 * attempt, every replay and every process: receivers use it to detect duplicates.
 */
export function deliveryIdOf(shopId: string, webhookId: string, position: number): string {
  const digits = beginningOf(shopId, webhookId) + position.toString(16).toUpperCase().padStart(12, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** undefined: it is not the id of a delivery of this webhook. */
export function positionOfDelivery(
  shopId: string,
  webhookId: string,
  deliveryId: string,
): number | undefined {
  const digits = deliveryId.toUpperCase().replaceAll('-', '');
  return digits.startsWith(beginningOf(shopId, webhookId))
    ? Number.parseInt(digits.slice(20), 16)
    : undefined;
}

/** The value of the header `webhook-id`. */
export function messageIdOf(deliveryId: string): string {
  return `evt_${deliveryId.toLowerCase().replaceAll('-', '')}`;
}

function beginningOf(shopId: string, webhookId: string): string {
  return hash('sha256', `${shopId}/${webhookId.toUpperCase()}`, 'hex').slice(0, 20).toUpperCase();
}

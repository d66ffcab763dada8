import type { Settings } from '../shops/settings/settings.ts';
import { millionths, unshippedLines } from './quantities.ts';
import type { OrderActivity } from './manage-queries.ts';
import type { ManagedOrder } from './queries.ts';
import type { WithdrawalExclusion } from '../catalogue/products/facts.ts';
import type { ContentLine } from '../pricing/content.ts';

/** An order as its customer sees it. */
export interface CustomerOrder {
  order: ManagedOrder;
  activity: OrderActivity;
  settings: Settings;
}

const DAY = 86_400_000;

/**
 * When the customer certainly has all goods: on the date of delivery, else some days after the last shipment. If
 * nothing is shipped, it is the time of the contract. undefined: not yet.
 */
function arrivalOf({ order, activity, settings }: CustomerOrder): Date | undefined {
  const { content, createdAt, deliveredOn, dispatchedOn } = order;
  if (deliveredOn) return deliveredOn;
  const isShipped = content.shipping !== null || settings.shippingMethods.length === 0;
  if (!isShipped) return createdAt;
  const isAllSent = activity.shipments.length > 0 && unshippedLines(content, activity.shipments).length === 0;
  const sentAt = isAllSent ? new Date(activity.shipments.at(-1)!.at) : dispatchedOn;
  return sentAt ? new Date(sentAt.getTime() + settings.withdrawal.transitDays * DAY) : undefined;
}

/**
 * The end of the withdrawal period (Consumer Rights Directive, article 9); undefined: it has not begun, because not all
 * goods have arrived. The day of arrival does not count, and a period that would end on a Saturday or Sunday ends on
 * Monday (Regulation 1182/71, article 3). Noon of the next day in UTC is the end of a day wherever the customer is.
 */
export function withdrawalEnd(open: CustomerOrder): Date | undefined {
  const arrival = arrivalOf(open);
  if (!arrival) return undefined;
  const day = Math.floor(arrival.getTime() / DAY) + open.settings.withdrawal.days;
  const weekday = new Date(day * DAY).getUTCDay();
  const moved = weekday === 6 ? day + 2 : weekday === 0 ? day + 1 : day;
  return new Date((moved + 1.5) * DAY);
}

export function isInWithdrawalPeriod(open: CustomerOrder, now: Date): boolean {
  if (open.settings.withdrawal.days === 0) return false;
  const end = withdrawalEnd(open);
  return end === undefined || now < end;
}

/** Whether the merchant accepts returns of it beside the right of withdrawal. */
export function isInReturnPeriod(open: CustomerOrder, now: Date): boolean {
  const { returnDays } = open.settings.orderPage;
  if (returnDays === 0) return false;
  const arrival = arrivalOf(open);
  return arrival === undefined || now.getTime() < arrival.getTime() + returnDays * DAY;
}

/** The right ends with a broken seal or by mixing, which the seller does not see. */
const ENDS_UNSEEN: readonly WithdrawalExclusion[] = ['hygiene', 'mixed', 'sealedMedia'];

/**
 * Whether the customer may withdraw from a line, of which this quantity (in millionths) was sent, or performed.
 * Directive 2011/83/EU, article 16. The seller can't know whether a seal was broken or goods were mixed, so the
 * declaration stays possible, and the merchant examines what comes back. Digital content and services keep the right
 * until they begin, or are performed, with the consent of the customer; without a consent they keep it.
 */
export function hasWithdrawalRight(
  {
    withdrawalExcluded,
    withdrawalConsent,
    quantity,
  }: Pick<ContentLine, 'withdrawalExcluded' | 'withdrawalConsent' | 'quantity'>,
  sent: number,
): boolean {
  if (withdrawalExcluded === undefined || ENDS_UNSEEN.includes(withdrawalExcluded)) return true;
  if (withdrawalExcluded === 'digitalContent') return !withdrawalConsent || sent === 0;
  if (withdrawalExcluded === 'servicePerformed') return !withdrawalConsent || sent < millionths(quantity);
  return false;
}

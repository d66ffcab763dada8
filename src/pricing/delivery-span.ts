import type { ProductFacts } from '../catalogue/products/facts.ts';
import type { Settings, ShippingMethod, ShippingZone } from '../shops/settings/settings.ts';
import { languageTag } from '../http/locale.ts';
import { messagesIn } from '../kernel/messages.ts';

/** The first and the last day of something, as `2026-11-18`. */
export interface DaySpan {
  from: string;
  to: string;
}

/** A number of working days, at least and at most. */
export interface WorkingDays {
  from: number;
  to: number;
}

/** The way of an order: until it is dispatched, and then in transit. */
export interface DeliveryDays {
  handling: WorkingDays;
  transit: WorkingDays;
}

const DAY = 86_400_000;

/** More days than any customer would wait; a longer period is no promise. */
const MAX_DAYS = 365;

/** The product data that determines the day of delivery. */
export interface DeliveredProduct {
  facts: Pick<ProductFacts, 'deliveryPeriod'>;
  /** The ordered quantity is in stock, or is expected on a day that is known. */
  isInStock: boolean;
  /** That day; missing: it is in stock. */
  availableFrom?: string | undefined;
}

/**
 * The days on which these products arrive with a shipping method, if they are ordered now; undefined where they are
 * unknown: the customer collects them, the shop has set no transit time for the method, a product is out of stock, or
 * its handling time is not a number of days. Every page, email and feed that names a day of delivery takes it from
 * here, or from the order, which stores it.
 */
export function expectedDelivery(
  products: readonly DeliveredProduct[],
  method: ShippingMethod,
  zone: ShippingZone | null,
  settings: Pick<Settings, 'deliveryTimes'>,
  now: Date,
): DaySpan | undefined {
  const days = deliveryDays(products, method, zone, settings);
  return (
    days && deliverySpan(now, settings.deliveryTimes, days.handling, days.transit, lastAvailableDay(products))
  );
}

/** The day on which the last of these products is there; undefined: all are in stock. */
const lastAvailableDay = (products: readonly DeliveredProduct[]) =>
  products
    .flatMap(({ availableFrom }) => availableFrom ?? [])
    .toSorted()
    .at(-1);

/** The working days on the way; undefined: the customer collects the goods, or the shop has set none. Those of the zone come first. */
export const transitDays = (
  method: ShippingMethod,
  zone: ShippingZone | null,
  { deliveryTimes }: Pick<Settings, 'deliveryTimes'>,
): WorkingDays | undefined =>
  method.kind === 'pickup' ? undefined : (zone?.days ?? deliveryTimes.methods[method.key]);

/**
 * The working days until these products are dispatched, and then on the way; undefined: unknown.
 */
export function deliveryDays(
  products: readonly DeliveredProduct[],
  method: ShippingMethod,
  zone: ShippingZone | null,
  settings: Pick<Settings, 'deliveryTimes'>,
): DeliveryDays | undefined {
  const { deliveryTimes } = settings;
  const transit = transitDays(method, zone, settings);
  if (!transit || products.some(({ isInStock }) => !isInStock)) return undefined;
  const times = products.map(({ facts }) => handlingTime(facts, deliveryTimes));
  if (!times.every((time) => time !== undefined)) return undefined;
  // Everything is sent in one parcel, when the last product is ready.
  const handling = {
    from: Math.max(0, ...times.map(({ from }) => from)),
    to: Math.max(0, ...times.map(({ to }) => to)),
  };
  return { handling, transit };
}

/** The working days until a product is dispatched: its own, else the shop's; undefined: its own are no number. */
function handlingTime(
  { deliveryPeriod }: Pick<ProductFacts, 'deliveryPeriod'>,
  { handling }: Settings['deliveryTimes'],
): WorkingDays | undefined {
  return deliveryPeriod ? parseDays(deliveryPeriod) : handling;
}

/** `3`, or `3-5`: days until the goods are dispatched; undefined: any other text, which is ignored. */
export function parseDays(period: string): WorkingDays | undefined {
  const [, first, last = first] = /^\s*(\d{1,3})\s*(?:[-–]\s*(\d{1,3})\s*)?$/.exec(period) ?? [];
  if (first === undefined) return undefined;
  const days = { from: Number(first), to: Number(last) };
  return days.from <= days.to && days.to <= MAX_DAYS ? days : undefined;
}

/**
 * The arrival days of goods that are ordered now, and of which the last are there from `availableFrom` on. An order after the cut-off hour, or on a non-working day, counts
 * from the next working day. Working days are Monday to Friday; public holidays differ from town to town and are not
 * known here.
 */
export function deliverySpan(
  now: Date,
  { cutOffHour, timeZone }: { cutOffHour: number; timeZone: string },
  handling: WorkingDays,
  transit: WorkingDays,
  availableFrom?: string,
): DaySpan {
  const { day, hour } = localTime(now, timeZone);
  const ordered = hour >= cutOffHour ? day + DAY : day;
  const start = workingDayFrom(
    availableFrom === undefined ? ordered : Math.max(ordered, Date.parse(`${availableFrom}T00:00:00Z`)),
  );
  return {
    from: dayText(afterWorkingDays(start, handling.from + transit.from)),
    to: dayText(afterWorkingDays(start, handling.to + transit.to)),
  };
}

/** The day in this time zone as midnight UTC, so that days can be counted, and the hour. */
export function localTime(now: Date, timeZone: string): { day: number; hour: number } {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
  }).formatToParts(now);
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((one) => one.type === type)!.value);
  return { day: Date.UTC(part('year'), part('month') - 1, part('day')), hour: part('hour') };
}

const isWorkingDay = (day: number) => ![0, 6].includes(new Date(day).getUTCDay());

function workingDayFrom(day: number): number {
  return isWorkingDay(day) ? day : workingDayFrom(day + DAY);
}

function afterWorkingDays(day: number, count: number): number {
  let last = day;
  for (let left = count; left > 0; left--) last = workingDayFrom(last + DAY);
  return last;
}

const dayText = (day: number) => new Date(day).toISOString().slice(0, 10);

/** When a span that was computed now may change: time zones differ by quarters of an hour. */
export function spanExpiry(now: Date): Date {
  const QUARTER = 15 * 60_000;
  return new Date((Math.floor(now.getTime() / QUARTER) + 1) * QUARTER);
}

/** `Expected delivery: Tue 17 November – Thu 19 November` */
export function deliveryText(days: DaySpan, locale: string): string {
  return messagesIn(locale).deliverySpan.arrives({ days: daySpanText(days, locale) });
}

/** `Tue 17 November – Thu 19 November` */
export function daySpanText({ from, to }: DaySpan, locale: string): string {
  const format = new Intl.DateTimeFormat(languageTag(locale), {
    weekday: 'short',
    day: 'numeric',
    month: 'long',
    timeZone: 'UTC',
  });
  return format.formatRange(new Date(from), new Date(to));
}

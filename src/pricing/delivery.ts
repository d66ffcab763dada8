import { divideRounded } from '../kernel/money.ts';
import { inCurrency, priceIn } from '../catalogue/products/prices.ts';
import type { ShippingMethod, ShippingZone } from '../shops/settings/settings.ts';
import type { CartInput, LineInput, ShopRules } from './input.ts';
import { taxClassFor } from './tax.ts';
import { GRAM, KILOGRAM, priceOfQuantity, weightOf } from './quantity.ts';

/** The ways to deliver the goods of a cart. */
export interface Delivery {
  /** In the order of the settings, then what an app offers; an empty cart rules out only those that do not deliver to its address. */
  possible: readonly ShippingMethod[];
  /** The zone of each possible method; null: the method has no zones. */
  zones: readonly (ShippingZone | null)[];
  /** The chosen one if possible, else the first; null: nothing is shipped, or nothing fits. */
  method: ShippingMethod | null;
  /** Whether the method is the chosen one. */
  isChosen: boolean;
  /** There are goods to ship. */
  isNeeded: boolean;
  /**
   * The chosen method, if it could carry the goods but has no zone for the destination and their weight. The choice
   * counts no longer, and the customer is told: another method may be dearer.
   */
  unavailable: ShippingMethod | null;
  /** Methods could carry the goods, but none has a zone for the destination and their weight. */
  isUndeliverable: boolean;
}

export function deliveryOf(cart: CartInput, shop: ShopRules): Delivery {
  const { lines, shipping } = cart;
  const shipped = shippedOf(lines, shop);
  const isNeeded = shipped.length > 0;
  const possible: ShippingMethod[] = [];
  const zones: (ShippingZone | null)[] = [];
  let elsewhere = 0;
  let unavailable: ShippingMethod | null = null;
  let weight: bigint | undefined;
  // An empty cart rules nothing out, goods without a shipping method rule out everything.
  const methods = lines.length > 0 && !isNeeded ? [] : shop.shippingMethods;
  for (const method of methods) {
    const { shippingMethodId } = method;
    if (!shipped.every(({ product }) => isMethodAllowed(product.shippingMethodIds, shippingMethodId, shop)))
      continue;
    // Most methods have no zones, and then the weight need not be known.
    const zone =
      method.zones.length === 0 ? null : zoneOf(method, cart, (weight ??= weightOf(shipped)), shop);
    if (zone === undefined) {
      elsewhere += 1;
      if (isNeeded && shippingMethodId === shipping.methodId) unavailable = method;
    } else {
      possible.push(method);
      zones.push(zone);
    }
  }
  const { option } = shipping;
  const optionId = option?.method.shippingMethodId;
  if (
    option &&
    isNeeded &&
    shipped.every(({ product }) => isMethodAllowed(product.shippingMethodIds, optionId!, shop))
  ) {
    if (option.isOutdated) unavailable = option.method;
    else {
      possible.push(option.method);
      zones.push(option.zone);
    }
  }
  const chosen = possible.find(({ shippingMethodId }) => shippingMethodId === shipping.methodId);
  return {
    possible,
    zones,
    method: isNeeded ? (chosen ?? possible[0] ?? null) : null,
    isChosen: isNeeded && chosen !== undefined,
    isNeeded,
    unavailable,
    isUndeliverable: isNeeded && possible.length === 0 && elsewhere > 0,
  };
}

/** The zone in which a possible method delivers; null: the method has no zones. */
export function zoneOfMethod(
  { possible, zones }: Pick<Delivery, 'possible' | 'zones'>,
  method: ShippingMethod,
): ShippingZone | null {
  return zones[possible.indexOf(method)] ?? null;
}

function zoneOf(
  method: ShippingMethod,
  { country, postcode }: Pick<CartInput, 'country' | 'postcode'>,
  weight: bigint,
  shop: ShopRules,
): ShippingZone | null | undefined {
  return zoneFor(method, { country, postcode }, weight, shop.country);
}

function shippedOf(lines: readonly LineInput[], shop: ShopRules): LineInput[] {
  return lines.filter(({ product }) => !product.giftCard && !taxClassFor(product.taxClassId, shop).digital);
}

/** Methods that the shop no longer has do not restrict. */
export function isMethodAllowed(
  restriction: readonly string[] | undefined,
  methodId: string,
  shop: Pick<ShopRules, 'shippingMethods'>,
): boolean {
  if (!restriction || restriction.includes(methodId)) return true;
  return !restriction.some((id) =>
    shop.shippingMethods.some(({ shippingMethodId }) => shippingMethodId === id),
  );
}

/**
 * The cost of a delivery, in minor units of the cart's currency and the terms of the shop; undefined: the method does
 * not deliver there. `value` is the value of the goods: tiers and "free from" depend on it.
 */
export function deliveryPrice(
  method: ShippingMethod,
  cart: Pick<CartInput, 'currency' | 'lines' | 'country' | 'postcode'>,
  value: number,
  shop: ShopRules,
): number | undefined {
  const shipped = shippedOf(cart.lines, shop);
  const weight = method.zones.length === 0 ? 0n : weightOf(shipped);
  const zone = zoneOf(method, cart, weight, shop);
  if (zone === undefined) return undefined;
  return priceInZone(method, zone, { currency: cart.currency, lines: shipped }, value, shop);
}

/**
 * The same in a zone of the method; null: the method has no zones. All lines are shipped. The surcharges of bulky
 * products are added even where the delivery is free from a value, because they are the carrier's; a pickup has none.
 */
export function priceInZone(
  method: ShippingMethod,
  zone: ShippingZone | null,
  { currency, lines }: Pick<CartInput, 'currency' | 'lines'>,
  value: number,
  shop: ShopRules,
): number {
  if (method.kind === 'pickup') return 0;
  const converted = (minor: number) => inCurrency(minor, currency, shop);
  let surcharge = 0;
  for (const { quantity, product } of lines) {
    if (!product.shippingSurcharge) continue;
    surcharge += priceOfQuantity(priceIn(product.shippingSurcharge, currency, shop) ?? 0, quantity, 1);
  }
  const price = zone ? zonePrice(zone, value, lines, converted) : ownPrice(method, lines, value, converted);
  return price + surcharge;
}

type Converted = (minor: number) => number;

function ownPrice(
  method: ShippingMethod,
  shipped: readonly LineInput[],
  value: number,
  converted: Converted,
): number {
  if (method.freeFrom !== null && value >= converted(method.freeFrom)) return 0;
  switch (method.kind) {
    case 'pickup':
      return 0;
    case 'flat':
      return converted(method.amount);
    case 'weight': {
      const perWeight = BigInt(method.amountPerKg) * weightOf(shipped);
      return converted(Number(divideRounded(BigInt(method.amount) * KILOGRAM + perWeight, KILOGRAM)));
    }
    case 'order_value':
      return tierPrice(method.tiers, value, converted);
  }
}

/** A zone has one of the three: one price, prices by weight, or prices by value. */
function zonePrice(
  zone: ShippingZone,
  value: number,
  shipped: readonly LineInput[],
  converted: Converted,
): number {
  const { freeFrom, amount, weights, tiers } = zone;
  if (freeFrom !== null && value >= converted(freeFrom)) return 0;
  if (amount !== null) return converted(amount);
  const weight = weights.length > 0 ? weightOf(shipped) : 0n;
  const reached = weights.find(({ upTo }) => weight <= BigInt(upTo) * GRAM);
  return reached ? converted(reached.amount) : tierPrice(tiers, value, converted);
}

function tierPrice(tiers: ShippingMethod['tiers'], value: number, converted: Converted): number {
  const tier = tiers.findLast(({ from }) => value >= converted(from));
  return converted(tier?.amount ?? 0);
}

/** Where goods go to. */
export interface Destination {
  /** null: unknown, because the cart has no address yet. */
  country: string | null;
  postcode: string | null;
}

/**
 * The zone of a shipping method for this destination and weight; null: the method has no zones and delivers
 * everywhere; undefined: it does not deliver there.
 *
 * Zones with postcodes come before those of whole countries. Where one of them has the postcode, the zones of the whole
 * country do not count, even if only they could carry the weight: their price is not meant for an island. Of several
 * zones, the first that carries the weight holds.
 *
 * Without an address, the method is offered as it would be in `home`, the shop's own country, else with its first zone
 * that carries the weight.
 */
export function zoneFor(
  method: ShippingMethod,
  { country, postcode }: Destination,
  weight: bigint,
  home: string,
): ShippingZone | null | undefined {
  if (method.zones.length === 0) return null;
  const carries = (zone: ShippingZone) => isCarried(zone, weight);
  if (country !== null) return zonesAt(method, country, postcode).find(carries);
  return zonesAt(method, home, null).find(carries) ?? method.zones.find(carries);
}

function isCarried({ maxWeight, weights }: ShippingZone, weight: bigint): boolean {
  const heaviest = weights.at(-1);
  return (
    (maxWeight === null || weight <= BigInt(maxWeight) * GRAM) &&
    (heaviest === undefined || weight <= BigInt(heaviest.upTo) * GRAM)
  );
}

function zonesAt(method: ShippingMethod, country: string, postcode: string | null): readonly ShippingZone[] {
  const zones = zonesByCountry(method).get(country);
  if (!zones) return [];
  if (postcode === null || zones.byPostcode.length === 0) return zones.ofCountry;
  const spellings = spellingsOf(postcode);
  const local = zones.byPostcode.filter(({ includes }) => spellings.some(includes));
  return local.length > 0 ? local.map(({ zone }) => zone) : zones.ofCountry;
}

interface CountryZones {
  byPostcode: { zone: ShippingZone; includes: (postcode: string) => boolean }[];
  /** Those without postcodes. */
  ofCountry: ShippingZone[];
}

/** Every cart asks, and the settings of a shop are cached, so the zones of a method are indexed once. */
const indexes = new WeakMap<ShippingMethod, ReadonlyMap<string, CountryZones>>();

function zonesByCountry(method: ShippingMethod): ReadonlyMap<string, CountryZones> {
  const known = indexes.get(method);
  if (known) return known;
  const index = new Map<string, CountryZones>();
  for (const zone of method.zones) {
    const includes = postcodeTest(zone.postcodes);
    for (const country of zone.countries) {
      let zones = index.get(country);
      if (!zones) index.set(country, (zones = { byPostcode: [], ofCountry: [] }));
      if (includes) zones.byPostcode.push({ zone, includes });
      else zones.ofCountry.push(zone);
    }
  }
  indexes.set(method, index);
  return index;
}

/** undefined: the zone has no postcodes. */
function postcodeTest(postcodes: readonly string[]): ((postcode: string) => boolean) | undefined {
  if (postcodes.length === 0) return undefined;
  const whole = new Set<string>();
  const beginnings: string[] = [];
  const ranges: { first: string; last: string }[] = [];
  for (const text of postcodes) {
    const [first, last] = text.split('-');
    if (last !== undefined) ranges.push({ first: first!, last });
    else if (text.endsWith('*')) beginnings.push(text.slice(0, -1));
    else whole.add(text);
  }
  return (postcode) =>
    whole.has(postcode) ||
    beginnings.some((beginning) => postcode.startsWith(beginning)) ||
    ranges.some(({ first, last }) => isInRange(postcode, first, last));
}

/** A range compares as many digits as its ends have: `9000-9499` has 9100-123 of Portugal. */
function isInRange(postcode: string, first: string, last: string): boolean {
  if (postcode < first) return false;
  const start = postcode.slice(0, first.length);
  return start <= last && start.length === first.length && /^\d+$/.test(start);
}

/**
 * A postcode as zones have it, in capitals and without spaces and hyphens; and without the letters of a country that
 * some people write before it, such as ES-35001 or D-20457.
 */
function spellingsOf(postcode: string): string[] {
  const text = postcode.toUpperCase();
  const spellings = [text, text.replace(/^\s*[A-Z]{1,3}\s*-\s*(?=\d)/, '')];
  return [...new Set(spellings.map((one) => one.replaceAll(/[\s-]/g, '')))];
}

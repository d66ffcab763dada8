import type { ShippingMethod, ShippingZone } from '../shops/settings/settings.ts';
import { GRAM } from './weight.ts';

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

import { describe, expect, test } from 'vitest';
import type { ShippingMethod, ShippingZone } from '../shops/settings/settings.ts';
import { GRAM } from './quantity.ts';
import { zoneFor } from './delivery.ts';

const zone = (amount: number, countries: string[], changes: Partial<ShippingZone> = {}): ShippingZone => ({
  countries,
  postcodes: [],
  amount,
  tiers: [],
  weights: [],
  freeFrom: null,
  days: null,
  maxWeight: null,
  ...changes,
});

const method = (...zones: ShippingZone[]): ShippingMethod => ({
  shippingMethodId: 'PARCEL',
  key: 'parcel',
  name: {},
  description: {},
  logoUrl: null,
  kind: 'flat',
  amount: 0,
  amountPerKg: 0,
  tiers: [],
  freeFrom: null,
  zones,
  place: {},
  hours: {},
});

/** The zones of a shop that knows its islands: the country stands before its postcodes, which win all the same. */
const PARCEL = method(
  zone(490, ['DE'], { maxWeight: 5_000 }),
  zone(990, ['DE'], { maxWeight: 31_500 }),
  zone(1490, ['ES', 'FR', 'PT']),
  zone(3990, ['ES'], { postcodes: ['35000-35999', '38*'], maxWeight: 10_000 }),
  zone(1290, ['GB']),
  zone(2490, ['GB'], { postcodes: ['BT*'] }),
  zone(2990, ['PT'], { postcodes: ['9000-9999'] }),
  zone(990, ['IT'], { postcodes: ['00120', '47890'] }),
  zone(1990, ['US'], {
    amount: null,
    weights: [
      { upTo: 1_000, amount: 1990 },
      { upTo: 5_000, amount: 3990 },
    ],
  }),
  zone(9999, ['DE', 'ES']),
);

describe('the zone of an address', () => {
  test.each<[string | null, string | null, number, number | undefined]>([
    ['DE', '20457', 0, 490],
    ['DE', null, 0, 490],
    // Exactly the most it carries, and a gram more.
    ['DE', '20457', 5_000, 490],
    ['DE', '20457', 5_001, 990],
    ['DE', '20457', 31_500, 990],
    ['DE', '20457', 31_501, 9999],
    // The Canary Islands.
    ['ES', '28001', 0, 1490],
    ['ES', '34999', 0, 1490],
    ['ES', '35000', 0, 3990],
    ['ES', '35001', 0, 3990],
    ['ES', '35999', 0, 3990],
    ['ES', '36000', 0, 1490],
    ['ES', '38001', 0, 3990],
    ['ES', ' 38 001 ', 0, 3990],
    ['ES', 'ES-35001', 0, 3990],
    ['ES', 'E-38001', 0, 3990],
    ['ES', null, 0, 1490],
    ['ES', '', 0, 1490],
    // The price of the mainland is not meant for the islands, however heavy the parcel is.
    ['ES', '35001', 10_001, undefined],
    ['ES', '28001', 10_001, 1490],
    // Northern Ireland.
    ['GB', 'BT1 1AA', 0, 2490],
    ['GB', 'bt71 4qq', 0, 2490],
    ['GB', 'B1 1BT', 0, 1290],
    ['GB', 'SW1A 1AA', 0, 1290],
    // As many digits as the range has.
    ['PT', '9100-123', 0, 2990],
    ['PT', '1000-001', 0, 1490],
    ['PT', '910', 0, 1490],
    // Only these postcodes of the country.
    ['IT', '00120', 0, 990],
    ['IT', '00121', 0, undefined],
    ['IT', null, 0, undefined],
    ['US', '10001', 1_000, 1990],
    ['US', '10001', 5_000, 1990],
    ['US', '10001', 5_001, undefined],
    ['CH', '8001', 0, undefined],
    ['de', '20457', 0, undefined],
    // No address yet: as at home, by weight.
    [null, null, 0, 490],
    [null, null, 6_000, 990],
  ])('%s %s with %s g', (country, postcode, grams, expected) => {
    const found = zoneFor(PARCEL, { country, postcode }, BigInt(grams) * GRAM, 'DE');
    const shown = found && (found.amount ?? found.weights[0]!.amount);
    expect(shown).toBe(expected);
  });

  test('without an address and a zone for the home country, it is the first that carries the weight', () => {
    const abroad = method(zone(1490, ['FR'], { maxWeight: 2_000 }), zone(2490, ['US']));
    const at = (grams: number) =>
      zoneFor(abroad, { country: null, postcode: null }, BigInt(grams) * GRAM, 'DE');
    expect([at(2_000)?.amount, at(2_001)?.amount]).toEqual([1490, 2490]);
    // A zone for postcodes alone does not stand for the country.
    const islands = method(zone(3990, ['ES'], { postcodes: ['35*'] }), zone(1490, ['ES']));
    expect(zoneFor(islands, { country: null, postcode: null }, 0n, 'ES')?.amount).toBe(1490);
  });

  test('a method without zones delivers everywhere', () => {
    expect(zoneFor(method(), { country: 'NZ', postcode: '6011' }, 10n ** 40n, 'DE')).toBeNull();
  });

  test('the first of several zones with the postcode holds', () => {
    const both = method(zone(1, ['ES'], { postcodes: ['35*'] }), zone(2, ['ES'], { postcodes: ['35001'] }));
    expect(zoneFor(both, { country: 'ES', postcode: '35001' }, 0n, 'DE')?.amount).toBe(1);
  });

  test('a method with many zones does not deliver between them', () => {
    const postcodes = Array.from(
      { length: 200 },
      (_, index) => `${10_000 + index * 100}-${10_050 + index * 100}`,
    );
    const many = method(...Array.from({ length: 50 }, (_, at) => zone(at, ['DE'], { postcodes })));
    expect(zoneFor(many, { country: 'DE', postcode: '99999' }, 0n, 'DE')).toBeUndefined();
  });
});

import { Type } from 'typebox';
import {
  Amount,
  Country,
  normalised,
  Pattern,
  Key,
  Kilograms,
  WebAddress,
  List,
  MapOf,
  OrElse,
  OrNull,
  Section,
  stored,
  LocalisedText,
} from '../fields.ts';

const SHIPPING_KINDS = ['flat', 'weight', 'orderValue', 'pickup'] as const;
type ShippingKind = (typeof SHIPPING_KINDS)[number];

/** The prices that each kind of delivery requires, and its optional ones. */
export const SHIPPING_PRICES: Record<ShippingKind, { needs: readonly string[]; takes: readonly string[] }> = {
  flat: { needs: ['price'], takes: ['price', 'freeFrom'] },
  weight: { needs: ['pricePerKg'], takes: ['price', 'pricePerKg', 'freeFrom'] },
  orderValue: { needs: ['tiers'], takes: ['tiers', 'freeFrom'] },
  pickup: { needs: [], takes: [] },
};
export const PRICE_FIELDS = ['price', 'pricePerKg', 'tiers', 'freeFrom'] as const;
/** The fields of a place where customers collect their goods. */
export const PICKUP_FIELDS = ['place', 'hours'] as const;

/** Whether a field of a shipping method, as a file states it, belongs to its kind. A zone has prices of its own. */
export function isFieldOfMethod(
  field: string,
  { kind, zones }: { kind?: unknown; zones?: unknown },
): boolean {
  const isPickup = kind === 'pickup';
  if (field === 'zones') return !isPickup;
  if ((PICKUP_FIELDS as readonly string[]).includes(field)) return isPickup;
  if (!(PRICE_FIELDS as readonly string[]).includes(field)) return true;
  const hasZones = !isPickup && Array.isArray(zones) && zones.length > 0;
  return !hasZones && (SHIPPING_PRICES[kind as ShippingKind]?.takes.includes(field) ?? true);
}

const workingDays = (description: string, example: number) =>
  Type.Integer({ minimum: 0, maximum: 90, description, examples: [example] });

/** A range of digits such as `35000-35999`, a beginning such as `BT*`, or one postcode. */
const POSTCODES =
  '^ *(?:[0-9]{1,12} *- *[0-9]{1,12}|[A-Za-z0-9](?:[A-Za-z0-9 -]{0,14}[A-Za-z0-9])? *\\*?) *$';

export const MAX_ZONES = 50;
const MAX_ZONE_POSTCODES = 200;

export const ZONE_PRICES = ['price', 'tiers', 'weights'] as const;

const ShippingZone = Section(
  {
    countries: List(Country('ISO 3166-1 alpha-2.', 'FR'), 'The countries of the zone.', ['FR', 'BE'], {
      minItems: 1,
      maxItems: 250,
    }),
    postcodes: OrElse(
      [],
      List(
        normalised(
          compactPostcodes,
          Pattern(
            POSTCODES,
            'A range of digits, a beginning with *, or one postcode. Spaces and the case of letters do not matter.',
            '35000-35999',
            32,
          ),
        ),
        'The postcodes of the zone. Absent: the whole country. A zone with postcodes comes before zones of whole countries.',
        ['35000-35999', '38*'],
        { maxItems: MAX_ZONE_POSTCODES },
      ),
    ),
    price: OrNull(Amount('Price of the delivery; or give tiers or weights.', 14.9)),
    tiers: OrElse(
      [],
      List(
        Section(
          {
            from: Amount('Value of the goods from which this price applies.', 50),
            price: Amount('Price of the delivery.', 9.9),
          },
          { names: { price: 'amount' } },
        ),
        'Prices by value of the goods: ascending, the first from 0.',
        [
          { from: 0, price: 14.9 },
          { from: 50, price: 9.9 },
        ],
        { maxItems: 50 },
      ),
    ),
    weights: OrElse(
      [],
      List(
        Section(
          {
            upTo: Kilograms('Weight in kilograms up to which this price applies, at most 3 decimals.', 5),
            price: Amount('Price of the delivery.', 9.9),
          },
          { names: { price: 'amount' } },
        ),
        'Prices by weight: ascending. Heavier goods are not delivered to this zone.',
        [
          { upTo: 2, price: 6.9 },
          { upTo: 10, price: 12.9 },
        ],
        { maxItems: 50 },
      ),
    ),
    freeFrom: OrNull(Amount('Value of the goods from which the delivery is free.', 100)),
    days: OrNull(
      Section(
        { from: workingDays('At least.', 2), to: workingDays('At most.', 4) },
        { description: 'Transit time in working days. Absent: the one of the method in deliveryTimes.' },
      ),
    ),
    maxWeight: OrNull(Kilograms('Heavier goods, in kilograms, are not delivered to this zone.', 30)),
  },
  {
    names: { price: 'amount' },
    isOmitted: (key, written) =>
      ['postcodes', 'tiers', 'weights'].includes(key) && (written as unknown[]).length === 0,
  },
);

/** Postcodes are compared in capitals and without spaces and hyphens; the hyphen of a range stays. */
function compactPostcodes(written: string): string {
  const text = written.replaceAll(' ', '').toUpperCase();
  return /^\d+-\d+$/.test(text) ? text : text.replaceAll('-', '');
}

export const ShippingMethod = Section(
  {
    key: Key('Its name in this file; the id belongs to it.', 'express'),
    name: LocalisedText('Name.', 'Express delivery'),
    description: OrElse({}, LocalisedText('Text.', 'The next working day', 10_000)),
    logoUrl: OrNull(WebAddress('^https?://\\S+$', 'Logo.', 'https://shop.example/parcel.png')),
    kind: stored(
      Type.Enum([...SHIPPING_KINDS], {
        description:
          'flat: price. weight: price + pricePerKg x weight. orderValue: the price of the tier the order is in. pickup: free, shown without a price. With zones, the prices are those of the zones.',
        examples: ['flat'],
      }),
      {
        toStored: (kind) => (kind === 'orderValue' ? ('order_value' as const) : kind),
        toWritten: (kind) => (kind === 'order_value' ? 'orderValue' : kind),
      },
    ),
    price: OrElse(0, Amount('For flat and weight.', 7)),
    pricePerKg: OrElse(0, Amount('For weight.', 1.19)),
    tiers: OrElse(
      [],
      List(
        Section(
          {
            from: Amount('Value of the order from which this price applies.', 50),
            price: Amount('Price of the delivery.', 3.9),
          },
          { names: { price: 'amount' } },
        ),
        'For orderValue: ascending, the first from 0.',
        [
          { from: 0, price: 7 },
          { from: 50, price: 3.9 },
        ],
        { minItems: 1 },
      ),
    ),
    freeFrom: OrNull(Amount('Value of the order from which the delivery is free.', 100)),
    zones: OrElse(
      [],
      List(
        ShippingZone,
        'Where the method delivers to, each zone with prices of its own; elsewhere the method is not offered. The first zone that fits holds, those with postcodes before those of whole countries. Absent: it delivers to all countries of the shop at the price above.',
        [
          { countries: ['DE'], price: 4.9, freeFrom: 50 },
          { countries: ['FR'], price: 14.9 },
        ],
        { maxItems: MAX_ZONES },
      ),
    ),
    place: OrElse(
      {},
      LocalisedText('For pickup: where customers collect their goods.', 'Kaistraße 4, 20457 Hamburg', 1000),
    ),
    hours: OrElse({}, LocalisedText('For pickup: opening hours.', 'Mon-Fri 10 am to 6 pm', 1000)),
  },
  {
    names: { price: 'amount', pricePerKg: 'amountPerKg' },
    isOmitted: (key, written, method) =>
      !isFieldOfMethod(key, method) || (key === 'zones' && (written as unknown[]).length === 0),
  },
);

export const DeliveryTimes = Section(
  {
    cutOffHour: OrElse(
      14,
      Type.Integer({
        minimum: 0,
        maximum: 24,
        description:
          'The hour before which an order is handled on the same day; 24: the whole day. Absent: 14.',
        default: 14,
        examples: [14],
      }),
    ),
    timeZone: OrElse(
      'Europe/Berlin',
      Type.String({
        maxLength: 100,
        description: 'Time zone of the shop, by its IANA name. Absent: Europe/Berlin.',
        default: 'Europe/Berlin',
        examples: ['Europe/Paris'],
      }),
    ),
    handling: OrElse(
      { from: 0, to: 0 },
      Section(
        { from: workingDays('At least.', 0), to: workingDays('At most.', 1) },
        {
          description:
            'Working days until an order is dispatched, for products without a delivery period of their own. Shoppers see only the day of delivery. Absent: 0.',
        },
      ),
    ),
    methods: OrElse(
      {},
      MapOf(
        '^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$',
        Section({ from: workingDays('At least.', 1), to: workingDays('At most.', 3) }),
        'Transit time in working days, by the key of a shipping method. Pages say nothing of a method that is not named; of one that is, they say the day of delivery instead of its description.',
        { parcel: { from: 1, to: 3 } },
      ),
    ),
  },
  {
    description:
      "When goods arrive: the handling time, which is the product's delivery period or the shop's, and the days of the method on the way. Working days are Monday to Friday; public holidays are not considered.",
  },
);

import { Type } from 'typebox';
import { toSeconds, parseMoment } from '../../../http/dates.ts';
import {
  Amount,
  Country,
  Currency,
  Flag,
  Key,
  List,
  LocalisedText,
  normalised,
  OneLine,
  OrElse,
  OrNull,
  Percent,
  Plain,
  Section,
  stored,
} from '../fields.ts';

export const PROMOTION_EFFECTS = ['percent', 'amount', 'price', 'buyGet'] as const;
export type PromotionEffectName = (typeof PROMOTION_EFFECTS)[number];

/** Which fields say how much an effect takes off. */
export const EFFECT_FIELDS: Record<
  PromotionEffectName,
  { needs: readonly EffectField[]; takes: readonly EffectField[] }
> = {
  percent: { needs: ['percent'], takes: ['percent', 'on'] },
  amount: { needs: ['amount'], takes: ['amount', 'on'] },
  price: { needs: ['amount'], takes: ['amount', 'on'] },
  buyGet: {
    needs: ['buy', 'get'],
    takes: ['buy', 'get', 'percent', 'timesPerOrder', 'rewardProducts', 'rewardCategories'],
  },
};
const ALL_EFFECT_FIELDS = [
  'on',
  'percent',
  'amount',
  'buy',
  'get',
  'rewardProducts',
  'rewardCategories',
  'timesPerOrder',
] as const;
type EffectField = (typeof ALL_EFFECT_FIELDS)[number];

export const isEffectField = (key: string): boolean => (ALL_EFFECT_FIELDS as readonly string[]).includes(key);

export function takesField(effect: PromotionEffectName, key: string): boolean {
  return (EFFECT_FIELDS[effect].takes as readonly string[]).includes(key);
}

/** Every list is compared with each cart, so all of them are short. */
const MAX_NAMES = 100;
export const MAX_PROMOTIONS = 200;
const MAX_UNITS = 1000;
const MAX_ORDERS = 1_000_000_000;

const ProductNumber = Plain(
  'Number of a product; of one with variations it means all of them.',
  'KN-100',
  100,
);
const CategoryId = normalised(
  (id) => id.toUpperCase(),
  Type.String({
    pattern: '^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$',
    maxLength: 36,
    description: 'Id of a category.',
    examples: ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E'],
  }),
);
const CATEGORY_EXAMPLE = ['0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E'];
const Names = <Item extends Parameters<typeof List>[0]>(item: Item, description: string, example: string[]) =>
  OrElse([] as never, List(item, description, example, { maxItems: MAX_NAMES }));
const Units = (description: string, example: number) =>
  OrNull(Type.Integer({ minimum: 1, maximum: MAX_UNITS, description, examples: [example] }));
const Orders = (description: string, example: number) =>
  OrNull(Type.Integer({ minimum: 1, maximum: MAX_ORDERS, description, examples: [example] }));

/** In the order of `Date.getUTCDay`. */
export const PROMOTION_WEEKDAYS = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const;
const Weekday = Type.String({
  pattern: `^(?:${PROMOTION_WEEKDAYS.join('|')})$`,
  maxLength: 9,
  description: 'Name of a day, in English and in lower case.',
  examples: ['friday'],
});
const Hour = (description: string, example: number, bounds: { minimum: number; maximum: number }) =>
  OrNull(Type.Integer({ ...bounds, description, examples: [example] }));

/** A day alone is its first moment. */
export const Moment = (description: string, example: string) =>
  OrNull(
    stored(Type.String({ maxLength: 40, description, examples: [example] }), {
      toStored: (written) => toSeconds(parseMoment(written, 'promotions')),
      toWritten: (moment: string) => moment.replace('T00:00:00Z', ''),
    }),
  );

export const Promotion = Section(
  {
    key: Key('Its name in this file; the id and the count of its uses belong to it.', 'three-for-two'),
    name: LocalisedText('What customers read in the cart.', '3 for 2 on mugs'),
    active: Flag('It may apply.', true),
    code: OrNull(
      normalised(
        (code) => code.trim().toUpperCase(),
        OneLine(
          'The code that customers type, ignoring case. Absent: it applies by itself. A coupon with the same code comes first.',
          'MUGS',
          100,
        ),
      ),
    ),
    effect: Type.Enum([...PROMOTION_EFFECTS], {
      description:
        'percent: so many percent off. amount: an amount off, once for each order. price: each unit, or the delivery, costs this amount. buyGet: who buys so many units gets others cheaper, the cheapest first: 3 for 2 is buy 2, get 1.',
      examples: ['buyGet'],
    }),
    on: OrElse(
      'goods',
      Type.Enum(['goods', 'cart', 'delivery'], {
        description:
          'What it takes something off. goods: the goods it counts. cart: all goods. delivery: the delivery; 100 percent is free delivery. Absent: goods.',
        default: 'goods',
        examples: ['goods'],
      }),
    ),
    percent: OrNull(Percent('For percent; for buyGet, absent: 100, which is free of charge.', 20)),
    amount: OrNull(Amount('For amount and price.', 5)),
    buy: Units('For buyGet: units to buy.', 2),
    get: Units('For buyGet: units that are cheaper. They are not among those to buy.', 1),
    rewardProducts: Names(
      ProductNumber,
      'For buyGet: products that are cheaper. Absent, and without categories: those that it counts.',
      ['KN-200'],
    ),
    rewardCategories: Names(
      CategoryId,
      'For buyGet: categories whose products are cheaper, with those of their subcategories.',
      CATEGORY_EXAMPLE,
    ),
    timesPerOrder: Units(
      'For buyGet: how often it applies in an order. Absent: as often as there are units.',
      1,
    ),
    products: Names(
      ProductNumber,
      'Products that it counts. A product counts that one of the three lists names; absent, and without categories and manufacturers: all.',
      ['KN-100'],
    ),
    categories: Names(
      CategoryId,
      'Categories whose products it counts, with those of their subcategories.',
      CATEGORY_EXAMPLE,
    ),
    manufacturers: Names(Plain('Name of a manufacturer.', 'Beacon', 255), 'Manufacturers that it counts.', [
      'Beacon',
    ]),
    minimumAmount: OrNull(
      Amount('What the counted goods must be worth, before all discounts. Absent: nothing.', 50),
    ),
    minimumQuantity: Units('How many units of them there must be. Absent: one.', 3),
    from: Moment('When it begins, ISO 8601; without a zone it is UTC. Absent: at once.', '2026-12-01'),
    to: Moment('When it ends. A day alone is its beginning. Absent: never.', '2026-12-24T17:00:00Z'),
    weekdays: Names(
      Weekday,
      'Days of the week on which it applies, in the time zone of the shop (deliveryTimes). Absent: all.',
      ['friday', 'saturday'],
    ),
    fromHour: Hour('The hour from which it applies on these days. Absent: midnight.', 17, {
      minimum: 0,
      maximum: 23,
    }),
    toHour: Hour(
      'The hour at which it ends; an hour before fromHour is on the next day. Absent: midnight.',
      20,
      { minimum: 1, maximum: 24 },
    ),
    countries: Names(Country('ISO 3166-1 alpha-2.', 'DE'), 'Destinations. Absent: all.', ['DE', 'AT']),
    currencies: Names(Currency('ISO 4217 code.', 'EUR'), 'Currencies of the cart. Absent: all.', ['EUR']),
    customerGroups: Names(Plain('Name of a group.', 'Cafes'), 'Groups of customers. Absent: everybody.', [
      'Cafes',
    ]),
    priority: OrElse(
      0,
      Type.Integer({
        minimum: 0,
        maximum: 1000,
        description:
          'Those with a higher number apply first, and the others to what they have left; with the same number, in the order of this list. Absent: 0.',
        default: 0,
        examples: [10],
      }),
    ),
    combines: Flag(
      'It applies together with others. false: the cart has either it alone or all others, whichever takes off more.',
      true,
    ),
    usageLimit: Orders('Orders that it may be part of. Absent: any number.', 500),
    usageLimitPerCustomer: Orders('The same for each customer. Absent: any number.', 1),
  },
  {
    isOmitted: (key, written, { effect }) =>
      (Array.isArray(written) && written.length === 0) ||
      (isEffectField(key) && !takesField(effect as PromotionEffectName, key)),
  },
);

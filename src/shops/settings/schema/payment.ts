import { Type } from 'typebox';
import {
  Amount,
  Key,
  MapOf,
  MAX_MONEY,
  OrElse,
  OrNull,
  Percent,
  Plain,
  Section,
  stored,
  LocalisedText,
} from '../fields.ts';

export const PaymentMethod = Section(
  {
    key: Key('Its name in this file; the id belongs to it.', 'invoice'),
    name: LocalisedText('Name.', 'Invoice'),
    provider: OrNull(
      stored(
        Plain(
          'Who handles the payment: stripe, mollie and demo are built in, app is an installed app that `app` names. manual, or absent: the merchant, as with an invoice. Any other name: an app that reports the payment by itself.',
          'stripe',
        ),
        {
          toStored: (written) => (written === 'manual' ? null : written),
          toWritten: (provider: string | null) => provider ?? undefined,
        },
      ),
    ),
    app: OrNull(
      Type.String({
        maxLength: 300,
        pattern: '^[a-z0-9.:\\[\\]-]+/[a-z0-9][a-z0-9-]{0,39}$',
        description: 'For the provider app: the host of the app and the name of its method.',
        examples: ['pay.example/later'],
      }),
    ),
    providerLabel: OrNull(
      Plain('The name of the provider in the API (providerName). Absent: its own name.', 'QuickPay'),
    ),
    capture: OrElse(
      'automatic',
      Type.Enum(['automatic', 'manual'], {
        description:
          'Of a built-in provider: whether a payment takes the money at once, or only reserves it until the merchant asks for it. Absent: automatic.',
        default: 'automatic',
        examples: ['manual'],
      }),
    ),
    price: OrElse(
      0,
      Amount('The price; a negative price is a discount. Absent: 0.', 1.5, {
        minimum: -MAX_MONEY,
        default: 0,
      }),
    ),
    additionalData: OrNull(
      MapOf(
        '^[A-Za-z0-9_.-]{1,100}$',
        Type.String({ maxLength: 1000, description: 'Text.', examples: ['4711'] }),
        'Texts for the provider, as they are.',
        { merchant: '4711' },
      ),
    ),
    releaseUnpaidAfterDays: OrNull(
      Type.Integer({
        minimum: 1,
        maximum: 365,
        description:
          'For methods that are paid in advance: an order of which nothing was paid, sent or invoiced after so many days is cancelled, and its goods go back into the stock. Holds for orders that are placed from now on. Absent: orders wait for their payment for ever, as they should with an invoice or on delivery.',
        examples: [14],
      }),
    ),
    releaseUnpaidAfterMinutes: OrNull(
      Type.Integer({
        minimum: 5,
        maximum: 10_080,
        description:
          'The same in minutes, for methods that are paid at once. Absent, and without days: 60 for a built-in provider.',
        examples: [60],
      }),
    ),
  },
  {
    names: { provider: 'providerName', app: 'appMethod', price: 'amount' },
    isOmitted: (key, written) => key === 'capture' && written === 'automatic',
  },
);

export const MINIMUM_CART_CODES = [
  'SumProduct',
  'SumCoupon',
  'SumDiscount',
  'SumDelivery',
  'SumPayment',
] as const;

export const MinimumCart = Section(
  {
    code: OrElse(
      'SumProduct',
      Type.Enum([...MINIMUM_CART_CODES], {
        description: 'The sum of the cart that counts. Absent: SumProduct.',
        default: 'SumProduct',
        examples: ['SumProduct'],
      }),
    ),
    amount: OrNull(Amount('The minimum value. Absent: none.', 5)),
  },
  {
    description: 'The minimum order value.',
    isInline: true,
    names: { code: 'minimumCartCode', amount: 'minimumCartAmount' },
  },
);

export const BasketDiscount = Section(
  {
    from: Amount('Value of the goods from which the discount applies.', 100),
    absolute: Type.Optional(Amount('Discount as an amount; or give percent.', 10)),
    percent: Type.Optional(Percent('Discount in percent; or give absolute.', 10)),
  },
  { names: { from: 'minimumAmount' } },
);

import { Type, type Static } from 'typebox';
import {
  Amount,
  Currency,
  Flag,
  Key,
  List,
  MOST_MONEY,
  ONE_LINE,
  Plain,
  Section,
  Text,
  type Words,
} from '../../shops/settings/fields.ts';
import { CAMPAIGN_TYPES, LONGEST_CODE, LONGEST_IDENTIFIER, MOST_USES } from './campaign.ts';

/** What apps may make without end must come back from an export, so these lists are hardly bounded. */
const MOST_COUPONS = 1_000_000;

const Moment = (words: Words) => Type.String({ maxLength: 40, ...words });
const Limit = (words: Words) => Type.Integer({ minimum: 1, maximum: MOST_USES, ...words });
const Code = Type.String({
  pattern: ONE_LINE,
  maxLength: LONGEST_CODE,
  description: 'A code, unique in the shop ignoring case.',
  examples: ['SUMMER20'],
});

const CouponCampaign = Section({
  identifier: Type.String({
    pattern: ONE_LINE,
    maxLength: LONGEST_IDENTIFIER,
    description: 'Its name in this file; the id belongs to it.',
    examples: ['summer_sale'],
  }),
  name: Text({ description: 'Name.', examples: ['Summer sale'] }),
  currency: Type.Optional(
    Currency({ description: 'What its amounts are in. Absent: the default currency.', examples: ['EUR'] }),
  ),
  type: Type.Enum([...CAMPAIGN_TYPES], {
    description: 'fix: amount off. percent: amount percent off. shipping: the delivery is free.',
    examples: ['fix'],
  }),
  amount: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: MOST_MONEY,
      description: 'For fix and percent.',
      examples: [20],
    }),
  ),
  waiveShippingCosts: Type.Optional(Flag('The delivery is free as well.', false)),
  minimumOrderValue: Type.Optional(
    Amount({ description: 'What the goods must be worth. Absent: anything.', examples: [60] }),
  ),
  usageLimit: Type.Optional(
    Limit({ description: 'Orders with one code. Absent: any number.', examples: [1] }),
  ),
  campaignUsageLimit: Type.Optional(
    Limit({ description: 'Orders with all codes together. Absent: any number.', examples: [500] }),
  ),
  validFrom: Type.Optional(
    Moment({
      description: 'ISO 8601; without a zone it is UTC. Absent: at once.',
      examples: ['2026-06-01T00:00:00Z'],
    }),
  ),
  validTo: Type.Optional(
    Moment({
      description: 'ISO 8601; a date alone is the beginning of that day. Absent: for ever.',
      examples: ['2026-09-01T00:00:00Z'],
    }),
  ),
  products: Type.Optional(
    List(Plain({ description: 'Number of a product.', examples: ['KN-100'] }, 100), {
      description: 'It takes off from these only. Absent: from all; an empty list: from none.',
      examples: [['KN-100', 'KN-110']],
    }),
  ),
  shippingMethods: Type.Optional(
    List(Key({ description: 'Key of a shipping method.', examples: ['pickup'] }), {
      description: 'It holds with these only. Absent: with all; an empty list: with none.',
      examples: [['pickup']],
    }),
  ),
  paymentMethods: Type.Optional(
    List(Key({ description: 'Key of a payment method.', examples: ['advance'] }), {
      description: 'It holds with these only. Absent: with all; an empty list: with none.',
      examples: [['advance']],
    }),
  ),
  codes: List(
    Code,
    { description: 'What customers type in.', examples: [['SUMMER20']] },
    { maxItems: MOST_COUPONS },
  ),
  withdrawn: Type.Optional(
    List(
      Code,
      {
        description: 'Codes that were recalled: customers are told so, instead of that they are unknown.',
        examples: [['SPRING20']],
      },
      { maxItems: MOST_COUPONS },
    ),
  ),
});

export const CouponCampaigns = List(
  CouponCampaign,
  {
    description:
      'Coupons. A campaign that is taken away takes its codes with it, also those that were added elsewhere.',
    examples: [
      [
        {
          identifier: 'summer_sale',
          name: 'Summer sale',
          type: 'fix',
          amount: 20,
          codes: ['SUMMER20'],
        },
      ],
    ],
  },
  { maxItems: MOST_COUPONS },
);

export type CampaignEntry = Static<typeof CouponCampaign>;

declare module '../../shops/settings/schema.ts' {
  interface RegisteredSections {
    couponCampaigns?: CampaignEntry[];
  }
}

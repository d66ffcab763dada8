import { Type, type Static } from 'typebox';
import {
  Amount,
  Currency,
  Flag,
  Key,
  List,
  MAX_MONEY,
  OneLine,
  Plain,
  Section,
  LocalisedText,
} from '../shops/settings/fields.ts';
import { CAMPAIGN_TYPES, MAX_CODE_LENGTH, MAX_IDENTIFIER_LENGTH, MAX_USES } from './campaign.ts';

/** Apps create entries without limit, and an export must be importable, so these lists are hardly bounded. */
const MAX_COUPONS = 1_000_000;

const Moment = (description: string, example: string) =>
  Type.String({ maxLength: 40, description, examples: [example] });
const Limit = (description: string, example: number) =>
  Type.Integer({ minimum: 1, maximum: MAX_USES, description, examples: [example] });
const Code = OneLine('A code, unique in the shop ignoring case.', 'SUMMER20', MAX_CODE_LENGTH);

const CouponCampaign = Section({
  identifier: OneLine('Its name in this file; the id belongs to it.', 'summer_sale', MAX_IDENTIFIER_LENGTH),
  name: LocalisedText('Name.', 'Summer sale'),
  currency: Type.Optional(Currency('What its amounts are in. Absent: the default currency.', 'EUR')),
  type: Type.Enum([...CAMPAIGN_TYPES], {
    description: 'fix: amount off. percent: amount percent off. shipping: the delivery is free.',
    examples: ['fix'],
  }),
  amount: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: MAX_MONEY,
      description: 'For fix and percent.',
      examples: [20],
    }),
  ),
  waiveShippingCosts: Flag('The delivery is free as well.', false),
  minimumOrderValue: Type.Optional(Amount('Minimum value of the goods. Absent: none.', 60)),
  usageLimit: Type.Optional(Limit('Orders with one code. Absent: any number.', 1)),
  campaignUsageLimit: Type.Optional(Limit('Orders with all codes together. Absent: any number.', 500)),
  validFrom: Type.Optional(
    Moment('ISO 8601; without a zone it is UTC. Absent: at once.', '2026-06-01T00:00:00Z'),
  ),
  validTo: Type.Optional(
    Moment('ISO 8601; a date alone is the beginning of that day. Absent: for ever.', '2026-09-01T00:00:00Z'),
  ),
  products: Type.Optional(
    List(
      Plain('Number of a product.', 'KN-100', 100),
      'It takes off from these only. Absent: from all; an empty list: from none.',
      ['KN-100', 'KN-110'],
    ),
  ),
  shippingMethods: Type.Optional(
    List(
      Key('Key of a shipping method.', 'pickup'),
      'It is valid with these only. Absent: with all; an empty list: with none.',
      ['pickup'],
    ),
  ),
  paymentMethods: Type.Optional(
    List(
      Key('Key of a payment method.', 'advance'),
      'It is valid with these only. Absent: with all; an empty list: with none.',
      ['advance'],
    ),
  ),
  codes: List(Code, 'The codes that customers enter.', ['SUMMER20'], { maxItems: MAX_COUPONS }),
  withdrawn: Type.Optional(
    List(
      Code,
      'Codes that were recalled: customers are told so, instead of that they are unknown.',
      ['SPRING20'],
      { maxItems: MAX_COUPONS },
    ),
  ),
});

export const CouponCampaigns = List(
  CouponCampaign,
  'Coupons. A campaign that is taken away takes its codes with it, also those that were added elsewhere.',
  [
    {
      identifier: 'summer_sale',
      name: 'Summer sale',
      type: 'fix',
      amount: 20,
      codes: ['SUMMER20'],
    },
  ],
  { maxItems: MAX_COUPONS },
);

export type CampaignEntry = Static<typeof CouponCampaign>;

declare module '../shops/settings/schema.ts' {
  interface RegisteredSections {
    couponCampaigns?: CampaignEntry[];
  }
}

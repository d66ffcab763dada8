import { Type } from 'typebox';
import { Price } from '../http/price.ts';
import { Id, Links, Nullable, Timestamp } from '../http/schemas.ts';
import { ONE_LINE } from '../shops/settings/fields.ts';
import {
  BENEFIT_KINDS,
  MAX_CODE_LENGTH,
  MAX_IDENTIFIER_LENGTH,
  MAX_CAMPAIGN_NAME_LENGTH,
  MAX_USES,
} from './campaign.ts';
import { Decimal, Given } from '../http/request-fields.ts';

const identifier = { description: 'Its alias, unique in the shop.', examples: ['summer_sale'] };
const name = { description: 'Its name.', examples: ['Summer sale'] };
const currency = { description: 'ISO 4217 code of its amounts.', examples: ['EUR'] };
const kind = {
  description: 'FIX: an amount off. PERCENT: a share off. SHIPPING: the delivery is free.',
  enum: [...BENEFIT_KINDS],
  examples: ['FIX'],
};
const waiveShippingCosts = { description: 'The delivery is free as well.', examples: [false] };
const amountText = '12 is 12.00 in its currency or 12 %; none for SHIPPING.';
const usageLimit = { description: 'Orders with one code; absent: any number.', examples: [1] };
const campaignUsageLimit = {
  description: 'Orders with all codes together; absent: any number.',
  examples: [500],
};
const validFrom = { ...Timestamp, description: 'Valid from this time; absent: immediately.' };
const validTo = { ...Timestamp, description: 'Valid until this time; absent: without end.' };
const productIds = { description: 'It takes off from these products only; absent: from all.' };
const shippingMethodIds = { description: 'It is valid with these shipping methods only; absent: with all.' };
const paymentMethodIds = { description: 'It is valid with these payment methods only; absent: with all.' };

const MAX_IDS = 1000;
const Ids = (words: { description: string }) => Type.Array(Id, { maxItems: MAX_IDS, ...words });
const Limit = (words: { description: string; examples: number[] }) =>
  Type.Integer({ minimum: 1, maximum: MAX_USES, ...words });

export const CouponCampaign = Type.Object(
  {
    campaignId: Id,
    identifier: Type.String(identifier),
    name: Type.String(name),
    currency: Type.String(currency),
    type: Type.Object(
      {
        name: Type.String(kind),
        waiveShippingCosts: Type.Boolean(waiveShippingCosts),
        amount: Type.Optional(Type.Number({ description: `The value: ${amountText}`, examples: [12] })),
      },
      { title: 'coupon value', description: 'Kind and value.' },
    ),
    minimumOrderValue: Nullable({ ...Price, description: 'Minimum value of the goods.' }),
    usageLimit: Type.Optional(Type.Integer(usageLimit)),
    campaignUsageLimit: Type.Optional(Type.Integer(campaignUsageLimit)),
    validFrom: Type.Optional(validFrom),
    validTo: Type.Optional(validTo),
    productIds: Type.Optional(Type.Array(Id, productIds)),
    shippingMethodIds: Type.Optional(Type.Array(Id, shippingMethodIds)),
    paymentMethodIds: Type.Optional(Type.Array(Id, paymentMethodIds)),
    links: Links,
  },
  { title: 'couponCampaign' },
);

export const NewCouponCampaign = Type.Object(
  {
    identifier: Type.String({
      ...identifier,
      minLength: 1,
      maxLength: MAX_IDENTIFIER_LENGTH,
      pattern: ONE_LINE,
    }),
    name: Type.String({ ...name, minLength: 1, maxLength: MAX_CAMPAIGN_NAME_LENGTH, pattern: ONE_LINE }),
    currency: Type.String({ ...currency, description: 'ISO 4217 code; one of the shop.', maxLength: 3 }),
    minimumOrderValue: Given(Decimal('Minimum value of the goods; absent: none.', 100)),
    type: Type.Object(
      {
        name: Type.String(kind),
        waiveShippingCosts: Given(Type.Boolean(waiveShippingCosts)),
        amount: Given(Decimal(`The value, above 0: ${amountText} At most 100 %, with two decimals.`, 12)),
      },
      { title: 'coupon value (request)', description: 'Kind and value.' },
    ),
    usageLimit: Given(Limit(usageLimit)),
    campaignUsageLimit: Given(Limit(campaignUsageLimit)),
    validFrom: Given(validFrom),
    validTo: Given(validTo),
    productIds: Given(Ids(productIds)),
    shippingMethodIds: Given(Ids(shippingMethodIds)),
    paymentMethodIds: Given(Ids(paymentMethodIds)),
  },
  { title: 'couponCampaign (create request)' },
);

export const CouponForm = Type.Object(
  {
    code: Type.String({
      description: 'The code that customers enter; unique in the shop, ignoring case.',
      minLength: 1,
      maxLength: MAX_CODE_LENGTH,
      pattern: ONE_LINE,
      examples: ['SUMMER20'],
    }),
  },
  { title: 'campaign coupon' },
);

const { identifier: _identifier, ...changeable } = NewCouponCampaign.properties;

/** A campaign without its identifier, by which files and apps know it. */
export const CouponCampaignChange = Type.Object(changeable, { title: 'couponCampaign (change request)' });

/** More would exceed the time of a request. */
const MAX_CODES = 10_000;

export const CodesRequest = Type.Object(
  {
    count: Type.Integer({
      minimum: 1,
      maximum: MAX_CODES,
      description: 'Number of codes to create.',
      examples: [100],
    }),
    prefix: Given(
      Type.String({
        maxLength: 20,
        pattern: '^[A-Za-z0-9-]*$',
        description: 'Prefix of all codes; absent: none.',
        examples: ['SUMMER-'],
      }),
    ),
  },
  { title: 'couponCodes (request)' },
);

export const MadeCodes = Type.Object(
  {
    codes: Type.Array(Type.String({ description: 'A code.', examples: ['SUMMER-7KQ2XWMP'] }), {
      description: 'The codes that were made.',
    }),
  },
  { title: 'couponCodes' },
);

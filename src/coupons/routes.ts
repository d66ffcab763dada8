import { Type } from 'typebox';
import { notFound, Refusal } from '../http/errors.ts';
import { writingLocale } from '../http/locale.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import { newId } from '../kernel/ids.ts';
import { WritingLocale } from '../shops/legal/schema.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { couponKey } from './campaign.ts';
import { findCampaign, insertCampaign, insertCoupon } from './queries.ts';
import { CouponCampaign, CouponForm, NewCouponCampaign } from './schema.ts';
import { campaignOf, toCampaign } from './wire.ts';

const shared = { tag: 'coupon-campaigns', labels: ['Base', 'Now'], keepsKeyOrder: true } as const;

export const createCouponCampaign = operation({
  ...shared,
  method: 'POST',
  path: '/coupon-campaigns',
  name: 'createCouponCampaign',
  summary: 'Create coupon campaign',
  description:
    'Creates a campaign without codes. Codes are added one by one. The name is stored in the given locale.',
  access: 'coupons_write',
  query: Type.Object({ locale: WritingLocale }),
  body: NewCouponCampaign,
  status: 201,
  answer: CouponCampaign,
});

export const getCouponCampaign = operation({
  ...shared,
  method: 'GET',
  path: '/coupon-campaigns/:couponCampaignId',
  name: 'getCouponCampaign',
  summary: 'Get coupon campaign',
  description: 'In the default locale of the shop.',
  access: 'coupons_read',
  params: Type.Object({ couponCampaignId: Id }),
  answer: CouponCampaign,
});

export const addCampaignCoupon = operation({
  ...shared,
  method: 'PUT',
  path: '/coupon-campaigns/:couponCampaignId/coupons',
  name: 'addCampaignCoupon',
  summary: 'Add coupon',
  description:
    'Adds one code. A code that the campaign already has stays as it is; a code of another campaign is refused.',
  access: 'coupons_write',
  params: Type.Object({ couponCampaignId: Id }),
  accepts: 'form',
  body: CouponForm,
  status: 204,
  constraints: { coupon_campaign: notFound },
});

export function couponCampaigns(api: Operations): void {
  api.write(createCouponCampaign, async ({ tx, shopId, query, body, link, created }) => {
    const settings = await shopSettings(tx, shopId);
    const locale = writingLocale(query.locale, settings);
    const campaign = await campaignOf(tx, settings, locale, body, newId(tx.now));
    const row = await insertCampaign(tx, shopId, campaign);
    if (!row) throw new Refusal('COUPON_IDENTIFIER_TAKEN');
    created({ campaignId: campaign.campaignId });
    return toCampaign(row, settings, locale, link);
  });

  api.read(getCouponCampaign, async ({ db, shopId, params, link }) => {
    const [settings, row] = await Promise.all([
      shopSettings(db, shopId),
      findCampaign(db, shopId, params.couponCampaignId),
    ]);
    if (!row) throw notFound();
    return toCampaign(row, settings, settings.defaultLocale, link);
  });

  api.write(addCampaignCoupon, async ({ tx, shopId, params, body }) => {
    const code = body.code.trim();
    const campaignId = params.couponCampaignId;
    const found = await insertCoupon(tx, shopId, { campaignId, codeKey: couponKey(code), code });
    if (!found) throw notFound();
    if (found.campaignId !== campaignId) throw new Refusal('COUPON_CODE_TAKEN');
  });
}

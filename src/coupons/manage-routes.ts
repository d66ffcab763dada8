import { Type } from 'typebox';
import { notFound } from '../http/errors.ts';
import { writingLocale } from '../http/locale.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Id } from '../http/schemas.ts';
import { WritingLocale } from '../shops/legal/schema.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { couponKey } from './campaign.ts';
import { newCode } from './new-codes.ts';
import { deleteCampaigns, insertCoupons, lockCampaign, replaceCampaigns } from './queries.ts';
import { CodesRequest, CouponCampaign, CouponCampaignChange, MadeCodes } from './schema.ts';
import { campaignOf, toCampaign } from './wire.ts';

const shared = {
  under: 'manage',
  tag: 'coupon-campaigns',
  labels: [],
  access: 'coupons_write',
  params: Type.Object({ couponCampaignId: Id }),
} as const;

export const changeCouponCampaign = operation({
  ...shared,
  keepsKeyOrder: true,
  method: 'PUT',
  path: '/coupon-campaigns/:couponCampaignId',
  name: 'changeCouponCampaign',
  summary: 'Change coupon campaign',
  description:
    'Replaces everything except the identifier and the codes; the name is stored in the given locale. Uses stay counted.',
  query: Type.Object({ locale: WritingLocale }),
  body: CouponCampaignChange,
  answer: CouponCampaign,
});

export const deleteCouponCampaign = operation({
  ...shared,
  method: 'DELETE',
  path: '/coupon-campaigns/:couponCampaignId',
  name: 'deleteCouponCampaign',
  summary: 'Delete coupon campaign',
  description: 'Also deletes its codes. Orders keep their discounts.',
  status: 204,
});

export const makeCouponCodes = operation({
  ...shared,
  method: 'POST',
  path: '/coupon-campaigns/:couponCampaignId/codes',
  name: 'makeCouponCodes',
  summary: 'Make coupon codes',
  description: 'Generates codes that cannot be guessed, and adds them to the campaign.',
  body: CodesRequest,
  status: 201,
  answer: MadeCodes,
});

/** Operations of the back office on coupon campaigns beyond the contract. */
export function managedCouponCampaigns(api: Operations): void {
  api.write(changeCouponCampaign, async ({ tx, shopId, params: { couponCampaignId }, query, body, link }) => {
    const settings = await shopSettings(tx, shopId);
    const locale = writingLocale(query.locale, settings);
    const before = await lockCampaign(tx, shopId, couponCampaignId);
    if (!before) throw notFound();
    const { identifier } = before;
    const changed = await campaignOf(tx, settings, locale, { ...body, identifier }, couponCampaignId);
    const campaign = { ...changed, name: { ...before.name, ...changed.name } };
    await replaceCampaigns(tx, shopId, [campaign]);
    return toCampaign(campaign, settings, locale, link);
  });

  api.write(deleteCouponCampaign, async ({ tx, shopId, params: { couponCampaignId } }) => {
    if ((await deleteCampaigns(tx, shopId, [couponCampaignId])) === 0) throw notFound();
  });

  api.write(
    makeCouponCodes,
    async ({ tx, shopId, params: { couponCampaignId }, body: { count, prefix } }) => {
      if (!(await lockCampaign(tx, shopId, couponCampaignId))) throw notFound();
      const codes = new Set<string>();
      while (codes.size < count) codes.add(newCode(prefix ?? ''));
      const coupons = [...codes].map((code) => ({ code, codeKey: couponKey(code) }));
      const made = await insertCoupons(tx, shopId, couponCampaignId, coupons);
      return { codes: made };
    },
  );
}

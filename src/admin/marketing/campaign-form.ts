import type { Static } from 'typebox';
import { findProductsById, findProductsByNumber } from '../../coupons/queries.ts';
import { BENEFIT_KINDS } from '../../coupons/campaign.ts';
import { addCampaignCoupon, createCouponCampaign } from '../../coupons/routes.ts';
import { NewCouponCampaign, type CouponCampaign, type CouponCampaignChange } from '../../coupons/schema.ts';
import { badRequest } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { methodChoices } from '../components/method-choices.ts';
import type { Draft } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';
import type { FormRequest } from '../../http/page-kit.ts';

/** One product per line, or separated by commas. */
const PRODUCTS = { characters: 50_000, lines: 1_000 };

const CAMPAIGN = declareForm(createCouponCampaign, ({ coupons: messages }) => ({
  name: { label: messages.name, hint: messages.nameHint, isRequired: true },
  currency: { kind: 'choice', label: messages.currency },
  validFrom: { kind: 'date', label: messages.from, input: 'from' },
  validTo: { kind: 'date', label: messages.to, input: 'to' },
  minimumOrderValue: { kind: 'decimal', label: messages.minimum, input: 'minimum' },
  usageLimit: { kind: 'integer', label: messages.usageLimit, hint: messages.noLimit },
  campaignUsageLimit: {
    kind: 'integer',
    label: messages.campaignLimit,
    hint: messages.noLimit,
    input: 'campaignLimit',
  },
  productIds: {
    kind: 'long text',
    label: messages.products,
    hint: messages.productsHint,
    input: 'products',
    rows: 3,
    maxLength: PRODUCTS,
  },
  shippingMethodIds: { kind: 'ticks', label: messages.shipping, input: 'shipping' },
  paymentMethodIds: { kind: 'ticks', label: messages.payment, input: 'payment' },
}));

const DISCOUNT = declareForm({ body: NewCouponCampaign.properties.type }, ({ coupons: messages }) => ({
  name: {
    kind: 'choice',
    label: messages.kind,
    input: 'kind',
    choices: BENEFIT_KINDS.map((value) => ({ value, text: messages.kinds[value] })),
  },
  amount: { kind: 'decimal', label: messages.amount, hint: messages.amountHint },
  waiveShippingCosts: { kind: 'tick', label: messages.waive, input: 'waive' },
}));

export const IDENTIFIER = declareForm(createCouponCampaign, ({ coupons: messages }) => ({
  identifier: { label: messages.identifier, hint: messages.identifierHint },
}));

export const COUPON_CODE = declareForm(addCampaignCoupon, ({ coupons: messages }) => ({
  code: { label: messages.code },
}));

export const CAMPAIGN_OPTIONS = optionsOf(DISCOUNT, CAMPAIGN, IDENTIFIER, COUPON_CODE);

export type ShownCampaign = Static<typeof CouponCampaign>;

/** The fields of a campaign except its identifier; undefined: a new one. */
export async function campaignFields(
  visit: ShopVisit,
  campaign: ShownCampaign | undefined,
  draft: Draft | undefined,
): Promise<Markup> {
  const { settings } = visit;
  const messages = visit.messages.coupons;
  const methods = methodChoices(visit);
  const shown = { draft, isDisabled: !visit.may('coupons_write') };
  const products = campaign?.productIds
    ? await findProductsById(visit.db, visit.shopId, campaign.productIds)
    : [];
  const currency = campaign?.currency ?? settings.defaultCurrency;
  const field = showFields(CAMPAIGN, visit, {
    values: {
      ...campaign,
      currency,
      validFrom: campaign?.validFrom?.slice(0, 10),
      validTo: campaign?.validTo?.slice(0, 10),
      minimumOrderValue: campaign?.minimumOrderValue?.amount,
      productIds: products.map(({ productNumber }) => productNumber).join('\n'),
    },
    ...shown,
  });
  const discount = showFields(DISCOUNT, visit, { values: campaign?.type ?? { name: 'PERCENT' }, ...shown });
  const isRestricted =
    campaign?.productIds ?? campaign?.shippingMethodIds ?? campaign?.paymentMethodIds ?? draft;
  return html`${field('name')}
    <div class="row">
      ${discount('name')} ${discount('amount')}
      ${
        settings.currencies.length > 1
          ? field('currency', {
              choices: [...new Set([...settings.currencies, currency])].map((value) => ({
                value,
                text: value,
              })),
            })
          : html`<input type="hidden" name="currency" value="${settings.defaultCurrency}" />`
      }
    </div>
    ${discount('waiveShippingCosts')}
    <div class="row">${field('validFrom')} ${field('validTo')}</div>
    <div class="row">${field('minimumOrderValue')} ${field('usageLimit')} ${field('campaignUsageLimit')}</div>
    <details ${isRestricted && html`open`}>
      <summary>${messages.restrictions}</summary>
      <div class="restrictions">
        ${field('productIds')} ${field('shippingMethodIds', { choices: methods.shipping })}
        ${field('paymentMethodIds', { choices: methods.payment })}
      </div>
    </details>`;
}

/** The body of the operation, from the typed values. */
export async function typedCampaign(
  visit: ShopVisit,
  form: FormRequest,
): Promise<Static<typeof CouponCampaignChange>> {
  const typed = readFields(CAMPAIGN, form, visit);
  const { amount, ...type } = readFields(DISCOUNT, form, visit);
  const currency = typed.currency || visit.settings.defaultCurrency;
  // A campaign may have a currency that the shop has dropped since, and the form shows it.
  if (!visit.settings.currencies.includes(currency)) {
    throw badRequest(visit.messages.settings.problems.foreignCurrency({ value: currency }));
  }
  return {
    ...typed,
    currency,
    type: { ...type, ...(type.name !== 'SHIPPING' && { amount }) },
    validFrom: typed.validFrom && `${typed.validFrom}T00:00:00Z`,
    validTo: typed.validTo && `${typed.validTo}T23:59:59Z`,
    // The operation takes ids; people type numbers.
    productIds: await typedProducts(visit, String(typed.productIds ?? '')),
  };
}

async function typedProducts(visit: ShopVisit, text: string): Promise<string[]> {
  const numbers = [
    ...new Set(
      text
        .split(/[\n,;]/)
        .map((number) => number.trim())
        .filter(Boolean),
    ),
  ];
  if (numbers.length === 0) return [];
  const found = await findProductsByNumber(visit.db, visit.shopId, numbers);
  const known = new Set(found.map(({ productNumber }) => productNumber));
  const unknown = numbers.filter((number) => !known.has(number));
  if (unknown.length > 0) {
    throw badRequest(visit.messages.coupons.unknownProducts({ numbers: unknown.slice(0, 10).join(', ') }));
  }
  return found.map(({ productId }) => productId);
}

import type { Static } from 'typebox';
import { findProductsById, findProductsByNumber } from '../../coupons/queries.ts';
import { KINDS } from '../../coupons/campaign.ts';
import type { CouponCampaign, CouponCampaignChange } from '../../coupons/schema.ts';
import { badRequest } from '../../http/errors.ts';
import type { FormLimits } from '../../http/form-fields.ts';
import { html, type Markup } from '../../http/html.ts';
import { textIn, type Localised } from '../../http/locale.ts';
import { decimalOf, decimalText } from '../components/decimal.ts';
import { choiceField, longTextField, textField, tickField } from '../components/form.ts';
import type { Draft, FormRequest } from '../pages.ts';
import type { ShopVisit } from '../visit.ts';

/** One product per line, or separated by commas. */
const PRODUCTS = { characters: 50_000, lines: 1_000 };

/** The limits of a campaign form. */
export const CAMPAIGN_LIMITS: FormLimits = { texts: { products: PRODUCTS } };

export type ShownCampaign = Static<typeof CouponCampaign>;

/** The fields of a campaign except its identifier; undefined: a new one. */
export async function campaignFields(
  visit: ShopVisit,
  campaign: ShownCampaign | undefined,
  draft: Draft | undefined,
): Promise<Markup> {
  const { settings, locale } = visit;
  const words = visit.words.coupons;
  const isDisabled = !visit.may('coupons_write');
  const field = (name: string) => ({ name, draft, isDisabled });
  const shownNumber = (value: number | undefined) => value && decimalText(value, visit.language);
  const products = campaign?.productIds
    ? await findProductsById(visit.db, visit.shopId, campaign.productIds)
    : [];
  const methods = <Method extends { name: Localised }>(
    name: string,
    label: string,
    all: readonly Method[],
    idOf: (method: Method) => string,
    chosen: readonly string[] | undefined,
  ) =>
    html`<fieldset class="scopes">
      <legend>${label}</legend>
      ${all.map((method) =>
        tickField({
          ...field(name),
          sends: idOf(method),
          label: textIn(method.name, locale, settings.defaultLocale) ?? '',
          value: chosen?.includes(idOf(method)) ?? false,
        }),
      )}
    </fieldset>`;
  const isRestricted =
    campaign?.productIds ?? campaign?.shippingMethodIds ?? campaign?.paymentMethodIds ?? draft;
  return html`${textField({
      ...field('name'),
      label: words.name,
      hint: words.nameHint,
      value: campaign?.name,
      maxLength: 255,
      isRequired: true,
    })}
    <div class="row">
      ${choiceField({
        ...field('kind'),
        label: words.kind,
        value: campaign?.type.name ?? 'PERCENT',
        choices: KINDS.map((kind) => ({ value: kind, text: words.kinds[kind] })),
      })}
      ${textField({
        ...field('amount'),
        label: words.amount,
        hint: words.amountHint,
        inputMode: 'decimal',
        value: shownNumber(campaign?.type.amount),
      })}
      ${
        settings.currencies.length > 1
          ? choiceField({
              ...field('currency'),
              label: words.currency,
              value: campaign?.currency ?? settings.defaultCurrency,
              choices: [
                ...new Set([...settings.currencies, campaign?.currency ?? settings.defaultCurrency]),
              ].map((currency) => ({ value: currency, text: currency })),
            })
          : html`<input type="hidden" name="currency" value="${settings.defaultCurrency}" />`
      }
    </div>
    ${tickField({
      ...field('waive'),
      label: words.waive,
      value: campaign?.type.waiveShippingCosts ?? false,
    })}
    <div class="row">
      ${textField({
        ...field('from'),
        type: 'date',
        label: words.from,
        value: campaign?.validFrom?.slice(0, 10),
      })}
      ${textField({ ...field('to'), type: 'date', label: words.to, value: campaign?.validTo?.slice(0, 10) })}
    </div>
    <div class="row">
      ${textField({
        ...field('minimum'),
        label: words.minimum,
        inputMode: 'decimal',
        value: shownNumber(campaign?.minimumOrderValue?.amount),
      })}
      ${textField({
        ...field('usageLimit'),
        label: words.usageLimit,
        hint: words.noLimit,
        inputMode: 'numeric',
        value: campaign?.usageLimit,
      })}
      ${textField({
        ...field('campaignLimit'),
        label: words.campaignLimit,
        hint: words.noLimit,
        inputMode: 'numeric',
        value: campaign?.campaignUsageLimit,
      })}
    </div>
    <details ${isRestricted && html`open`}>
      <summary>${words.restrictions}</summary>
      <div class="restrictions">
        ${longTextField({
          ...field('products'),
          label: words.products,
          hint: words.productsHint,
          rows: 3,
          maxLength: PRODUCTS.characters,
          value: products.map(({ productNumber }) => productNumber).join('\n'),
        })}
        ${methods(
          'shipping',
          words.shipping,
          settings.shippingMethods,
          ({ shippingMethodId }) => shippingMethodId,
          campaign?.shippingMethodIds,
        )}
        ${methods(
          'payment',
          words.payment,
          settings.paymentMethods,
          ({ paymentMethodId }) => paymentMethodId,
          campaign?.paymentMethodIds,
        )}
      </div>
    </details>`;
}

/** The body of the operation, from the typed values. */
export async function typedCampaign(
  visit: ShopVisit,
  form: FormRequest,
): Promise<Static<typeof CouponCampaignChange>> {
  const given = (name: string) => form.field(name) || null;
  const kind = form.field('kind');
  const currency = given('currency') ?? visit.settings.defaultCurrency;
  // A campaign may have a currency that the shop has dropped since, and the form shows it.
  if (!visit.settings.currencies.includes(currency)) {
    throw badRequest(visit.words.settings.problems.foreignCurrency({ value: currency }));
  }
  /** A value that is not a number is sent as it is, so that it is refused and not left out. */
  const decimal = (name: string) => {
    const text = given(name);
    return text && (decimalOf(text, visit.language) ?? text);
  };
  const number = (name: string) => {
    const text = decimal(name);
    return text === null ? null : Number(text);
  };
  return {
    name: form.field('name'),
    currency,
    type: {
      name: kind,
      waiveShippingCosts: form.field('waive') === 'yes',
      ...(kind !== 'SHIPPING' && { amount: decimal('amount') }),
    },
    minimumOrderValue: decimal('minimum'),
    usageLimit: number('usageLimit'),
    campaignUsageLimit: number('campaignLimit'),
    validFrom: given('from') && `${form.field('from')}T00:00:00Z`,
    validTo: given('to') && `${form.field('to')}T23:59:59Z`,
    productIds: await typedProducts(visit, form),
    shippingMethodIds: form.fieldList('shipping'),
    paymentMethodIds: form.fieldList('payment'),
  };
}

async function typedProducts(visit: ShopVisit, form: FormRequest): Promise<string[]> {
  const numbers = [
    ...new Set(
      form
        .field('products')
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
    throw badRequest(visit.words.coupons.unknownProducts({ numbers: unknown.slice(0, 10).join(', ') }));
  }
  return found.map(({ productId }) => productId);
}

/** The labels of the fields of the operation. */
export function campaignLabels({ words }: ShopVisit): Record<string, string> {
  const labels = words.coupons;
  return {
    name: labels.name,
    identifier: labels.identifier,
    amount: labels.amount,
    minimumOrderValue: labels.minimum,
    usageLimit: labels.usageLimit,
    campaignUsageLimit: labels.campaignLimit,
    validFrom: labels.from,
    validTo: labels.to,
    currency: labels.currency,
    productIds: labels.products,
    shippingMethodIds: labels.shipping,
    paymentMethodIds: labels.payment,
    code: labels.code,
    count: labels.count,
    prefix: labels.prefix,
  };
}

import type { Product } from '../../catalogue/products/schema.ts';
import { formatNumber } from '../../http/amount-text.ts';
import { webAddress } from '../../http/html.ts';
import type { Price } from '../../http/price.ts';
import { priceText } from '../../http/price-text.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { sellsToEuConsumers } from '../../shops/legal/guarantee-notice.ts';
import { productWithdrawalText } from '../../storefront/product/withdrawal-note.ts';
import type { AssistantContext } from '../context.ts';
import type { Message } from '../messages.ts';

/**
 * What a buyer must know beside a product: the page of the product says the same. An assistant must not hide a
 * disclosure.
 */
export function productMessages(product: Product, path: string, context: AssistantContext): Message[] {
  const { locale } = context;
  const messages = messagesIn(locale).storefront.product;
  const { depositPrice, ecoParticipationPrice, lowestPrice30Days } = product.priceInfo;
  const text = (price: Price) => priceText(price, locale);
  const withdrawal = productWithdrawalText(context, product);
  const delivery = product.forSale ? product.availabilityText.split('<br />')[1] : undefined;
  const disclosure = (code: string, content: string | undefined): Message[] =>
    content === undefined ? [] : [{ type: 'warning', code, path, content, presentation: 'disclosure' }];
  return [
    ...disclosure(
      'lowest_price_30_days',
      lowestPrice30Days ? messages.lowest30Days({ price: text(lowestPrice30Days) }) : undefined,
    ),
    ...disclosure('deposit', depositPrice ? messages.deposit({ price: text(depositPrice) }) : undefined),
    ...disclosure(
      'recycling_fee',
      ecoParticipationPrice ? messages.ecoParticipation({ price: text(ecoParticipationPrice) }) : undefined,
    ),
    ...energyLabel(product, path, context),
    ...disclosure('withdrawal_excluded', withdrawal),
    ...(delivery ? [{ type: 'info' as const, code: 'delivery_time', path, content: delivery }] : []),
  ];
}

function energyLabel(product: Product, path: string, { locale }: AssistantContext): Message[] {
  const messages = messagesIn(locale).storefront.product;
  const { energyLabelsString, energyLabelsMaxEfficiencyString, energyLabelSourceFile } = product;
  if (!energyLabelsString) return [];
  const scale = energyLabelsMaxEfficiencyString
    ? ` (${messages.energyScale({ best: energyLabelsMaxEfficiencyString })})`
    : '';
  const label = webAddress(energyLabelSourceFile);
  const more = webAddress(product.legalInfo?.eprelUrl) ?? webAddress(product.productDataSheet);
  return [
    {
      type: 'warning',
      code: 'energy_label',
      path,
      content: messages.energy({ classes: energyLabelsString.split(',').join(' – ') }) + scale,
      presentation: 'disclosure',
      ...(label !== undefined && { image_url: label }),
      ...(more !== undefined && { url: more }),
    },
  ];
}

/** Whether prices contain tax, and that the delivery comes on top: of all products of an answer. */
export function priceMessage({ settings, locale }: AssistantContext): Message {
  const messages = messagesIn(locale).storefront.product;
  const tax = !settings.displayTaxes
    ? settings.noTaxesMessage
    : settings.taxModel === 'GROSS'
      ? messages.pricesIncludeVat
      : messages.pricesExcludeVat;
  return {
    type: 'info',
    code: 'prices',
    content: tax ? `${tax}, ${messages.shipping}` : messages.shipping,
  };
}

export interface Policy {
  type: string;
  description: { plain: string };
  applies_to: string[];
  url?: string;
}

/** The producer's guarantee of durability. */
export function productPolicies(
  product: Product,
  path: string,
  { settings, locale }: AssistantContext,
): Policy[] {
  const guarantee = product.legalInfo?.durabilityGuarantee;
  if (!guarantee || !sellsToEuConsumers(settings)) return [];
  const messages = messagesIn(locale).guarantee;
  const { brand, model, guarantor: name, address } = guarantee;
  const years = messages.years({ amount: formatNumber(guarantee.years, locale) });
  const terms = webAddress(guarantee.termsUrl);
  return [
    {
      type: 'dev.ucp.shopping.policy.warranty',
      description: {
        plain: [
          messages.labelText({ years, brand, model }),
          messages.guarantor({ name, address }),
          messages.reminder,
        ].join(' '),
      },
      applies_to: [path],
      ...(terms !== undefined && { url: terms }),
    },
  ];
}

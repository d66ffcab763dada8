import type { Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { moneyText } from '../../http/price-text.ts';
import { chip, plainDay } from '../components/format.ts';
import type { Column } from '../components/list-state.ts';
import type { ShopVisit } from '../visit.ts';
import { countText } from './coupon-codes.ts';
import { MAX_COUNTED_CODES, type ListedCampaign } from './queries.ts';

/** The data of a campaign in the list, and its summary on its page. */

export function campaignColumns(visit: ShopVisit): Column<ListedCampaign>[] {
  const { locale, settings } = visit;
  const messages = visit.messages.coupons;
  return [
    {
      name: 'name',
      title: messages.name,
      cell: ({ name }) => textIn(name, locale, settings.defaultLocale) ?? Object.values(name)[0],
    },
    { name: 'discount', title: messages.discount, cell: (row) => discountText(visit, row) },
    { name: 'state', title: messages.state, cell: (row) => campaignChip(visit, row) },
    { name: 'used', title: messages.used, isNumeric: true, cell: (row) => usedText(visit, row) },
    {
      name: 'codes',
      title: messages.codes,
      isNumeric: true,
      cell: ({ codes }) => countText(visit, codes, MAX_COUNTED_CODES.inList),
    },
    { name: 'validity', title: messages.validity, cell: (row) => validityText(visit, row) },
  ];
}

export function discountText({ messages, locale }: ShopVisit, campaign: ListedCampaign): string {
  const { kind, amount, currency, waiveShippingCosts } = campaign;
  if (kind === 'SHIPPING') return messages.coupons.kinds.SHIPPING;
  const text =
    kind === 'PERCENT'
      ? `${(amount! / 100).toLocaleString(locale.replace('_', '-'))} %`
      : moneyText(amount!, currency, locale);
  return waiveShippingCosts ? `${text} ${messages.coupons.plusDelivery}` : text;
}

export function usedText(
  { messages, language }: ShopVisit,
  { used, campaignUsageLimit }: ListedCampaign,
): string {
  const number = (value: number) => value.toLocaleString(language);
  return campaignUsageLimit === null
    ? number(used)
    : messages.coupons.usedOf({ used: number(used), limit: number(campaignUsageLimit) });
}

export function campaignChip({ messages, db }: ShopVisit, campaign: ListedCampaign): Markup {
  const { states } = messages.coupons;
  const { validFrom, validTo, used, campaignUsageLimit, codes } = campaign;
  if (validTo && validTo < db.now) return chip(states.ended);
  if (campaignUsageLimit !== null && used >= campaignUsageLimit) return chip(states.usedUp);
  if (validFrom && validFrom > db.now) return chip(states.planned, 'warning');
  return codes === 0 ? chip(states.withoutCodes, 'warning') : chip(states.active, 'good');
}

function validityText({ messages, language }: ShopVisit, { validFrom, validTo }: ListedCampaign): string {
  const day = (moment: Date) => plainDay(moment, language);
  if (validFrom && validTo) return `${day(validFrom)} – ${day(validTo)}`;
  if (validFrom) return messages.coupons.fromDay({ day: day(validFrom) });
  return validTo ? messages.coupons.untilDay({ day: day(validTo) }) : messages.coupons.always;
}

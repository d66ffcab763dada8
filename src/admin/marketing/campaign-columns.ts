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
  const words = visit.words.coupons;
  return [
    {
      name: 'name',
      title: words.name,
      cell: ({ name }) => textIn(name, locale, settings.defaultLocale) ?? Object.values(name)[0],
    },
    { name: 'discount', title: words.discount, cell: (row) => discountText(visit, row) },
    { name: 'state', title: words.state, cell: (row) => stateChip(visit, row) },
    { name: 'used', title: words.used, isNumeric: true, cell: (row) => usedText(visit, row) },
    {
      name: 'codes',
      title: words.codes,
      isNumeric: true,
      cell: ({ codes }) => countText(visit, codes, MAX_COUNTED_CODES.inList),
    },
    { name: 'validity', title: words.validity, cell: (row) => validityText(visit, row) },
  ];
}

export function discountText({ words, locale }: ShopVisit, campaign: ListedCampaign): string {
  const { kind, amount, currency, waiveShippingCosts } = campaign;
  if (kind === 'SHIPPING') return words.coupons.kinds.SHIPPING;
  const text =
    kind === 'PERCENT'
      ? `${(amount! / 100).toLocaleString(locale.replace('_', '-'))} %`
      : moneyText(amount!, currency, locale);
  return waiveShippingCosts ? `${text} ${words.coupons.plusDelivery}` : text;
}

export function usedText(
  { words, language }: ShopVisit,
  { used, campaignUsageLimit }: ListedCampaign,
): string {
  const number = (value: number) => value.toLocaleString(language);
  return campaignUsageLimit === null
    ? number(used)
    : words.coupons.usedOf({ used: number(used), limit: number(campaignUsageLimit) });
}

export function stateChip({ words, db }: ShopVisit, campaign: ListedCampaign): Markup {
  const { states } = words.coupons;
  const { validFrom, validTo, used, campaignUsageLimit, codes } = campaign;
  if (validTo && validTo < db.now) return chip(states.ended);
  if (campaignUsageLimit !== null && used >= campaignUsageLimit) return chip(states.usedUp);
  if (validFrom && validFrom > db.now) return chip(states.planned, 'warning');
  return codes === 0 ? chip(states.withoutCodes, 'warning') : chip(states.active, 'good');
}

function validityText({ words, language }: ShopVisit, { validFrom, validTo }: ListedCampaign): string {
  const day = (moment: Date) => plainDay(moment, language);
  if (validFrom && validTo) return `${day(validFrom)} – ${day(validTo)}`;
  if (validFrom) return words.coupons.fromDay({ day: day(validFrom) });
  return validTo ? words.coupons.untilDay({ day: day(validTo) }) : words.coupons.always;
}

import type { Settings } from '../shops/settings/settings.ts';

/**
 * The price lists that apply to a customer of this group at this moment, by their ids; none for customers without a
 * group. Of all the prices that a customer could have (the product's own, that of the reached quantity, that of the
 * group, and those of these lists) the lowest is asked: `askedPrice` in src/catalogue/products/prices.ts.
 *
 * A list begins and ends by the clock of the request, so that no job has to run in time, and nothing has to be
 * computed again.
 */
export function priceListsFor(
  customerGroupId: string | null,
  { priceLists, customerGroups }: Pick<Settings, 'priceLists' | 'customerGroups'>,
  now: Date,
): string[] {
  if (customerGroupId === null || priceLists.length === 0) return [];
  const group = customerGroups.find((one) => one.customerGroupId === customerGroupId)?.name;
  if (group === undefined) return [];
  return priceLists
    .filter((list) => list.customerGroups.includes(group) && isRunning(list, now))
    .map(({ priceListId }) => priceListId);
}

export type PriceList = Settings['priceLists'][number];

export function isRunning(
  { active, from, to }: Pick<PriceList, 'active' | 'from' | 'to'>,
  now: Date,
): boolean {
  return active && (from === null || new Date(from) <= now) && (to === null || new Date(to) > now);
}

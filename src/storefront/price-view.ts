import type { PriceView } from '../catalogue/products/price-view.ts';
import { priceListsFor } from '../pricing/price-lists.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { SignedInAccount } from './account/signed-in-account.ts';
import type { Session } from './session.ts';

/**
 * Whose prices a visitor sees. Consumers always see what they pay, so prices without tax are for customers who are known
 * as businesses, and for visitors who say that they are one where the shop asks.
 */
export function priceViewOf(
  { isBusiness }: Pick<Session, 'isBusiness'>,
  account: Pick<SignedInAccount, 'customer'> | undefined,
  { taxModel, netPrices, customerGroups, priceLists }: PriceSettings,
  now: Date,
): PriceView {
  const group = groupOf(account, customerGroups);
  const isKnown = isKnownBusiness(account, { netPrices, customerGroups });
  const seesNet =
    taxModel === 'GROSS' &&
    ((netPrices.shownTo !== 'nobody' && isKnown) || (netPrices.shownTo === 'choice' && isBusiness === true));
  return {
    ...(seesNet && { taxType: 'NET' as const }),
    ...(group && {
      customerGroupId: group.customerGroupId,
      priceListIds: priceListsFor(group.customerGroupId, { priceLists, customerGroups }, now),
    }),
  };
}

type PriceSettings = Pick<Settings, 'taxModel' | 'netPrices' | 'customerGroups' | 'priceLists'>;

type GroupSettings = Pick<Settings, 'netPrices' | 'customerGroups'>;

/** A customer whose VAT number was confirmed, or of a group that the shop calls businesses. */
export function isKnownBusiness(
  account: Pick<SignedInAccount, 'customer'> | undefined,
  { netPrices, customerGroups }: GroupSettings,
): boolean {
  const group = groupOf(account, customerGroups);
  return (
    account?.customer?.isBusiness === true || (group !== undefined && netPrices.groups.includes(group.name))
  );
}

const groupOf = (
  account: Pick<SignedInAccount, 'customer'> | undefined,
  customerGroups: GroupSettings['customerGroups'],
) => customerGroups.find(({ customerGroupId }) => customerGroupId === account?.customer?.customerGroupId);

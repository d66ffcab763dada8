import type { Settings } from '../settings/settings.ts';

type Shown = Pick<Settings, 'publicCatalogue' | 'visibility' | 'customerGroups'>;

/** Whether visitors whom nobody knows see the products: search engines, feeds, assistants, callers without a token. */
export function isOpenToGuests({
  publicCatalogue,
  visibility,
}: Pick<Shown, 'publicCatalogue' | 'visibility'>): boolean {
  return publicCatalogue && visibility.shop === 'everybody';
}

/** Whether a visitor of the storefront may see it. `customer`: who has signed in; undefined: a guest. */
export function mayEnter(
  { visibility, customerGroups }: Pick<Shown, 'visibility' | 'customerGroups'>,
  customer: { customerGroupId: string | null } | undefined,
): boolean {
  const { shop, groups } = visibility;
  if (shop === 'everybody') return true;
  if (!customer) return false;
  if (shop === 'customers') return true;
  const group = customerGroups.find(({ customerGroupId }) => customerGroupId === customer.customerGroupId);
  return group !== undefined && groups.includes(group.name);
}

import { Type } from 'typebox';
import type { ReadCall } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { recordEvents } from '../platform/events/log.ts';
import { moveSettingsVersion } from '../shops/shop/queries.ts';
import { settingsChanged } from './definitions.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { fieldOperations, fieldValues, SHOP_RESOURCE_ID, withFields } from './values.ts';

const THE_SHOP = { resource: 'shop', owner: { resourceId: SHOP_RESOURCE_ID } } as const;

export const shopFieldOperations = fieldOperations({
  noun: 'shop',
  name: 'Shop',
  path: '/shop',
  tag: 'shop',
  params: Type.Object({}),
  read: 'products_read',
  write: 'products_write',
});

/** They are beside the data of the shop on request. */
export async function findFieldsOfShop(
  call: Pick<ReadCall<unknown, unknown, unknown>, 'db' | 'caller'>,
  settings: Settings,
  locale: string,
) {
  const [shop] = await withFields(call, settings, locale, ['shop'], [{}], () => SHOP_RESOURCE_ID);
  return shop!.fields;
}

/** The shop's own fields. */
export function shopFields(api: Operations): void {
  fieldValues(api, shopFieldOperations, {
    find: async () => THE_SHOP,
    lock: async ({ tx, shopId }) => {
      // Pages of the storefront are made with the settings.
      await moveSettingsVersion(tx, shopId);
      return THE_SHOP;
    },
    changed: ({ tx, shopId }) => recordEvents(tx, shopId, [settingsChanged()]),
  });
}

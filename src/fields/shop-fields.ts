import { Type } from 'typebox';
import type { Operations } from '../http/operations.ts';
import { recordEvents } from '../platform/events/log.ts';
import { moveSettingsVersion } from '../shops/shop/queries.ts';
import { settingsChanged } from './definitions.ts';
import { fieldOperations, fieldValues, SHOP_RESOURCE_ID } from './values.ts';

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

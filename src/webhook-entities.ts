import { findCampaign } from './carts/coupon-campaigns/queries.ts';
import { toCampaign } from './carts/coupon-campaigns/routes.ts';
import { productJson } from './catalogue/products/product-cache.ts';
import { findVersion } from './catalogue/products/queries.ts';
import { shopUrl } from './http/links.ts';
import { cachedOrder } from './orders/order-cache.ts';
import { findOrderVersions } from './orders/queries.ts';
import { findCustomer } from './people/customers/queries.ts';
import { toCustomer } from './people/customers/routes.ts';
import { settingsSince, shopSettings } from './shops/settings/settings.ts';
import { toShop } from './shops/shop/routes.ts';
import type { WebhookEntities } from './shops/webhooks/render.ts';

/**
 * What webhooks send of the thing that an event is about. Carts are missing, because nobody but who has its token may
 * read a cart; apps have no address.
 */
export const WEBHOOK_ENTITIES: WebhookEntities = {
  order: async (db, shopId, orderId, origin) => {
    const versions = await findOrderVersions(db, shopId, orderId);
    if (!versions) return undefined;
    const settings = await settingsSince(db, shopId, versions.settingsVersion);
    return cachedOrder(db, orderId, versions, { locale: settings.defaultLocale, origin, settings });
  },
  product: async (db, shopId, productId, origin) => {
    const version = await findVersion(db, shopId, productId);
    // The receiver may read what shoppers see: whether its app may see more, its token decides when it asks.
    if (!version?.visible) return undefined;
    const settings = await settingsSince(db, shopId, version.settingsVersion);
    const { defaultLocale: locale, defaultCurrency: currency } = settings;
    const options = { locale, currency, origin, canWrite: false, variant: 'full' } as const;
    const [json] = await productJson(db, settings, [version], options);
    return json;
  },
  customer: async (db, shopId, customerId, origin) => {
    const row = await findCustomer(db, shopId, customerId);
    const base = shopUrl(origin, shopId);
    return row && toCustomer(row, (path) => base + path);
  },
  'coupon campaign': async (db, shopId, campaignId, origin) => {
    const [settings, row] = await Promise.all([
      shopSettings(db, shopId),
      findCampaign(db, shopId, campaignId),
    ]);
    const base = shopUrl(origin, shopId);
    return row && toCampaign(row, settings, settings.defaultLocale, (path) => base + path);
  },
  shop: async (db, shopId, _, origin) => {
    const settings = await shopSettings(db, shopId);
    return toShop(settings, settings.defaultLocale, origin);
  },
};

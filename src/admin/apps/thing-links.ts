import { adminPath, type ShopVisit } from '../visit.ts';

/** The pages of things by the names of their ids in the audit log. The most specific one comes first. */
const PAGES: readonly (readonly [name: string, path: string])[] = [
  ['orderId', '/orders/'],
  ['productId', '/products/'],
  ['categoryId', '/categories/'],
  ['customerId', '/customers/'],
  ['couponCampaignId', '/marketing/coupons/'],
  ['campaignId', '/marketing/coupons/'],
  ['giftCardId', '/gift-cards/'],
  ['pageId', '/pages/'],
  ['redirectId', '/redirects/'],
  ['webhookId', '/apps/webhooks/'],
  ['appId', '/apps/'],
  ['userId', '/users#'],
];

/** The name of the id of the thing that an entry is about, and the id; undefined: it is about none that has a page. */
export function thingOf(ids: Readonly<Record<string, string>>): [name: string, id: string] | undefined {
  const page = PAGES.find(([name]) => Object.hasOwn(ids, name));
  return page && [page[0], ids[page[0]]!.toUpperCase()];
}

/** The page of the thing that these ids name; undefined: it has none. */
export function thingPath(visit: ShopVisit, ids: Readonly<Record<string, string>>): string | undefined {
  const page = PAGES.find(([name]) => Object.hasOwn(ids, name));
  return page && adminPath(visit, page[1] + encodeURIComponent(ids[page[0]]!));
}

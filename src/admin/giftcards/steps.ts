import { adminPath, type ShopVisit } from '../visit.ts';

export const giftCardListStep = (visit: ShopVisit) => ({
  href: adminPath(visit, '/gift-cards'),
  text: visit.messages.giftCards.list,
});

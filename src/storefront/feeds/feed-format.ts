import type { FeedItem } from './feed-item.ts';

/** How a channel wants its file. */
export interface FeedFormat {
  type: string;
  head: (shop: FeedShop) => string;
  item: (item: FeedItem, shop: FeedShop) => string;
  foot: string;
}

/** What a feed says of the shop. */
export interface FeedShop {
  name: string;
  home: string;
  privacyPolicy: string | undefined;
  terms: string | undefined;
  returnPolicy: string | undefined;
  /** In how many days a customer may send goods back; 0: not at all. */
  returnDays: number;
  country: string;
  /** Where the shop delivers to, its main country first. */
  targetCountries: readonly string[];
}

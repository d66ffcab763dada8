import type { FeedItem } from './feed-item.ts';

/** The file format of a channel. */
export interface FeedFormat {
  type: string;
  head: (shop: FeedShop) => string;
  item: (item: FeedItem, shop: FeedShop) => string;
  foot: string;
}

/** A feed's data about the shop. */
export interface FeedShop {
  name: string;
  home: string;
  now: Date;
  privacyPolicy: string | undefined;
  terms: string | undefined;
  returnPolicy: string | undefined;
  /** The number of days within which a customer may send goods back; 0: not at all. */
  returnDays: number;
  country: string;
  /** Where the shop delivers to, its main country first. */
  targetCountries: readonly string[];
}

import type { ShopDatabase } from '../db/database.ts';
import type { Settings } from '../shops/settings/settings.ts';

/** The request of an assistant, with the data that every operation needs. */
export interface AssistantContext {
  db: ShopDatabase;
  shopId: string;
  settings: Settings;
  locale: string;
  currency: string;
  /** Scheme and host of the service, where pictures are. */
  origin: string;
  /** Scheme and host of the shop. */
  home: string;
}

import { couponCampaignSection } from './carts/coupon-campaigns/settings-section.ts';
import { createSettingsFormat } from './shops/settings/format.ts';

/** The settings file with the sections of all modules. */
export const settingsFormat = createSettingsFormat([couponCampaignSection]);

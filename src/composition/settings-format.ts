import { couponCampaignSection } from '../coupons/settings-section.ts';
import { EMAIL_KINDS } from './email-kinds.ts';
import { emailTextsSection } from '../shops/email/settings-section.ts';
import { createSettingsFormat } from '../shops/settings/format.ts';

/** The settings file with the sections of all modules. */
export const settingsFormat = createSettingsFormat([emailTextsSection(EMAIL_KINDS), couponCampaignSection]);

import type { Providers } from '../../orders/payments/providers.ts';
import type { EmailKind } from '../../platform/email/kind.ts';
import type { MediaStorage } from '../../platform/media/storage.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { mediaPages } from '../media/media.ts';
import type { ShopPages } from '../pages.ts';
import { assistantSettingsPages } from './assistants.ts';
import { catalogue } from './catalogue.ts';
import { settingsFile } from './file.ts';
import { homeSettingsPages } from './home.ts';
import { history } from './history.ts';
import { payments } from './payments.ts';
import { data } from './data.ts';
import { domains, type DomainPageDeps } from './domains.ts';
import { feedSettingsPages } from './feeds.ts';
import { priceListSettingsPages } from './price-lists.ts';
import { promotionSettingsPages } from './promotions.ts';
import { overview } from './overview.ts';
import { sectionPage } from './section-page.ts';
import { shipping } from './shipping.ts';
import { lawSettingsPages } from './law.ts';
import { legalTexts } from './legal.ts';
import { emails } from './emails.ts';
import { theme } from './theme.ts';
import { invoiceSettingsPages } from './transport.ts';
import { taxSettingsPages } from './taxes.ts';

/** The registrations of the modules above: sections of the settings file, kinds of email, payment providers. */
export interface SettingsDeps extends DomainPageDeps {
  settingsFormat: SettingsFormat;
  emailKinds: readonly EmailKind[];
  providers: Providers;
  media: MediaStorage;
}

export function settings(
  pages: ShopPages,
  { settingsFormat: format, emailKinds, providers, media, service, hosts }: SettingsDeps,
): void {
  overview(pages);
  sectionPage(pages, format, { name: 'shop' });
  invoiceSettingsPages(pages, format);
  sectionPage(pages, format, { name: 'languages' });
  taxSettingsPages(pages, format);
  shipping(pages, format);
  sectionPage(pages, format, { name: 'orders' });
  promotionSettingsPages(pages, format);
  priceListSettingsPages(pages, format);
  catalogue(pages, format);
  sectionPage(pages, format, { name: 'customers' });
  homeSettingsPages(pages, format);
  sectionPage(pages, format, { name: 'menus' });
  sectionPage(pages, format, { name: 'privacy' });
  payments(pages, format, providers);
  domains(pages, format, { service, hosts });
  feedSettingsPages(pages, format);
  assistantSettingsPages(pages, format);
  theme(pages, format, media);
  mediaPages(pages, format, media);
  emails(pages, format, emailKinds);
  legalTexts(pages);
  lawSettingsPages(pages, format);
  settingsFile(pages, format);
  history(pages, format);
  data(pages);
}

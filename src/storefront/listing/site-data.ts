import { html, type Markup } from '../../http/html.ts';
import { languageTag } from '../../http/locale.ts';
import { logoAddress } from '../layout/header.ts';
import { ldScript, returnPolicy } from '../product/structured-data.ts';
import { absoluteUrl, shopName, type Visit } from '../visit.ts';

/** The shop and its website as structured data, which search engines read on the front page (schema.org). */
export function siteData(visit: Visit): Markup {
  const { settings, pageOrigin, locale } = visit;
  const logo = logoAddress(settings);
  const name = shopName(visit);
  const url = absoluteUrl(visit, '');
  return html`${ldScript('page.shop', {
    '@type': 'OnlineStore',
    name,
    url,
    ...(logo !== undefined && { logo: new URL(logo, pageOrigin).href }),
    ...(settings.email !== '' && { email: settings.email }),
    hasMerchantReturnPolicy: returnPolicy(visit, true),
  })}
  ${ldScript('page.site', { '@type': 'WebSite', name, url, inLanguage: languageTag(locale) })}`;
}

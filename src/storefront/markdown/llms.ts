import { plainText } from '../../http/html.ts';
import { languageTag, textIn } from '../../http/locale.ts';
import { markdownDocument, markdownLink, markdownList, markdownText } from '../../http/markdown.ts';
import { etagOf } from '../../http/raw-json.ts';
import { notFound } from '../../http/errors.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { countryName } from '../../shops/countries/countries.ts';
import { PAGES } from '../../shops/legal/schema.ts';
import { firstText, loadPlaced } from '../content/own-page.ts';
import { defaultHome } from '../content/default-home.ts';
import type { Pages } from '../pages.ts';
import { absoluteUrl, categoryPath, legalNames, shopName, type Visit } from '../visit.ts';
import { markdownAddress } from './product-markdown.ts';

const MAX_CATEGORIES = 200;

/** `/llms.txt` (llmstxt.org): what the shop sells, and where a program reads more. */
export function llmsPage(pages: Pages): void {
  pages.file('/llms.txt', async (visit) => {
    // As with search engines: nothing of a shop that is not open yet.
    if (visit.access !== 'public') throw notFound();
    const own = await loadPlaced(visit, undefined);
    const blocks = own?.text.blocks ?? defaultHome(visit.settings, visit.locale);
    const content = llmsText(visit, own?.text.description ?? firstText(blocks));
    return { type: 'text/plain; charset=utf-8', content, etag: etagOf(content) };
  });
}

/** Pure. */
function llmsText(visit: Visit, description: string): string {
  const { settings, locale, layout, home } = visit;
  const messages = messagesIn(locale).storefront.markdown;
  const language = languageTag(locale);
  const text = (names: Parameters<typeof textIn>[0]) => textIn(names, locale, settings.defaultLocale);
  const entry = ({ alias, name }: { alias: string; name: Parameters<typeof textIn>[0] }) =>
    markdownLink(text(name) ?? alias, markdownAddress(visit, categoryPath(alias)));
  const categories = layout.categories
    .flatMap((one) => [`- ${entry(one)}`, ...one.children.map((child) => `  - ${entry(child)}`)])
    .slice(0, MAX_CATEGORIES);
  const names = legalNames(visit);
  const legal = PAGES.flatMap(({ page }) => {
    const name = names[page];
    return name === undefined ? [] : [markdownLink(name, markdownAddress(visit, `/legal/${page}`))];
  });
  const { defaultCountry, countries, currencies, assistants } = settings;
  const delivered = [...new Set([defaultCountry, ...countries])].map((one) => countryName(one, language));
  // The protocol is on the shop's own host only.
  const isHost = new URL(home).pathname === '/';
  const summary = plainText(description, 300);
  return markdownDocument([
    `# ${markdownText(shopName(visit))}`,
    summary !== '' && `> ${markdownText(summary)}`,
    markdownList([
      markdownText(messages.currencies({ currencies: currencies.join(', ') })),
      markdownText(messages.addresses),
      markdownLink(messages.sitemap, `${home}/sitemap.xml`),
    ]),
    categories.length > 0 && `## ${messages.categories}\n\n${categories.join('\n')}`,
    legal.length > 0 && `## ${messages.information}\n\n${markdownList(legal)}`,
    `## ${messages.delivery}\n\n${markdownText(messages.countries({ countries: delivered.join(', ') }))}`,
    `## ${messages.buying}\n\n${
      assistants.open && isHost
        ? messages.protocol({
            address: absoluteUrl({ ...visit, locale: settings.defaultLocale }, '/.well-known/ucp'),
          })
        : messages.byHand
    }`,
  ]);
}

import { notFound } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { merchantHtml, prepareMerchantHtml } from '../../content/merchant-html/merchant-html.ts';
import type { Pages } from '../pages.ts';

/** The accessibility statement of the settings (European Accessibility Act). A shop without one has no such page. */
export function accessibility(pages: Pages): void {
  pages.get('/accessibility', async (visit) => {
    const { settings, locale } = visit;
    const text = textIn(settings.accessibility, locale, settings.defaultLocale);
    if (text === null) throw notFound();
    await prepareMerchantHtml(visit, text);
    const title = messagesIn(locale).storefront.legal.accessibility;
    return {
      title,
      path: '/accessibility',
      main: html`<article class="prose">
        <h1>${title}</h1>
        ${merchantHtml(visit, text)}
      </article>`,
    };
  });
}

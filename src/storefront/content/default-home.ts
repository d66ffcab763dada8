import type { Block } from '../../content/blocks.ts';
import { escapeHtml } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import type { Settings } from '../../shops/settings/settings.ts';

/**
 * The blocks of the built-in front page: the hero and the benefits of the settings, the categories, offers and new
 * products. A shop that writes a front page of its own begins with them.
 */
export function defaultHome(settings: Settings, locale: string): Block[] {
  const { home, slogan, defaultLocale } = settings;
  const text = (texts: Settings['slogan']) => textIn(texts, locale, defaultLocale);
  const { listing } = messagesIn(locale).storefront;
  const [title, linkText] = [text(home.title), text(home.linkText)];
  // The slogan may have markup; the text of the setting is plain.
  const plain = text(home.text);
  const introduction = plain === null ? text(slogan) : `<p>${escapeHtml(plain)}</p>`;
  const promises = home.promises.flatMap((promise) => text(promise) ?? []);
  return [
    {
      type: 'hero',
      ...(home.picture !== null && { picture: home.picture }),
      ...(title !== null && { title }),
      ...(introduction !== null && { html: introduction }),
      ...(home.link !== null && { link: home.link }),
      ...(linkText !== null && { linkText }),
    },
    ...(promises.length > 0 ? [{ type: 'promises' as const, promises }] : []),
    { type: 'categories', title: listing.range },
    { type: 'products', source: 'offers', title: listing.offers },
    { type: 'products', source: 'newest', title: listing.newProducts },
  ];
}

import { setImmediate as yieldToOthers } from 'node:timers/promises';
import sanitizeHtml from 'sanitize-html';
import type { CacheKind } from '../../db/cache.ts';
import type { ShopDatabase } from '../../db/database.ts';
import { escapeHtml, plainText, safe, type Markup } from '../../http/html.ts';
import { boundedMarkup } from './bounded-markup.ts';

/** Pictures of other sites, and our own. */
const IMAGE_ADDRESS = /^(?:https?:\/\/|\/media\/[\w./-]+$)/i;

const TAGS = (
  'p br hr div span h2 h3 h4 h5 h6 blockquote pre code b strong i em u s small sub sup mark abbr a img ' +
  'ul ol li dl dt dd table caption thead tbody tfoot tr th td'
).split(' ');
const ATTRIBUTES = {
  a: ['href', 'title', 'rel'],
  img: ['src', 'alt', 'width', 'height', 'loading'],
  th: ['colspan', 'rowspan', 'scope'],
  td: ['colspan', 'rowspan'],
};
const SCHEMES = ['http', 'https'];
const LINK_SCHEMES = [...SCHEMES, 'mailto'];

/** Merchants may structure their texts, but not add scripts, styles or forms. */
export const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags: TAGS,
  allowedAttributes: ATTRIBUTES,
  allowedSchemes: SCHEMES,
  allowedSchemesByTag: { a: LINK_SCHEMES },
  allowProtocolRelative: false,
  transformTags: {
    // The page already has an h1.
    h1: 'h2',
    h2: 'h3',
    h3: 'h4',
    h4: 'h5',
    h5: 'h6',
    a: (tagName, { href = '', title }) => ({
      tagName,
      attribs: { href, rel: 'noopener', ...(title === undefined ? {} : { title }) },
    }),
    img: (tagName, { src = '', alt = '', width = '', height = '' }) => ({
      tagName,
      attribs: {
        src,
        alt,
        loading: 'lazy',
        ...(/^\d{1,4}$/.test(width) && { width }),
        ...(/^\d{1,4}$/.test(height) && { height }),
      },
    }),
  },
  exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !IMAGE_ADDRESS.test(attribs['src'] ?? ''),
};

/**
 * The same rules for the editor of the admin, which must not show more than the storefront does. Elements that the
 * sanitiser renames are allowed under their old names.
 */
export const MERCHANT_HTML_RULES = {
  tags: [...new Set([...TAGS, ...Object.keys(ALLOWED.transformTags!)])],
  attributes: ATTRIBUTES,
  linkSchemes: LINK_SCHEMES,
  imageAddress: IMAGE_ADDRESS.source,
};

/** The same text always gives the same markup, whichever shop it belongs to. */
const sanitisedCache: CacheKind<Markup> = { name: 'merchant texts', limit: { megabytes: 8 } };

/** A visit, or whatever else has the caches. */
interface HasCaches {
  db: Pick<ShopDatabase, 'caches'>;
}

/** A text of this length is sanitised in far less than a millisecond. */
const SHORT = 2_000;

/**
 * Sanitises long texts before `merchantHtml` is called for them. Other requests are served in between, because a page
 * with several long texts would block the process for too long.
 */
export async function prepareMerchantHtml(
  visit: HasCaches,
  ...texts: (string | null | undefined)[]
): Promise<void> {
  const cache = visit.db.caches.of(sanitisedCache);
  for (const text of texts) {
    if (!text || text.length < SHORT || cache.get(text)) continue;
    merchantHtml(visit, text);
    await yieldToOthers();
  }
}

/** The merchant's markup without anything harmful. */
export function merchantHtml({ db }: HasCaches, text: string): Markup {
  const cache = db.caches.of(sanitisedCache);
  const cached = cache.get(text);
  if (cached) return cached;
  const markup = sanitise(text);
  cache.set(text, markup, 2 * (text.length + markup.text.length));
  return markup;
}

/**
 * The sanitiser takes quadratic time for deep nesting and some microseconds for each tag, so it only gets as much as
 * it can process in a few milliseconds. The rest is shown as text.
 */
export function sanitise(text: string, rules: sanitizeHtml.IOptions = ALLOWED): Markup {
  const { head, tail } = boundedMarkup(text);
  const lines = escapeHtml(plainText(tail)).split('\n').join('<br />');
  return safe(`${sanitizeHtml(head, rules)}${lines}`.trim());
}

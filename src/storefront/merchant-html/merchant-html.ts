import { setImmediate as servingOthers } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import sanitizeHtml from 'sanitize-html';
import { escapeHtml, plainText, safe, type Markup } from '../../http/html.ts';
import { boundedMarkup } from './bounded-markup.ts';

const OWN_IMAGE = /^\/media\/[\w./-]+$/;

/** What merchants write is shown as text with structure: no scripts, no looks of its own, no forms. */
const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags: (
    'p br hr div span h2 h3 h4 h5 h6 blockquote pre code b strong i em u s small sub sup mark abbr a img ' +
    'ul ol li dl dt dd table caption thead tbody tfoot tr th td'
  ).split(' '),
  allowedAttributes: {
    a: ['href', 'title', 'rel'],
    img: ['src', 'alt', 'width', 'height', 'loading'],
    th: ['colspan', 'rowspan', 'scope'],
    td: ['colspan', 'rowspan'],
  },
  allowedSchemes: ['http', 'https'],
  allowedSchemesByTag: { a: ['http', 'https', 'mailto'] },
  allowProtocolRelative: false,
  transformTags: {
    // The page has its h1 already.
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
  exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !isImage(attribs['src'] ?? ''),
};

function isImage(address: string): boolean {
  return /^https?:\/\//i.test(address) || OWN_IMAGE.test(address);
}

/** Pure: the same text always gives the same markup, whichever shop it belongs to. */
const sanitised = new LRUCache<string, Markup>({ maxSize: 8 * 1024 * 1024 });

/**
 * Sanitises these texts one by one, so that others are served in between: a page with several long ones would take the
 * processor for too long at once. What it makes is found by `merchantHtml`.
 */
export async function prepareMerchantHtml(...texts: (string | null | undefined)[]): Promise<void> {
  for (const text of texts) {
    if (!text || text.length < SHORT || sanitised.get(text)) continue;
    merchantHtml(text);
    await servingOthers();
  }
}

/** Takes far less than a millisecond. */
const SHORT = 2_000;

/**
 * The merchant's markup, as far as it is harmless. The sanitiser takes quadratic time for deep nesting and some
 * microseconds for each tag, so it only gets what it can do in a few milliseconds; what is left is shown as text.
 */
export function merchantHtml(markup: string): Markup {
  const kept = sanitised.get(markup);
  if (kept) return kept;
  const { head, tail } = boundedMarkup(markup);
  const text = escapeHtml(plainText(tail)).split('\n').join('<br />');
  const cleaned = safe(`${sanitizeHtml(head, ALLOWED)}${text}`.trim());
  sanitised.set(markup, cleaned, { size: 2 * (markup.length + cleaned.text.length) + 400 });
  return cleaned;
}

import sanitizeHtml from 'sanitize-html';
import { safe, type Markup } from '../http/html.ts';
import { MEGABYTE, TextMemory } from '../http/text-memory.ts';

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

const memory = new TextMemory<Markup>(8 * MEGABYTE);

/** The merchant's markup, as far as it is harmless. */
export function merchantHtml(markup: string): Markup {
  const kept = memory.get(markup);
  if (kept) return kept;
  const cleaned = safe(sanitizeHtml(markup, ALLOWED).trim());
  memory.keep(markup, cleaned, 2 * (markup.length + cleaned.text.length));
  return cleaned;
}

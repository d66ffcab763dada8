import type sanitizeHtml from 'sanitize-html';
import type { Markup } from '../../http/html.ts';
import { ALLOWED, sanitise } from '../merchant-html/merchant-html.ts';

/** Email programs know no stylesheet, so every element has its own styles. */
const STYLES: Readonly<Record<string, string>> = {
  p: 'margin: 16px 0 0',
  h2: 'margin: 24px 0 0; font-size: 20px; line-height: 1.3',
  h3: 'margin: 24px 0 0; font-size: 18px; line-height: 1.3',
  h4: 'margin: 20px 0 0; font-size: 16px; line-height: 1.4',
  h5: 'margin: 20px 0 0; font-size: 16px; line-height: 1.4',
  h6: 'margin: 20px 0 0; font-size: 16px; line-height: 1.4',
  ul: 'margin: 16px 0 0; padding: 0 0 0 24px',
  ol: 'margin: 16px 0 0; padding: 0 0 0 24px',
  li: 'margin: 4px 0 0',
  blockquote: 'margin: 16px 0 0; padding: 0 0 0 16px; border-left: 3px solid #c9ced6',
  table: 'margin: 16px 0 0; border-collapse: collapse',
  th: 'padding: 4px 8px; border: 1px solid #c9ced6; text-align: left',
  td: 'padding: 4px 8px; border: 1px solid #c9ced6',
  hr: 'margin: 24px 0 0; border: 0; border-top: 1px solid #e3e6ea',
};

const IMAGE_STYLE = 'max-width: 100%; height: auto; border: 0';

export interface EmailLinks {
  /** The whole address of a link; undefined: it leads nowhere. */
  addressOf: (link: string) => string | undefined;
  /** The whole address of a picture. */
  pictureOf: (address: string) => string;
  linkColour: string;
}

/** The name of an element after the sanitiser: the headings of a text stand below those of the email. */
const renamed = (tag: string) => {
  const name = ALLOWED.transformTags![tag];
  return typeof name === 'string' ? name : tag;
};

/** The merchant's markup for an email: without anything harmful, with styles and whole addresses. */
export function emailMarkup(text: string, { addressOf, pictureOf, linkColour }: EmailLinks): Markup {
  const styled = ['h1', ...Object.keys(STYLES)].map((tag): [string, sanitizeHtml.Transformer] => [
    tag,
    (_, attribs) => {
      const tagName = renamed(tag);
      return { tagName, attribs: { ...attribs, style: STYLES[tagName]! } };
    },
  ]);
  const attributes = ALLOWED.allowedAttributes as Record<string, string[]>;
  return sanitise(text, {
    ...ALLOWED,
    // All styles are ours.
    parseStyleAttributes: false,
    allowedAttributes: {
      ...Object.fromEntries(Object.keys(STYLES).map((tag) => [tag, [...(attributes[tag] ?? []), 'style']])),
      a: ['href', 'style'],
      img: ['src', 'alt', 'width', 'height', 'style'],
    },
    transformTags: {
      ...Object.fromEntries(styled),
      a: (tagName, { href = '' }): sanitizeHtml.Tag => {
        const address = addressOf(href);
        const style = `color: ${linkColour}`;
        return { tagName, attribs: address === undefined ? { style } : { href: address, style } };
      },
      img: (tagName, { src = '', alt = '', width = '' }) => ({
        tagName,
        attribs: {
          src: pictureOf(src),
          alt,
          style: IMAGE_STYLE,
          ...(/^\d{1,3}$/.test(width) && { width }),
        },
      }),
    },
  });
}

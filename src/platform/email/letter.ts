import { html, type Markup, type Part } from '../../http/html.ts';

/** The content of an email, before it becomes text and HTML. */
export interface Letter {
  subject: string;
  /** Paragraphs, which may have several lines, and tables, in their order. */
  body: (string | readonly Row[])[];
  /** A button. */
  link: LetterLink;
  /** Below the button. */
  moreLinks: readonly LetterLink[];
  /** Shown below the link, with any words of the shop: addresses, how to pay, attachments. */
  sections: readonly LetterSection[];
  /** Why the recipient gets this email. */
  footer: string;
}

export interface LetterLink {
  label: string;
  href: string;
}

export interface LetterSection {
  title: string;
  rows: readonly Row[];
}

/** A line of a table. */
export interface Row {
  text: string;
  amount?: string;
  /**
   * The style of the row: an item, a sum below the items, the total, or a note that explains it; in a section, a fact
   * whose text is the label of its amount, or a plain line, as in an address.
   */
  as?: 'line' | 'sum' | 'total' | 'note' | 'fact' | 'plain';
}

/** The shop's theme in emails. Colours are `#rrggbb`. */
export interface Design {
  /** Around the letter. */
  background: string;
  /** Text of the footer, which is on the background. */
  muted: string;
  /** Colours of the button. */
  accent: string;
  onAccent: string;
  /** Colour of links on white. */
  link: string;
  /** `src` is the address of an attachment. */
  logo: { src: string; width: number; height: number } | undefined;
  /** The name of the shop is shown beside the logo. Without a logo it is always shown. */
  showName: boolean;
}

/**
 * Makes a single line: a product's name may contain line breaks, a header must not. The non-breaking blanks between an
 * amount and its currency stay.
 */
export function oneLine(text: string): string {
  return text.replaceAll(/(?:[^\S\u00a0\u202f]|\p{Cc})+/gu, ' ').trim();
}

/** Puts a colon between the two, as the language does. */
export type Labelled = (parts: { label: string; text: string }) => string;

export function plainLetter(
  { body, link, moreLinks, sections, footer }: Letter,
  name: string,
  labelled: Labelled,
): string {
  const rowsText = (rows: readonly Row[]) => rows.map((row) => plainRow(row, labelled)).join('\n');
  const parts = [
    ...body.map((block) => (typeof block === 'string' ? block : rowsText(block))),
    ...[link, ...moreLinks].map(({ label, href }) => labelled({ label, text: href })),
    ...sections.map(({ title, rows }) => `${oneLine(title).toUpperCase()}\n${rowsText(rows)}`),
    name,
    `-- \n${footer}`,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function plainRow({ text, amount }: Row, labelled: Labelled): string {
  return amount === undefined ? oneLine(text) : labelled({ label: oneLine(text), text: oneLine(amount) });
}

const FONT = "-apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

interface Frame {
  language: string;
  /** The title, and more of the head. */
  head: Markup;
  /** The preview that email programs show beside the subject. */
  preheader?: Markup | false;
  shopName: string;
  design: Design;
  content: Markup;
  /** Paragraphs below the sheet. */
  footer: Markup;
}

/**
 * All styles are inline, because many email programs drop a stylesheet; tables set the widths, because some programs
 * support nothing else. Nothing is loaded from a server, because that would reveal to the sender when the email is
 * read: the logo comes with the email.
 */
export function letterFrame({ language, head, preheader, shopName, design, content, footer }: Frame): Markup {
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${head}
      </head>
      <body style="margin: 0; padding: 0; background: ${design.background}">
        ${preheader}
        <table
          role="presentation"
          width="100%"
          cellpadding="0"
          cellspacing="0"
          style="background: ${design.background}"
        >
          <tr>
            <td align="center" style="padding: 16px 8px">
              <table
                role="presentation"
                width="100%"
                cellpadding="0"
                cellspacing="0"
                style="max-width: 600px; background: #ffffff; border-radius: 8px; font: 16px/1.5 ${FONT}; color: #1c2430; overflow-wrap: anywhere"
              >
                <tr>
                  <td
                    style="padding: 20px 24px; border-bottom: 2px solid ${design.accent}; font-size: 18px; font-weight: bold"
                  >
                    ${brand(shopName, design)}
                  </td>
                </tr>
                <tr>
                  <td style="padding: 8px 24px 24px">${content}</td>
                </tr>
              </table>
              ${footer}
            </td>
          </tr>
        </table>
      </body>
    </html> `;
}

/** A paragraph below the sheet. */
export const footerParagraph = (content: Part, { muted }: Design, margin = '16px 16px 0'): Markup =>
  html`<p
    style="max-width: 552px; margin: ${margin}; font: 13px/1.5 ${FONT}; color: ${muted}; overflow-wrap: anywhere"
  >
    ${content}
  </p>`;

export function htmlLetter(
  { subject, body, link, moreLinks, sections, footer }: Letter,
  shopName: string,
  language: string,
  design: Design,
): Markup {
  return letterFrame({
    language,
    head: html`<title>${subject}</title>`,
    shopName,
    design,
    content: html`
      ${body.map((block) => (typeof block === 'string' ? htmlParagraph(block) : htmlTable(block)))}
      <p style="margin: 24px 0 0">
        <a
          href="${link.href}"
          style="display: inline-block; padding: 12px 20px; border-radius: 6px; background: ${design.accent}; color: ${design.onAccent}; font-weight: bold; text-decoration: none"
          >${link.label}</a
        >
      </p>
      ${moreLinks.map(
        ({ label, href }) =>
          html`<p style="margin: 12px 0 0">
            <a href="${href}" style="color: ${design.link}">${label}</a>
          </p>`,
      )}
      ${sections.map(
        ({ title, rows }) =>
          html`<h2 style="margin: 28px 0 0; font-size: 16px; line-height: 1.4">${title}</h2>
            ${htmlTable(rows, '8px')}`,
      )}
    `,
    footer: footerParagraph(footer, design),
  });
}

function brand(name: string, { logo, showName }: Design): Markup {
  if (!logo) return html`${name}`;
  return html`<img
      src="${logo.src}"
      width="${logo.width}"
      height="${logo.height}"
      alt="${showName ? '' : name}"
      style="display: inline-block; max-width: 100%; border: 0; vertical-align: middle"
    />${showName && html` <span style="vertical-align: middle">&nbsp;${name}</span>`}`;
}

function htmlParagraph(text: string): Markup {
  const lines = text.split('\n').map((line, index) => html`${index > 0 && html`<br />`}${line}`);
  return html`<p style="margin: 16px 0 0">${lines}</p> `;
}

function htmlTable(rows: readonly Row[], above = '16px'): Markup | undefined {
  if (rows.length === 0) return undefined;
  return html`<table
    role="presentation"
    width="100%"
    cellpadding="0"
    cellspacing="0"
    style="margin: ${above} 0 0; font-size: 15px; line-height: 1.4"
  >
    ${rows.map(htmlRow)}
  </table> `;
}

function htmlRow({ text, amount, as = 'line' }: Row): Markup {
  if (as === 'fact') {
    return html`<tr>
      <td style="${ROW_STYLES.plain}">
        <span style="font-size: 13px; color: #5b6573">${text}</span><br /><strong>${amount}</strong>
      </td>
    </tr> `;
  }
  return html`<tr style="vertical-align: top">
    <td style="${ROW_STYLES[as]}">${text}</td>
    ${amount !== undefined && html`<td align="right" style="${ROW_STYLES[as]}; padding-left: 16px; white-space: nowrap">${amount}</td>`}
  </tr> `;
}

const ROW_STYLES = {
  line: 'padding: 8px 0; border-bottom: 1px solid #e3e6ea',
  sum: 'padding: 6px 0 0; color: #434d5b',
  total: 'padding: 12px 0 0; font-size: 18px; font-weight: bold',
  note: 'padding: 2px 0 0; font-size: 13px; color: #5b6573',
  plain: 'padding: 0 0 4px',
} as const;

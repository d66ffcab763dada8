import { html, type Markup } from '../../http/html.ts';

/** The content of an email, before it becomes text and HTML. */
export interface Letter {
  subject: string;
  /** Paragraphs, which may have several lines, and tables, in their order. */
  body: (string | readonly Row[])[];
  link: { label: string; href: string };
  /** Why the recipient gets this email. */
  footer: string;
}

/** A line of a table. */
export interface Row {
  text: string;
  amount?: string;
  /** The style of the row: an item, a sum below the items, the total, or a note that explains it. */
  as?: 'line' | 'sum' | 'total' | 'note';
}

/**
 * Makes a single line: a product's name may contain line breaks, a header must not. The blanks that keep an amount and
 * its currency on one line stay.
 */
export function oneLine(text: string): string {
  return text.replaceAll(/(?:[^\S\u00a0\u202f]|\p{Cc})+/gu, ' ').trim();
}

export function plainLetter({ body, link, footer }: Letter, name: string): string {
  const blocks = body.map((block) => (typeof block === 'string' ? block : block.map(plainRow).join('\n')));
  const parts = [...blocks, `${link.label}: ${link.href}`, name, `-- \n${footer}`];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function plainRow({ text, amount }: Row): string {
  return amount === undefined ? oneLine(text) : `${oneLine(text)}: ${amount}`;
}

/**
 * All styles are inline, because many email programs drop a stylesheet; tables set the widths, because some programs
 * support nothing else. Nothing is loaded from a server: that would reveal to the sender when the email is read.
 */
export function htmlLetter({ subject, body, link, footer }: Letter, name: string, language: string): Markup {
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${subject}</title>
      </head>
      <body style="margin: 0; padding: 0; background: #f2f3f5">
        <table role="presentation" width="100%" cellpadding="0" cellspacing="0">
          <tr>
            <td align="center" style="padding: 16px 8px">
              <table
                role="presentation"
                width="100%"
                cellpadding="0"
                cellspacing="0"
                style="max-width: 600px; background: #ffffff; border-radius: 8px; font: 16px/1.5 -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; color: #1c2430; overflow-wrap: anywhere"
              >
                <tr>
                  <td
                    style="padding: 20px 24px; border-bottom: 1px solid #e3e6ea; font-size: 18px; font-weight: bold"
                  >
                    ${name}
                  </td>
                </tr>
                <tr>
                  <td style="padding: 8px 24px 24px">
                    ${body.map((block) => (typeof block === 'string' ? htmlParagraph(block) : htmlTable(block)))}
                    <p style="margin: 24px 0 0">
                      <a
                        href="${link.href}"
                        style="display: inline-block; padding: 12px 20px; border-radius: 6px; background: #1f4e79; color: #ffffff; font-weight: bold; text-decoration: none"
                        >${link.label}</a
                      >
                    </p>
                  </td>
                </tr>
              </table>
              <p
                style="max-width: 552px; margin: 16px 16px 0; font: 13px/1.5 -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; color: #5b6573"
              >
                ${footer}
              </p>
            </td>
          </tr>
        </table>
      </body>
    </html> `;
}

function htmlParagraph(text: string): Markup {
  const lines = text.split('\n').map((line, index) => html`${index > 0 && html`<br />`}${line}`);
  return html`<p style="margin: 16px 0 0">${lines}</p> `;
}

function htmlTable(rows: readonly Row[]): Markup | undefined {
  if (rows.length === 0) return undefined;
  return html`<table
    role="presentation"
    width="100%"
    cellpadding="0"
    cellspacing="0"
    style="margin: 16px 0 0; font-size: 15px; line-height: 1.4"
  >
    ${rows.map(
      ({ text, amount, as = 'line' }) =>
        html`<tr style="vertical-align: top">
          <td style="${ROW_STYLES[as]}">${text}</td>
          ${amount !== undefined && html`<td align="right" style="${ROW_STYLES[as]}; padding-left: 16px; white-space: nowrap">${amount}</td>`}
        </tr> `,
    )}
  </table> `;
}

const ROW_STYLES = {
  line: 'padding: 8px 0; border-bottom: 1px solid #e3e6ea',
  sum: 'padding: 6px 0 0; color: #434d5b',
  total: 'padding: 12px 0 0; font-size: 18px; font-weight: bold',
  note: 'padding: 2px 0 0; font-size: 13px; color: #5b6573',
} as const;

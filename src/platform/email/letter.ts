import { html, type Markup } from '../../http/html.ts';

/** What a mail says, before it becomes text and HTML. */
export interface Letter {
  subject: string;
  /** One after the other: paragraphs, which may have several lines, and tables. */
  body: (string | readonly Row[])[];
  link: { label: string; href: string };
  /** Why one gets this mail. */
  footer: string;
}

/** A line of a table. */
export interface Row {
  text: string;
  amount?: string;
  /** A sum stands below a rule, the total is what one looks for, a note only explains. */
  as?: 'line' | 'sum' | 'total' | 'note';
}

/**
 * A product's name may hold line breaks, a header must not. Blanks that keep an amount and its currency together stay.
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
 * All styles stand at their elements, because many programs drop a stylesheet; tables give the widths, because some
 * know nothing else. Nothing is loaded from anywhere: that would tell the sender when the mail is read.
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
          <td style="${LOOKS[as]}">${text}</td>
          ${amount !== undefined && html`<td align="right" style="${LOOKS[as]}; padding-left: 16px; white-space: nowrap">${amount}</td>`}
        </tr> `,
    )}
  </table> `;
}

const LOOKS = {
  line: 'padding: 8px 0; border-bottom: 1px solid #e3e6ea',
  sum: 'padding: 6px 0 0; color: #434d5b',
  total: 'padding: 12px 0 0; font-size: 18px; font-weight: bold',
  note: 'padding: 2px 0 0; font-size: 13px; color: #5b6573',
} as const;

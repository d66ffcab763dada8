import { html, type Markup } from '../../http/html.ts';

/** Tables as text. */
const TABLES = '.csv,.txt,text/csv,text/plain';

/** The field of the file that a form sends. */
export function fileField({
  label,
  hint,
  accept = TABLES,
}: {
  label: string;
  hint: string;
  /** The endings and types of the files that a browser offers. */
  accept?: string;
}): Markup {
  return html`<div class="field">
    <label for="file">${label}</label>
    <input type="file" id="file" name="file" accept="${accept}" aria-describedby="file-hint" required />
    <p class="hint" id="file-hint">${hint}</p>
  </div>`;
}

/** The lines of a file that were refused: the number of each, what it says, and why. */
export function refusedLines(
  titles: readonly string[],
  lines: readonly (readonly (string | number | null)[])[],
): Markup {
  return html`<div class="list plain">
    <table>
      <thead>
        <tr>
          ${titles.map((title, column) => html`<th scope="col" ${column === 0 && html`class="number"`}>${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${lines.map(
          (line) =>
            html`<tr>
              ${line.map(
                (text, column) =>
                  html`<td data-title="${titles[column]}" ${column === 0 && html`class="number"`}>
                    ${text}
                  </td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

import { html, type Markup } from '../../http/html.ts';

export interface Bar {
  /** Shown below the bar, where there is room. */
  label: string;
  value: number;
  /** The value as text, for the tooltip and for screen readers. */
  text: string;
}

const WIDTH = 600;
const HEIGHT = 120;

/** Values over time. Drawn on the server, so that it needs no script; screen readers get a table. */
export function barChart(title: string, bars: readonly Bar[]): Markup {
  const highest = Math.max(1, ...bars.map(({ value }) => value));
  const step = WIDTH / Math.max(1, bars.length);
  const every = Math.ceil(bars.length / 6);
  return html`<figure class="bars">
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT + 20}" aria-hidden="true">
      <path d="M0 ${HEIGHT}.5H${WIDTH}" />
      ${bars.map(({ value, text, label }, index) => {
        const height = Math.round((value / highest) * (HEIGHT - 8));
        const left = (index * step + step * 0.15).toFixed(1);
        return html`<rect
            x="${left}"
            y="${HEIGHT - height}"
            width="${(step * 0.7).toFixed(1)}"
            height="${height}"
            rx="2"
          >
            <title>${label}: ${text}</title>
          </rect>
          ${
            index % every === 0 &&
            html`<text x="${(index * step + step / 2).toFixed(1)}" y="${HEIGHT + 16}">${label}</text>`
          }`;
      })}
    </svg>
    <table class="hidden">
      <caption>
        ${title}
      </caption>
      <tbody>
        ${bars.map(
          ({ label, text }) =>
            html`<tr>
              <th scope="row">${label}</th>
              <td>${text}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </figure>`;
}

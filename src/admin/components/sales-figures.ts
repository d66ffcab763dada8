import { html, type Markup, type Part } from '../../http/html.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { jsonScript } from '../../storefront/page.ts';
import type { Language } from '../messages.ts';
import { REGIONS } from './format.ts';

export interface Figure {
  title: string;
  value: string;
  /** Below the value, such as the change from the period before. */
  note: Part;
}

/** The figures of a period side by side. */
export function figureList(figures: readonly Figure[]): Markup {
  return html`<dl class="numbers">
    ${figures.map(
      ({ title, value, note }) =>
        html`<div>
          <dt>${title}</dt>
          <dd>${value}</dd>
          <dd class="quiet">${note}</dd>
        </div>`,
    )}
  </dl>`;
}

/** `+12 %`; undefined where there is nothing to compare with. */
export function changePercent(current: number, before: number, language: Language): string | undefined {
  if (before === 0) return undefined;
  const change = Math.round(((current - before) / before) * 100);
  return `${change > 0 ? '+' : ''}${change.toLocaleString(language)} %`;
}

export interface SalesChart {
  /** For people who do not see it. */
  label: string;
  labels: { current: string; before: string };
  currency: string;
  /** In minor units; `before` is null where no other period is compared. */
  points: readonly { day: string; gross: number; before: number | null }[];
}

/** The revenue of a period beside another one, which `HOME_SCRIPT` draws. */
export function salesChart({ label, labels, currency, points }: SalesChart, language: Language): Markup {
  const scale = 10 ** currencyDigits(currency);
  const data = {
    days: points.map(({ day }) => Date.parse(day) / 1000),
    current: points.map(({ gross }) => gross / scale),
    before: points.map(({ before }) => before && before / scale),
    labels,
    currency,
    language: REGIONS[language],
  };
  return html`<div id="chart" class="chart with-script" role="img" aria-label="${label}"></div>
    ${jsonScript('chart-data', data)}`;
}

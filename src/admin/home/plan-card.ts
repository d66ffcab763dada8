import { html, type Markup } from '../../http/html.ts';
import type { nearLimits } from '../../platform/plans/limits.ts';
import type { ShopVisit } from '../visit.ts';

/** From four fifths of a limit on: a merchant should not learn of it from a refusal. */
export function planCard(
  { messages: { home }, language }: ShopVisit,
  { plan, limits }: Awaited<ReturnType<typeof nearLimits>>,
): Markup | false {
  if (limits.length === 0) return false;
  const number = (value: number) => value.toLocaleString(language, { maximumFractionDigits: 0 });
  return html`<section class="card">
    <h2>${home.plan.title}</h2>
    <ul>
      ${limits.map(
        ({ name, used, limit }) =>
          html`<li>${home.plan[name]({ used: number(used), limit: number(limit) })}</li>`,
      )}
    </ul>
    <p class="quiet">${home.plan.text({ plan })}</p>
  </section>`;
}

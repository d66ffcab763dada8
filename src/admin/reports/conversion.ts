import { dayOf } from '../../http/dates.ts';
import { findCartDays, findFirstCartDay, type CartDay } from '../../carts/cart-days.ts';
import { html, type Markup } from '../../http/html.ts';
import type { ReportPeriod } from '../../orders/reports/period.ts';
import { barChart } from '../components/bars.ts';
import { dayOrMonth, plainDay } from '../components/format.ts';
import { changePercent, figureList } from '../components/sales-figures.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { isByMonth } from './periods.ts';

/** From cart to order: the carts of a period, those that got an address, and those that became orders. */

type Counts = Omit<CartDay, 'day'>;

interface CartInterval extends Counts {
  /** The first day of it within the period. */
  from: string;
  before: Counts;
}

export interface CartConversion {
  intervals: CartInterval[];
  total: Counts;
  totalBefore: Counts;
  /** The first day whose carts are known. */
  since: string | undefined;
}

interface Asked {
  period: ReportPeriod;
  other: ReportPeriod | undefined;
}

const DAY = 86_400_000;
const NONE: Counts = { carts: 0, withAddress: 0, ordered: 0 };

export async function loadConversion(
  { db, shopId }: ShopVisit,
  { period, other }: Asked,
): Promise<CartConversion> {
  const [days, otherDays, since] = await Promise.all([
    findCartDays(db, shopId, period),
    other ? findCartDays(db, shopId, other) : [],
    findFirstCartDay(db, shopId),
  ]);
  const byMonth = isByMonth(period);
  const before = other ? countsOf(other, otherDays, byMonth) : [];
  return {
    intervals: countsOf(period, days, byMonth).map((interval, index) => ({
      ...interval,
      before: before[index] ?? NONE,
    })),
    total: sumOf(days),
    totalBefore: sumOf(otherDays),
    since,
  };
}

const sumOf = (counts: readonly Counts[]): Counts =>
  counts.reduce<Counts>(
    (sum, { carts, withAddress, ordered }) => ({
      carts: sum.carts + carts,
      withAddress: sum.withAddress + withAddress,
      ordered: sum.ordered + ordered,
    }),
    NONE,
  );

/** The days or months of a period, those without carts included, oldest first. */
function countsOf({ from, to }: ReportPeriod, days: readonly CartDay[], byMonth: boolean) {
  const keyOf = (day: string) => (byMonth ? day.slice(0, 7) : day);
  const intervals = new Map<string, Counts & { from: string }>();
  for (let moment = Date.parse(from); moment <= Date.parse(to); moment += DAY) {
    const day = dayOf(moment);
    if (!intervals.has(keyOf(day))) intervals.set(keyOf(day), { from: day, ...NONE });
  }
  for (const day of days) {
    const interval = intervals.get(keyOf(day.day));
    if (interval) Object.assign(interval, sumOf([interval, day]));
  }
  return [...intervals.values()];
}

/** Per cent with one decimal; undefined: there were no carts. */
export const rateOf = ({ carts, ordered }: Counts) =>
  carts === 0 ? undefined : Math.round((ordered / carts) * 1_000) / 10;

const percentText = (rate: number | undefined, language: string) =>
  rate === undefined ? '–' : `${rate.toLocaleString(language)} %`;

export function conversionCard(
  visit: ShopVisit,
  { period, other, query }: Asked & { query: Record<string, string> },
  { intervals, total, totalBefore, since }: CartConversion,
): Markup {
  const { language } = visit;
  const messages = visit.messages.reports;
  const number = (value: number) => value.toLocaleString(language);
  const note = (now: number, before: number) => other && (changePercent(now, before, language) ?? '–');
  const byMonth = isByMonth(period);
  return html`<section class="card" aria-labelledby="conversion">
    <h2 id="conversion">${messages.conversion}</h2>
    <p class="hint">${messages.conversionHint}</p>
    ${
      since !== undefined &&
      since > period.from &&
      html`<p class="notice">
        ${messages.cartsSince({ day: plainDay(new Date(`${since}T12:00:00Z`), language) })}
      </p>`
    }
    ${figureList([
      { title: messages.carts, value: number(total.carts), note: note(total.carts, totalBefore.carts) },
      {
        title: messages.withAddress,
        value: number(total.withAddress),
        note: note(total.withAddress, totalBefore.withAddress),
      },
      {
        title: messages.ordered,
        value: number(total.ordered),
        note: note(total.ordered, totalBefore.ordered),
      },
      {
        title: messages.rate,
        value: percentText(rateOf(total), language),
        note: other && percentText(rateOf(totalBefore), language),
      },
    ])}
    ${
      total.carts > 0 &&
      html`${barChart(
          messages.rate,
          intervals.map((interval) => ({
            label: dayOrMonth(interval.from, byMonth, language),
            value: rateOf(interval) ?? 0,
            text: percentText(rateOf(interval), language),
          })),
        )}
        <details>
          <summary>${messages.asTable}</summary>
          <div class="scroll" tabindex="0" role="group" aria-label="${messages.asTable}">
            <table>
              <thead>
                <tr>
                  <th scope="col">${byMonth ? messages.month : messages.day}</th>
                  <th scope="col" class="number">${messages.carts}</th>
                  <th scope="col" class="number">${messages.withAddress}</th>
                  <th scope="col" class="number">${messages.ordered}</th>
                  <th scope="col" class="number">${messages.rate}</th>
                  ${other && html`<th scope="col" class="number">${messages.compared}</th>`}
                </tr>
              </thead>
              <tbody>
                ${intervals.toReversed().map(
                  (interval) =>
                    html`<tr>
                      <td>${dayOrMonth(interval.from, byMonth, language)}</td>
                      <td class="number">${number(interval.carts)}</td>
                      <td class="number">${number(interval.withAddress)}</td>
                      <td class="number">${number(interval.ordered)}</td>
                      <td class="number">${percentText(rateOf(interval), language)}</td>
                      ${other && html`<td class="number">${percentText(rateOf(interval.before), language)}</td>`}
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>
        </details>`
    }
    <p>
      <a class="button" href="${adminPath(visit, '/reports/carts.csv', query)}" hx-boost="false"
        >${messages.csv}</a
      >
    </p>
  </section>`;
}

/** The rows of the file. */
export function* conversionRows(
  visit: ShopVisit,
  { period, other }: Asked,
  { intervals }: CartConversion,
): Generator<string[]> {
  const messages = visit.messages.reports;
  const byMonth = isByMonth(period);
  const rate = (counts: Counts) => rateOf(counts)?.toLocaleString(visit.language) ?? '';
  yield [
    byMonth ? messages.month : messages.day,
    messages.carts,
    messages.withAddress,
    messages.ordered,
    messages.rate,
    ...(other
      ? [`${messages.carts} (${messages.compared})`, `${messages.ordered} (${messages.compared})`]
      : []),
  ];
  for (const interval of intervals) {
    yield [
      byMonth ? interval.from.slice(0, 7) : interval.from,
      String(interval.carts),
      String(interval.withAddress),
      String(interval.ordered),
      rate(interval),
      ...(other ? [String(interval.before.carts), String(interval.before.ordered)] : []),
    ];
  }
}

import { Readable } from 'node:stream';
import { csvLine, escapeFormula } from '../../catalogue/products/csv-cells.ts';
import { dayOf, isDate } from '../../http/dates.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import type { PageRequest } from '../../http/page-kit.ts';
import { newPauses } from '../../http/pauses.ts';
import { currencyDigits, toDecimal } from '../../kernel/money.ts';
import type { ReportPeriod } from '../../orders/reports/period.ts';
import { findCurrencies, findDayTotals } from '../../orders/reports/queries.ts';
import { barChart } from '../components/bars.ts';
import { decimalText, usesComma } from '../components/decimal.ts';
import { choiceField, textField } from '../components/form.ts';
import { amountText, dayOrMonth } from '../components/format.ts';
import { changePercent, figureList, salesChart } from '../components/sales-figures.ts';
import { HOME_SCRIPT, UPLOT, UPLOT_STYLESHEET } from '../layout/assets.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { conversionCard, conversionRows, loadConversion } from './conversion.ts';
import {
  loadReport,
  BREAKDOWN_PARTS,
  type BreakdownPart,
  type Report,
  type ReportVisit,
} from './breakdown.ts';
import {
  comparedWith,
  COMPARISONS,
  intervalsOf,
  isByMonth,
  lengthOf,
  totalOf,
  type ComparisonKind,
  type Interval,
  type ReportTotals,
} from './periods.ts';

const DAY = 86_400_000;
/** Ten years. */
const MAX_DAYS = 3_660;
const USUAL_DAYS = 30;
const MAX_ROWS = 100;
const MAX_BARS = 12;

/** What was sold in a period, and by what, beside another period: as chart, table and file. */
export function reportPages(pages: ShopPages): void {
  pages.get('/reports', 'orders_read', async (visit, request) => {
    const asked = askedOf(visit, request);
    const [{ sales, report }, conversion, currencies] = await Promise.all([
      loadSalesByPart(visit, asked),
      loadConversion(visit, asked),
      findCurrencies(visit.db, visit.shopId),
    ]);
    const messages = visit.messages.reports;
    return {
      title: messages.title,
      menu: 'reports',
      actions: html`<a class="button" href="${adminPath(visit, '/reports/taxes')}"
        >${visit.messages.taxReports.title}</a
      >`,
      scripts: [UPLOT_STYLESHEET, UPLOT, HOME_SCRIPT],
      main: html`${filterForm(visit, asked, currencies)}
      ${asked.isRefused && html`<p class="notice bad" role="alert">${messages.badPeriod({ days: String(MAX_DAYS) })}</p>`}
      ${salesCard(visit, asked, sales)}
      ${conversionCard(visit, { ...asked, query: queryOf(asked) }, conversion)}
      ${partCard(visit, asked, report)}`,
    };
  });

  pages.file('/reports/:name', 'orders_read', async (visit, request) => {
    const { name } = request.params;
    if (name !== 'days.csv' && name !== 'parts.csv' && name !== 'carts.csv') throw notFound();
    const asked = askedOf(visit, request);
    if (name === 'carts.csv') return cartFile(visit, asked);
    const isByPart = name === 'parts.csv';
    const { from, to } = asked.period;
    const text = isByPart
      ? partLines(visit, asked, (await loadSalesByPart(visit, asked)).report)
      : intervalLines(visit, asked, await loadSales(visit, asked));
    return {
      type: 'text/csv; charset=utf-8',
      content: Readable.from(inTurns(text), { objectMode: false }),
      fileName: `${visit.messages.reports.fileName}-${isByPart ? `${asked.part}-` : ''}${from}-${to}.csv`,
    };
  });
}

async function cartFile(visit: ShopVisit, asked: Asked) {
  const { line } = lineWriter(visit, asked.currency);
  const rows = conversionRows(visit, asked, await loadConversion(visit, asked));
  const { from, to } = asked.period;
  return {
    type: 'text/csv; charset=utf-8',
    content: Readable.from(inTurns([...rows].map(line)), { objectMode: false }),
    fileName: `${visit.messages.reports.fileName}-carts-${from}-${to}.csv`,
  };
}

interface Asked {
  period: ReportPeriod;
  kind: ComparisonKind;
  other: ReportPeriod | undefined;
  currency: string;
  part: BreakdownPart;
  /** The typed period is too long, or ends before it begins: the usual one is shown. */
  isRefused: boolean;
}

function askedOf({ db, settings }: ShopVisit, request: PageRequest): Asked {
  const now = db.now.getTime();
  const usual = { from: dayOf(now - (USUAL_DAYS - 1) * DAY), to: dayOf(now) };
  const typed = (name: 'from' | 'to') => {
    const text = request.query(name) ?? '';
    return isDate(text) ? text : usual[name];
  };
  const wanted = { from: typed('from'), to: typed('to') };
  const days = lengthOf(wanted);
  const isRefused = days < 1 || days > MAX_DAYS;
  const period = isRefused ? usual : wanted;
  const kind = COMPARISONS.find((one) => one === request.query('compare')) ?? 'before';
  const currency = request.query('currency') ?? '';
  return {
    period,
    kind,
    other: comparedWith(period, kind),
    currency: /^[A-Z]{3}$/.test(currency) ? currency : settings.defaultCurrency,
    part: BREAKDOWN_PARTS.find((one) => one === request.query('by')) ?? 'product',
    isRefused,
  };
}

interface Sales {
  intervals: Interval[];
  total: ReportTotals;
  totalBefore: ReportTotals;
}

/** Both as of the same moment: an order that is placed in between is in neither. */
function loadSalesByPart(visit: ShopVisit, asked: Asked): Promise<{ sales: Sales; report: Report }> {
  return visit.db.transaction(
    async (db) => {
      const snapshot = { ...visit, db };
      const sales = await loadSales(snapshot, asked);
      return { sales, report: await loadReport(snapshot, { ...asked, ...sales }) };
    },
    { isolation: 'repeatable read' },
  );
}

async function loadSales({ db, shopId }: ReportVisit, { period, other, currency }: Asked): Promise<Sales> {
  const [days, otherDays] = await Promise.all([
    findDayTotals(db, shopId, currency, period),
    other ? findDayTotals(db, shopId, currency, other) : [],
  ]);
  const totals = (rows: typeof days) => totalOf(rows.map((row) => ({ ...row, net: Number(row.net) })));
  return {
    intervals: intervalsOf(period, days, other, otherDays),
    total: totals(days),
    totalBefore: totals(otherDays),
  };
}

const queryOf = ({ period, kind, currency, part }: Asked) => ({
  ...period,
  compare: kind,
  currency,
  by: part,
});

function filterForm(visit: ShopVisit, asked: Asked, currencies: readonly string[]): Markup {
  const messages = visit.messages.reports;
  const { period, kind, currency, part } = asked;
  const choices = [...new Set([...currencies, visit.settings.defaultCurrency, currency])];
  return html`<form method="get" class="card">
    <p class="actions">
      ${presets(visit).map(
        ([name, { from, to }]) =>
          html`<a
            class="button"
            href="${adminPath(visit, '/reports', { ...queryOf(asked), from, to })}"
            ${from === period.from && to === period.to && html`aria-current="true"`}
            >${messages.presets[name]}</a
          >`,
      )}
    </p>
    <div class="row">
      ${textField({ name: 'from', label: messages.from, type: 'date', value: period.from })}
      ${textField({ name: 'to', label: messages.to, type: 'date', value: period.to })}
      ${choiceField({
        name: 'compare',
        label: messages.compare,
        value: kind,
        choices: COMPARISONS.map((value) => ({ value, text: messages.comparisons[value] })),
      })}
      ${choiceField({
        name: 'by',
        label: messages.by,
        value: part,
        choices: BREAKDOWN_PARTS.map((value) => ({ value, text: messages.parts[value] })),
      })}
      ${
        choices.length > 1 &&
        choiceField({
          name: 'currency',
          label: messages.currency,
          value: currency,
          choices: choices.map((value) => ({ value, text: value })),
        })
      }
    </div>
    <button class="main">${messages.show}</button>
  </form>`;
}

type Preset = 'days30' | 'month' | 'lastMonth' | 'year' | 'lastYear';

function presets({ db }: ShopVisit): [Preset, ReportPeriod][] {
  const now = db.now;
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const today = dayOf(now.getTime());
  return [
    ['days30', { from: dayOf(now.getTime() - (USUAL_DAYS - 1) * DAY), to: today }],
    ['month', { from: dayOf(Date.UTC(year, month, 1)), to: today }],
    ['lastMonth', { from: dayOf(Date.UTC(year, month - 1, 1)), to: dayOf(Date.UTC(year, month, 0)) }],
    ['year', { from: dayOf(Date.UTC(year, 0, 1)), to: today }],
    ['lastYear', { from: dayOf(Date.UTC(year - 1, 0, 1)), to: dayOf(Date.UTC(year - 1, 11, 31)) }],
  ];
}

const meanOf = ({ gross, orders }: ReportTotals) => (orders === 0 ? 0 : Math.round(gross / orders));

function salesCard(visit: ShopVisit, asked: Asked, { intervals, total, totalBefore }: Sales): Markup {
  const messages = visit.messages.reports;
  const money = (minor: number) => amountText(Math.round(minor), visit, asked.currency);
  const note = (now: number, before: number) => asked.other && changeText(visit, now, before);
  const figures = [
    { title: messages.revenue, value: money(total.gross), note: note(total.gross, totalBefore.gross) },
    { title: messages.net, value: money(total.net), note: note(total.net, totalBefore.net) },
    {
      title: messages.orders,
      value: total.orders.toLocaleString(visit.language),
      note: note(total.orders, totalBefore.orders),
    },
    { title: messages.average, value: money(meanOf(total)), note: note(meanOf(total), meanOf(totalBefore)) },
  ];
  return html`<section class="card" aria-labelledby="sales">
    <h2 id="sales">${messages.sales}</h2>
    ${figureList(figures)}
    ${salesChart(
      {
        label: messages.chart,
        labels: { current: messages.period, before: messages.compared },
        currency: asked.currency,
        points: intervals.map(({ from, gross, before }) => ({
          day: from,
          gross,
          before: asked.other ? before.gross : null,
        })),
      },
      visit.language,
    )}
    <p>
      <a class="button" href="${adminPath(visit, '/reports/days.csv', queryOf(asked))}" hx-boost="false"
        >${messages.csv}</a
      >
    </p>
    <details>
      <summary>${messages.asTable}</summary>
      <div class="scroll" tabindex="0" role="group" aria-label="${messages.asTable}">
        <table>
          <thead>
            <tr>
              <th scope="col">${isByMonth(asked.period) ? messages.month : messages.day}</th>
              <th scope="col" class="number">${messages.revenue}</th>
              <th scope="col" class="number">${messages.net}</th>
              <th scope="col" class="number">${messages.orders}</th>
              ${asked.other && html`<th scope="col" class="number">${messages.compared}</th>`}
            </tr>
          </thead>
          <tbody>
            ${intervals.toReversed().map(
              ({ from, gross, net, orders, before }) =>
                html`<tr>
                  <td>${dayOrMonth(from, isByMonth(asked.period), visit.language)}</td>
                  <td class="number">${money(gross)}</td>
                  <td class="number">${money(net)}</td>
                  <td class="number">${orders.toLocaleString(visit.language)}</td>
                  ${asked.other && html`<td class="number">${money(before.gross)}</td>`}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>
  </section>`;
}

/** The data that the script draws: amounts in whole units, because a chart shows no cents. */
function changeText({ language }: ShopVisit, current: number, before: number): string {
  return changePercent(current, before, language) ?? '–';
}

function partCard(visit: ShopVisit, asked: Asked, { rows, uncounted }: Report): Markup {
  const messages = visit.messages.reports;
  const { currency, other, part } = asked;
  const money = (minor: number) => amountText(Math.round(minor), visit, currency);
  const shown = rows.slice(0, MAX_ROWS);
  const hasQuantity = part === 'product' || part === 'category';
  const title = messages.byPart({ part: messages.parts[part] });
  return html`<section class="card" aria-labelledby="parts">
    <h2 id="parts">${title}</h2>
    ${uncounted > 0 && html`<p class="notice">${messages.uncounted({ count: uncounted })}</p>`}
    <p class="hint">${messages.hints[part]}</p>
    ${
      rows.length === 0
        ? html`<p class="quiet">${messages.nothing}</p>`
        : html`${barChart(
              title,
              shown.slice(0, MAX_BARS).map(({ name, gross }) => ({
                label: name.length > MAX_LABEL ? `${name.slice(0, MAX_LABEL - 1)}…` : name,
                value: Math.max(0, gross),
                text: money(gross),
              })),
            )}
            <div class="scroll" tabindex="0" role="group" aria-labelledby="parts">
              <table>
                <thead>
                  <tr>
                    <th scope="col">${messages.parts[part]}</th>
                    ${hasQuantity && html`<th scope="col" class="number">${messages.quantity}</th>`}
                    <th scope="col" class="number">${messages.orders}</th>
                    <th scope="col" class="number">${messages.revenue}</th>
                    <th scope="col" class="number">${messages.net}</th>
                    ${
                      other &&
                      html`<th scope="col" class="number">${messages.compared}</th>
                        <th scope="col" class="number">${messages.change}</th>`
                    }
                  </tr>
                </thead>
                <tbody>
                  ${shown.map(
                    ({ name, href, quantity, orders, gross, net, before }) =>
                      html`<tr>
                        <td>${href === undefined ? name : html`<a href="${href}">${name}</a>`}</td>
                        ${hasQuantity && html`<td class="number">${quantity.toLocaleString(visit.language)}</td>`}
                        <td class="number">${orders.toLocaleString(visit.language)}</td>
                        <td class="number">${money(gross)}</td>
                        <td class="number">${money(net)}</td>
                        ${
                          other &&
                          html`<td class="number">${money(before.gross)}</td>
                            <td class="number">${changeText(visit, gross, before.gross)}</td>`
                        }
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>
            ${rows.length > MAX_ROWS && html`<p class="hint">${messages.more({ count: rows.length - MAX_ROWS })}</p>`}`
    }
    <p>
      <a class="button" href="${adminPath(visit, '/reports/parts.csv', queryOf(asked))}" hx-boost="false"
        >${messages.csv}</a
      >
    </p>
  </section>`;
}

const MAX_LABEL = 14;

async function* inTurns(lines: Iterable<string>): AsyncGenerator<string> {
  const pause = newPauses();
  // Spreadsheets take a file for UTF-8 when it begins with this mark.
  yield '\u{FEFF}';
  for (const line of lines) {
    yield line;
    await pause();
  }
}

/** Where the decimal sign is a comma, spreadsheets expect semicolons between the cells. */
function lineWriter({ language }: ShopVisit, currency: string) {
  const separator = usesComma(language) ? ';' : ',';
  const digits = currencyDigits(currency);
  return {
    line: (cells: readonly string[]) => csvLine(cells, separator),
    money: (minor: number) => decimalText(toDecimal(Math.round(minor), currency), language, digits),
  };
}

function* intervalLines(visit: ShopVisit, { period, currency, other }: Asked, { intervals }: Sales) {
  const messages = visit.messages.reports;
  const { line, money } = lineWriter(visit, currency);
  const byMonth = isByMonth(period);
  yield line([
    byMonth ? messages.month : messages.day,
    messages.revenue,
    messages.net,
    messages.orders,
    messages.currency,
    ...(other ? [messages.compared, messages.comparedOrders] : []),
  ]);
  for (const { from, gross, net, orders, before } of intervals) {
    yield line([
      byMonth ? from.slice(0, 7) : from,
      money(gross),
      money(net),
      String(orders),
      currency,
      ...(other ? [money(before.gross), String(before.orders)] : []),
    ]);
  }
}

function* partLines(visit: ShopVisit, { currency, other, part }: Asked, { rows }: Report) {
  const messages = visit.messages.reports;
  const { line, money } = lineWriter(visit, currency);
  const hasQuantity = part === 'product' || part === 'category';
  yield line([
    messages.parts[part],
    ...(hasQuantity ? [messages.quantity] : []),
    messages.orders,
    messages.revenue,
    messages.net,
    messages.currency,
    ...(other ? [messages.compared] : []),
  ]);
  for (const { name, quantity, orders, gross, net, before } of rows) {
    yield line([
      escapeFormula(name),
      ...(hasQuantity ? [decimalText(Number(quantity), visit.language)] : []),
      String(orders),
      money(gross),
      money(net),
      currency,
      ...(other ? [money(before.gross)] : []),
    ]);
  }
}

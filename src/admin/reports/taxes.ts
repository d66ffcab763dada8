import { Readable } from 'node:stream';
import { csvLine, escapeFormula } from '../../catalogue/products/csv-cells.ts';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import type { PageRequest } from '../../http/page-kit.ts';
import { currencyDigits, toDecimal } from '../../kernel/money.ts';
import {
  hasInvoices,
  sumDocuments,
  sumOrders,
  sumUninvoiced,
  type Uninvoiced,
} from '../../orders/tax-reports/queries.ts';
import type { SupplySum } from '../../orders/tax-reports/supplies.ts';
import { ecSalesList, ossReport, vatSummary } from '../../orders/tax-reports/summaries.ts';
import { countryName, isCountry } from '../../shops/countries/countries.ts';
import { decimalText, usesComma } from '../components/decimal.ts';
import { amountText } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { lastQuarter, periodNamed, recentPeriods, type NamedPeriod } from './tax-periods.ts';

/** The figures of the tax returns of a period: VAT, One Stop Shop and EC sales list, as tables and files. */
export function taxReportPages(pages: ShopPages): void {
  pages.get('/reports/taxes', 'orders_read', async (visit, request) => {
    const period = periodOf(visit, request);
    const turnover = await loadTurnover(visit, period);
    const messages = visit.messages.taxReports;
    const reports = reportsOf(visit, period, turnover.supplies);
    return {
      title: messages.title,
      menu: 'reports',
      breadcrumbs: [{ href: adminPath(visit, '/reports'), text: visit.messages.layout.menuEntries.reports }],
      main: html`${periodForm(visit, period, turnover)}
      ${reports.map((report) => reportCard(visit, period, report))}`,
    };
  });

  pages.file('/reports/taxes/:name', 'orders_read', async (visit, request) => {
    const period = periodOf(visit, request);
    const wanted = request.params['name'];
    if (!FILES.some((name) => `${name}.csv` === wanted)) throw notFound();
    const { supplies } = await loadTurnover(visit, period);
    const report = reportsOf(visit, period, supplies).find(({ name }) => `${name}.csv` === wanted);
    if (!report) throw notFound();
    return {
      type: 'text/csv; charset=utf-8',
      content: Readable.from(csvText(visit, report), { objectMode: false }),
      fileName: `${visit.messages.taxReports.fileNames[report.name]}-${period.name}.csv`,
    };
  });
}

const FILES = ['vat', 'oss', 'oss-corrections', 'ec-sales'] as const;
type FileName = (typeof FILES)[number];

function periodOf({ db }: ShopVisit, request: PageRequest): NamedPeriod {
  return periodNamed(request.query('period') ?? '') ?? lastQuarter(db.now);
}

interface Turnover {
  supplies: SupplySum[];
  /** From invoices and credit notes by their date; false: from orders by theirs. */
  isByDocuments: boolean;
  uninvoiced: Uninvoiced[];
}

/**
 * Tax is declared by the date of the invoice, so a shop that issues its invoices here is counted by its documents. One
 * that has never issued any uses another program for them: it is counted by its orders.
 */
async function loadTurnover({ db, shopId, settings }: ShopVisit, period: NamedPeriod): Promise<Turnover> {
  const serviceClassIds = settings.taxClasses
    .filter(({ digital, supply }) => digital || supply === 'services')
    .map(({ taxClassId }) => taxClassId);
  if (await hasInvoices(db, shopId)) {
    const [supplies, uninvoiced] = await Promise.all([
      sumDocuments(db, shopId, period, { serviceClassIds }),
      sumUninvoiced(db, shopId, period),
    ]);
    return { supplies, isByDocuments: true, uninvoiced };
  }
  const supplies = await sumOrders(db, shopId, period, {
    sellerCountry: settings.country,
    serviceClassIds,
  });
  return { supplies, isByDocuments: false, uninvoiced: [] };
}

/** A cell is a text, or an amount in minor units of a currency. */
type Cell = string | { minor: number; currency: string };

/** A report as a table; the file has the same columns. */
interface ShownReport {
  name: FileName;
  columns: readonly string[];
  rows: readonly (readonly Cell[])[];
  totals: readonly (readonly Cell[])[];
}

function reportsOf(visit: ShopVisit, period: NamedPeriod, supplies: readonly SupplySum[]): ShownReport[] {
  const { columns, treatments, goods, services, total } = visit.messages.taxReports;
  const { language } = visit;
  const amount = (minor: number, currency: string) => ({ minor, currency });
  const country = (code: string) => {
    const iso = code === 'EL' ? 'GR' : code;
    return isCountry(iso) ? `${code} ${countryName(iso, language)}` : code;
  };
  const rate = (basisPoints: number) => decimalText(basisPoints / 100, language);
  const summary = vatSummary(supplies);
  const vat: ShownReport = {
    name: 'vat',
    columns: [
      columns.treatment,
      columns.country,
      columns.rate,
      columns.net,
      columns.tax,
      columns.gross,
      columns.currency,
    ],
    rows: summary.rows.map((row) => [
      treatments[row.treatment],
      country(row.country),
      rate(row.rate),
      amount(row.net, row.currency),
      amount(row.tax, row.currency),
      amount(row.gross, row.currency),
      row.currency,
    ]),
    totals: summary.totals.map(({ currency, net, tax, gross }) => [
      total,
      '',
      '',
      amount(net, currency),
      amount(tax, currency),
      amount(gross, currency),
      currency,
    ]),
  };
  const sales: ShownReport = {
    name: 'ec-sales',
    columns: [columns.vatNumber, columns.net, columns.kind, columns.currency],
    rows: ecSalesList(supplies).map(({ vatNumber, net, kind, currency }) => [
      vatNumber,
      amount(net, currency),
      `${kind} ${kind === 'L' ? goods : services}`,
      currency,
    ]),
    totals: [],
  };
  if (period.kind !== 'quarter') return [vat, sales];
  const oss = ossReport(supplies, period.name);
  return [
    vat,
    {
      name: 'oss',
      columns: [columns.consumption, columns.kind, columns.rate, columns.net, columns.tax, columns.currency],
      rows: oss.rows.map((row) => [
        country(row.country),
        row.isService ? services : goods,
        rate(row.rate),
        amount(row.net, row.currency),
        amount(row.tax, row.currency),
        row.currency,
      ]),
      totals: [],
    },
    {
      name: 'oss-corrections',
      columns: [columns.quarter, columns.consumption, columns.net, columns.tax, columns.currency],
      rows: oss.corrections.map((row) => [
        row.quarter,
        country(row.country),
        amount(row.net, row.currency),
        amount(row.tax, row.currency),
        row.currency,
      ]),
      totals: [],
    },
    sales,
  ];
}

function periodForm(visit: ShopVisit, period: NamedPeriod, turnover: Turnover): Markup {
  const messages = visit.messages.taxReports;
  const periods = recentPeriods(visit.db.now);
  const option = (name: string) =>
    html`<option value="${name}" ${name === period.name && html`selected`}>${name}</option>`;
  const isOther = !Object.values(periods).flat().includes(period.name);
  return html`<form method="get" class="card">
    <p class="hint">${messages.intro}</p>
    <div class="row">
      <div class="field">
        <label for="period">${messages.period}</label>
        <select id="period" name="period">
          ${isOther && option(period.name)}
          ${(['quarter', 'month', 'year'] as const).map(
            (kind) =>
              html`<optgroup label="${messages.periods[kind]}">${periods[kind].map(option)}</optgroup>`,
          )}
        </select>
      </div>
    </div>
    <p class="actions">
      <button class="main">${visit.messages.reports.show}</button>
      <a class="button" href="${adminPath(visit, '/orders/accounting')}">${messages.moreFiles}</a>
    </p>
    ${basisNotice(visit, turnover)}
  </form>`;
}

function basisNotice(visit: ShopVisit, { isByDocuments, uninvoiced }: Turnover): Markup {
  const messages = visit.messages.taxReports;
  return html`<p class="hint">${isByDocuments ? messages.byDocuments : messages.byOrders}</p>
    ${uninvoiced.map(
      ({ currency, orders, gross }) =>
        html`<p class="notice warning">
          ${messages.uninvoiced({ count: orders, sum: amountText(gross, visit, currency) })}
        </p>`,
    )}`;
}

/** Rows on the page; the file has all of them. */
const MAX_ROWS = 200;

function reportCard(visit: ShopVisit, period: NamedPeriod, report: ShownReport): Markup {
  const messages = visit.messages.taxReports;
  const { name, columns, rows, totals } = report;
  const isNumber = rows[0]?.map((cell) => typeof cell !== 'string') ?? [];
  const cell = (value: Cell) =>
    typeof value === 'string'
      ? html`<td>${value}</td>`
      : html`<td class="number">${amountText(value.minor, visit, value.currency)}</td>`;
  return html`<section class="card" aria-labelledby="${name}">
    <h2 id="${name}">${messages.reports[name]}</h2>
    <p class="hint">${messages.hints[name]}</p>
    ${
      rows.length === 0
        ? html`<p class="quiet">${messages.nothing}</p>`
        : html`<div class="scroll" tabindex="0" role="group" aria-label="${messages.reports[name]}">
              <table>
                <thead>
                  <tr>
                    ${columns.map(
                      (title, place) =>
                        html`<th scope="col" ${isNumber[place] && html`class="number"`}>${title}</th>`,
                    )}
                  </tr>
                </thead>
                <tbody>
                  ${rows.slice(0, MAX_ROWS).map(
                    (cells) =>
                      html`<tr>
                        ${cells.map(cell)}
                      </tr>`,
                  )}
                </tbody>
                ${
                  totals.length > 0 &&
                  html`<tfoot>
                    ${totals.map(
                      (cells) =>
                        html`<tr>
                          ${cells.map(cell)}
                        </tr>`,
                    )}
                  </tfoot>`
                }
              </table>
            </div>
            ${rows.length > MAX_ROWS && html`<p class="hint">${visit.messages.reports.more({ count: rows.length - MAX_ROWS })}</p>`}`
    }
    <p>
      <a
        class="button"
        href="${adminPath(visit, `/reports/taxes/${name}.csv`, { period: period.name })}"
        hx-boost="false"
        >${visit.messages.reports.csv}</a
      >
    </p>
  </section>`;
}

/** Where the decimal sign is a comma, spreadsheets expect semicolons between the cells. */
function* csvText({ language }: ShopVisit, { columns, rows }: ShownReport): Generator<string> {
  const separator = usesComma(language) ? ';' : ',';
  const text = (cell: Cell) =>
    typeof cell === 'string'
      ? escapeFormula(cell)
      : decimalText(toDecimal(cell.minor, cell.currency), language, currencyDigits(cell.currency));
  // Spreadsheets take a file for UTF-8 when it begins with this mark.
  yield `\u{FEFF}${csvLine(columns, separator)}`;
  for (const cells of rows) yield csvLine(cells.map(text), separator);
}

import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  MAX_PRICE_FILE_BYTES,
  MAX_PRICE_FILE_ROWS,
  priceFileHead,
  priceFileLines,
  readPrices,
  type PriceRow,
} from '../../catalogue/pricelists/csv.ts';
import { MAX_STEPS, type PriceProblem } from '../../catalogue/pricelists/prices.ts';
import { countListPrices, findListedPrices, type ListedPrices } from '../../catalogue/pricelists/queries.ts';
import { clearPricesOfList, requirePriceList } from '../../catalogue/pricelists/routes.ts';
import { savePrices } from '../../catalogue/pricelists/save.ts';
import { decodedText } from '../../catalogue/products/csv-file.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type PageRequest } from '../../http/page-kit.ts';
import type { Upload } from '../../http/upload.ts';
import { isRunning, type PriceList } from '../../pricing/price-lists.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { fileField, refusedLines } from '../components/file-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { amountText, chip, momentText } from '../components/format.ts';
import { readable } from '../import/new-import.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

const PATH = '/price-lists/:priceListId';
const ON_PAGE = 100;
const ROWS_AT_ONCE = 500;
const SHOWN_PROBLEMS = 100;

/** The prices of a price list, which is itself a setting. */
export function priceListPages(pages: ShopPages): void {
  pages.get(PATH, 'products_write', showPrices);
  pages.fileForm(`${PATH}/import`, 'products_write', {
    field: 'file',
    limit: MAX_PRICE_FILE_BYTES,
    show: async (visit, request, draft) => filePage(visit, listOf(visit, request), { draft }),
    save: importFile,
  });
  pages.file(`${PATH}/prices.csv`, 'products_write', async (visit, request) => {
    const list = listOf(visit, request);
    return {
      type: 'text/csv; charset=utf-8',
      content: Readable.from(pricesText(visit, list)),
      fileName: `${list.key}.csv`,
    };
  });
  pages.post(`${PATH}/clear`, 'products_write', async (visit, form) => {
    const { priceListId, name } = listOf(visit, form);
    await visit.call(clearPricesOfList, { params: { priceListId } });
    return new Redirect(pathOf(visit, priceListId), visit.messages.priceLists.cleared({ list: name }));
  });
}

const listOf = ({ settings }: ShopVisit, { params }: Pick<PageRequest, 'params'>): PriceList =>
  requirePriceList(settings, params['priceListId']!);

const pathOf = (visit: ShopVisit, priceListId: string, rest = '', query: Record<string, string> = {}) =>
  adminPath(visit, `/price-lists/${priceListId}${rest}`, query);

const settingsSteps = (visit: ShopVisit) => [
  { href: adminPath(visit, '/settings'), text: visit.messages.layout.menuEntries.settings },
  { href: adminPath(visit, '/settings/priceLists'), text: visit.messages.settings.pages.priceLists },
];

async function showPrices(visit: ShopVisit, request: PageRequest): Promise<AdminPage> {
  const { db, shopId, messages, language } = visit;
  const words = messages.priceLists;
  const list = listOf(visit, request);
  const { priceListId } = list;
  const after = request.query('after') ?? '';
  const [counts, found] = await Promise.all([
    countListPrices(db, shopId),
    // One more than is shown tells whether there are others.
    findListedPrices(db, shopId, priceListId, { after, limit: ON_PAGE + 1, offset: 0 }),
  ]);
  const count = counts.find((one) => one.priceListId === priceListId)?.count ?? 0;
  const shown = found.slice(0, ON_PAGE);
  const [from, to] = [list.from, list.to].map((moment) => moment && momentText(new Date(moment), language));
  const period = [from && words.from({ date: from }), to && words.to({ date: to })].filter(Boolean);
  return {
    title: list.name,
    menu: 'settings',
    breadcrumbs: settingsSteps(visit),
    actions: html`<a class="button" href="${pathOf(visit, priceListId, '/prices.csv')}" hx-boost="false"
        >${words.download}</a
      >
      <a class="button main" href="${pathOf(visit, priceListId, '/import')}">${words.file}</a>`,
    main: html`<p class="intro">
        ${isRunning(list, db.now) ? chip(words.running, 'good') : chip(words.notRunning)}
        ${[list.customerGroups.join(', '), ...period].join(' · ')}
      </p>
      <p class="hint">${words.lowest}</p>
      ${
        shown.length === 0
          ? html`<p class="card quiet">${words.noPrices}</p>`
          : html`<div class="list plain">
              <table>
                <caption class="hidden">
                  ${words.products({ count })}
                </caption>
                <thead>
                  <tr>
                    <th scope="col">${words.product}</th>
                    <th scope="col" class="number">${words.quantity}</th>
                    <th scope="col" class="number">${words.price}</th>
                  </tr>
                </thead>
                <tbody>
                  ${shown.map((product) => priceRows(visit, product))}
                </tbody>
              </table>
            </div>`
      }
      ${
        found.length > ON_PAGE &&
        html`<p>
          <a href="${pathOf(visit, priceListId, '', { after: shown.at(-1)!.productNumber })}"
            >${words.more}</a
          >
        </p>`
      }
      ${
        count > 0 &&
        buttonForm({ action: pathOf(visit, priceListId, '/clear'), text: words.clear, kind: 'danger' })
      }`,
  };
}

function priceRows(visit: ShopVisit, { productId, productNumber, tiers }: ListedPrices): Markup[] {
  const messages = visit.messages.priceLists;
  return tiers.flatMap(({ quantity, prices }) =>
    Object.entries(prices).map(
      ([currency, price]) =>
        html`<tr>
          <td data-title="${messages.product}">
            <a href="${adminPath(visit, `/products/${productId}`)}">${productNumber}</a>
          </td>
          <td data-title="${messages.quantity}" class="number">
            ${Number(quantity).toLocaleString(visit.language)}
          </td>
          <td data-title="${messages.price}" class="number">${amountText(price, visit, currency)}</td>
        </tr>`,
    ),
  );
}

interface FileState {
  draft?: Draft | undefined;
  refused?: readonly { row: PriceRow; problem: PriceProblem }[];
  notice?: Markup;
}

function filePage(
  visit: ShopVisit,
  list: PriceList,
  { draft, refused = [], notice }: FileState = {},
): AdminPage {
  const messages = visit.messages.priceLists;
  const limits = {
    rows: MAX_PRICE_FILE_ROWS.toLocaleString(visit.language),
    megabytes: String(MAX_PRICE_FILE_BYTES / 1_048_576),
  };
  return {
    title: messages.file,
    menu: 'settings',
    breadcrumbs: [...settingsSteps(visit), { href: pathOf(visit, list.priceListId), text: list.name }],
    main: html`${problemOf(draft)} ${notice} ${refused.length > 0 && refusedTable(visit, refused)}
      <form class="card" method="post" enctype="multipart/form-data">
        ${fileField({ label: messages.csv, hint: messages.fileHint(limits) })}
        <button class="main">${messages.send}</button>
      </form>`,
  };
}

function refusedTable(visit: ShopVisit, refused: NonNullable<FileState['refused']>): Markup {
  const messages = visit.messages.priceLists;
  const reason = (problem: PriceProblem) =>
    problem === 'steps' ? messages.steps({ limit: MAX_STEPS }) : messages.problems[problem];
  return refusedLines(
    [messages.line, messages.product, messages.price, messages.reason],
    refused.map(({ row, problem }) => [row.line, row.productNumber, row.price, reason(problem)]),
  );
}

/** Saves the prices of a file in one transaction, and lists the lines that can't be. */
async function importFile(
  visit: ShopVisit,
  request: PageRequest,
  { path }: Upload,
): Promise<AdminPage | Redirect> {
  const messages = visit.messages.priceLists;
  const list = listOf(visit, request);
  const text = await decodedText(await readFile(path));
  const rows = await readable(visit, () => readPrices(text));
  const { changed, problems } = await visit.db.transaction(async (tx) => {
    const settings = await shopSettings(tx, visit.shopId);
    const { priceListId } = requirePriceList(settings, list.priceListId);
    const saved = await savePrices(tx, settings, priceListId, rows);
    await recordAction(tx, visit, `${PATH}/import`, { priceListId, products: String(saved.changed) });
    return saved;
  });
  const done = messages.imported({ count: changed });
  if (problems.size === 0) return new Redirect(pathOf(visit, list.priceListId), done);
  const refused = [...problems]
    .toSorted(([left], [right]) => left - right)
    .slice(0, SHOWN_PROBLEMS)
    .map(([place, problem]) => ({ row: rows[place]!, problem }));
  return filePage(visit, list, {
    refused,
    notice: html`<p class="notice" role="status">
      ${done} ${messages.refused({ count: problems.size })}
      ${problems.size > refused.length && messages.firstRefused({ count: refused.length })}
    </p>`,
  });
}

/** All prices of a list as a file, read in parts. */
async function* pricesText({ db, shopId }: ShopVisit, { priceListId }: PriceList): AsyncGenerator<string> {
  yield `\u{feff}${priceFileHead()}`;
  let after = '';
  for (;;) {
    const rows = await findListedPrices(db, shopId, priceListId, { after, limit: ROWS_AT_ONCE, offset: 0 });
    yield rows.map(priceFileLines).join('');
    if (rows.length < ROWS_AT_ONCE) return;
    after = rows.at(-1)!.productNumber;
  }
}

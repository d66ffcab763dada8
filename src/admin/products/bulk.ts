import { deleteProduct, updateProduct } from '../../catalogue/products/write-routes.ts';
import { badRequest } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { currencyDigits, toDecimal } from '../../kernel/money.ts';
import { amountText } from '../components/format.ts';
import { choiceField, problemOf, textField } from '../components/form.ts';
import { parseLocalisedDecimal, decimalText } from '../components/decimal.ts';
import type { AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { changedPrice, ENDINGS, type Ending } from './changed-price.ts';
import { findListedProducts } from './list-row.ts';
import { findOwnPrices, type OwnPrice } from './queries.ts';
import { type PageRequest, Redirect } from '../../http/page-kit.ts';

/** As many as a page of the list has, and some to spare. */
const MAX_PRODUCTS = 100;
const ID_LENGTH = 36;
/** Prices of products and of their variations that are changed at once. */
const MAX_PRICES = 1_000;

/** Actions on several products of the list at once. */
export function bulk(pages: ShopPages): void {
  for (const [path, visible] of [
    ['/products/show', true],
    ['/products/hide', false],
  ] as const) {
    pages.post(
      path,
      'products_write',
      async (visit, form) => {
        const messages = visit.messages.products.bulk;
        const changed = await setVisible(visit, requireChosen(visit, form.fieldList('id')), visible);
        const text = (visible ? messages.shown : messages.hidden)({ count: changed.length });
        const opposite = visible ? '/products/hide' : '/products/show';
        return new Redirect(adminPath(visit, '/products'), {
          text,
          undo:
            changed.length === 0
              ? undefined
              : { action: adminPath(visit, opposite), fields: { id: changed.join(',') } },
        });
      },
      { limits: { texts: { id: MAX_PRODUCTS * (ID_LENGTH + 1) } } },
    );
  }

  pages.form(
    '/products/delete',
    { read: 'products_write', write: 'products_write' },
    {
      show: async (visit, request, draft) => {
        const messages = visit.messages.products.bulk;
        const ids = chosenIds(request.queryList('id'));
        if (ids.length === 0) return noneChosenPage(visit, messages.delete);
        const products = await findListedProducts(visit, ids);
        return bulkPage(visit, {
          title: messages.deleteTitle({ count: products.length }),
          main: html`<form method="post" class="card">
            ${problemOf(draft)}
            <p>${messages.deleteText}</p>
            <ul class="chosen-products">
              ${products.map(
                ({ name, productNumber, picture }) =>
                  html`<li class="product-name">
                    ${picture} <span>${name} <span class="quiet">${productNumber}</span></span>
                  </li>`,
              )}
            </ul>
            <div class="actions">
              <button class="danger">${visit.messages.form.delete}</button>
              <a class="button" href="${adminPath(visit, '/products')}">${visit.messages.form.cancel}</a>
            </div>
          </form>`,
        });
      },
      save: async (visit, form) => {
        const ids = requireChosen(visit, form.queryList('id'));
        await visit.inTransaction(async (call) => {
          for (const id of ids) await call(deleteProduct, { params: { productId: id } });
        });
        return new Redirect(
          adminPath(visit, '/products'),
          visit.messages.products.bulk.deleted({ count: ids.length }),
        );
      },
    },
  );

  pages.form(
    '/products/change-prices',
    { read: 'products_write', write: 'products_write' },
    {
      show: async (visit, request, draft) => {
        const messages = visit.messages.products.bulk;
        const ids = chosenIds(request.queryList('id'));
        if (ids.length === 0) return noneChosenPage(visit, messages.changePrices);
        const percent = request.query('percent') ?? '';
        const change = requestedChange(visit, request);
        const problem = percent === '' || change ? undefined : messages.wrongPercent;
        return bulkPage(visit, {
          title: messages.changePricesTitle({ count: ids.length }),
          main: html`<form method="get" class="card">
              ${problemOf(draft)}
              ${problem !== undefined && html`<p class="problem" role="alert">${problem}</p>`}
              ${ids.map((id) => html`<input type="hidden" name="id" value="${id}" />`)}
              <div class="row">
                ${textField({
                  name: 'percent',
                  label: messages.percent,
                  hint: messages.percentHint,
                  value: percent,
                  unit: '%',
                  inputMode: 'decimal',
                  isRequired: true,
                })}
                ${choiceField({
                  name: 'ending',
                  label: messages.ending,
                  value: endingOf(request.query('ending')),
                  choices: ENDINGS.map((value) => ({
                    value,
                    text:
                      value === 'exact'
                        ? messages.exact
                        : `… ${decimalText(Number(`0.${value}`), visit.language, 2)}`,
                  })),
                })}
              </div>
              <div class="actions">
                <button class="main">${messages.preview}</button>
                <a class="button" href="${adminPath(visit, '/products')}">${visit.messages.form.cancel}</a>
              </div>
            </form>
            ${change && (await preview(visit, ids, priceChanges(await ownPrices(visit, ids), change)))}`,
        });
      },
      save: async (visit, form) => {
        const ids = requireChosen(visit, form.queryList('id'));
        const change = requestedChange(visit, form);
        if (!change) throw badRequest(visit.messages.products.bulk.wrongPercent);
        const changes = priceChanges(await ownPrices(visit, ids), change);
        await visit.inTransaction(async (call) => {
          for (const { productId, currency, after } of changes) {
            await call(updateProduct, {
              params: { productId },
              query: { currency },
              body: [{ op: 'add', path: '/priceInfo/price/amount', value: toDecimal(after, currency) }],
            });
          }
        });
        return new Redirect(
          adminPath(visit, '/products'),
          visit.messages.products.bulk.pricesChanged({ count: changes.length }),
        );
      },
    },
  );
}

/** The ids come as checked boxes, or, to undo a change, joined to one text. */
function chosenIds(values: readonly string[]): string[] {
  const ids = [...new Set(values.flatMap((value) => value.split(',')).filter(isId))].map((id) =>
    id.toUpperCase(),
  );
  return ids.slice(0, MAX_PRODUCTS);
}

function requireChosen(visit: ShopVisit, values: readonly string[]): string[] {
  const ids = chosenIds(values);
  if (ids.length === 0) throw badRequest(visit.messages.products.bulk.noneChosen);
  return ids;
}

/** For users who did not come from the list. */
function noneChosenPage(visit: ShopVisit, title: string): AdminPage {
  return bulkPage(visit, {
    title,
    main: html`<p class="card">
      ${visit.messages.products.bulk.noneChosen}
      <a href="${adminPath(visit, '/products')}">${visit.messages.layout.menuEntries.products}</a>
    </p>`,
  });
}

/** Returns those whose visibility has changed. */
async function setVisible(visit: ShopVisit, ids: readonly string[], visible: boolean): Promise<string[]> {
  const products = await findListedProducts(visit, ids);
  const others = products.filter((product) => product.visible !== visible);
  await visit.inTransaction(async (call) => {
    for (const { productId } of others) {
      await call(updateProduct, {
        params: { productId },
        body: [{ op: 'add', path: '/visible', value: visible }],
      });
    }
  });
  return others.map(({ productId }) => productId);
}

function bulkPage(visit: ShopVisit, page: Pick<AdminPage, 'title' | 'main'>): AdminPage {
  return {
    ...page,
    menu: 'products',
    breadcrumbs: [{ href: adminPath(visit, '/products'), text: visit.messages.layout.menuEntries.products }],
  };
}

interface PriceChange extends OwnPrice {
  currency: string;
  before: number;
  after: number;
}

function ownPrices({ db, shopId }: ShopVisit, ids: readonly string[]) {
  return findOwnPrices(db, shopId, ids, MAX_PRICES);
}

function endingOf(text: string | undefined): Ending {
  return ENDINGS.find((ending) => ending === text) ?? 'exact';
}

interface RequestedChange {
  basisPoints: number;
  ending: Ending;
}

/** undefined: it is not a percentage by which prices change. */
function requestedChange({ language }: ShopVisit, request: PageRequest): RequestedChange | undefined {
  const percent = Number(parseLocalisedDecimal((request.query('percent') ?? '').replace('%', ''), language));
  if (!(percent >= -90 && percent <= 900) || percent === 0) return undefined;
  return { basisPoints: Math.round(percent * 100), ending: endingOf(request.query('ending')) };
}

/** Every own price of a product or a variation, in every currency; unchanged prices are left out. */
function priceChanges(prices: readonly OwnPrice[], { basisPoints, ending }: RequestedChange): PriceChange[] {
  return prices.flatMap((own) =>
    Object.entries(own.prices).flatMap(([currency, before]): PriceChange[] => {
      const after = changedPrice(before, basisPoints, ending, currencyDigits(currency));
      return after === before ? [] : [{ ...own, currency, before, after }];
    }),
  );
}

async function preview(
  visit: ShopVisit,
  ids: readonly string[],
  changes: readonly PriceChange[],
): Promise<Markup> {
  const { products: messages } = visit.messages;
  if (changes.length === 0) return html`<p class="card">${messages.bulk.noPrices}</p>`;
  const names = new Map(
    (await findListedProducts(visit, ids)).map(({ productId, name }) => [productId, name]),
  );
  const money = (minor: number, currency: string) => amountText(minor, visit, currency);
  return html`<form method="post" class="card">
    <h2>${messages.bulk.previewTitle}</h2>
    <div class="scroll">
      <table>
        <caption class="hidden">
          ${messages.bulk.previewTitle}
        </caption>
        <thead>
          <tr>
            <th scope="col">${messages.name}</th>
            <th scope="col">${messages.number}</th>
            <th scope="col" class="number">${messages.bulk.before}</th>
            <th scope="col" class="number">${messages.bulk.after}</th>
          </tr>
        </thead>
        <tbody>
          ${changes.map(
            ({ productId, masterId, productNumber, currency, before, after }) =>
              html`<tr>
                <td>${names.get(masterId ?? productId)}</td>
                <td>${productNumber}</td>
                <td class="number">${money(before, currency)}</td>
                <td class="number"><strong>${money(after, currency)}</strong></td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <button class="main">${messages.bulk.applyPrices({ count: changes.length })}</button>
  </form>`;
}

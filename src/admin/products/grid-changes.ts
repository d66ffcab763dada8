import { badRequest, conflict } from '../../http/errors.ts';
import { currencyDigits, toDecimal } from '../../kernel/money.ts';
import { parseLocalisedDecimal, decimalText } from '../components/decimal.ts';
import type { Language } from '../messages.ts';
import type { JsonPatchOperation } from './product-form.ts';
import type { GridRow } from './queries.ts';

/** The editable columns of the variation grid. */
export const GRID_COLUMNS = ['number', 'price', 'stock', 'minStock', 'ean', 'visible'] as const;
export type GridColumn = (typeof GRID_COLUMNS)[number];
export type GridCells = Readonly<Record<GridColumn, string>>;

export function gridCells(row: GridRow, currency: string, language: Language): GridCells {
  const own = row.prices?.[currency];
  const number = (value: number | null) => (value === null ? '' : decimalText(value, language));
  return {
    number: row.productNumber,
    price: own === undefined ? '' : decimalText(toDecimal(own, currency), language, currencyDigits(currency)),
    stock: number(row.stock),
    minStock: number(row.minStock),
    ean: row.ean ?? '',
    visible: row.visible ? 'yes' : 'no',
  };
}

const PATHS: Readonly<Record<GridColumn, string>> = {
  number: '/productNumber',
  price: '/priceInfo/price/amount',
  stock: '/stocklevel',
  minStock: '/minStocklevel',
  ean: '/ean',
  visible: '/visible',
};

/**
 * The grid's changes of a variation: the cells that differ from those shown on the page. A cell that another user, or
 * an order, has changed meanwhile is refused; the other cells of the row do not matter.
 */
export function gridOperations(
  { shown, now, typed }: { shown: GridCells; now: GridCells; typed: GridCells },
  language: Language,
  messages: { noNumber: (values: { typed: string }) => string; moved: string },
): JsonPatchOperation[] {
  return GRID_COLUMNS.filter(
    (column) => typed[column] !== shown[column] && typed[column] !== now[column],
  ).map((column): JsonPatchOperation => {
    if (now[column] !== shown[column]) throw conflict(messages.moved);
    const path = PATHS[column];
    const text = typed[column];
    if (column === 'visible') return { op: 'add', path, value: text === 'yes' };
    if (text === '') {
      return column === 'number' ? { op: 'add', path, value: text } : { op: 'remove', path };
    }
    if (column === 'number' || column === 'ean') return { op: 'add', path, value: text };
    const value = parseLocalisedDecimal(text, language);
    if (value === undefined) throw badRequest(messages.noNumber({ typed: text }));
    return { op: column === 'stock' ? 'replace' : 'add', path, value };
  });
}

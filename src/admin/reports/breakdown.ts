import type { Queries } from '../../db/database.ts';
import { textIn } from '../../http/locale.ts';
import { isId } from '../../kernel/ids.ts';
import type { ReportPeriod } from '../../orders/reports/period.ts';
import { findBreakdown, type ReportPart } from '../../orders/reports/queries.ts';
import { countryName } from '../../shops/countries/countries.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { closedAmounts, type ReportTotals } from './periods.ts';
import { findAppNames, findGroupNames, findReportedProducts, type ReportedProduct } from './queries.ts';

export const BREAKDOWN_PARTS = [
  'product',
  'category',
  'country',
  'payment',
  'source',
  'group',
  'customer',
] as const;
export type BreakdownPart = (typeof BREAKDOWN_PARTS)[number];

/** A visit that reads what the database held at one moment, so that the parts of a report sum to its totals. */
export type ReportVisit = Omit<ShopVisit, 'db'> & { db: Queries };

export interface ReportRow extends ReportTotals {
  name: string;
  href?: string | undefined;
  /** '': it is not counted in pieces. */
  quantity: number | '';
  before: ReportTotals;
}

export interface Report {
  /** The highest revenue first. */
  rows: ReportRow[];
  /** Days that are still to be counted. */
  uncounted: number;
}

interface Asked {
  period: ReportPeriod;
  other: ReportPeriod | undefined;
  currency: string;
  part: BreakdownPart;
  /** Of the period and of the other one: the rows sum to these. */
  total: ReportTotals;
  totalBefore: ReportTotals;
}

/** The sums of a period by the parts of it, compared with another period. */
export async function loadReport(visit: ReportVisit, asked: Asked): Promise<Report> {
  const { db, shopId } = visit;
  const { period, other, currency, part } = asked;
  const dimension = part === 'category' ? 'product' : part;
  const [current, before] = await Promise.all([
    findBreakdown(db, shopId, { period, dimension, currency }),
    other ? findBreakdown(db, shopId, { period: other, dimension, currency }) : { parts: [], uncounted: 0 },
  ]);
  const keys = [...new Set([...current.parts, ...before.parts].map(({ key }) => key))];
  const namer = await loadNames(visit, part, keys);
  const groups = new Map<string, { named: Named; now: ReportPart[]; earlier: ReportPart[] }>();
  const groupOf = ({ key }: ReportPart) => {
    const named = namer(key);
    const group = groups.get(named.id) ?? { named, now: [], earlier: [] };
    groups.set(named.id, group);
    return group;
  };
  for (const one of current.parts) groupOf(one).now.push(one);
  for (const one of before.parts) groupOf(one).earlier.push(one);
  const rows = [...groups.values()].map(({ named, now, earlier }) => ({
    ...named,
    ...sumOf(now),
    quantity: dimension === 'product' ? quantityOf(now) : ('' as const),
    before: sumOf(earlier),
  }));
  const isWhole = current.uncounted + before.uncounted === 0;
  return {
    rows: (isWhole ? closed(rows, asked) : rows)
      .filter(({ orders, gross, before: { gross: earlier } }) => orders !== 0 || gross !== 0 || earlier !== 0)
      .toSorted((left, right) => right.gross - left.gross || (left.name < right.name ? -1 : 1)),
    uncounted: current.uncounted + before.uncounted,
  };
}

function sumOf(parts: readonly ReportPart[]): ReportTotals {
  return {
    orders: parts.reduce((sum, { orders }) => sum + orders, 0),
    gross: parts.reduce((sum, { gross }) => sum + Number(gross), 0),
    net: parts.reduce((sum, { net }) => sum + Number(net), 0),
  };
}

const quantityOf = (parts: readonly ReportPart[]) =>
  parts.reduce((sum, { quantity }) => sum + Number(quantity), 0);

/** Amounts of lines are not rounded; the shown ones sum to the total of the orders, to the cent. */
function closed<Row extends ReportRow>(rows: readonly Row[], { total, totalBefore }: Asked): Row[] {
  const amounts = (of: (row: Row) => number, whole: number) => closedAmounts(rows.map(of), whole);
  const gross = amounts((row) => row.gross, total.gross);
  const net = amounts((row) => row.net, Math.round(total.net));
  const before = amounts((row) => row.before.gross, totalBefore.gross);
  return rows.map((row, index) => ({
    ...row,
    gross: gross[index]!,
    net: net[index]!,
    before: { ...row.before, gross: before[index]! },
  }));
}

interface Named {
  /** Parts with the same id are one row. */
  id: string;
  name: string;
  href?: string | undefined;
}

async function loadNames(
  visit: ReportVisit,
  part: BreakdownPart,
  keys: readonly string[],
): Promise<(key: string) => Named> {
  const { db, shopId, language, locale, settings } = visit;
  const messages = visit.messages.reports;
  const ids = keys.filter(isId);
  if (part === 'product' || part === 'category') {
    const found = await findReportedProducts(db, shopId, ids);
    const products = new Map(found.map((product) => [product.productId, product]));
    return (key) =>
      part === 'product' ? productName(visit, key, products) : categoryName(visit, key, products);
  }
  const plain = (names: ReadonlyMap<string, string>, none: string, unknown?: string) => (key: string) => ({
    id: key,
    name: key === '' ? none : (names.get(key) ?? unknown ?? key),
  });
  switch (part) {
    case 'country':
      return (key) => ({ id: key, name: key === '' ? messages.unknown : countryName(key, language) });
    case 'payment': {
      const methods = settings.paymentMethods.map(({ paymentMethodId, name, key }): [string, string] => [
        paymentMethodId,
        textIn(name, locale, settings.defaultLocale) ?? key,
      ]);
      const nameOf = plain(new Map(methods), messages.noPayment);
      return (key) => {
        const named = nameOf(key);
        return isId(key) && named.name === key ? { id: key, name: messages.deleted } : named;
      };
    }
    case 'source': {
      const apps = await findAppNames(db, shopId, ids);
      return plain(new Map(apps.map(({ id, name }) => [id, name])), messages.shop, messages.deleted);
    }
    case 'group': {
      const groups = await findGroupNames(db, shopId);
      return plain(new Map(groups.map(({ id, name }) => [id, name])), messages.noGroup, messages.deleted);
    }
    case 'customer':
      return (key) => ({
        id: key,
        name: key === 'new' ? messages.newCustomers : messages.returningCustomers,
      });
  }
}

function productName(visit: ReportVisit, key: string, products: ReadonlyMap<string, ReportedProduct>): Named {
  const { locale, settings, messages } = visit;
  if (key === '') return { id: key, name: messages.reports.services };
  const product = products.get(key);
  if (!product) return { id: 'deleted', name: messages.reports.deleted };
  const { name, productNumber } = product;
  const text = name && textIn(name, locale, settings.defaultLocale);
  return {
    id: key,
    name: text ? `${text} (${productNumber})` : productNumber,
    href: adminPath(visit, `/products/${key}`),
  };
}

function categoryName(
  visit: ReportVisit,
  key: string,
  products: ReadonlyMap<string, ReportedProduct>,
): Named {
  const { locale, settings, messages } = visit;
  if (key === '') return { id: key, name: messages.reports.services };
  const product = products.get(key);
  if (!product) return { id: 'deleted', name: messages.reports.deleted };
  if (product.categoryId === null) return { id: 'none', name: messages.reports.noCategory };
  const text = product.category && textIn(product.category, locale, settings.defaultLocale);
  return {
    id: product.categoryId,
    name: text || product.categoryId,
    href: adminPath(visit, `/categories/${product.categoryId}`),
  };
}

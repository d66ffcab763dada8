import { Type, type Static } from 'typebox';
import { toMilliseconds } from '../../http/dates.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id } from '../../http/schemas.ts';
import { isId } from '../../kernel/ids.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { windowOf } from '../window.ts';
import { sumProductSales, sumSales, type SalesRow } from './queries.ts';
import { SalesSummary } from './schema.ts';

const moment = (description: string) =>
  Type.Optional(Type.String({ description, examples: ['2026-11-01T00:00:00Z'] }));
const USUAL_SPAN = 30 * 86_400_000;

export const getSales = operation({
  method: 'GET',
  path: '/sales',
  name: 'getSales',
  summary: 'Get sales',
  description:
    'The revenue per currency, without rejected orders. Without dates: the last 30 days; with one of the two: 30 days from it.',
  tag: 'sales',
  labels: ['Base', 'Now'],
  access: 'orders_read',
  query: Type.Object({
    createdBefore: moment('Only orders placed before this moment; at most a year after createdAfter.'),
    createdAfter: moment('Only orders placed after this moment.'),
    productId: Type.Optional({ ...Id, description: 'Only what was sold of this product.' }),
  }),
  answer: SalesSummary,
  keepsKeyOrder: true,
});

export function sales(api: Operations): void {
  api.read(getSales, async ({ db, shopId, query }) => {
    const { after, before } = spanOf(windowOf(query), db.now);
    const { productId } = query;
    const rows =
      productId === undefined
        ? await sumSales(db, shopId, after, before)
        : // An invalid id was never sold.
          isId(productId)
          ? await sumProductSales(db, shopId, productId, after, before)
          : [];
    const summary: Static<typeof SalesSummary> = {
      createdAfter: toMilliseconds(after),
      createdBefore: toMilliseconds(before),
      salesPerCurrency: rows.map(toSales),
    };
    return summary;
  });
}

function spanOf({ createdAfter, createdBefore }: ReturnType<typeof windowOf>, now: Date) {
  const from = (moment: Date, span: number) => new Date(moment.getTime() + span);
  const before = createdBefore ?? (createdAfter ? from(createdAfter, USUAL_SPAN) : now);
  return { after: createdAfter ?? from(before, -USUAL_SPAN), before };
}

function toSales({
  currency,
  gross,
  net,
  units,
  orders,
}: SalesRow): Static<typeof SalesSummary>['salesPerCurrency'][number] {
  return {
    currency,
    totalGrossRevenue: majorUnits(gross, currency),
    totalNetRevenue: majorUnits(net, currency),
    ...(units !== undefined && { unitsSold: Number(units) }),
    totalOrders: orders,
  };
}

/** The float nearest to the exact decimal: the point is moved in its text, so nothing is rounded twice. */
function majorUnits(minor: string, currency: string): number {
  return Number(`${minor}e-${currencyDigits(currency)}`);
}

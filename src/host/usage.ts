import { Readable } from 'node:stream';
import { Type, type Static } from 'typebox';
import { csvLine } from '../catalogue/products/csv-cells.ts';
import type { Queries } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { isDate } from '../http/dates.ts';
import { invalid } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Nullable } from '../http/schemas.ts';
import { currencyDigits } from '../kernel/money.ts';
import { REJECTED } from '../orders/sales/queries.ts';

/** What shops use, for the bills of the host: every number comes from sums that are kept by day. */

const DAY = 86_400_000;

/** A page is bounded by its shops and its days. */
const MAX_DAYS = 31;
const MAX_SHOPS = 200;

const Amount = (description: string) => Type.String({ description, examples: ['1204.90'] });

const UsageDay = Type.Object(
  {
    shopId: Type.String({ description: 'The shop.', examples: ['TeaHouse'] }),
    plan: Nullable(
      Type.String({ description: 'Its plan today; null: the default one.', examples: ['small'] }),
    ),
    day: Type.String({ description: 'The day, in UTC.', examples: ['2026-11-18'] }),
    orders: Type.Integer({ description: 'Orders placed on that day and not rejected.', examples: [12] }),
    turnover: Type.Array(
      Type.Object(
        {
          currency: Type.String({ description: 'ISO 4217.', examples: ['EUR'] }),
          orders: Type.Integer({ description: 'Orders in it.', examples: [12] }),
          gross: Amount('With tax, as a decimal.'),
        },
        { title: 'turnover' },
      ),
      { description: 'Per currency, as the sales of the shop count it.' },
    ),
    requests: Type.Integer({ description: 'Calls of its API.', examples: [20310] }),
    emails: Type.Integer({ description: 'Emails that were sent.', examples: [31] }),
    mediaBytes: Nullable(
      Type.Integer({ description: 'The size of its images; null: not measured.', examples: [73400320] }),
    ),
    people: Nullable(Type.Integer({ description: 'Users of its admin; null: not measured.', examples: [3] })),
    products: Nullable(Type.Integer({ description: 'Products; null: not measured.', examples: [140] })),
  },
  { title: 'usage day' },
);

const span = {
  from: Type.String({ maxLength: 10, description: 'The first day (UTC).', examples: ['2026-11-01'] }),
  to: Type.String({
    maxLength: 10,
    description: `The last day; at most ${MAX_DAYS} days in all.`,
    examples: ['2026-11-30'],
  }),
};

const listUsage = operation({
  under: 'host',
  method: 'GET',
  path: '/usage',
  name: 'listUsage',
  summary: 'List usage',
  description:
    'Per shop and day, in the order of ids: only days on which there was something. Go on with `next` as `after` until it is null.',
  tag: 'host',
  labels: [],
  access: { host: 'host_usage_read' },
  query: Type.Object({
    ...span,
    after: Type.Optional(
      Type.String({ maxLength: 63, description: 'Only shops after this id.', examples: ['TeaHouse'] }),
    ),
    limit: Type.Integer({
      minimum: 1,
      maximum: MAX_SHOPS,
      default: 100,
      description: `The number of shops, at most ${MAX_SHOPS}.`,
      examples: [100],
    }),
  }),
  answer: Type.Object(
    {
      items: Type.Array(UsageDay, { description: 'The days.' }),
      next: Nullable(
        Type.String({
          description: 'What to send as `after`; null: that was the last page.',
          examples: ['TeaHouse'],
        }),
      ),
    },
    { title: 'usage list' },
  ),
});

const exportUsage = operation({
  under: 'host',
  method: 'GET',
  path: '/usage/csv',
  name: 'exportUsage',
  summary: 'Export usage',
  description: 'The same of all shops as one file: a line per shop, day and currency.',
  tag: 'host',
  labels: [],
  access: { host: 'host_usage_read' },
  produces: 'csv',
  query: Type.Object(span),
  answer: Type.String({ description: 'The file.' }),
});

export function hostUsage(api: Operations): void {
  api.read(listUsage, async ({ db, query }) => {
    const days = daysOf(query);
    return usagePage(db, days, query.after ?? '', query.limit);
  });

  api.read(exportUsage, async ({ db, query }) => {
    const days = daysOf(query);
    return Readable.from(csvOf(db, days));
  });
}

interface Days {
  from: string;
  to: string;
}

function daysOf({ from, to }: Days): Days {
  if (!isDate(from)) throw invalid('WRONG_FORMAT', 'from');
  if (!isDate(to)) throw invalid('WRONG_FORMAT', 'to');
  const days = (Date.parse(to) - Date.parse(from)) / DAY + 1;
  if (days < 1 || days > MAX_DAYS) throw invalid('OUT_OF_RANGE', 'to');
  return { from, to };
}

type UsageRow = Static<typeof UsageDay>;

async function usagePage(db: Queries, days: Days, after: string, limit: number) {
  const found = await findShopIds(db, after, limit + 1);
  const shops = found.slice(0, limit);
  const shopIds = shops.map(({ shopId }) => shopId);
  const [turnovers, counts] = await Promise.all([
    findTurnover(db, shopIds, days),
    findShopDays(db, shopIds, days),
  ]);
  const rows = new Map<string, UsageRow>();
  const planOf = new Map(shops.map(({ shopId, plan }) => [shopId, plan]));
  const rowOf = (shopId: string, day: string) => {
    const key = `${shopId} ${day}`;
    const row = rows.get(key) ?? {
      shopId,
      plan: planOf.get(shopId) ?? null,
      day,
      orders: 0,
      turnover: [],
      requests: 0,
      emails: 0,
      mediaBytes: null,
      people: null,
      products: null,
    };
    rows.set(key, row);
    return row;
  };
  for (const { shopId, day, currency, orders, gross } of turnovers) {
    const row = rowOf(shopId, day);
    row.orders += orders;
    row.turnover.push({ currency, orders, gross: decimalOf(gross, currency) });
  }
  for (const { shopId, day, ...count } of counts) Object.assign(rowOf(shopId, day), count);
  const place = new Map(shopIds.map((shopId, index) => [shopId, index]));
  const items = [...rows.values()].toSorted(
    (one, other) => place.get(one.shopId)! - place.get(other.shopId)! || (one.day < other.day ? -1 : 1),
  );
  return { items, next: found.length > limit ? shopIds.at(-1)! : null };
}

const COLUMNS = [
  'shop',
  'plan',
  'day',
  'currency',
  'orders',
  'gross',
  'requests',
  'emails',
  'media bytes',
  'people',
  'products',
];

/** What belongs to the day and not to a currency is in its first line. */
async function* csvOf(db: Queries, days: Days): AsyncGenerator<string> {
  yield csvLine(COLUMNS, ',');
  for (let after: string | null = ''; after !== null;) {
    const { items, next }: Awaited<ReturnType<typeof usagePage>> = await usagePage(
      db,
      days,
      after,
      MAX_SHOPS,
    );
    yield items.flatMap(linesOf).join('');
    after = next;
  }
}

function linesOf({ shopId, plan, day, turnover, requests, emails, mediaBytes, people, products }: UsageRow) {
  const [first, ...others] = turnover;
  const line = (...cells: (string | number | null | undefined)[]) =>
    csvLine(
      cells.map((cell) => String(cell ?? '')),
      ',',
    );
  return [
    line(
      shopId,
      plan,
      day,
      first?.currency,
      first?.orders ?? 0,
      first?.gross,
      requests,
      emails,
      mediaBytes,
      people,
      products,
    ),
    ...others.map(({ currency, orders, gross }) =>
      line(shopId, plan, day, currency, orders, gross, 0, 0, null, null, null),
    ),
  ];
}

/** Minor units as a decimal: 120490 EUR is 1204.90. */
function decimalOf(minor: number, currency: string): string {
  return (minor / 10 ** currencyDigits(currency)).toFixed(currencyDigits(currency));
}

function findShopIds(db: Queries, after: string, limit: number) {
  return db.many<{ shopId: string; plan: string | null }>(sql`
    select shop_id as "shopId", plan from shop where shop_id > ${after} order by shop_id limit ${limit}`);
}

/** As the sales of each shop count them. */
function findTurnover(db: Queries, shopIds: readonly string[], { from, to }: Days) {
  return db.many<{ shopId: string; day: string; currency: string; orders: number; gross: number }>(sql`
    select shop_id as "shopId", day::text, currency, sum(orders)::bigint as orders, sum(gross)::bigint as gross
    from order_day
    where shop_id = any (${shopIds}::text[]) and day between ${from}::date and ${to}::date
      and states & ${REJECTED} = 0
    group by shop_id, day, currency having sum(orders) > 0 order by shop_id, day, currency`);
}

function findShopDays(db: Queries, shopIds: readonly string[], { from, to }: Days) {
  return db.many<{
    shopId: string;
    day: string;
    requests: number;
    emails: number;
    mediaBytes: number | null;
    people: number | null;
    products: number | null;
  }>(sql`
    select shop_id as "shopId", day::text, requests, emails, media_bytes as "mediaBytes", people, products
    from shop_day where shop_id = any (${shopIds}::text[]) and day between ${from}::date and ${to}::date`);
}

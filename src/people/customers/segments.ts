import { Type } from 'typebox';
import type { Queries, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { toSeconds } from '../../http/dates.ts';
import { notFound, Refusal } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id, Timestamp } from '../../http/schemas.ts';
import { newId } from '../../kernel/ids.ts';

export const MAX_SEGMENTS = 50;
const MAX_NAME_LENGTH = 60;
/** Characters of one condition. */
export const MAX_SEGMENT_VALUE_LENGTH = 200;
const MAX_AUTHOR_LENGTH = 254;

const DAY = '^\\d{4}-\\d{2}-\\d{2}$';
const COUNT = '^\\d{1,10}$';
const AMOUNT = '^-?\\d{1,12}([.,]\\d{1,6})?$';

/** Each condition: what it says, an example, and its form. A segment names them in this order. */
const CONDITIONS = {
  q: ['Name, email address, company, phone or customer number, or the beginning of one.', 'Brennan', '\\S'],
  tags: ['Tags, separated by commas: the customer has all of them. At most five count.', 'wholesale', '\\S'],
  group: ['Id of a customer group.', '01941F29-7C00-7000-9A61-BB7DF4FFB418', '^[0-9A-Fa-f-]{36}$'],
  country: ['Country of the billing address, ISO 3166-1 alpha-2.', 'DE', '^[A-Za-z]{2}$'],
  language: ['Language of the last order, ISO 639-1.', 'de', '^[a-z]{2}$'],
  newsletter: ['yes: subscribed to a newsletter; no: to none.', 'yes', '^(yes|no)$'],
  minOrders: ['At least so many orders.', '3', COUNT],
  maxOrders: ['At most so many orders.', '10', COUNT],
  minValue: ['Orders minus refunds are worth at least this.', '100.00', AMOUNT],
  maxValue: ['Orders minus refunds are worth at most this.', '999.99', AMOUNT],
  currency: ['Of the two values; absent: the default of the shop.', 'EUR', '^[A-Z]{3}$'],
  after: ['The last order was on this day or later.', '2026-01-01', DAY],
  before: ['The last order was before this day.', '2026-11-01', DAY],
} as const;

export type FilterName = keyof typeof CONDITIONS;
/** The parameters of the list of customers: texts, as in its address. */
export type FilterValues = Readonly<Partial<Record<FilterName, string>>>;
export const FILTERS = Object.keys(CONDITIONS) as FilterName[];

/** People may have saved any text with the list of customers, so only requests have bounds and forms. */
const Filter = (title: string, isRequest: boolean) =>
  Type.Unsafe<FilterValues>(
    Type.Object(
      Object.fromEntries(
        Object.entries(CONDITIONS).map(([name, [description, example, pattern]]) => [
          name,
          Type.Optional(
            Type.String({
              description,
              examples: [example],
              ...(isRequest && { minLength: 1, maxLength: MAX_SEGMENT_VALUE_LENGTH, pattern }),
            }),
          ),
        ]),
      ),
      {
        title,
        description: 'The conditions, at least one. A customer of the segment meets all of them.',
        ...(isRequest && { minProperties: 1 }),
      },
    ),
  );

const Name = Type.String({
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  pattern: '^\\S(.*\\S)?$',
  description: 'Its name; upper and lower case make no difference.',
  examples: ['German wholesalers'],
});

const NewSegment = Type.Object(
  {
    name: Name,
    filter: Filter('segment filter (request)', true),
  },
  { title: 'segment (request)' },
);

const SegmentAnswer = Type.Object(
  {
    segmentId: Id,
    name: Type.String({ description: 'Its name.', examples: ['German wholesalers'] }),
    filter: Filter('segment filter', false),
    creationDate: Timestamp,
    author: Type.String({
      description: 'The email address of the person, or the name of the app, that made it.',
      examples: ['ada@shop.example'],
    }),
  },
  { title: 'segment' },
);

const shared = {
  under: 'manage',
  tag: 'customers',
  labels: [],
  constraints: { customer_segment_names: () => new Refusal('SEGMENT_NAME_TAKEN') },
} as const;
const params = Type.Object({ segmentId: Id });

export const listSegments = operation({
  ...shared,
  method: 'GET',
  path: '/segments',
  name: 'listSegments',
  summary: 'List segments',
  description: `The named filters of the list of customers, by name; a shop has at most ${MAX_SEGMENTS}.`,
  access: 'customers_read',
  answer: Type.Object(
    { items: Type.Array(SegmentAnswer, { description: 'All of them.' }) },
    { title: 'segments' },
  ),
});

export const getSegment = operation({
  ...shared,
  method: 'GET',
  path: '/segments/:segmentId',
  name: 'getSegment',
  summary: 'Get segment',
  access: 'customers_read',
  params,
  answer: SegmentAnswer,
});

export const createSegment = operation({
  ...shared,
  method: 'POST',
  path: '/segments',
  name: 'createSegment',
  summary: 'Create segment',
  description: 'All people of the shop see it above the list of customers.',
  access: 'customers_write',
  body: NewSegment,
  status: 201,
  answer: SegmentAnswer,
});

export const updateSegment = operation({
  ...shared,
  method: 'PUT',
  path: '/segments/:segmentId',
  name: 'updateSegment',
  summary: 'Update segment',
  description: 'Replaces the name and all conditions.',
  access: 'customers_write',
  params,
  body: NewSegment,
  answer: SegmentAnswer,
});

export const deleteSegment = operation({
  ...shared,
  method: 'DELETE',
  path: '/segments/:segmentId',
  name: 'deleteSegment',
  summary: 'Delete segment',
  description: 'The customers stay as they are.',
  access: 'customers_write',
  params,
  status: 204,
});

/** The segments of the shop, which all of its people share. */
export function segments(api: Operations): void {
  api.read(listSegments, async ({ db, shopId }) => ({
    items: (await findSegments(db, shopId)).map(toAnswer),
  }));

  api.read(getSegment, async ({ db, shopId, params: { segmentId } }) => {
    const segment = await findSegment(db, shopId, segmentId);
    if (!segment) throw notFound();
    return toAnswer(segment);
  });

  api.write(createSegment, async ({ tx, shopId, body: { name, filter }, caller, created }) => {
    const author = (caller.app?.name ?? '').slice(0, MAX_AUTHOR_LENGTH);
    const segment = {
      segmentId: newId(tx.now),
      name,
      filter: knownConditions(filter),
      createdAt: tx.now,
      author,
    };
    // The others are locked first, so that two people who save at the same moment are counted.
    await lockSegments(tx, shopId);
    if ((await countSegments(tx, shopId)) >= MAX_SEGMENTS)
      throw new Refusal('TOO_MANY_SEGMENTS', { limit: MAX_SEGMENTS });
    await insertSegment(tx, shopId, segment);
    created({ segmentId: segment.segmentId });
    return toAnswer(segment);
  });

  api.write(updateSegment, async ({ tx, shopId, params: { segmentId }, body: { name, filter } }) => {
    const segment = await updateSegmentRow(tx, shopId, { segmentId, name, filter: knownConditions(filter) });
    if (!segment) throw notFound();
    return toAnswer(segment);
  });

  api.write(deleteSegment, async ({ tx, shopId, params: { segmentId } }) => {
    if ((await deleteSegmentRow(tx, shopId, segmentId)) === 0) throw notFound();
  });
}

/** A named filter of the list of customers. */
export interface Segment {
  segmentId: string;
  name: string;
  filter: FilterValues;
  createdAt: Date;
  author: string;
}

const toAnswer = ({ segmentId, name, filter, createdAt, author }: Segment) => ({
  segmentId,
  name,
  filter: knownConditions(filter),
  creationDate: toSeconds(createdAt),
  author,
});

/** Unknown keys of a request are ignored, as everywhere. */
const knownConditions = (filter: FilterValues): FilterValues =>
  Object.fromEntries(FILTERS.flatMap((name) => (filter[name] === undefined ? [] : [[name, filter[name]]])));

const columns = sql`
  upper(segment_id::text) as "segmentId", name, filter, created_at as "createdAt", author`;

export function findSegments(db: Queries, shopId: string) {
  return db.many<Segment>(sql`
    select ${columns} from customer_segment where shop_id = ${shopId} order by lower(name) limit ${MAX_SEGMENTS}`);
}

export function findSegment(db: Queries, shopId: string, segmentId: string) {
  return db.one<Segment>(sql`
    select ${columns} from customer_segment where shop_id = ${shopId} and segment_id = ${segmentId}`);
}

export function findSegmentByName(db: Queries, shopId: string, name: string) {
  return db.one<Segment>(sql`
    select ${columns} from customer_segment where shop_id = ${shopId} and lower(name) = lower(${name})`);
}

function lockSegments(tx: Transaction, shopId: string) {
  return tx.run(sql`
    select from customer_segment where shop_id = ${shopId} order by segment_id for no key update`);
}

async function countSegments(tx: Transaction, shopId: string): Promise<number> {
  const row = await tx.one<{ segments: number }>(sql`
    select count(*) as segments from customer_segment where shop_id = ${shopId}`);
  return row!.segments;
}

function insertSegment(
  tx: Transaction,
  shopId: string,
  { segmentId, name, filter, createdAt, author }: Segment,
) {
  return tx.run(sql`
    insert into customer_segment (shop_id, segment_id, name, filter, created_at, author)
    values (${shopId}, ${segmentId}, ${name}, ${JSON.stringify(filter)}::jsonb, ${createdAt}, ${author})`);
}

function updateSegmentRow(
  tx: Transaction,
  shopId: string,
  { segmentId, name, filter }: Pick<Segment, 'segmentId' | 'name' | 'filter'>,
) {
  return tx.one<Segment>(sql`
    update customer_segment set name = ${name}, filter = ${JSON.stringify(filter)}::jsonb
    where shop_id = ${shopId} and segment_id = ${segmentId}
    returning ${columns}`);
}

function deleteSegmentRow(tx: Transaction, shopId: string, segmentId: string) {
  return tx.run(sql`delete from customer_segment where shop_id = ${shopId} and segment_id = ${segmentId}`);
}

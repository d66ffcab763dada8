import { Type } from 'typebox';
import type { Queries, Transaction } from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { recordEntry, type AuditEntry } from '../http/audit-entry.ts';
import type { Caller } from '../http/callers.ts';
import { operation, routeOf, type Operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { Nullable, Timestamp } from '../http/schemas.ts';
import { newId } from '../kernel/ids.ts';

export const HOST_EVENTS = [
  'SHOP_CREATED',
  'SHOP_RENAMED',
  'SHOP_SUSPENDED',
  'SHOP_RESUMED',
  'SHOP_DELETION_PLANNED',
  'SHOP_RESTORED',
  'SHOP_DELETED',
  'SHOP_REPLACED',
  'SHOP_PLAN_CHANGED',
  'SHOP_OWNER_ADDED',
  'SHOP_OWNER_REMOVED',
  'SHOP_DOMAINS_CHANGED',
  'SHOP_EMAILS_FROZEN',
  'SHOP_EMAILS_THAWED',
] as const;

export type HostEventType = (typeof HOST_EVENTS)[number];

/** Who changed a shop, and by which way: as the audit log of the shop shows it. */
export type Cause = Pick<AuditEntry, 'appId' | 'appName' | 'method' | 'route'>;

/** The cause of a change by an operation of the host. */
export function causeOf({ app }: Caller, { method, ...path }: Pick<Operation, 'method' | 'under' | 'path'>) {
  return { appId: app!.appId, appName: app!.name, method, route: routeOf(path) } satisfies Cause;
}

export function causeOfCommand(command: string): Cause {
  return { appId: null, appName: null, method: 'COMMAND', route: `kontor ${command}` };
}

/**
 * Records what happened to a shop, in the log of the host and in the shop's own, where its owners see it. The last
 * statement of a change: the log of the host stays locked until the transaction ends, so its positions follow commits
 * and a reader with a cursor misses nothing.
 */
export async function recordChange(
  tx: Transaction,
  shopId: string,
  type: HostEventType,
  cause: Cause,
  data: Readonly<Record<string, string>> = {},
): Promise<void> {
  await recordEntry(tx, { shopId, entryId: newId(tx.now), at: tx.now, ...cause, object: { ...data } });
  await recordHostEvent(tx, shopId, type, cause.appName, data);
}

/** The same in the log of the host alone: the shop is gone. */
export async function recordHostEvent(
  tx: Transaction,
  shopId: string,
  type: HostEventType,
  byName: string | null,
  data: Readonly<Record<string, string>> = {},
): Promise<void> {
  const row = await tx.one<{ position: number }>(sql`
    update host_log set position = position + 1 where id returning position`);
  await tx.run(sql`
    insert into host_event (position, at, type, shop, by_name, data)
    values (${row!.position}, ${tx.now}, ${type}, ${shopId}, ${byName}, ${data})`);
}

export interface HostEventRow {
  position: number;
  at: Date;
  type: HostEventType;
  shopId: string;
  by: string | null;
  data: Record<string, string>;
}

export function findHostEvents(db: Queries, after: number, limit: number) {
  return db.many<HostEventRow>(sql`
    select position, at, type, shop as "shopId", by_name as by, data from host_event
    where position > ${after} order by position limit ${limit}`);
}

/** Of one shop, also after it was deleted. */
export function findHostEventsOfShop(db: Queries, shopId: string, after: number, limit: number) {
  return db.many<HostEventRow>(sql`
    select position, at, type, shop as "shopId", by_name as by, data from host_event
    where shop = ${shopId} and position > ${after} order by position limit ${limit}`);
}

const HostEvent = Type.Object(
  {
    position: Type.Integer({ description: 'Its place in the log, from 1.', examples: [17] }),
    at: { ...Timestamp, examples: ['2026-11-15T08:30:00.000Z'] },
    type: Type.Enum([...HOST_EVENTS], { description: 'What happened.', examples: ['SHOP_CREATED'] }),
    shopId: Type.String({ description: 'The shop; it may be deleted by now.', examples: ['TeaHouse'] }),
    by: Nullable(
      Type.String({
        description:
          'Name of the token, or email address of the user; null: a command, or the service itself.',
        examples: ['order system'],
      }),
    ),
    data: Type.Record(Type.String(), Type.String(), {
      description: 'What belongs to the event, such as the new name or plan.',
      examples: [{ plan: 'small' }],
    }),
  },
  { title: 'host event' },
);

const listHostEvents = operation({
  under: 'host',
  method: 'GET',
  path: '/log',
  name: 'listHostEvents',
  summary: 'List events of shops',
  description:
    'What happened to shops, oldest first: created, renamed, suspended, resumed, deletion planned, restored, deleted, plan, owners and domains changed, emails frozen and thawed. Begin with `after=0`, and go on with the position of the last event; a reader who does so misses none, and gets none twice.',
  tag: 'host',
  labels: [],
  access: { host: 'host_shops_read' },
  query: Type.Object({
    after: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: 'Only events after this position.',
      examples: [0],
    }),
    shopId: Type.Optional(
      Type.String({ maxLength: 63, description: 'Only events of this shop.', examples: ['TeaHouse'] }),
    ),
    limit: Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 100,
      description: 'The number of events, at most 1,000.',
      examples: [100],
    }),
  }),
  answer: Type.Object(
    {
      items: Type.Array(HostEvent, { description: 'The events, oldest first.' }),
      next: Type.Integer({
        description: 'The position to go on after; the one asked for when there is nothing new.',
        examples: [17],
      }),
    },
    { title: 'host event list' },
  ),
});

export function hostLog(api: Operations): void {
  api.read(listHostEvents, async ({ db, query }) => {
    const { after, limit, shopId } = query;
    const rows = await (shopId === undefined
      ? findHostEvents(db, after, limit)
      : findHostEventsOfShop(db, shopId, after, limit));
    return {
      items: rows.map((row) => ({ ...row, at: row.at.toISOString() })),
      next: rows.at(-1)?.position ?? after,
    };
  });
}

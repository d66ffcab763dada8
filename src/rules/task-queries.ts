import type { Queries, Transaction } from '../db/database.ts';
import { deleteOld } from '../db/delete-old.ts';
import { insertInto } from '../db/insert.ts';
import { sql } from '../db/sql.ts';
import type { CleanupStep } from '../platform/cleanup.ts';
import type { RuleResource } from './things.ts';

export interface TaskRow {
  taskId: string;
  createdAt: Date;
  text: string;
  resource: RuleResource;
  resourceId: string | null;
  ruleId: string | null;
  doneAt: Date | null;
  doneBy: string | null;
}

const taskColumns = sql`
  upper(task_id::text) as "taskId", created_at as "createdAt", text, resource,
  upper(resource_id::text) as "resourceId", upper(rule_id::text) as "ruleId", done_at as "doneAt",
  done_by as "doneBy"`;

/** Of these things; open ones begin with the oldest, done ones with the newest. */
export function findTasks(
  db: Queries,
  shopId: string,
  {
    isDone,
    resources,
    limit,
    offset,
  }: {
    isDone: boolean;
    resources: readonly RuleResource[];
    limit: number;
    offset: number;
  },
) {
  return isDone
    ? db.many<TaskRow>(sql`
        select ${taskColumns} from task
        where shop_id = ${shopId} and done_at is not null and resource = any (${resources}::text[])
        order by task_id desc limit ${limit} offset ${offset}`)
    : db.many<TaskRow>(sql`
        select ${taskColumns} from task
        where shop_id = ${shopId} and done_at is null and resource = any (${resources}::text[])
        order by task_id limit ${limit} offset ${offset}`);
}

export async function countTasks(
  db: Queries,
  shopId: string,
  { isDone, resources }: { isDone: boolean; resources: readonly RuleResource[] },
): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from task
    where shop_id = ${shopId} and (done_at is not null) = ${isDone} and resource = any (${resources}::text[])`);
  return row!.count;
}

export async function countOpenTasks(db: Queries, shopId: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from task where shop_id = ${shopId} and done_at is null`);
  return row!.count;
}

const insertTasks = insertInto('task', {
  taskId: 'uuid',
  createdAt: 'timestamptz',
  text: 'text',
  resource: 'text',
  resourceId: 'uuid',
  ruleId: 'uuid',
});

export function insertTask(tx: Transaction, shopId: string, task: Omit<TaskRow, 'doneAt' | 'doneBy'>) {
  return tx.run(insertTasks(shopId, [{ ...task }]));
}

export function lockTask(tx: Transaction, shopId: string, taskId: string) {
  return tx.one<TaskRow>(sql`
    select ${taskColumns} from task where shop_id = ${shopId} and task_id = ${taskId} for no key update`);
}

/** Opens it again where nobody has done it. */
export function updateTask(
  tx: Transaction,
  shopId: string,
  taskId: string,
  { doneAt, doneBy }: Pick<TaskRow, 'doneAt' | 'doneBy'>,
) {
  return tx.run(sql`
    update task set done_at = ${doneAt}, done_by = ${doneBy} where shop_id = ${shopId} and task_id = ${taskId}`);
}

const DAY = 86_400_000;
const DONE_TASKS_KEPT_DAYS = 90;
const deleteDone = deleteOld('task', 'done_at', { task_id: 'uuid' });

/** Tasks that were done long ago. */
export const taskCleanup: CleanupStep = {
  name: 'tasks',
  run: (db, limit) => deleteDone(db, new Date(db.now.getTime() - DONE_TASKS_KEPT_DAYS * DAY), limit),
};

import { Type, type Static } from 'typebox';
import { hasScope, requireScopes, type Caller } from '../http/callers.ts';
import { toMilliseconds } from '../http/dates.ts';
import { notFound, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { paged, paging } from '../http/paging.ts';
import { Id, Paged } from '../http/schemas.ts';
import { newId } from '../kernel/ids.ts';
import { MAX_OPEN_TASKS } from './act.ts';
import {
  countOpenTasks,
  countTasks,
  findTasks,
  insertTask,
  lockTask,
  updateTask,
  type TaskRow,
} from './task-queries.ts';
import { NewTask, Task, TASK_STATES, TaskChange } from './schema.ts';
import { RULE_RESOURCES, SCOPES_OF_THING, type RuleResource } from './things.ts';

const shared = {
  under: 'manage',
  tag: 'rules',
  labels: [],
  access: 'any token',
  keepsKeyOrder: true,
} as const;
const { parameters, pageOf } = paging();

export const listTasks = operation({
  ...shared,
  method: 'GET',
  path: '/tasks',
  name: 'listTasks',
  summary: 'List tasks',
  description:
    'What the people of the shop have to do, about things that the caller may read: open ones, the oldest first, or those that are done, the newest first. These stay for 90 days.',
  query: Type.Object({
    ...parameters,
    state: Type.Optional(
      Type.Unsafe<(typeof TASK_STATES)[number]>({
        type: 'string',
        enum: [...TASK_STATES],
        default: 'open',
        description: 'Absent: open.',
        examples: ['open'],
      }),
    ),
  }),
  answer: Paged(Task, 'task list'),
});

export const createTask = operation({
  ...shared,
  method: 'POST',
  path: '/tasks',
  name: 'createTask',
  summary: 'Create task',
  description: `Notes what has to be done. It needs the scope orders_write. A shop has at most ${MAX_OPEN_TASKS} open tasks.`,
  body: NewTask,
  status: 201,
  answer: Task,
});

export const updateTaskState = operation({
  ...shared,
  method: 'PUT',
  path: '/tasks/:taskId',
  name: 'updateTask',
  summary: 'Update task',
  description: 'Says that it is done, or opens it again. It needs the scope to write what it is about.',
  params: Type.Object({ taskId: Id }),
  body: TaskChange,
  answer: Task,
});

export function tasks(api: Operations): void {
  api.read(listTasks, async ({ db, shopId, query, caller }) => {
    const page = pageOf(query);
    const filter = { isDone: query.state === 'done', resources: readableResources(caller) };
    const [results, rows] = await Promise.all([
      countTasks(db, shopId, filter),
      findTasks(db, shopId, { ...filter, limit: page.resultsPerPage, offset: page.offset }),
    ]);
    return paged(page, results, rows.map(toTask));
  });

  api.write(createTask, async ({ tx, shopId, body, caller, created }) => {
    requireScopes(caller.app!, [SCOPES_OF_THING.shop.write]);
    if ((await countOpenTasks(tx, shopId)) >= MAX_OPEN_TASKS) {
      throw new Refusal('TOO_MANY_TASKS', { limit: MAX_OPEN_TASKS });
    }
    const task: TaskRow = {
      taskId: newId(tx.now),
      createdAt: tx.now,
      text: body.text.trim(),
      resource: 'shop',
      resourceId: null,
      ruleId: null,
      doneAt: null,
      doneBy: null,
    };
    await insertTask(tx, shopId, task);
    created({ taskId: task.taskId });
    return toTask(task);
  });

  api.write(updateTaskState, async ({ tx, shopId, params: { taskId }, body, caller }) => {
    const task = await lockTask(tx, shopId, taskId);
    if (!task) throw notFound();
    requireScopes(caller.app!, [SCOPES_OF_THING[task.resource].write]);
    if (body.isDone === (task.doneAt !== null)) return toTask(task);
    const state = body.isDone ? { doneAt: tx.now, doneBy: caller.app!.name } : { doneAt: null, doneBy: null };
    await updateTask(tx, shopId, taskId, state);
    return toTask({ ...task, ...state });
  });
}

/** The things that the caller may read. */
function readableResources(caller: Caller): RuleResource[] {
  return RULE_RESOURCES.filter((resource) => hasScope(caller, SCOPES_OF_THING[resource].read));
}

function toTask(task: TaskRow): Static<typeof Task> {
  const { taskId, createdAt, text, resource, resourceId, ruleId, doneAt, doneBy } = task;
  return {
    taskId,
    createdOn: toMilliseconds(createdAt),
    text,
    resource,
    resourceId,
    ruleId,
    doneOn: doneAt && toMilliseconds(doneAt),
    doneBy,
  };
}

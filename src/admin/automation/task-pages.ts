import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import type { Static } from 'typebox';
import type { Task } from '../../rules/schema.ts';
import { createTask, listTasks, updateTaskState } from '../../rules/tasks.ts';
import { SCOPES_OF_THING } from '../../rules/things.ts';
import {
  declareForm,
  declareHidden,
  optionsOf,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { dayText } from '../components/format.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { namesOf, thingLink } from './log-pages.ts';
import { RULES_PATH } from './rule-pages.ts';

const PATH = '/tasks';
const TASKS_ON_PAGE = 100;
const TASKS_AT_HOME = 10;

const NEW_TASK = declareForm(createTask, ({ automation: messages }) => ({
  text: { label: messages.task, isRequired: true },
}));

/** Which page the button is on, and whether it says done. */
const STATE = declareHidden({ isDone: 3, from: 4 });

/** What the people of a shop have to do. */
export function taskPages(pages: ShopPages): void {
  pages.form(
    PATH,
    { read: 'member', write: 'orders_write' },
    { show: showTasks, save: addTask },
    optionsOf(NEW_TASK),
  );
  pages.post(
    `${PATH}/:taskId`,
    'member',
    async (visit, form) => {
      const taskId = form.params['taskId']!;
      if (!isId(taskId)) throw notFound();
      const { isDone, from } = readFields(STATE, form, visit);
      const task = await visit.call(updateTaskState, {
        params: { taskId: taskId.toUpperCase() },
        body: { isDone: isDone === 'yes' },
      });
      const messages = visit.messages.automation;
      const notice = task.doneOn === null ? messages.reopen : messages.taskDone({ task: task.text });
      return new Redirect(adminPath(visit, from === 'home' ? '' : PATH), notice);
    },
    optionsOf(STATE),
  );
}

type ShownTask = Static<typeof Task>;

async function showTasks(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.automation;
  const state = request.query('state') === 'done' ? 'done' : 'open';
  const { items } = await visit.call(listTasks, {
    query: { page: 1, resultsPerPage: TASKS_ON_PAGE, state },
  });
  const tabs = [
    { state: 'open', text: messages.openTasks },
    { state: 'done', text: messages.doneTasks },
  ] as const;
  return {
    title: messages.tasks,
    menu: 'home',
    breadcrumbs: [{ href: adminPath(visit, ''), text: visit.messages.layout.menuEntries.home }],
    actions:
      visit.may('settings_read') &&
      html`<a class="button" href="${adminPath(visit, RULES_PATH)}">${messages.manage}</a>`,
    main: html`<p class="hint intro">${messages.tasksIntro}</p>
      <nav class="views" aria-label="${messages.tasks}">
        ${tabs.map(
          (tab) =>
            html`<a
              href="${adminPath(visit, PATH, tab.state === 'done' ? { state: 'done' } : {})}"
              ${tab.state === state && html`aria-current="page"`}
              >${tab.text}</a
            >`,
        )}
      </nav>
      ${await taskTable(visit, items, 'list')}
      ${
        visit.may('orders_write') &&
        html`<form method="post" class="card" action="${adminPath(visit, PATH)}">
          ${problemOf(draft)} ${showFields(NEW_TASK, visit, { draft })('text')}
          <button class="main">${messages.addTask}</button>
        </form>`
      }`,
  };
}

async function addTask(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  await visit.call(createTask, { body: readFields(NEW_TASK, form, visit) });
  return new Redirect(adminPath(visit, PATH), visit.messages.automation.taskAdded);
}

async function taskTable(
  visit: ShopVisit,
  tasks: readonly ShownTask[],
  from: 'home' | 'list',
): Promise<Markup> {
  const messages = visit.messages.automation;
  if (tasks.length === 0) return html`<p class="quiet">${messages.noTasks}</p>`;
  const names = await namesOf(visit, tasks);
  return html`<div class="list plain">
    <table>
      <thead>
        <tr>
          <th scope="col">${messages.task}</th>
          <th scope="col">${messages.thing}</th>
          <th scope="col">${messages.date}</th>
          <th scope="col"><span class="hidden">${messages.done}</span></th>
        </tr>
      </thead>
      <tbody>
        ${tasks.map(
          (task) =>
            html`<tr>
              <td data-title="${messages.task}">${task.text}</td>
              <td data-title="${messages.thing}">
                ${thingLink(visit, task.resource, task.resourceId, names.get(task.resourceId ?? ''))}
              </td>
              <td data-title="${messages.date}">
                ${dayText(new Date(task.doneOn ?? task.createdOn), visit.language)}
                ${task.doneBy !== null && html`<span class="quiet">${messages.by({ name: task.doneBy })}</span>`}
              </td>
              <td>${visit.may(SCOPES_OF_THING[task.resource].write) && stateButton(visit, task, from)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function stateButton(visit: ShopVisit, { taskId, text, doneOn }: ShownTask, from: 'home' | 'list'): Markup {
  const messages = visit.messages.automation;
  const isOpen = doneOn === null;
  return html`<form method="post" action="${adminPath(visit, `${PATH}/${taskId}`)}">
    <input type="hidden" name="isDone" value="${isOpen ? 'yes' : 'no'}" />
    <input type="hidden" name="from" value="${from}" />
    <button aria-label="${isOpen ? messages.markDone({ task: text }) : messages.reopen}">
      ${isOpen ? messages.done : messages.reopen}
    </button>
  </form>`;
}

/** The oldest open tasks, on the home page; nothing where there are none. */
export async function taskCard(visit: ShopVisit): Promise<Markup | undefined> {
  const messages = visit.messages.automation;
  const { items } = await visit.call(listTasks, {
    query: { page: 1, resultsPerPage: TASKS_AT_HOME, state: 'open' },
  });
  if (items.length === 0) return undefined;
  return html`<section class="card" aria-labelledby="own-tasks">
    <div class="title">
      <h2 id="own-tasks">${messages.tasks}</h2>
      <a href="${adminPath(visit, PATH)}">${messages.allTasks}</a>
    </div>
    ${await taskTable(visit, items, 'home')}
  </section>`;
}

import { Type } from 'typebox';
import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { createRule, deleteRule, getRule, listRules, replaceRule } from '../../rules/routes.ts';
import { MAX_ACTIONS, type Action } from '../../rules/schema.ts';
import { thingResource, RULE_EVENTS, SCOPES_OF_THING, type RuleResource } from '../../rules/things.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { buttonForm, problemOf } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { settingsBreadcrumbs } from '../settings/section-page.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import {
  actionChoices,
  ACTIONS,
  CONDITIONS,
  isActionKind,
  NEW_ACTION,
  PRESSED,
  readRule,
  RULE,
  ruleFields,
  SCHEDULE,
  type RuleValues,
} from './rule-form.ts';
import { pauseText, whenText, type ShownRule } from './words.ts';

export const RULES_PATH = '/automation';
const PERMISSIONS = { read: 'settings_read', write: 'settings_write' } as const;
const BY_SCHEDULE = 'schedule';
const FOR_ORDERS = 'orders';

/** What a new rule is about: chosen first, because everything else depends on it. */
const NEW = declareForm({ body: Type.Object({ event: Type.String() }) }, ({ automation: messages }) => ({
  event: {
    kind: 'choice',
    label: messages.event,
    choices: [
      ...RULE_EVENTS.map((event) => ({
        value: event as string,
        text: messages.events[event as keyof typeof messages.events],
      })),
      { value: BY_SCHEDULE, text: messages.bySchedule },
      { value: FOR_ORDERS, text: messages.forOrders },
    ],
  },
}));

/** The rules of the shop. */
export function rulePages(pages: ShopPages): void {
  const options = optionsOf(RULE, SCHEDULE, CONDITIONS, ACTIONS, NEW_ACTION, PRESSED);
  pages.get(RULES_PATH, 'settings_read', showRules);
  pages.form(
    `${RULES_PATH}/new`,
    { read: 'settings_write', write: 'settings_write' },
    { show: showNew, save: addRule },
    options,
  );
  pages.form(`${RULES_PATH}/rules/:ruleId`, PERMISSIONS, { show: showRule, save: saveRule }, options);
  pages.post(`${RULES_PATH}/rules/:ruleId/delete`, 'settings_write', async (visit, { params }) => {
    const { ruleId, name } = await loadRule(visit, params['ruleId']!);
    await visit.call(deleteRule, { params: { ruleId } });
    return new Redirect(adminPath(visit, RULES_PATH), visit.messages.automation.deleted({ name }));
  });
}

export const ruleSteps = (visit: ShopVisit) => [
  ...settingsBreadcrumbs(visit),
  { href: adminPath(visit, RULES_PATH), text: visit.messages.automation.title },
];

export async function loadRule(visit: ShopVisit, ruleId: string): Promise<ShownRule> {
  if (!isId(ruleId)) throw notFound();
  return visit.call(getRule, { params: { ruleId: ruleId.toUpperCase() } });
}

async function showRules(visit: ShopVisit): Promise<AdminPage> {
  const messages = visit.messages.automation;
  const { items } = await visit.call(listRules);
  return {
    title: messages.title,
    menu: 'settings',
    breadcrumbs: settingsBreadcrumbs(visit),
    actions: html`<a class="button" href="${adminPath(visit, '/tasks')}">${messages.tasks}</a> ${
        visit.may('settings_write') &&
        html`<a class="button main" href="${adminPath(visit, `${RULES_PATH}/new`)}">${messages.add}</a>`
      }`,
    main: html`<p class="hint intro">${messages.intro}</p>
      ${
        items.length === 0
          ? html`<p class="quiet">${messages.empty}</p>`
          : html`<div class="list plain">
              <table>
                <thead>
                  <tr>
                    <th scope="col">${messages.name}</th>
                    <th scope="col">${messages.when}</th>
                    <th scope="col">${messages.then}</th>
                    <th scope="col">${messages.state}</th>
                  </tr>
                </thead>
                <tbody>
                  ${items.map((rule) => ruleRow(visit, rule))}
                </tbody>
              </table>
            </div>`
      }`,
  };
}

function ruleRow(visit: ShopVisit, rule: ShownRule): Markup {
  const messages = visit.messages.automation;
  const { ruleId, name, isActive, actions, paused, nextRunOn } = rule;
  const next = isActive && nextRunOn !== null ? momentText(new Date(nextRunOn), visit.language) : undefined;
  return html`<tr>
    <td data-title="${messages.name}">
      <a href="${adminPath(visit, `${RULES_PATH}/rules/${ruleId}`)}">${name}</a>
    </td>
    <td data-title="${messages.when}">${whenText(visit, rule)}</td>
    <td data-title="${messages.then}">${actions.map(({ kind }) => messages.actions[kind]).join(', ')}</td>
    <td data-title="${messages.state}">
      ${paused !== null ? messages.paused : isActive ? messages.on : messages.off}
      ${next !== undefined && html`<span class="quiet">${messages.nextRun({ date: next })}</span>`}
    </td>
  </tr>`;
}

/** What the address of a new rule asks for; undefined: nothing yet, or nothing that is there. */
function chosenStart(request: PageRequest): Pick<RuleValues, 'event' | 'schedule'> | undefined {
  const asked = request.query('event');
  if (asked === BY_SCHEDULE) return { event: null, schedule: { every: 'day', hour: 7 } };
  if (asked === FOR_ORDERS) return { event: null, schedule: { about: 'order', every: 'day', hour: 7 } };
  const event = RULE_EVENTS.find((one) => one === asked);
  return event && { event, schedule: null };
}

const mayWrite = (visit: ShopVisit, resource: RuleResource) => visit.may(SCOPES_OF_THING[resource].write);

async function showNew(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.automation;
  const chosen = chosenStart(request);
  const page = { title: messages.add, menu: 'settings' as const, breadcrumbs: ruleSteps(visit) };
  if (!chosen) {
    const field = showFields(NEW, visit, { draft: undefined });
    return {
      ...page,
      main: html`<form method="get" class="card">
        ${field('event')}
        <button class="main">${messages.next}</button>
      </form>`,
    };
  }
  const resource = thingResource(chosen);
  const added = addedAction(request, resource) ?? { kind: 'task' as const };
  const rule: RuleValues = {
    name: '',
    isActive: true,
    needsAll: true,
    ...chosen,
    conditions: [],
    actions: draft ? draftActions(draft, resource) : [added],
  };
  return {
    ...page,
    main: html`<form method="post" class="card">
      ${problemOf(draft)}
      <p>${messages.when}: <strong>${whenOf(visit, chosen)}</strong></p>
      ${ruleFields(visit, rule, draft)} ${saveButton(visit.messages.form.add)}
      ${rule.actions.length < MAX_ACTIONS && chooseAction(visit, resource)}
    </form>`,
  };
}

function whenOf(
  { messages: { automation: messages } }: ShopVisit,
  { event, schedule }: Pick<RuleValues, 'event' | 'schedule'>,
): string {
  if (event !== null) return messages.events[event as keyof typeof messages.events];
  return schedule?.about === 'order' ? messages.forOrders : messages.bySchedule;
}

async function addRule(visit: ShopVisit, form: FormRequest): Promise<Redirect | AdminPage> {
  const chosen = chosenStart(form);
  if (!chosen) throw notFound();
  if (isForMore(visit, form)) return showNew(visit, form, withAction(visit, form, thingResource(chosen)));
  const rule = await visit.call(createRule, { body: readRule(visit, form, chosen) });
  const { ruleId, name } = rule;
  return new Redirect(
    adminPath(visit, `${RULES_PATH}/rules/${ruleId}`),
    visit.messages.automation.added({ name }),
  );
}

async function showRule(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.automation;
  const rule = await loadRule(visit, request.params['ruleId']!);
  const { ruleId, resource } = rule;
  const paused = pauseText(visit, rule);
  const path = `${RULES_PATH}/rules/${ruleId}`;
  const added = addedAction(request, resource);
  const actions = draft
    ? draftActions(draft, resource)
    : [...rule.actions, ...(added && rule.actions.length < MAX_ACTIONS ? [added] : [])];
  const mayChange = visit.may('settings_write') && mayWrite(visit, resource);
  return {
    title: rule.name,
    menu: 'settings',
    breadcrumbs: ruleSteps(visit),
    actions: html`<a class="button" href="${adminPath(visit, `${path}/preview`)}">${messages.preview}</a>
      <a class="button" href="${adminPath(visit, `${path}/runs`)}">${messages.log}</a>`,
    main: html`${paused !== null && html`<p class="notice">${messages.pausedBecause({ reason: paused })}</p>`}
      <form method="post" class="card">
        ${problemOf(draft)}
        <p>${messages.when}: <strong>${whenText(visit, rule)}</strong></p>
        ${ruleFields(visit, { ...rule, actions }, draft)} ${mayChange && saveButton(visit.messages.form.save)}
        ${mayChange && actions.length < MAX_ACTIONS && chooseAction(visit, resource)}
      </form>
      ${
        mayChange &&
        buttonForm({
          action: adminPath(visit, `${path}/delete`),
          text: messages.delete,
          kind: 'danger',
          confirm: messages.confirmDelete,
        })
      }`,
  };
}

async function saveRule(visit: ShopVisit, form: FormRequest): Promise<Redirect | AdminPage> {
  const { ruleId, event, schedule, resource } = await loadRule(visit, form.params['ruleId']!);
  if (isForMore(visit, form)) return showRule(visit, form, withAction(visit, form, resource));
  await visit.call(replaceRule, { params: { ruleId }, body: readRule(visit, form, { event, schedule }) });
  return new Redirect(adminPath(visit, `${RULES_PATH}/rules/${ruleId}`), visit.messages.form.saved);
}

/** The action that the address adds to the form. */
function addedAction(request: PageRequest, resource: RuleResource): Action | undefined {
  const kind = request.query('add') ?? '';
  return isActionKind(kind, resource) ? { kind } : undefined;
}

/** The actions of a refused form, by the kinds that it has sent. */
function draftActions(draft: Draft, resource: RuleResource): Action[] {
  return Array.from({ length: MAX_ACTIONS }, (_, index) => draft.field(`action.${index}`)).flatMap((kind) =>
    isActionKind(kind, resource) ? [{ kind }] : [],
  );
}

const saveButton = (text: string) => html`<button class="main" name="do" value="save">${text}</button>`;

/** Shows the form with one more action. It sends all of the form, so what was typed stays, without a script too. */
function chooseAction(visit: ShopVisit, resource: RuleResource): Markup {
  const messages = visit.messages.automation;
  const field = showFields(NEW_ACTION, visit, { draft: undefined });
  return html`<div class="row">
    ${field('add', { choices: actionChoices(visit, resource) })}
    <button name="do" value="add" formnovalidate>${messages.addAction}</button>
  </div>`;
}

const isForMore = (visit: ShopVisit, form: FormRequest) => readFields(PRESSED, form, visit).do === 'add';

/** The typed values, with the chosen action at the end. */
function withAction(visit: ShopVisit, form: FormRequest, resource: RuleResource): Draft {
  const { add: added } = readFields(NEW_ACTION, form, visit);
  const place = `action.${draftActions({ ...form, problem: '' }, resource).length}`;
  return { ...form, problem: '', field: (name) => (name === place ? added : form.field(name)) };
}

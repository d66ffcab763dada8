import { html, type Markup } from '../../http/html.ts';
import type { PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { listRuleRuns, previewRule } from '../../rules/routes.ts';
import type { RuleResource } from '../../rules/things.ts';
import { findThingNames, type ThingNames } from '../apps/thing-names.ts';
import { momentText } from '../components/format.ts';
import type { AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { loadRule, ruleSteps, RULES_PATH } from './rule-pages.ts';
import { answerText, factText, ID_OF, pathOfThing, reasonText } from './words.ts';

const RUNS_ON_PAGE = 50;

/** What a rule has done, and what it would have done. */
export function ruleLogPages(pages: ShopPages): void {
  pages.get(`${RULES_PATH}/rules/:ruleId/preview`, 'settings_read', showPreview);
  pages.get(`${RULES_PATH}/rules/:ruleId/runs`, 'settings_read', showRuns);
}

interface ShownRule {
  ruleId: string;
  name: string;
}

const steps = (visit: ShopVisit, { ruleId, name }: ShownRule) => [
  ...ruleSteps(visit),
  { href: adminPath(visit, `${RULES_PATH}/rules/${ruleId}`), text: name },
];

interface LogPage {
  title: string;
  hint: string;
  /** Shown instead of a table without rows. */
  empty: string;
  columns: readonly string[];
  /** The cells of each row. */
  rows: readonly (readonly (Markup | string)[])[];
  /** Leads to what does not fit on the page. */
  pager?: Markup | false;
}

function logPage(
  visit: ShopVisit,
  rule: ShownRule,
  { title, hint, empty, columns, rows, pager }: LogPage,
): AdminPage {
  return {
    title,
    menu: 'settings',
    breadcrumbs: steps(visit, rule),
    main: html`<p class="hint intro">${hint}</p>
      ${
        rows.length === 0
          ? html`<p class="quiet">${empty}</p>`
          : html`<div class="list plain">
              <table>
                <thead>
                  <tr>
                    ${columns.map((column) => html`<th scope="col">${column}</th>`)}
                  </tr>
                </thead>
                <tbody>
                  ${rows.map(
                    (cells) =>
                      html`<tr>
                        ${cells.map((cell, index) => html`<td data-title="${columns[index]}">${cell}</td>`)}
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
      }
      ${pager}`,
  };
}

async function showPreview(visit: ShopVisit, request: PageRequest): Promise<AdminPage> {
  const messages = visit.messages.automation;
  const rule = await loadRule(visit, request.params['ruleId']!);
  const { ruleId, resource, conditions } = rule;
  const { items } = await visit.call(previewRule, { params: { ruleId } });
  return logPage(visit, rule, {
    title: messages.preview,
    hint: messages.previewHint,
    empty: messages.previewEmpty,
    columns: [messages.date, messages.thing, messages.if, messages.outcome],
    rows: items.map((item) => [
      momentText(new Date(item.date), visit.language),
      thingLink(visit, resource, item.resourceId, item.name),
      html`<ul class="plain">
        ${conditions.map(
          ({ fact, operator, value }, index) =>
            html`<li>
              ${item.conditions[index] ? '✓' : '✗'} ${factText(visit, fact)} ${messages.operators[operator]}
              ${value ?? ''}
            </li>`,
        )}
      </ul>`,
      item.runs
        ? html`<strong>${messages.would}</strong>
            <ul class="plain">
              ${item.actions.map(
                ({ kind, text }) =>
                  html`<li>${messages.actions[kind]}${text !== null && html`: ${text}`}</li>`,
              )}
            </ul>`
        : messages.wouldNot,
    ]),
  });
}

async function showRuns(visit: ShopVisit, request: PageRequest): Promise<AdminPage> {
  const messages = visit.messages.automation;
  const rule = await loadRule(visit, request.params['ruleId']!);
  const { ruleId } = rule;
  const runsPath = `${RULES_PATH}/rules/${ruleId}/runs`;
  const before = request.query('before') ?? '';
  const { items, next } = await visit.call(listRuleRuns, {
    params: { ruleId },
    query: { limit: RUNS_ON_PAGE, ...(isId(before) && { before: before.toUpperCase() }) },
  });
  const names = await namesOf(visit, items);
  return logPage(visit, rule, {
    title: messages.log,
    hint: messages.logHint,
    empty: messages.logEmpty,
    columns: [messages.date, messages.thing, messages.outcome],
    rows: items.map(({ date, resource, resourceId, outcome, actions, error, reason }) => [
      momentText(new Date(date), visit.language),
      thingLink(visit, resource, resourceId, names.get(resourceId ?? '')),
      outcome === 'failed'
        ? html`<strong>${messages.outcomes.failed}</strong> ${reasonText(visit, reason, error)}`
        : html`<ul class="plain">
            ${actions.map(
              ({ kind, outcome: result, code, note }) =>
                html`<li>
                  ${messages.actions[kind]}: ${messages.outcomes[result]}
                  ${
                    (code ?? note) !== null &&
                    html`<span class="quiet"
                      >${code ? messages.skipped[code] : answerText(visit, note!)}</span
                    >`
                  }
                </li>`,
            )}
          </ul>`,
    ]),
    pager:
      (before !== '' || next !== null) &&
      html`<p class="actions">
        ${before !== '' && html`<a class="button" href="${adminPath(visit, runsPath)}">${messages.newestRuns}</a>`}
        ${
          next !== null &&
          html`<a class="button" href="${adminPath(visit, runsPath, { before: next })}"
            >${messages.olderRuns}</a
          >`
        }
      </p>`,
  });
}

interface AboutThing {
  resource: RuleResource;
  resourceId: string | null;
}

/** What the things are called now. */
export function namesOf(visit: ShopVisit, items: readonly AboutThing[]): Promise<ThingNames> {
  const objects = items.flatMap(({ resource, resourceId }) =>
    resource === 'shop' || resourceId === null ? [] : [{ [ID_OF[resource]]: resourceId }],
  );
  return findThingNames(visit, objects);
}

export function thingLink(
  visit: ShopVisit,
  resource: RuleResource,
  resourceId: string | null,
  name: string | undefined,
): Markup | string {
  const messages = visit.messages.automation;
  const path = pathOfThing(visit, resource, resourceId);
  if (path === undefined) return messages.theShop;
  return name === undefined ? messages.gone : html`<a href="${path}">${name}</a>`;
}

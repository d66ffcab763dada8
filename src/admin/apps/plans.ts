import { findAssistant } from '../../apps/oauth/queries.ts';
import { isSignatureOf } from '../../mcp/plans/plans.ts';
import { decidePlan, findPlan, type PlanRow } from '../../mcp/plans/queries.ts';
import { OPERATIONS, type PlannedCall } from '../../mcp/tools.ts';
import { forbidden, notFound, conflict } from '../../http/errors.ts';
import { html, type Markup, type Part } from '../../http/html.ts';
import { Redirect, type PageRequest } from '../../http/page-kit.ts';
import { scopesOf, type Scope } from '../../http/scopes.ts';
import { isId } from '../../kernel/ids.ts';
import { declareHidden, readFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { momentText } from '../components/format.ts';
import type { ShopPages } from '../pages.ts';
import { recordAction } from '../record-action.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { appsStep } from './parts.ts';
import { thingPath } from './thing-links.ts';
import { findThingNames, type ThingNames } from './thing-names.ts';

const BUTTON = declareHidden({ answer: 10 });

/** A person sees what an assistant proposes, and does it or not. */
export function planPages(pages: ShopPages): void {
  pages.form(
    '/plans/:planId',
    { read: 'member', write: 'member' },
    {
      show: async (visit, request, draft) => {
        const plan = await requirePlan(visit, request);
        const messages = visit.messages.plans;
        const names = await findThingNames(visit, plan.calls.map(idsOf));
        return {
          title: messages.tools[plan.tool as keyof typeof messages.tools] ?? plan.tool,
          menu: 'apps',
          breadcrumbs: [appsStep(visit)],
          main: html`<form method="post" class="card prose">
            ${problemOf(draft)}
            <p>${messages.intro({ name: plan.appName })}</p>
            ${plan.calls.map((call) => callView(visit, call, names))} ${stateView(visit, plan)}
          </form>`,
        };
      },
      save: async (visit, form) => {
        const plan = await requirePlan(visit, form);
        requirePermissions(visit, plan);
        const { planId, appId } = plan;
        const isConfirmed = readFields(BUTTON, form, visit).answer === 'confirm';
        const state = isConfirmed ? 'confirmed' : 'declined';
        await visit.inTransaction(async (call, tx) => {
          const { userId } = visit.user;
          // The proposals of an assistant end with its connection.
          const isConnected = (await findAssistant(tx, visit.shopId, appId)) !== undefined;
          const decided = await decidePlan(tx, visit.shopId, { planId, userId, state });
          if (decided === 0 || (isConfirmed && !isConnected)) throw conflict(visit.messages.plans.over);
          await recordAction(tx, visit, `/plans/:planId/${isConfirmed ? 'confirm' : 'decline'}`, {
            planId,
            appId,
          });
          if (!isConfirmed) return;
          for (const { operation, ...parts } of plan.calls)
            await call(OPERATIONS.get(operation)!, parts as never);
        });
        return new Redirect(
          `${adminPath(visit, `/plans/${planId}`)}?${form.search}`,
          visit.messages.plans[state],
        );
      },
    },
  );
}

/** The plan of this link. A plan of another shop, or a link that was changed, leads nowhere. */
async function requirePlan({ db, shopId, key }: ShopVisit, { params, query }: PageRequest): Promise<PlanRow> {
  const planId = params['planId']!;
  const plan = isId(planId) ? await findPlan(db, shopId, planId) : undefined;
  if (!plan || !isSignatureOf(key, shopId, plan, query('signature') ?? '')) throw notFound();
  return plan;
}

const scopesOfPlan = ({ calls }: PlanRow): Scope[] =>
  calls.flatMap(({ operation }) => [...scopesOf(OPERATIONS.get(operation)!.access)] as Scope[]);

const mayDecide = (visit: ShopVisit, plan: PlanRow) => scopesOfPlan(plan).every((scope) => visit.may(scope));

function requirePermissions(visit: ShopVisit, plan: PlanRow): void {
  if (mayDecide(visit, plan)) return;
  const { messages, role } = visit;
  throw forbidden(messages.layout.missingPermission({ role: messages.roles[role] }));
}

function stateView(visit: ShopVisit, plan: PlanRow): Markup {
  const messages = visit.messages.plans;
  if (plan.state !== 'open') return html`<p class="notice">${messages[plan.state]}</p>`;
  if (plan.expiresAt <= visit.db.serviceNow) return html`<p class="notice">${messages.over}</p>`;
  if (!mayDecide(visit, plan)) {
    return html`<p class="notice">
      ${visit.messages.layout.missingPermission({ role: visit.messages.roles[visit.role] })}
    </p>`;
  }
  return html`<p class="hint">${messages.until({ moment: momentText(plan.expiresAt, visit.language) })}</p>
    <div class="actions">
      <button class="main" name="answer" value="confirm">${messages.confirm}</button>
      <button name="answer" value="decline">${messages.decline}</button>
    </div>`;
}

const idsOf = ({ params }: PlannedCall): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

/** All of a call, because all of it will be done: its operation, and each value by its name in the API. */
function callView(visit: ShopVisit, call: PlannedCall, names: ThingNames): Markup {
  const { params, query, body } = call;
  const bodyValues = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : { body };
  const values = Object.entries({ ...params, ...query, ...bodyValues }).filter(
    ([, value]) => value !== undefined,
  );
  const operation = OPERATIONS.get(call.operation)!;
  return html`<h2 lang="en">${operation.summary}</h2>
    <div class="scroll">
      <table>
        <tbody>
          ${values.map(
            ([name, value]) =>
              html`<tr>
                <th scope="row"><code>${name}</code></th>
                <td>${valueView(visit, name, value, names)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

function valueView(visit: ShopVisit, name: string, value: unknown, names: ThingNames): Part {
  if (typeof value !== 'string') return html`<code>${JSON.stringify(value)}</code>`;
  const thing = names.get(value.toUpperCase());
  return thing === undefined ? value : html`<a href="${thingPath(visit, { [name]: value })}">${thing}</a>`;
}

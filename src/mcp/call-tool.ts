import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../db/database.ts';
import type { CallingApp } from '../http/callers.ts';
import { isRefusal, ValidationError } from '../http/errors.ts';
import { refusalOf } from '../http/failures.ts';
import type { Operations } from '../http/operations.ts';
import { invalidParameters, isObject, type RpcParams } from '../http/model-context.ts';
import type { RateLimiter } from '../http/rate-limit.ts';
import { Id } from '../http/schemas.ts';
import { compileBody, fieldProblemOf } from '../http/validation.ts';
import { isId } from '../kernel/ids.ts';
import { createPlan, MAX_OPEN_PLANS, PLAN_MINUTES } from './plans/plans.ts';
import { findPlan } from './plans/queries.ts';
import { shortenAnswer } from './shortened.ts';
import { CHANGE_PRICES, changesPrice, OPERATIONS, TOOLS, type Tool } from './tools.ts';

/** Who calls a tool, and where. */
export interface ToolCaller {
  shopId: string;
  /** With the scopes that the assistant and its person both have. */
  app: CallingApp;
  /** Scheme and host of the service. */
  origin: string;
  request: FastifyRequest;
}

export interface ToolDeps {
  db: Database;
  limiter: RateLimiter;
  callAs: Operations['callAs'];
  loadKey: () => Promise<Buffer>;
}

/** What became of a plan. It belongs to no operation. */
const GET_PLAN = {
  name: 'get_plan',
  title: 'Get plan',
  description: 'Whether a person has confirmed a plan that a tool answered with.',
  input: Type.Object({ planId: Id }, { additionalProperties: false }),
};

export function listTools({ scopes }: CallingApp): object[] {
  const known = TOOLS.filter((tool) => tool.scopes.every((scope) => scopes.has(scope)));
  return [...known.map(describeTool), toDefinition({ ...GET_PLAN, kind: 'reads' }, GET_PLAN.input)];
}

/** A tool as the protocol lists it. */
export const describeTool = (tool: Tool): object => toDefinition(tool, shortened(tool));

function toDefinition(
  { name, title, description, kind }: Pick<Tool, 'name' | 'title' | 'description' | 'kind'>,
  inputSchema: object,
) {
  const more = kind === 'plans' ? ' It answers a plan with a link: a person confirms it there.' : '';
  return {
    name,
    title,
    description: description + more,
    inputSchema,
    annotations: {
      title,
      readOnlyHint: kind === 'reads',
      destructiveHint: kind === 'plans',
      idempotentHint: kind === 'reads',
      openWorldHint: false,
    },
  };
}

/** In characters. An assistant reads the list of all tools before it calls one. */
const MAX_FIELD_SCHEMA = 2_000;

/** The input of a tool, with fields that are large by nature, such as the blocks of a page, described elsewhere. */
function shortened({ input, operation }: Tool): object {
  const properties = Object.entries(input.properties).map(([name, schema]) => {
    if (JSON.stringify(schema).length <= MAX_FIELD_SCHEMA) return [name, schema];
    const { type, description = '' } = schema as { type?: unknown; description?: string };
    const place = `Its form is in the resource kontor://reference/${operation}.`;
    return [name, { ...(type !== undefined && { type }), description: `${description} ${place}`.trim() }];
  });
  return { ...input, properties: Object.fromEntries(properties) };
}

interface ToolResult {
  content: { type: 'text'; text: string }[];
  isError?: true;
}

const said = (text: string): ToolResult => ({ content: [{ type: 'text', text }] });
const refused = (text: string): ToolResult => ({ ...said(text), isError: true });

/** What an operation refuses is an answer that the assistant can read; what is no call of a tool is a problem of the protocol. */
export async function callTool(params: RpcParams, caller: ToolCaller, deps: ToolDeps): Promise<ToolResult> {
  const { name, arguments: given = {} } = params;
  if (!isObject(given)) throw invalidParameters('arguments is no object');
  if (name === GET_PLAN.name) return showPlan(given, caller, deps);
  const tool = TOOLS.find((one) => one.name === name);
  if (!tool) throw invalidParameters('There is no such tool');
  const missing = tool.scopes.find((scope) => !caller.app.scopes.has(scope));
  if (missing !== undefined) return refused(`The permission ${missing} was not granted`);
  const problem = argumentProblem(tool, given);
  if (problem !== undefined) return refused(problem);
  if (await needsPerson(tool, given, caller, deps)) return plan(tool, given, caller, deps);
  return run(tool, given, caller, deps);
}

/** Why a tool can't be called with these arguments; undefined: it can. */
export function argumentProblem(tool: Tool, given: Record<string, unknown>): string | undefined {
  const problem = problemOf(tool.input, given);
  if (problem !== undefined) return problem;
  return changesPrice(tool, given) ? `Prices are changed with ${CHANGE_PRICES.name}` : undefined;
}

function problemOf(input: Tool['input'], given: object): string | undefined {
  const isValid = compileBody(input);
  if (isValid(given)) return undefined;
  const { code, field } = fieldProblemOf(isValid.errors![0]!);
  const { additionalProperty } = isValid.errors![0]!.params as { additionalProperty?: string };
  const place = additionalProperty ?? (field === '' ? 'the arguments' : field);
  return `${additionalProperty === undefined ? code : 'UNKNOWN_FIELD'} at ${place.slice(0, 200)}`;
}

/** One price after the other would change many. */
const PRICES_PER_HOUR = 10;

async function needsPerson(
  tool: Tool,
  given: Record<string, unknown>,
  { shopId, app }: ToolCaller,
  { limiter }: ToolDeps,
): Promise<boolean> {
  if (tool !== CHANGE_PRICES) return tool.kind === 'plans';
  if ((given['prices'] as unknown[]).length > 1) return true;
  const { used } = await limiter.countTry(`mcp-prices/${shopId}/${app.appId}`, PRICES_PER_HOUR);
  return used > PRICES_PER_HOUR;
}

async function run(
  tool: Tool,
  given: Record<string, unknown>,
  { request, ...caller }: ToolCaller,
  { callAs }: ToolDeps,
): Promise<ToolResult> {
  const call = callAs({ ...caller, request, joined: undefined });
  try {
    const answers: unknown[] = [];
    for (const { operation, ...parts } of tool.calls(given)) {
      answers.push(await call(OPERATIONS.get(operation)!, parts as never));
    }
    const [answer] = answers;
    return said(answer === undefined || answer === null ? 'Done.' : shortenAnswer(answer));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return refused(error instanceof ValidationError ? refusalOf(error, request).message : error.message);
  }
}

async function plan(
  tool: Tool,
  given: Record<string, unknown>,
  { shopId, origin, app }: ToolCaller,
  { db, loadKey }: ToolDeps,
): Promise<ToolResult> {
  const key = await loadKey();
  const made = await createPlan(db.ofShop(shopId), { shopId, origin, app, key }, tool, tool.calls(given));
  if (!made) {
    return refused(`${MAX_OPEN_PLANS} plans wait for a person. Ask them to answer those first`);
  }
  const { planId, link, expiresAt } = made;
  return said(
    JSON.stringify({
      planId,
      state: 'open',
      confirmAt: link,
      expiresAt: expiresAt.toISOString(),
      note: `Nothing has happened yet. Give the link to the person: it shows what will be done, once, within ${PLAN_MINUTES} minutes.`,
    }),
  );
}

async function showPlan(
  given: Record<string, unknown>,
  { shopId, app }: ToolCaller,
  { db }: ToolDeps,
): Promise<ToolResult> {
  const problem = problemOf(GET_PLAN.input, given);
  if (problem !== undefined) return refused(problem);
  const asked = String(given['planId']);
  const found = isId(asked) ? await findPlan(db.ofShop(shopId), shopId, asked) : undefined;
  if (found?.appId !== app.appId.toUpperCase()) return refused('There is no such plan');
  const { planId, tool, state, expiresAt, decidedAt } = found;
  const isOver = state === 'open' && expiresAt <= db.serviceNow;
  return said(JSON.stringify({ planId, tool, state: isOver ? 'expired' : state, decidedAt }));
}

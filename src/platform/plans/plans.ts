import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import type { Config } from '../../config.ts';
import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/**
 * Plans: named sets of limits, in a file that the operator names (PLANS_FILE). Without it there are none, and nothing
 * is read or counted for them. A limit refuses what would be added; what exists stays, also under a smaller plan.
 */

export const LIMITS = [
  'products',
  'ordersPerMonth',
  'mediaMegabytes',
  'people',
  'requestsPerHour',
  'emailsPerDay',
  'languages',
] as const;

export type LimitName = (typeof LIMITS)[number];

export const FEATURES = ['ownDomain', 'apps', 'feeds'] as const;

export type Feature = (typeof FEATURES)[number];

/** A limit that is missing does not exist; without `features`, all of them are included. */
export type HostPlan = { name: string; features?: readonly Feature[] } & { [Name in LimitName]?: number };

export interface Plans {
  /** Of shops that have none, or one that is no longer in the file; undefined: these have no limits. */
  standard: HostPlan | undefined;
  byName: ReadonlyMap<string, HostPlan>;
}

/** The file is wrong: the message names each mistake in one line. */
export class PlansProblem extends Error {
  override name = 'PlansProblem';
}

const limit = { type: 'integer', minimum: 0, maximum: 1_000_000_000 } as const;

const FILE = {
  type: 'object',
  required: ['version', 'plans'],
  additionalProperties: false,
  properties: {
    version: { const: 1 },
    default: { type: 'string' },
    plans: {
      type: 'object',
      minProperties: 1,
      maxProperties: 100,
      propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' },
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          ...Object.fromEntries(LIMITS.map((name) => [name, limit])),
          features: { type: 'array', uniqueItems: true, items: { enum: [...FEATURES] } },
        },
      },
    },
  },
} as const;

interface PlansFile {
  version: 1;
  default?: string;
  plans: Record<string, Omit<HostPlan, 'name'>>;
}

/** More is no list of plans. */
const MAX_CHARACTERS = 100_000;

/** Throws a PlansProblem that names every mistake. */
export function parsePlans(text: string, path: string): Plans {
  if (text.length > MAX_CHARACTERS) throw new PlansProblem(`${path} is too long for a file of plans.`);
  let file: unknown;
  try {
    file = parse(text, { maxAliasCount: 100 });
  } catch (error) {
    throw new PlansProblem(`${path} is not YAML: ${(error as Error).message.split('\n', 1)[0]}`, {
      cause: error,
    });
  }
  const validate = new Ajv({ allErrors: true, strict: false }).compile<PlansFile>(FILE);
  if (!validate(file)) {
    const lines = (validate.errors ?? []).map(({ instancePath, message, params }) => {
      const place = instancePath.slice(1).replaceAll('/', '.') || 'the file';
      const { additionalProperty } = params as { additionalProperty?: string };
      return `${path}: ${place} ${message}${additionalProperty === undefined ? '' : ` (${additionalProperty})`}`;
    });
    throw new PlansProblem([...new Set(lines)].slice(0, 20).join('\n'));
  }
  const byName = new Map(Object.entries(file.plans).map(([name, plan]) => [name, { name, ...plan }]));
  const standard = file.default === undefined ? undefined : byName.get(file.default);
  if (file.default !== undefined && !standard) {
    throw new PlansProblem(
      `${path}: default is ${JSON.stringify(file.default)}, which is none of the plans.`,
    );
  }
  return { standard, byName };
}

/** Each process reads the file once, when it starts. */
const readPlans = new WeakMap<Config, Plans>();

/** undefined: there are no plans. The first call reads the file, and throws a PlansProblem when it is wrong. */
export function plansOf(config: Config): Plans | undefined {
  const path = config.PLANS_FILE;
  if (path === undefined) return undefined;
  let plans = readPlans.get(config);
  if (!plans) {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      throw new PlansProblem(`PLANS_FILE cannot be read (${(error as Error).message}).`, { cause: error });
    }
    readPlans.set(config, (plans = parsePlans(text, path)));
  }
  return plans;
}

/** The plan of this name, or the default one; undefined: there are no limits. */
export function planNamed(config: Config, name: string | null): HostPlan | undefined {
  const plans = plansOf(config);
  return plans && ((name === null ? undefined : plans.byName.get(name)) ?? plans.standard);
}

/** Without plans it costs no statement. */
export async function planOfShop(db: Queries, config: Config, shopId: string): Promise<HostPlan | undefined> {
  if (config.PLANS_FILE === undefined) return undefined;
  const row = await db.one<{ plan: string | null }>(sql`select plan from shop where shop_id = ${shopId}`);
  return planNamed(config, row?.plan ?? null);
}

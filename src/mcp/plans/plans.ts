import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ShopDatabase } from '../../db/database.ts';
import { recordEntry } from '../../http/audit-entry.ts';
import type { CallingApp } from '../../http/callers.ts';
import { adminUrl } from '../../http/links.ts';
import { newId } from '../../kernel/ids.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import type { PlannedCall, Tool } from '../tools.ts';
import { countOpenPlans, deletePlansBefore, insertPlan, type PlanRow } from './queries.ts';

const MINUTE = 60_000;
export const PLAN_MINUTES = 15;
export const MAX_OPEN_PLANS = 20;

/** What an assistant tells the person: who opens the link sees what will be done, and does it or not. */
export interface Plan {
  planId: string;
  link: string;
  expiresAt: Date;
}

/** undefined: the assistant has too many plans that nobody has answered. */
export async function createPlan(
  db: ShopDatabase,
  { shopId, origin, app, key }: { shopId: string; origin: string; app: CallingApp; key: Buffer },
  tool: Tool,
  calls: PlannedCall[],
): Promise<Plan | undefined> {
  return db.transaction(
    async (tx) => {
      if ((await countOpenPlans(tx, shopId, app.appId)) >= MAX_OPEN_PLANS) return undefined;
      const planId = newId(tx.now);
      const expiresAt = new Date(tx.serviceNow.getTime() + PLAN_MINUTES * MINUTE);
      const { appId, name: appName } = app;
      await insertPlan(tx, shopId, { planId, appId, appName, tool: tool.name, calls, expiresAt });
      await recordEntry(tx, {
        shopId,
        entryId: newId(tx.now),
        at: tx.now,
        appId,
        appName,
        method: 'POST',
        route: '/mcp/plans',
        object: { planId },
      });
      const signature = planSignature(key, shopId, { planId, appId, calls, expiresAt });
      const link = adminUrl({ origin, shopId }, `/plans/${planId}?signature=${signature}`);
      return { planId, link, expiresAt };
    },
    { appId: app.appId },
  );
}

type Signed = Pick<PlanRow, 'planId' | 'appId' | 'calls' | 'expiresAt'>;

/** A link is of this plan as it was made: another shop, assistant, request or end has another signature. */
function planSignature(key: Buffer, shopId: string, { planId, appId, calls, expiresAt }: Signed): string {
  const text = JSON.stringify([shopId, planId, appId.toUpperCase(), calls, expiresAt.getTime()]);
  return createHmac('sha256', key).update(`kontor plan ${text}`).digest('base64url');
}

export function isSignatureOf(key: Buffer, shopId: string, plan: Signed, given: string): boolean {
  const expected = Buffer.from(planSignature(key, shopId, plan));
  const actual = Buffer.from(given);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

const KEPT_FOR = 30 * 24 * 60 * MINUTE;

export const planCleanup: CleanupStep = {
  name: 'plans of assistants',
  run: (db, limit) => deletePlansBefore(db, new Date(db.serviceNow.getTime() - KEPT_FOR), limit),
};

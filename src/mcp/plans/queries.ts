import type { Queries, Transaction } from '../../db/database.ts';
import { deleteOld } from '../../db/delete-old.ts';
import { sql } from '../../db/sql.ts';
import type { PlannedCall } from '../tools.ts';

export type PlanState = 'open' | 'confirmed' | 'declined';

export interface PlanRow {
  planId: string;
  appId: string;
  appName: string;
  tool: string;
  calls: PlannedCall[];
  createdAt: Date;
  expiresAt: Date;
  state: PlanState;
  userId: string | null;
  decidedAt: Date | null;
}

const columns = sql`
  upper(plan_id::text) as "planId", upper(app_id::text) as "appId", app_name as "appName", tool, calls,
  created_at as "createdAt", expires_at as "expiresAt", state, upper(user_id::text) as "userId",
  decided_at as "decidedAt"`;

export function findPlan(db: Queries, shopId: string, planId: string) {
  return db.one<PlanRow>(sql`
    select ${columns} from assistant_plan where shop_id = ${shopId} and plan_id = ${planId}`);
}

/** Plans of an assistant that somebody can still confirm. */
export async function countOpenPlans(db: Queries, shopId: string, appId: string): Promise<number> {
  const row = await db.one<{ count: number }>(sql`
    select count(*) as count from assistant_plan
    where shop_id = ${shopId} and app_id = ${appId} and state = 'open' and expires_at > ${db.serviceNow}`);
  return row!.count;
}

export function insertPlan(
  tx: Transaction,
  shopId: string,
  plan: Pick<PlanRow, 'planId' | 'appId' | 'appName' | 'tool' | 'calls' | 'expiresAt'>,
) {
  return tx.run(sql`
    insert into assistant_plan (shop_id, plan_id, app_id, app_name, tool, calls, created_at, expires_at, state)
    values (${shopId}, ${plan.planId}, ${plan.appId}, ${plan.appName}, ${plan.tool}, ${JSON.stringify(plan.calls)},
      ${tx.serviceNow}, ${plan.expiresAt}, 'open')`);
}

/** 1: nobody has answered it before, and it is in time. */
export function decidePlan(
  tx: Transaction,
  shopId: string,
  { planId, userId, state }: { planId: string; userId: string; state: Exclude<PlanState, 'open'> },
) {
  return tx.run(sql`
    update assistant_plan set state = ${state}, user_id = ${userId}, decided_at = ${tx.serviceNow}
    where shop_id = ${shopId} and plan_id = ${planId} and state = 'open' and expires_at > ${tx.serviceNow}`);
}

export const deletePlansBefore = deleteOld('assistant_plan', 'created_at', { plan_id: 'uuid' });

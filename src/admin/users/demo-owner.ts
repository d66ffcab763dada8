import type { Transaction } from '../../db/database.ts';
import { DEMO_SHOP } from '../../http/demo-mode.ts';
import { findOrCreateUser, findRole, putRole } from './queries.ts';

/** The owner of the demo shop, open to everyone on this machine. It never has a password. */
export const DEMO_OWNER = 'owner@demo.localhost';

/** The id of the demo owner, who is created on demand. */
export async function putDemoOwner(tx: Transaction): Promise<string> {
  const userId = await findOrCreateUser(tx, DEMO_OWNER);
  if (!(await findRole(tx, DEMO_SHOP, userId))) await putRole(tx, DEMO_SHOP, userId, 'owner');
  return userId;
}

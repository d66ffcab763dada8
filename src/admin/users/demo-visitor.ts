import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { DEMO_OFFICE } from '../../http/demo-mode.ts';
import { newId } from '../../kernel/ids.ts';
import { findOrCreateUser, putRole, type User } from './queries.ts';

const PREFIX = 'visitor-';
const HOST = '@demo.localhost';

/** A new user who may look at everything in the office of a demo and change nothing. It never has a password. */
export async function putDemoVisitor(tx: Transaction): Promise<Pick<User, 'userId' | 'email'>> {
  // A reset that is under way deletes the office, so it is waited for.
  await tx.one(sql`select from public_demo for share`);
  const email = `${PREFIX}${newId(tx.now).toLowerCase()}${HOST}`;
  const userId = await findOrCreateUser(tx, email);
  await putRole(tx, DEMO_OFFICE, userId, 'accountant');
  return { userId, email };
}

/** Their sessions end with them. */
export function deleteDemoVisitors(tx: Transaction) {
  return tx.run(sql`
    delete from admin_user where starts_with(email, ${PREFIX}) and right(email, ${HOST.length}) = ${HOST}`);
}

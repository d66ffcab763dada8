import type { Queries } from '../../db/database.ts';
import { permissionsOf, type Permission } from './permissions.ts';
import { findRole } from './queries.ts';

/** What the role of a user allows in a shop now; undefined: they do not work there. */
export async function permissionsOfUser(
  db: Queries,
  shopId: string,
  userId: string,
): Promise<ReadonlySet<Permission> | undefined> {
  const role = await findRole(db, shopId, userId);
  return role && permissionsOf(role);
}

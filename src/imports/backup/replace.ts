import { limitManifests } from '../../apps/manifest/limit.ts';
import { findAgreedAndOffered } from '../../apps/manifest/queries.ts';
import { deleteOtherAccess, findAccess } from '../../apps/queries.ts';
import type { Transaction } from '../../db/database.ts';
import { catalogueSql, sql } from '../../db/sql.ts';
import { quoted } from '../../platform/backup/tables.ts';
import { deleteShop, updateDeletion, updateEmailFreeze, updatePlan } from '../../shops/shop/queries.ts';

/**
 * What stays of a shop that a backup of itself replaces: who works in it, what was entered in this installation only, what is
 * counted for its bills, and its whole audit log. Everything else is what it was in the backup.
 */
const KEPT_TABLES = [
  'assistant_key',
  'audit_entry',
  'dkim_key',
  'email_problem',
  'email_relay',
  'review_objection',
  'saved_view',
  'shop_day',
  'shop_user',
  'transport_account',
] as const;

/** What the host has decided about the shop, and the domains that are proved for it. */
export interface ReplacedShop {
  plan: string | null;
  deletionAt: Date | null;
  emailsFrozen: string | null;
  domains: string[];
  access: Awaited<ReturnType<typeof findAccess>>;
  manifests: Awaited<ReturnType<typeof findAgreedAndOffered>>;
}

const keptName = (table: string) => quoted(`kept_${table}`);

/** Deletes the shop. What stays waits in tables of this transaction. undefined: there is no such shop. */
export async function takeOutShop(tx: Transaction, shopId: string): Promise<ReplacedShop | undefined> {
  const shop = await tx.one<Omit<ReplacedShop, 'access' | 'manifests'>>(sql`
    select plan, deletion_at as "deletionAt", emails_frozen_reason as "emailsFrozen", array(
        select host from shop_domain where shop_domain.shop_id = ${shopId} order by position
      ) as domains
    from shop where shop_id = ${shopId} for update`);
  if (!shop) return undefined;
  const access = await findAccess(tx, shopId);
  const manifests = await findAgreedAndOffered(tx, shopId);
  for (const table of KEPT_TABLES) {
    await tx.run(
      catalogueSql([
        `create temporary table ${keptName(table)} (like ${quoted(table)} including generated) on commit drop`,
      ]),
    );
    await tx.run(
      catalogueSql(
        [`insert into ${keptName(table)} select * from ${quoted(table)} where shop_id = `, ''],
        [shopId],
      ),
    );
  }
  await deleteShop(tx, shopId);
  return { ...shop, access, manifests };
}

/** Puts what stays beside the rows of the backup. */
export async function putBack(
  tx: Transaction,
  shopId: string,
  { plan, deletionAt, emailsFrozen, access, manifests }: ReplacedShop,
): Promise<void> {
  for (const table of KEPT_TABLES) {
    await tx.run(
      catalogueSql(
        [
          `insert into ${quoted(table)} select * from ${keptName(table)} where shop_id = `,
          ' on conflict do nothing',
        ],
        [shopId],
      ),
    );
  }
  // Tokens and apps that were revoked or removed since, and scopes that an app has lost, do not come back with the backup.
  await deleteOtherAccess(tx, shopId, access);
  await limitManifests(tx, shopId, manifests);
  await updatePlan(tx, shopId, plan);
  await updateDeletion(tx, shopId, deletionAt);
  await updateEmailFreeze(tx, shopId, emailsFrozen);
}

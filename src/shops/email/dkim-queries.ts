import type { Queries, Transaction } from '../../db/database.ts';
import { leaseEnd } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';

export const DKIM_RECORDS = ['found', 'missing', 'other', 'unknown'] as const;
/** The text found in place of the record. */
export type DkimRecordState = (typeof DKIM_RECORDS)[number];

/** A key that signs emails, or will, without its private part. */
export interface DkimKey {
  selector: string;
  domain: string;
  publicKey: string;
  createdAt: Date;
  /** null: nothing is signed with it. */
  seenAt: Date | null;
  checkedAt: Date | null;
  found: DkimRecordState | null;
}

/** At most two: one that signs, and its successor. */
export function findDkimKeys(db: Queries, shopId: string) {
  return db.many<DkimKey>(sql`
    select selector, domain, public_key as "publicKey", created_at as "createdAt", seen_at as "seenAt",
      checked_at as "checkedAt", found
    from dkim_key where shop_id = ${shopId} order by created_at, selector`);
}

/** A successor takes the place of one whose record was never found. */
export async function insertDkimKey(
  tx: Transaction,
  shopId: string,
  {
    selector,
    domain,
    publicKey,
    sealed,
  }: Pick<DkimKey, 'selector' | 'domain' | 'publicKey'> & { sealed: Buffer },
): Promise<void> {
  await tx.run(sql`select from shop where shop_id = ${shopId} for no key update`);
  await tx.run(sql`delete from dkim_key where shop_id = ${shopId} and seen_at is null`);
  await tx.run(sql`
    insert into dkim_key (shop_id, selector, domain, public_key, private_sealed, created_at, due_at)
    values (${shopId}, ${selector}, ${domain}, ${publicKey}, ${sealed}, ${tx.now}, ${tx.now})`);
}

export function deleteDkimKeys(tx: Transaction, shopId: string) {
  return tx.run(sql`delete from dkim_key where shop_id = ${shopId}`);
}

export interface DueDkimKey {
  shopId: string;
  selector: string;
}

export function findDueDkimKeys(db: Queries, limit: number) {
  return db.many<DueDkimKey>(sql`
    select shop_id as "shopId", selector from dkim_key where due_at <= ${db.now} order by due_at limit ${limit}`);
}

/** Of two processes one gets it: the other finds the new `due_at`. false: another one has it. */
export async function takeDkimKey(db: Queries, { shopId, selector }: DueDkimKey): Promise<boolean> {
  const taken = await db.run(sql`
    update dkim_key set due_at = ${leaseEnd(db.now)}
    where shop_id = ${shopId} and selector = ${selector} and due_at <= ${db.now}`);
  return taken > 0;
}

const DAY = 86_400_000;
const MINUTE = 60_000;

/**
 * Records what was found. Without an answer of the name servers, what was known stays. A key whose record stands takes
 * the place of the older ones. It is checked again a day later when it stands, else after pauses that double.
 */
export async function recordDkimCheck(
  tx: Transaction,
  shopId: string,
  selector: string,
  { found, mayBeUsed }: { found: DkimRecordState; mayBeUsed: boolean },
): Promise<void> {
  const stands = found === 'found' && mayBeUsed;
  await tx.run(sql`
    update dkim_key
    set found = ${found}, checked_at = ${tx.now},
      seen_at = case when ${stands} then coalesce(seen_at, ${tx.now}::timestamptz)
        when ${found === 'unknown'} then seen_at end,
      attempts = case when ${stands} then 0 else least(attempts + 1, 1000) end,
      due_at = ${tx.now}::timestamptz + case when ${stands} then ${DAY}::bigint
        else least(${DAY}::bigint, ${MINUTE}::bigint * (1 << least(attempts, 11))) end * interval '1 millisecond'
    where shop_id = ${shopId} and selector = ${selector}`);
  if (!stands) return;
  await tx.run(sql`
    delete from dkim_key older using dkim_key newer
    where older.shop_id = ${shopId} and newer.shop_id = ${shopId} and newer.selector = ${selector}
      and older.created_at < newer.created_at`);
}

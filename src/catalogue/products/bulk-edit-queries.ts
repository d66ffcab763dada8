import type { Queries, Transaction } from '../../db/database.ts';
import { leaseEnd } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import type { CleanupStep } from '../../platform/cleanup.ts';
import type { BulkAction, BulkProblem, EditedProduct, EditedValue, EditTarget } from './bulk-edit.ts';
import type { Localised } from '../../http/locale.ts';
import type { ProductKind } from './facts.ts';
import { storedColumns, type StoredProduct } from './queries.ts';

export type BulkState = 'running' | 'done' | 'undoing' | 'undone' | 'failed';

export interface BulkEdit {
  editId: string;
  createdAt: Date;
  author: string;
  action: BulkAction;
  state: BulkState;
  items: number;
  itemsDone: number;
  changed: number;
  refused: number;
  undone: number;
  kept: number;
  error: string | null;
}

const columns = sql`
  upper(edit_id::text) as "editId", created_at as "createdAt", author, action, state, items, items_done as "itemsDone",
  changed, refused, undone, kept, error`;

/** So long an edit can be undone. */
export const UNDO_TIME = 86_400_000;
const SHOWN_EDITS = 10;

export function findBulkEdits(db: Queries, shopId: string) {
  return db.many<BulkEdit>(sql`
    select ${columns} from bulk_edit where shop_id = ${shopId} order by edit_id desc limit ${SHOWN_EDITS}`);
}

export function findBulkEdit(db: Queries, shopId: string, editId: string) {
  return db.one<BulkEdit>(sql`
    select ${columns} from bulk_edit where shop_id = ${shopId} and edit_id = ${editId}`);
}

/** Edits of a shop that wait or run at the same time. */
const MAX_RUNNING = 5;

/** Whether another edit has to wait until one of them has ended. */
export async function hasManyRunningEdits(tx: Transaction, shopId: string): Promise<boolean> {
  const row = await tx.one<{ count: number }>(sql`
    select count(*) as count from bulk_edit where shop_id = ${shopId} and run_at is not null`);
  return row!.count >= MAX_RUNNING;
}

const INSERTED_AT_ONCE = 2_000;

/** Returns its id. */
export async function insertBulkEdit(
  tx: Transaction,
  shopId: string,
  { author, action, productIds }: { author: string; action: BulkAction; productIds: readonly string[] },
): Promise<string> {
  const editId = newId(tx.now);
  await tx.run(sql`
    insert into bulk_edit (shop_id, edit_id, created_at, author, action, state, items, items_done, changed, refused,
      undone, kept, run_at, attempts)
    values (${shopId}, ${editId}, ${tx.now}, ${author}, ${JSON.stringify(action)}::jsonb, 'running',
      ${productIds.length}, 0, 0, 0, 0, 0, ${tx.serviceNow}, 0)`);
  for (let first = 0; first < productIds.length; first += INSERTED_AT_ONCE) {
    const part = productIds.slice(first, first + INSERTED_AT_ONCE);
    await tx.run(sql`
      insert into bulk_edit_item (shop_id, edit_id, position, product_id, state)
      select shop.shop_id, ${editId}::uuid, ${first} + item.place, item.id, 'waiting'
      from shop cross join unnest(${part}::uuid[]) with ordinality as item (id, place)
      where shop.shop_id = ${shopId}`);
  }
  return editId;
}

/** Starts to undo an edit. false: it is not done, or too old. */
export async function startUndo(tx: Transaction, shopId: string, editId: string): Promise<boolean> {
  const started = await tx.run(sql`
    update bulk_edit set state = 'undoing', run_at = ${tx.serviceNow}, attempts = 0
    where shop_id = ${shopId} and edit_id = ${editId} and state = 'done' and changed > 0
      and created_at > ${new Date(tx.now.getTime() - UNDO_TIME)}`);
  return started > 0;
}

/** A product of an edit as a preview shows it. */
export interface TargetProduct extends EditedProduct {
  productId: string;
  productNumber: string;
  kind: ProductKind;
  name: Localised | null;
}

const NO_CATEGORY = '00000000-0000-0000-0000-000000000000';

/** What an edit of these products of the list changes: the products themselves, or their variations, or both. */
export function findTargets(
  db: Queries,
  shopId: string,
  productIds: readonly string[],
  { target, categoryId = NO_CATEGORY }: { target: EditTarget; categoryId?: string | undefined },
) {
  return db.many<TargetProduct>(sql`
    select upper(product.product_id::text) as "productId", product.product_number as "productNumber", product.kind,
      coalesce(product.facts -> 'name', master.facts -> 'name') as name, product.visible,
      product.stock::float8 as stock, product.prices, (
        select position from product_category
        where product_category.shop_id = ${shopId} and product_category.product_id = product.product_id
          and product_category.category_id = ${categoryId}
      ) as place
    from unnest(${productIds}::uuid[]) with ordinality as chosen (id, number)
    cross join lateral (
      select * from product where product.shop_id = ${shopId} and product.product_id = chosen.id
      union all
      select * from product where product.shop_id = ${shopId} and product.master_id = chosen.id
    ) product
    left join product master on master.shop_id = ${shopId} and master.product_id = product.master_id
    where case ${target} when 'listed' then product.kind <> 'variation' when 'stock' then product.kind <> 'master'
      else product.kind = 'regular' or product.prices is not null end
    order by chosen.number, product.product_id`);
}

export interface TakenEdit extends BulkEdit {
  attempts: number;
}

export function findDueEdit(db: Queries) {
  return db.one<{ shopId: string; editId: string }>(sql`
    select shop_id as "shopId", edit_id as "editId" from bulk_edit
    where run_at <= ${db.now} order by run_at limit 1`);
}

/** undefined: another process was faster. */
export function takeEdit(db: Queries, shopId: string, editId: string) {
  return db.one<TakenEdit>(sql`
    update bulk_edit set run_at = ${leaseEnd(db.now)}, attempts = attempts + 1
    where shop_id = ${shopId} and edit_id = ${editId} and run_at <= ${db.now}
    returning ${columns}, attempts`);
}

/** Keeps other processes from taking the edit until the transaction ends. false: one of them has taken it. */
export async function lockEdit(
  tx: Transaction,
  shopId: string,
  { editId, attempts }: Pick<TakenEdit, 'editId' | 'attempts'>,
): Promise<boolean> {
  const edit = await tx.one(sql`
    select from bulk_edit
    where shop_id = ${shopId} and edit_id = ${editId} and attempts = ${attempts} for no key update`);
  return edit !== undefined;
}

export interface EditItem {
  position: number;
  productId: string;
  before: EditedValue;
  after: EditedValue;
}

/** The next items in this state. */
export function findItems(
  tx: Transaction,
  shopId: string,
  editId: string,
  { state, limit }: { state: 'waiting' | 'changed'; limit: number },
) {
  return tx.many<EditItem>(sql`
    select position, upper(product_id::text) as "productId", before, after from bulk_edit_item
    where shop_id = ${shopId} and edit_id = ${editId} and state = ${state} order by position limit ${limit}`);
}

export type ItemState = 'changed' | 'unchanged' | 'refused' | 'undone' | 'kept';

export interface ItemResult {
  position: number;
  state: ItemState;
  before?: EditedValue;
  after?: EditedValue;
  problem?: BulkProblem;
}

/** Writes what has become of some items, with the counts. The edit is locked. */
export async function saveResults(
  tx: Transaction,
  shopId: string,
  { editId }: Pick<TakenEdit, 'editId'>,
  results: readonly ItemResult[],
): Promise<void> {
  const count = (state: ItemState) => results.filter((result) => result.state === state).length;
  const isUndone = count('undone') + count('kept') > 0;
  await tx.run(sql`
    update bulk_edit set items_done = items_done + ${isUndone ? 0 : results.length},
      changed = changed + ${count('changed')}, refused = refused + ${count('refused')},
      undone = undone + ${count('undone')}, kept = kept + ${count('kept')}, run_at = ${leaseEnd(tx.serviceNow)}
    where shop_id = ${shopId} and edit_id = ${editId}`);
  await tx.run(sql`
    update bulk_edit_item set state = result.state, before = coalesce(result.before, bulk_edit_item.before),
      after = coalesce(result.after, bulk_edit_item.after), problem = result.problem
    from jsonb_to_recordset(${JSON.stringify(results)}) as result (position integer, state text, before jsonb,
      after jsonb, problem text)
    where bulk_edit_item.shop_id = ${shopId} and bulk_edit_item.edit_id = ${editId}
      and bulk_edit_item.position = result.position`);
}

/** Ends the edit, or its undoing. */
export function endEdit(
  tx: Transaction,
  shopId: string,
  { editId, attempts }: Pick<TakenEdit, 'editId' | 'attempts'>,
  { state, error = null }: { state: BulkState; error?: string | null },
) {
  return tx.run(sql`
    update bulk_edit set state = ${state}, run_at = null, error = ${error?.slice(0, 2_000) ?? null}
    where shop_id = ${shopId} and edit_id = ${editId} and attempts = ${attempts}`);
}

/** Lets the next process continue at once. */
export function releaseEdit(tx: Transaction, shopId: string, { editId, attempts }: TakenEdit) {
  return tx.run(sql`
    update bulk_edit set run_at = ${tx.serviceNow}
    where shop_id = ${shopId} and edit_id = ${editId} and attempts = ${attempts}`);
}

/** Locks products in a fixed order. Those that no longer exist are missing. */
export function lockEditedProducts(
  tx: Transaction,
  shopId: string,
  productIds: readonly string[],
  categoryId: string = NO_CATEGORY,
) {
  return tx.many<StoredProduct & { place: number | null }>(sql`
    select ${storedColumns}, (
        select position from product_category
        where product_category.shop_id = ${shopId} and product_category.product_id = product.product_id
          and product_category.category_id = ${categoryId}
      ) as place
    from product
    where product.shop_id = ${shopId} and product.product_id = any (${productIds}::uuid[])
    order by product.product_id for update`);
}

/** Puts products back to their places in a category. */
export function restorePlaces(
  tx: Transaction,
  shopId: string,
  categoryId: string,
  places: readonly { productId: string; place: number }[],
) {
  return tx.run(sql`
    update product_category set position = given.place
    from jsonb_to_recordset(${JSON.stringify(places)}) as given ("productId" uuid, place bigint)
    where product_category.shop_id = ${shopId} and product_category.category_id = ${categoryId}
      and product_category.product_id = given."productId"`);
}

export interface ListedItem {
  productId: string;
  productNumber: string | null;
  problem: BulkProblem | null;
}

export const SHOWN_ITEMS = 100;

/** The first products that were refused, or kept. */
export function findItemsInState(db: Queries, shopId: string, editId: string, state: 'refused' | 'kept') {
  return db.many<ListedItem>(sql`
    select upper(item.product_id::text) as "productId", (
        select product_number from product where product.shop_id = ${shopId} and product.product_id = item.product_id
      ) as "productNumber", problem
    from bulk_edit_item item
    where item.shop_id = ${shopId} and item.edit_id = ${editId} and item.state = ${state}
    order by position limit ${SHOWN_ITEMS}`);
}

const KEPT_TIME = 30 * 86_400_000;

/** An id starts with its creation time. */
export const bulkEditCleanup: CleanupStep = {
  name: 'bulk edits',
  run: async (db, limit) => {
    const before = newId(new Date(db.now.getTime() - KEPT_TIME));
    const old = await db.many<{ shopId: string; editId: string }>(sql`
      select shop_id as "shopId", edit_id as "editId" from bulk_edit
      where edit_id < ${before} and run_at is null limit ${limit}`);
    for (const { shopId, editId } of old) {
      await db.run(sql`delete from bulk_edit where shop_id = ${shopId} and edit_id = ${editId}`);
    }
    return old.length;
  },
};

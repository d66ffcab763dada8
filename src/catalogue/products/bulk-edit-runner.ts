import type { FastifyBaseLogger } from 'fastify';
import type { Database, Transaction } from '../../db/database.ts';
import { deleteAssignmentRows, insertAssignments, lockCategories } from '../categories/queries.ts';
import {
  editedValue,
  isSameValue,
  valueOf,
  withValue,
  type BulkAction,
  type EditedProduct,
  type EditedValue,
} from './bulk-edit.ts';
import {
  endEdit,
  findDueEdit,
  findItems,
  lockEdit,
  lockEditedProducts,
  releaseEdit,
  restorePlaces,
  saveResults,
  takeEdit,
  type EditItem,
  type ItemResult,
  type TakenEdit,
} from './bulk-edit-queries.ts';
import { refreshListing } from './listing.ts';
import { touchProducts } from './product-events.ts';
import type { StoredProduct } from './queries.ts';
import { saveProduct } from './save-product.ts';

/** An edit that fails this often as a whole is itself the cause. */
const MAX_ATTEMPTS = 5;
/** Products of one transaction: orders for them wait for it, so they are few. */
const AT_ONCE = 20;

/** Runs the edits of products that are due, and their undoing, one after the other. */
export async function runDueEdits(
  { db, log }: { db: Database; log: FastifyBaseLogger },
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  while (!signal.aborted) {
    const due = await findDueEdit(db);
    if (!due) return;
    const taken = await takeEdit(db, due.shopId, due.editId);
    if (taken) await runEdit(db.atClockOf(due.shopId), log, due.shopId, taken, signal);
  }
}

/**
 * Each piece is one transaction that changes some products and says so in their items. A process that dies leaves whole
 * pieces behind, and the next one goes on with those that still wait.
 */
async function runEdit(
  db: Database,
  log: FastifyBaseLogger,
  shopId: string,
  taken: TakenEdit,
  signal: AbortSignal,
): Promise<void> {
  try {
    while (!signal.aborted) {
      const rest = await db.transaction((tx) => runPiece(tx, shopId, taken));
      if (rest === 'over' || rest === 'lost') return;
    }
    await db.transaction((tx) => releaseEdit(tx, shopId, taken));
  } catch (error) {
    log.warn({ err: error, shopId }, 'a bulk edit of products failed');
    // Otherwise it is taken again after the lease has expired.
    if (taken.attempts < MAX_ATTEMPTS) return;
    const { message } = error as Error;
    await db.transaction((tx) => endEdit(tx, shopId, taken, { state: 'failed', error: message }));
  }
}

async function runPiece(
  tx: Transaction,
  shopId: string,
  taken: TakenEdit,
): Promise<'more' | 'over' | 'lost'> {
  const isUndo = taken.state === 'undoing';
  const { editId, action } = taken;
  // Before anything is changed: a process whose lease has expired must not change what the next one changes too.
  if (!(await lockEdit(tx, shopId, taken))) return 'lost';
  const items = await findItems(tx, shopId, editId, {
    state: isUndo ? 'changed' : 'waiting',
    limit: AT_ONCE,
  });
  if (items.length === 0) {
    await endEdit(tx, shopId, taken, { state: isUndo ? 'undone' : 'done' });
    return 'over';
  }
  const categoryId = 'categoryId' in action ? action.categoryId : undefined;
  // First, because categories are always locked before products.
  const hasCategory = categoryId === undefined || (await lockCategories(tx, shopId, [categoryId])) > 0;
  const locked = await lockEditedProducts(
    tx,
    shopId,
    items.map(({ productId }) => productId),
    categoryId,
  );
  const products = new Map(hasCategory ? locked.map((product) => [product.productId, product]) : []);
  const decide = isUndo ? undoneItem : editedItem;
  const decided = items.map((item) => decide(action, item, products.get(item.productId)));
  const results = await save(tx, shopId, action, products, decided);
  await saveResults(tx, shopId, taken, results);
  return 'more';
}

/** A decision on an item; with a value, the product gets it. */
interface Decision extends ItemResult {
  productId: string;
  value?: EditedValue;
}

function editedItem(
  action: BulkAction,
  { position, productId }: EditItem,
  product: EditedProduct | undefined,
): Decision {
  if (!product) return { position, productId, state: 'refused', problem: 'gone' };
  const edited = editedValue(action, product);
  if ('problem' in edited) return { position, productId, state: 'refused', problem: edited.problem };
  const before = valueOf(action, product);
  if (isSameValue(before, edited.value)) return { position, productId, state: 'unchanged' };
  return { position, productId, state: 'changed', before, after: edited.value, value: edited.value };
}

/** A product that somebody has changed since keeps its value. */
function undoneItem(
  action: BulkAction,
  { position, productId, before, after }: EditItem,
  product: EditedProduct | undefined,
): Decision {
  const isKept = !product || !isSameValue(valueOf(action, product), after);
  return isKept
    ? { position, productId, state: 'kept' }
    : { position, productId, state: 'undone', value: before };
}

/** Writes the decided values. Returns the results, with the places that products got in a category. */
async function save(
  tx: Transaction,
  shopId: string,
  action: BulkAction,
  products: ReadonlyMap<string, StoredProduct & EditedProduct>,
  decided: readonly Decision[],
): Promise<ItemResult[]> {
  const changed = decided.filter(({ value }) => value !== undefined);
  const places = 'categoryId' in action ? await assign(tx, shopId, action.categoryId, changed) : new Map();
  if (!('categoryId' in action)) {
    for (const { productId, value } of changed) {
      const { place: _place, ...product } = products.get(productId)!;
      await saveProduct(tx, shopId, product, withValue(action, product, value!));
    }
  }
  return decided.map(({ productId, value: _value, ...result }) => ({
    ...result,
    ...(result.state === 'changed' && places.has(productId) && { after: places.get(productId)! }),
  }));
}

/** Puts products into a category or takes them out. Returns the new places. */
async function assign(
  tx: Transaction,
  shopId: string,
  categoryId: string,
  changed: readonly Decision[],
): Promise<Map<string, EditedValue>> {
  if (changed.length === 0) return new Map();
  const ids = changed.map(({ productId }) => productId);
  const added = changed.filter(({ value }) => value !== null);
  const removed = changed.filter(({ value }) => value === null);
  if (added.length > 0) {
    const addedIds = added.map(({ productId }) => productId);
    await insertAssignments(tx, shopId, [categoryId], addedIds);
    // One that was taken out gets its place back, because the first category of a product is its main one.
    const back = added.flatMap(({ productId, state, value }) =>
      state === 'undone' ? [{ productId, place: value as number }] : [],
    );
    if (back.length > 0) await restorePlaces(tx, shopId, categoryId, back);
  }
  if (removed.length > 0) {
    await deleteAssignmentRows(
      tx,
      shopId,
      [categoryId],
      removed.map(({ productId }) => productId),
    );
  }
  await touchProducts(tx, shopId, ids, ['categories']);
  await refreshListing(tx, shopId, ids);
  const now = await lockEditedProducts(tx, shopId, ids, categoryId);
  return new Map(now.map(({ productId, place }) => [productId, place]));
}

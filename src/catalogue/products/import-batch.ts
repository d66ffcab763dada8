import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { facetFields } from '../../fields/facets.ts';
import { findLengthsOfOthers, replaceProductValues, type FieldOwner } from '../../fields/queries.ts';
import type { StoredValue } from '../../fields/value.ts';
import { MAX_LENGTH_OF_ALL } from '../../fields/values.ts';
import { newPauses } from '../../http/pauses.ts';
import { newId } from '../../kernel/ids.ts';
import { moveSettingsVersion } from '../../shops/shop/queries.ts';
import type { CustomField, Settings } from '../../shops/settings/settings.ts';
import { queueAvailabilityNotifications } from './availability-notifications.ts';
import {
  createPaths,
  findAssignedPaths,
  findCategoryTree,
  missingPaths,
  readPaths,
  replaceAssignments,
  type CategoryPaths,
} from './category-paths.ts';
import { findFileFields, storedFields } from './csv-fields.ts';
import { mergedDimensions } from './combinations.ts';
import type { FileProduct } from './csv-columns.ts';
import type { FileColumn } from './csv-mapping.ts';
import { plainNumber, type DecimalSign } from './decimal-comma.ts';
import type { Prices } from './facts.ts';
import { refreshListing } from './listing.ts';
import { recordPrices, type PriceChange } from './price-history.ts';
import {
  changedFields,
  recordChangedProducts,
  recordCreatedProducts,
  recordStockEvents,
} from './product-events.ts';
import { storedColumns, type StoredProduct } from './queries.ts';
import { CellProblem, rowProblem, tooLong, type RowProblem } from './row-problem.ts';
import { assignStock, queueNotices } from './backorder-queue.ts';
import { refreshStockOfBundles } from './bundle-stock.ts';
import { isBackInStock } from './orderable.ts';
import { areWordsSame, saveBundle, isListedChange, refreshBundlesOf } from './save-product.ts';

/** A row of a product file, with its identifying data. */
export interface ImportRow {
  line: number;
  cells: string[];
  number: string;
  master: string;
}

/** How the rows of a file are read. */
export interface RowReading {
  columns: readonly FileColumn[];
  decimalSign: DecimalSign;
  /** Whether new products are shown in the shop. */
  visible: boolean;
}

/** The results of some rows. */
export interface BatchReport {
  created: number;
  changed: number;
  unchanged: number;
  problems: RowProblem[];
}

/** The planned changes of a batch; nothing is written yet. */
export interface BatchPlan extends BatchReport {
  changes: Change[];
  masters: ReadonlyMap<string, StoredProduct>;
  types: Map<string, string>;
  tree: CategoryPaths | undefined;
  /** Custom fields that the file has. */
  fields: readonly CustomField[];
}

/**
 * Reads the products of the rows, and decides on the changes. `promised` are masters that a real import would have
 * created before: a check has not created them.
 */
export async function planRows(
  tx: Transaction,
  settings: Settings,
  reading: RowReading,
  rows: readonly ImportRow[],
  promised: Pick<ReadonlySet<string>, 'has'> = new Set(),
): Promise<BatchPlan> {
  const { shopId } = settings;
  const { columns, visible } = reading;
  const masters = await lockByNumber(
    tx,
    shopId,
    rows.flatMap(({ master }) => (master === '' ? [] : [master])),
  );
  const known = await lockByNumber(
    tx,
    shopId,
    rows.map(({ number }) => number),
  );
  const tree = columns.some(({ column }) => column.key === 'Categories')
    ? await findCategoryTree(tx, shopId, settings.defaultLocale)
    : undefined;
  const paths = tree ? await findAssignedPaths(tx, shopId, tree, known.values()) : new Map<string, string>();
  const fields = [...new Set(columns.flatMap(({ column }) => column.fields ?? []))];
  const ids = [...known.values()].map(({ productId }) => productId);
  const values = await findFileFields(tx, shopId, ids, fields);
  const otherLengths = await findLengthsOfOthers(
    tx,
    shopId,
    ids,
    fields.map(({ fieldId }) => fieldId),
  );
  const aliases = new Map(settings.productTypes.map((type) => [type.productTypeId, type.alias]));
  const plan: BatchPlan = {
    created: 0,
    changed: 0,
    unchanged: 0,
    problems: [],
    changes: [],
    masters,
    types: new Map(settings.productTypes.map((type) => [type.alias, type.productTypeId])),
    tree,
    fields,
  };

  const pause = newPauses();
  for (const row of rows) {
    await pause();
    try {
      const stored = known.get(row.number);
      const master = row.master === '' ? undefined : masters.get(row.master);
      checkMaster(row, stored, master, promised);
      const start = stored ?? newRow(tx, row, visible, master);
      const given = fileProduct(start, row.master, master, aliases, paths, values);
      const after = withCells(given, row, reading);
      const before = stored ? given : null;
      checkFieldsLength(before, after, otherLengths.get(after.productId) ?? 0, row);
      if (before && isSame(before, after)) plan.unchanged++;
      else plan.changes.push({ before, after });
    } catch (error) {
      if (!(error instanceof RowRefusal)) throw error;
      plan.problems.push(rowProblem(row.line, error.column, error.problem, error.cell));
    }
  }
  plan.created = plan.changes.filter(({ before }) => !before).length;
  plan.changed = plan.changes.length - plan.created;
  return plan;
}

/** Writes the plan, with everything that follows from it. */
export async function savePlan(tx: Transaction, settings: Settings, plan: BatchPlan): Promise<void> {
  await ensureTypes(tx, settings.shopId, settings, plan.changes, plan.types);
  await save(tx, settings, plan);
}

/** The categories that the rows name and the shop lacks. */
export async function newCategories({ tree, changes }: BatchPlan): Promise<string[]> {
  if (!tree) return [];
  const pause = newPauses();
  const missing = new Map<string, string>();
  for (const { after } of changes) {
    await pause();
    for (const path of missingPaths(tree, readPaths(after.categories))) {
      const key = path.toLowerCase();
      if (!missing.has(key)) missing.set(key, path);
    }
  }
  return [...missing.values()];
}

function checkMaster(
  row: ImportRow,
  stored: StoredProduct | undefined,
  master: StoredProduct | undefined,
  promised: Pick<ReadonlySet<string>, 'has'>,
): void {
  const refuse = (problem: CellProblem) => new RowRefusal('SuperProduct', problem, row.master);
  if (row.master !== '' && !master && !promised.has(row.master)) {
    throw refuse(new CellProblem('masterUnknown', `${row.master} is unknown`));
  }
  if (master?.kind === 'variation') {
    throw refuse(new CellProblem('masterIsVariation', `${row.master} is a variation itself`));
  }
  if (stored && (stored.masterId ?? undefined) !== master?.productId) {
    throw refuse(new CellProblem('otherMaster', 'is another than that of the product'));
  }
}

/** All values of a product have a limit together. */
function checkFieldsLength(
  before: FileProduct | null,
  after: FileProduct,
  otherLength: number,
  row: ImportRow,
): void {
  if (!hasOtherFields({ before, after })) return;
  if (otherLength + JSON.stringify(after.fields).length <= MAX_LENGTH_OF_ALL) return;
  const problem = new CellProblem(
    'fieldsTooLong',
    `The custom fields have more than ${MAX_LENGTH_OF_ALL} characters together`,
    { most: MAX_LENGTH_OF_ALL },
  );
  throw new RowRefusal(null, problem, row.number);
}

/** Why a row is refused. */
class RowRefusal extends Error {
  override name = 'RowRefusal';
  readonly column: string | null;
  readonly problem: CellProblem;
  readonly cell: string;

  constructor(column: string | null, problem: CellProblem, cell: string) {
    super(problem.message);
    this.column = column;
    this.problem = problem;
    this.cell = cell;
  }
}

function fileProduct(
  stored: StoredProduct,
  masterNumber: string,
  master: StoredProduct | undefined,
  aliases: ReadonlyMap<string, string>,
  paths: ReadonlyMap<string, string>,
  values: ReadonlyMap<string, FileProduct['fields']>,
): FileProduct {
  const typeId = master ? master.productTypeId : stored.productTypeId;
  return {
    // By name: copying a row of the database with `...` takes ten times as long.
    productId: stored.productId,
    productNumber: stored.productNumber,
    kind: stored.kind,
    masterId: stored.masterId,
    selection: stored.selection,
    visible: stored.visible,
    stock: stored.stock,
    minStock: stored.minStock,
    taxClassId: stored.taxClassId,
    productTypeId: stored.productTypeId,
    prices: stored.prices,
    mainImage: stored.mainImage,
    facts: stored.facts,
    class: aliases.get(typeId ?? '') ?? 'Default',
    masterNumber,
    categories: paths.get(stored.productId) ?? '',
    images: '',
    imageTexts: [],
    fields: values.get(stored.productId) ?? {},
  };
}

/** A new variation of the file: the file lacks its values, so its number identifies it. */
function newRow(
  tx: Transaction,
  { number }: ImportRow,
  visible: boolean,
  master: StoredProduct | undefined,
): StoredProduct {
  const refuse = (problem: CellProblem) => new RowRefusal('Alias', problem, number);
  if (number.length > MAX_NUMBER) throw refuse(tooLong(MAX_NUMBER));
  if (CONTROL.test(number)) throw refuse(new CellProblem('controlCharacters', 'holds control characters'));
  return {
    productId: newId(tx.now),
    productNumber: number,
    kind: master ? 'variation' : 'regular',
    masterId: master?.productId ?? null,
    selection: master ? { [SELECTED_BY]: number } : null,
    visible,
    stock: null,
    minStock: null,
    taxClassId: null,
    productTypeId: null,
    prices: null,
    mainImage: null,
    facts: {},
  };
}

const MAX_NUMBER = 100;
const SELECTED_BY = 'Variation';
const CONTROL = /\p{Cc}/u;

/** `withCells` returns the product itself where no cell was applied, as in most rows of a file that comes every night. */
const isSame = (before: FileProduct, after: FileProduct) =>
  before === after || JSON.stringify(before) === JSON.stringify(after);

/** The product with the cells of the row. Cells equal to its values are skipped. */
function withCells(
  given: FileProduct,
  { cells }: ImportRow,
  { columns, decimalSign }: RowReading,
): FileProduct {
  let product = given;
  for (const { column, place } of columns) {
    const written = cells[place] ?? '';
    const present = column.cell(product);
    if (written === present) continue;
    try {
      // Before any other use of it.
      if (written.length > column.maxLength) throw tooLong(column.maxLength);
      const cell = column.isNumber ? plainNumber(written, decimalSign) : written;
      if (cell === present) continue;
      const isKey = column.key === 'Alias' || column.key === 'SuperProduct';
      if (product === given) product = { ...given };
      column.apply(product, isKey ? cell.trim() : cell);
    } catch (error) {
      if (error instanceof CellProblem) throw new RowRefusal(column.key, error, written);
      throw error;
    }
  }
  return product;
}

async function lockByNumber(tx: Transaction, shopId: string, numbers: readonly string[]) {
  if (numbers.length === 0) return new Map<string, StoredProduct>();
  const rows = await tx.many<StoredProduct>(sql`
    select ${storedColumns} from product
    where product.shop_id = ${shopId} and product.product_number = any (${numbers}::text[])
    order by product.product_id for update`);
  return new Map(rows.map((row) => [row.productNumber, row]));
}

/** Product types that the shop lacks. */
async function ensureTypes(
  tx: Transaction,
  shopId: string,
  { defaultLocale }: Settings,
  changes: readonly { after: FileProduct }[],
  types: Map<string, string>,
): Promise<void> {
  const missing = [...new Set(changes.map(({ after }) => after.class))].filter((alias) => !types.has(alias));
  if (missing.length === 0) return;
  const rows = missing.map((alias) => ({ alias, id: newId(tx.now), name: { [defaultLocale]: alias } }));
  const stored = await tx.many<{ alias: string; id: string }>(sql`
    insert into product_type (shop_id, product_type_id, alias, name, created_at, attributes)
    select shop.shop_id, id, alias, name, ${tx.now}, '[]'
    from shop cross join jsonb_to_recordset(${JSON.stringify(rows)}) as entry (id uuid, alias text, name jsonb)
    where shop.shop_id = ${shopId}
    on conflict (shop_id, alias) do update set alias = excluded.alias
    returning alias, upper(product_type_id::text) as id`);
  for (const { alias, id } of stored) types.set(alias, id);
  await moveSettingsVersion(tx, shopId);
}

interface Change {
  before: FileProduct | null;
  after: FileProduct;
}

/** Everything that follows from the changes of a batch, with a fixed number of statements. */
async function save(tx: Transaction, settings: Settings, plan: BatchPlan): Promise<void> {
  const { shopId } = settings;
  const { changes, masters, types } = plan;
  if (changes.length === 0) return;
  const created = changes.filter(({ before }) => !before);
  const changed = changes.filter(({ before }) => before);
  const reductions = await recordPrices(tx, shopId, changed.map(priceChange));
  const changedRows = changed.map(({ after }, index) => storedRow(after, types, reductions[index]));
  await updateRows(tx, shopId, changedRows);
  await insertRows(
    tx,
    shopId,
    created.map(({ after }) => storedRow(after, types, undefined)),
  );
  await recordPrices(tx, shopId, created.map(priceChange));
  const changedMasters = await updateMasters(tx, shopId, changes, masters);
  await saveCategories(tx, settings, plan);
  await saveFields(tx, settings, plan);
  const fields = changedRows.map((row, index) => changedFields(changed[index]!.before!, row));
  const facets = facetFields(settings);
  const reworded = created.map(({ after }) => after.productId);
  const repriced: string[] = [];
  for (const [index, change] of changed.entries()) {
    const row = changedRows[index]!;
    const isListed = isMoved(change) || isListedChange(change.before!, row, fields[index]!);
    if (!isListed && !hasOtherFacets(change, facets)) continue;
    const isRepriced = !isMoved(change) && areWordsSame(fields[index]!);
    (isRepriced ? repriced : reworded).push(row.productId);
  }
  await refreshListing(tx, shopId, reworded, repriced);
  const free = await assignImportedStock(tx, shopId, changed);
  const stockOf = ({ productId, stock }: FileProduct) => free.get(productId) ?? stock;
  // Of bundles, it is known when the stock of their parts is.
  const back = changed.filter(
    ({ before, after }) => !after.facts.parts && isBackInStock(before!.stock, stockOf(after)),
  );
  if (back.length > 0) {
    await queueAvailabilityNotifications(
      tx,
      shopId,
      back.map(({ after }) => after.productId),
    );
  }
  recordCreatedProducts(
    tx,
    shopId,
    created.map(({ after }) => after.productId),
  );
  recordChangedProducts(tx, shopId, [
    ...changed.map((change, index) => ({
      productId: change.after.productId,
      changed: [
        ...fields[index]!,
        ...(isMoved(change) ? ['categories'] : []),
        ...(hasOtherFields(change) ? ['customFields'] : []),
      ],
    })),
    ...changedMasters,
  ]);
  for (const { before, after } of changed) {
    recordStockEvents(tx, settings, after, before!.stock, stockOf(after));
  }
  await saveBundles(tx, shopId, changes);
}

/** What orders wait for comes from the stock of the file first; those who wait learn of another date. Returns what is free. */
async function assignImportedStock(tx: Transaction, shopId: string, changes: readonly Change[]) {
  const idsOf = (isChanged: (change: Change) => boolean) =>
    changes.filter(isChanged).map(({ after }) => after.productId);
  const redated = idsOf(
    ({ before, after }) => !isDeepStrictEqual(before!.facts.backorder, after.facts.backorder),
  );
  await queueNotices(tx, shopId, redated);
  return assignStock(
    tx,
    shopId,
    idsOf(({ before, after }) => before!.stock !== after.stock),
  );
}

/** The stock of a bundle, and maybe its price, follow from its parts, whatever the file says. */
async function saveBundles(tx: Transaction, shopId: string, changes: readonly Change[]): Promise<void> {
  const bundles = changes.filter(({ after }) => after.facts.parts).map(({ after }) => after.productId);
  await refreshStockOfBundles(tx, shopId, bundles);
  for (const bundleId of bundles) await saveBundle(tx, shopId, bundleId);
  const changedIds = changes.map(({ after }) => after.productId);
  await refreshBundlesOf(tx, shopId, changedIds, { stock: true, attributes: true });
}

const isMoved = ({ before, after }: Change) => (before?.categories ?? '') !== after.categories;

const hasOtherFields = ({ before, after }: Change) =>
  JSON.stringify(before?.fields ?? {}) !== JSON.stringify(after.fields);

/** Whether a value differs by which shoppers filter. */
function hasOtherFacets({ before, after }: Change, facets: readonly CustomField[]): boolean {
  const valuesOf = ({ fields }: FileProduct) => facets.map(({ fieldId }) => fields[fieldId]);
  return JSON.stringify(valuesOf(before!)) !== JSON.stringify(valuesOf(after));
}

async function saveFields(
  tx: Transaction,
  settings: Settings,
  { changes, fields }: BatchPlan,
): Promise<void> {
  const rows: (FieldOwner & StoredValue)[] = [];
  const productIds: string[] = [];
  const pause = newPauses();
  for (const change of changes) {
    await pause();
    if (!hasOtherFields(change)) continue;
    const { productId, fields: values } = change.after;
    productIds.push(productId);
    rows.push(
      ...storedFields(values, fields, settings).map((value) => ({
        resourceId: productId,
        productId,
        ...value,
      })),
    );
  }
  await replaceProductValues(
    tx,
    settings.shopId,
    productIds,
    fields.map(({ fieldId }) => fieldId),
    rows,
  );
}

async function saveCategories(tx: Transaction, settings: Settings, plan: BatchPlan): Promise<void> {
  const { tree } = plan;
  if (!tree) return;
  await createPaths(tx, settings.shopId, settings.defaultLocale, tree, await newCategories(plan));
  await replaceAssignments(
    tx,
    settings.shopId,
    plan.changes.filter(isMoved).map(({ after: { productId, categories } }) => ({
      productId,
      categoryIds: readPaths(categories).flatMap((path) => tree.idOf.get(path.toLowerCase()) ?? []),
    })),
  );
}

function priceChange({ before, after }: Change): PriceChange {
  return {
    productId: after.productId,
    before: before?.prices ?? null,
    after: after.prices,
    beforeReduction: before?.facts.pricesBeforeReduction,
  };
}

function storedRow(
  {
    class: alias,
    masterNumber: _number,
    categories: _paths,
    images: _images,
    imageTexts: _texts,
    fields: _values,
    ...product
  }: FileProduct,
  types: ReadonlyMap<string, string>,
  reduction: Prices | undefined,
): StoredProduct {
  const { pricesBeforeReduction: _old, ...facts } = product.facts;
  // Products without a type that are of the default one still have none; a variation has its master's.
  const hasNone = product.kind === 'variation' || (alias === 'Default' && product.productTypeId === null);
  return {
    ...product,
    facts: reduction ? { ...facts, pricesBeforeReduction: reduction } : facts,
    productTypeId: hasNone ? null : types.get(alias)!,
  };
}

async function insertRows(tx: Transaction, shopId: string, rows: readonly StoredProduct[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.run(sql`
    insert into product (shop_id, product_id, product_number, kind, master_id, selection, created_at, version,
      visible, stock, min_stock, tax_class_id, product_type_id, prices, facts)
    select shop.shop_id, "productId", "productNumber", kind, "masterId", selection, ${tx.now}, 1, visible, stock,
      "minStock", "taxClassId", "productTypeId", prices, facts
    from shop cross join jsonb_to_recordset(${JSON.stringify(rows)}) as entry ("productId" uuid,
      "productNumber" text, kind text, "masterId" uuid, selection jsonb, visible boolean, stock numeric,
      "minStock" numeric, "taxClassId" uuid, "productTypeId" uuid, prices jsonb, facts jsonb)
    where shop.shop_id = ${shopId}`);
}

async function updateRows(tx: Transaction, shopId: string, rows: readonly StoredProduct[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.run(sql`
    update product
    set version = version + 1, visible = entry.visible, stock = entry.stock, min_stock = entry."minStock",
      tax_class_id = entry."taxClassId", product_type_id = entry."productTypeId", prices = entry.prices,
      facts = entry.facts
    from jsonb_to_recordset(${JSON.stringify(rows)}) as entry ("productId" uuid, visible boolean, stock numeric,
      "minStock" numeric, "taxClassId" uuid, "productTypeId" uuid, prices jsonb, facts jsonb)
    where product.shop_id = ${shopId} and product.product_id = entry."productId"`);
}

/** A master shows the prices of its variations, and is not sold itself. Returns the changes of the masters. */
async function updateMasters(
  tx: Transaction,
  shopId: string,
  changes: readonly Change[],
  masters: ReadonlyMap<string, StoredProduct>,
) {
  const rows = [...masters.values()].flatMap(({ productId, facts }) => {
    const own = changes.filter(({ after }) => after.masterId === productId);
    const numbers = own.flatMap(({ before, after }) => (before ? [] : [after.productNumber]));
    if (own.length === 0) return [];
    const { variationAttributes = [] } = facts;
    const dimensions =
      numbers.length > 0
        ? mergedDimensions(variationAttributes, [{ key: SELECTED_BY, values: numbers }])
        : variationAttributes;
    return [{ productId, facts: { ...facts, variationAttributes: dimensions } }];
  });
  if (rows.length === 0) return [];
  await tx.run(sql`
    update product
    set version = version + 1, kind = 'master', stock = null, min_stock = null, facts = entry.facts
    from jsonb_to_recordset(${JSON.stringify(rows)}) as entry ("productId" uuid, facts jsonb)
    where product.shop_id = ${shopId} and product.product_id = entry."productId"`);
  const byId = new Map([...masters.values()].map((master) => [master.productId, master]));
  return rows.map(({ productId, facts }) => {
    const before = byId.get(productId)!;
    const after: StoredProduct = { ...before, kind: 'master', stock: null, minStock: null, facts };
    return { productId, changed: changedFields(before, after) };
  });
}

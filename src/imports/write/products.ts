import { csvLine, escapeFormula } from '../../catalogue/products/csv-cells.ts';
import { textFile } from '../../catalogue/products/csv-file.ts';
import { knownColumns } from '../../catalogue/products/csv-mapping.ts';
import { importPictures } from '../../catalogue/products/import-pictures.ts';
import { importProducts, recordFinished } from '../../catalogue/products/import.ts';
import { joinPictureTexts } from '../../catalogue/products/picture-addresses.ts';
import type { ProductAttribute } from '../../catalogue/products/facts.ts';
import { lockProduct } from '../../catalogue/products/queries.ts';
import { saveProduct } from '../../catalogue/products/save-product.ts';
import type { Transaction } from '../../db/database.ts';
import type { RowProblem } from '../../catalogue/products/row-problem.ts';
import { addNamedVariations } from '../../catalogue/products/variations.ts';
import { isRefusal } from '../../http/errors.ts';
import { limitOf, roomFor } from '../../platform/plans/limits.ts';
import { takeTimeOfCommit } from '../../platform/events/log.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { matchProducts, findRecords, saveRecords, type MatchedProduct } from '../queries.ts';
import type { AttributeRecord, OfferRecord, ProductRecord, Read, ImportedText } from '../records.ts';
import { batches, hashOf, type ImportRun } from '../run.ts';
import { redirectTo } from './redirects.ts';

const BATCH = { records: 1_000, characters: 4_000_000 };
const PICTURE_TRIES = 3;

/** Products are written by the import of product files, with their variants after them. */
export async function writeProducts(
  run: ImportRun,
  records: AsyncIterable<Read<ProductRecord>>,
): Promise<void> {
  const { report, db, shopId } = run;
  const withinPlan = createPlanCheck(run);
  for await (const batch of batches(run, records, BATCH)) {
    await writeBatch(run, await withinPlan(await planBatch(run, batch)));
  }
  const { created = 0, changed = 0, unchanged = 0, refused = 0 } = report.counts.get('product') ?? {};
  if (run.isCheck || created + changed === 0) return;
  await db.transaction(async (tx) =>
    recordFinished(tx, shopId, { created, changed, unchanged, problems: { length: refused } }),
  );
}

interface PlannedProduct {
  record: ProductRecord;
  hash: string;
  /** Its number here, which may differ from the one in the source. */
  number: string;
  isNew: boolean;
}

/** The products that are new, or have changed in the source only. */
async function planBatch(run: ImportRun, batch: readonly ProductRecord[]): Promise<PlannedProduct[]> {
  const { db, shopId, source, report } = run;
  const sourceIds = batch.map(({ sourceId }) => sourceId);
  const stored = await findRecords(db, shopId, { source, kind: 'product', sourceIds });
  const found = await matchProducts(db, shopId, {
    ids: [...stored.values()].map(({ targetId }) => targetId),
    numbers: batch.map(({ offer }) => offer.number),
  });
  const byId = new Map(found.map((product) => [product.productId, product]));
  const byNumber = new Map(found.map((product) => [product.productNumber, product]));
  const numbers = new Set<string>();
  const keep = ({ kind, place, offer }: ProductRecord, text: string) => {
    report.count('product', 'kept');
    report.add({ kind, place, name: offer.number, text });
  };
  return batch.flatMap((record): PlannedProduct[] => {
    const hash = hashOf(record);
    const known = stored.get(record.sourceId);
    const product: MatchedProduct | undefined = known
      ? byId.get(known.targetId)
      : byNumber.get(record.offer.number);
    if (known && !product) keep(record, 'was deleted here');
    else if (known?.sourceHash === hash) report.count('product', 'unchanged');
    else if (known && product?.changedAt && product.changedAt > known.importedAt)
      keep(record, 'was edited here');
    else {
      const number = product?.productNumber ?? record.offer.number;
      if (!numbers.has(number)) {
        numbers.add(number);
        return [{ record, hash, number, isNew: !product }];
      }
      report.refuse({
        kind: 'product',
        place: record.place,
        name: number,
        text: 'has the number of another product',
      });
    }
    return [];
  });
}

/** Leaves out the new products for which the plan of the shop has no room, and reports them. */
function createPlanCheck(run: ImportRun): (planned: PlannedProduct[]) => Promise<PlannedProduct[]> {
  const { db, config, shopId, report, isCheck, isInService } = run;
  // A check writes nothing, so it counts itself what would be written.
  let checked = 0;
  return async (planned) => {
    const found = isInService ? await limitOf({ db, config }, shopId, 'products') : undefined;
    if (!found) return planned;
    let room = (await roomFor({ db, config }, shopId, 'products')) - checked;
    return planned.filter(({ record: { place }, number, isNew }) => {
      if (!isNew) return true;
      if (room > 0) {
        room--;
        if (isCheck) checked++;
        return true;
      }
      const { plan, limit } = found;
      const text = `has no room in the plan ${plan} with its ${limit} products: ask the operator of this installation for a larger one, then import again`;
      report.refuse({ kind: 'product', place, name: number, text });
      return false;
    });
  };
}

async function writeBatch(run: ImportRun, planned: readonly PlannedProduct[]): Promise<void> {
  if (planned.length === 0) return;
  const { db, shopId, isCheck, report } = run;
  const settings = await shopSettings(db, shopId);
  const table = new ProductTable(settings);
  const products = table.of(planned.map((one) => ({ planned: one, cells: productCells(one, table) })));
  const common = { shopId, decimalSign: '.' as const, visible: true, isCheck, onBatch: async () => {} };
  const done = await importProducts(db, { ...common, ...products });
  report.count('product', 'created', done.created);
  report.count('product', 'changed', done.changed);
  report.count('product', 'unchanged', done.unchanged);
  const refused = new Set<PlannedProduct>();
  const addProblem = (problem: RowProblem, one: PlannedProduct | undefined) => {
    if (!one) return;
    refused.add(one);
    report.refuse({ kind: 'product', place: one.record.place, name: one.number, text: problemText(problem) });
  };
  for (const problem of done.problems) addProblem(problem, products.byLine.get(problem.line));
  const written = planned.filter((one) => !refused.has(one));
  await writeVariants(run, written, table, common);
  for (const { record, number } of written) {
    for (const text of record.remarks)
      report.add({ kind: 'product', place: record.place, name: number, text });
    const { place, taxClass } = record;
    if (taxClass !== '' && !taxClassHere(taxClass, settings)) {
      const text = `has the default tax class, because there is no class or rate ${taxClass} here`;
      report.add({ kind: 'product', place, name: number, text });
    }
  }
  await fetchPictures(run, products);
  if (isCheck) return;
  const found = await matchProducts(db, shopId, { ids: [], numbers: written.map(({ number }) => number) });
  const ids = new Map(found.map(({ productNumber, productId }) => [productNumber, productId]));
  await db.transaction(async (tx) => {
    for (const { record, number } of written)
      await saveAttributes(tx, settings, ids.get(number), record.attributes);
    await redirectTo(
      run,
      tx,
      written.flatMap(({ record, number }) =>
        record.formerAddresses.map((source) => ({
          place: record.place,
          of: 'product' as const,
          redirect: { source, status: 301 as const, kind: 'product' as const, target: number },
        })),
      ),
    );
    // The time that this commit gives to the products it changes, which may be ahead of the clock: a product that
    // changes later was edited here.
    const importedAt = await takeTimeOfCommit(tx, shopId);
    const records = written.flatMap(({ record: { sourceId }, hash, number }) => {
      const targetId = ids.get(number);
      return targetId === undefined
        ? []
        : [{ sourceId, targetId, sourceHash: hash, targetHash: null, importedAt }];
    });
    await saveRecords(tx, shopId, { source: run.source, kind: 'product', records });
  });
}

/** Sets these attributes in the default language. Others that the product has here stay. */
async function saveAttributes(
  tx: Transaction,
  { shopId, defaultLocale }: Settings,
  productId: string | undefined,
  attributes: readonly AttributeRecord[],
): Promise<void> {
  if (productId === undefined || attributes.length === 0) return;
  const product = await lockProduct(tx, shopId, productId);
  if (!product) return;
  const given = attributes.map(({ name, values }): ProductAttribute => ({
    key: name,
    name: {},
    type: 'string',
    singleValue: values.length === 1,
    values: values.map((value) => ({ value, name: { [defaultLocale]: value } })),
  }));
  const others = (product.facts.attributes ?? []).filter(({ key }) => !given.some((one) => one.key === key));
  const facts = { ...product.facts, attributes: [...others, ...given] };
  await saveProduct(tx, shopId, product, { ...product, facts });
}

type Common = Pick<
  Parameters<typeof importProducts>[1],
  'shopId' | 'decimalSign' | 'visible' | 'isCheck' | 'onBatch'
>;

/** Makes the variants of the products with their options, and then gives them their prices and stock. */
async function writeVariants(
  run: ImportRun,
  planned: readonly PlannedProduct[],
  table: ProductTable,
  common: Common,
): Promise<void> {
  const { db, shopId, isCheck, report } = run;
  const masters = planned.filter(({ record }) => record.variants.length > 0);
  if (masters.length === 0) return;
  const rows: { planned: PlannedProduct; cells: Cells }[] = [];
  for (const one of masters) {
    const { record, number } = one;
    const { options, variants, place, isVisible } = record;
    const variations = variants.map(({ number: productNumber, values }) => ({
      productNumber,
      selection: Object.fromEntries(options.map((option, index) => [option, values[index] || '-'])),
    }));
    try {
      if (!isCheck) {
        const settings = await shopSettings(db, shopId);
        await db.transaction((tx) =>
          addNamedVariations(tx, settings, number, {
            productType: settings.productTypes[0]!.alias,
            visible: isVisible,
            variations,
          }),
        );
      }
    } catch (error) {
      if (!isRefusal(error)) throw error;
      report.add({ kind: 'product', place, name: number, text: `its variants: ${error.message}` });
      continue;
    }
    for (const variant of variants) {
      rows.push({
        planned: one,
        cells: { ...offerCells(variant, table), Alias: variant.number, SuperProduct: number },
      });
    }
  }
  if (rows.length === 0 || isCheck) return;
  const variants = table.of(rows);
  const done = await importProducts(db, { ...common, ...variants });
  for (const problem of done.problems) {
    const one = variants.byLine.get(problem.line);
    if (!one) continue;
    const { place } = one.record;
    report.add({
      kind: 'product',
      place,
      name: problem.cell || one.number,
      text: `a variant: ${problemText(problem)}`,
    });
  }
}

/** Pictures that a product has already are not fetched again, so a failed one is tried with the others. */
async function fetchPictures(run: ImportRun, { file, mapping, byLine }: ProductRows): Promise<void> {
  const { db, config, media, shopId, isCheck, report } = run;
  if (isCheck) return;
  for (let tries = 1; ; tries++) {
    const problems: RowProblem[] = [];
    await importPictures({
      db,
      config,
      media,
      shopId,
      file,
      mapping,
      readFile: (name) => Promise.reject(new Error(`${name} is no address`)),
      onPicture: async (problem) => void (problem ? problems.push(problem) : report.pictures++),
    });
    if (problems.length > 0 && tries < PICTURE_TRIES) continue;
    for (const problem of problems) {
      const one = byLine.get(problem.line);
      if (one) {
        const { place } = one.record;
        report.add({ kind: 'product', place, name: one.number, text: `a picture: ${problemText(problem)}` });
      }
    }
    return;
  }
}

const problemText = ({ column, code, values, cell }: RowProblem) =>
  [column, code, ...Object.values(values).map(String), cell && JSON.stringify(cell.slice(0, 80))]
    .filter((part) => part !== null && part !== '')
    .join(' ');

type Cells = Readonly<Record<string, string>>;

interface ProductRows {
  file: ReturnType<typeof textFile>;
  mapping: readonly string[];
  byLine: ReadonlyMap<number, PlannedProduct>;
}

/** Makes tables with the columns of this shop's product files. */
class ProductTable {
  readonly settings: Settings;
  readonly #known: ReadonlyMap<string, unknown>;

  constructor(settings: Settings) {
    this.settings = settings;
    this.#known = knownColumns(settings);
  }

  of(rows: readonly { planned: PlannedProduct; cells: Cells }[]): ProductRows {
    const mapping = [...new Set(rows.flatMap(({ cells }) => Object.keys(cells)))];
    const byLine = new Map<number, PlannedProduct>();
    let line = 1;
    let text = csvLine(mapping);
    for (const { planned, cells } of rows) {
      const row = csvLine(mapping.map((key) => escapeFormula(cells[key] ?? '')));
      line += row.split('\n').length - 1;
      text += row;
      byLine.set(line, planned);
    }
    return { file: textFile('import', text), mapping, byLine };
  }

  /** The column of a text in a language; undefined: the shop has not this language. */
  textKey(name: string, locale: string): string | undefined {
    return [`${name}/${locale}`, `${name}/${locale.slice(0, 2)}`].find((key) => this.#known.has(key));
  }

  priceKey(name: string): string {
    return `${name}/${this.settings.defaultCurrency}/${this.settings.taxModel.toLowerCase()}`;
  }
}

function textCells(table: ProductTable, name: string, text: ImportedText): Cells {
  const texts = typeof text === 'string' ? { [table.settings.defaultLocale]: text } : text;
  return Object.fromEntries(
    Object.entries(texts).flatMap(([locale, value]) => {
      const key = table.textKey(name, locale);
      return key === undefined ? [] : [[key, value]];
    }),
  );
}

function offerCells({ price, listPrice, stock, weight, code }: OfferRecord, table: ProductTable): Cells {
  // A list price below the price is no reduction.
  const isReduced = Number(listPrice) > Number(price || '0');
  return {
    [table.priceKey('ListPrices')]: price,
    [table.priceKey('ManufacturerPrices')]: isReduced ? listPrice : '',
    StockLevel: stock,
    ...(Number(weight) > 0 && { WeightUnit: 'gram', Weight: weight }),
    UPCEAN: code,
  };
}

function productCells({ record, number }: PlannedProduct, table: ProductTable): Cells {
  const { offer, variants, categories, pictures, isVisible, manufacturer, manufacturerNumber, taxClass } =
    record;
  const offered = offerCells(variants.length > 0 ? { ...offer, stock: '' } : offer, table);
  const texts = joinPictureTexts(pictures.map(({ text }) => text));
  return {
    Alias: number,
    ...offered,
    ...textCells(table, 'Name', record.name),
    ...textCells(table, 'Text', record.description),
    ...textCells(table, 'Description', record.shortDescription),
    ...textCells(table, 'PageTitle', record.pageTitle),
    ...textCells(table, 'Keywords', record.keywords),
    Visible: isVisible ? '1' : '0',
    Manufacturer: manufacturer,
    ManufacturerSKU: manufacturerNumber,
    ...(taxClassHere(taxClass, table.settings) && { TaxClass: taxClassHere(taxClass, table.settings)! }),
    ...(categories.length > 0 && { Categories: categories.map(categoryPathText).join(' | ') }),
    ...(pictures.length > 0 && { Images: pictures.map(({ address }) => address).join(' | ') }),
    ...(texts !== '' && textCells(table, 'ImageTexts', texts)),
  };
}

/** A key, or the class with this rate in the shop's country; undefined: the shop has none, and its default counts. */
function taxClassHere(taxClass: string, { taxClasses, country }: Settings): string | undefined {
  const rate = Math.round(Number(taxClass) * 100);
  return taxClasses.find(({ key, rates }) => key === taxClass || (taxClass !== '' && rates[country] === rate))
    ?.key;
}

/** A backslash keeps the separators that a name holds. */
export const categoryPathText = (path: readonly string[]) =>
  path.map((name) => name.replaceAll(/[\\>|]/g, String.raw`\$&`)).join(' > ');

import { FileProblem } from '../../catalogue/products/file-problem.ts';
import {
  MAX_NUMBER,
  MAX_OFFERED,
  MAX_PICTURES,
  MAX_ATTRIBUTE_VALUES,
  MAX_VARIANTS,
  uniqueNumbers,
} from '../products.ts';
import type {
  OfferRecord,
  PictureRecord,
  SourcePlace,
  ProductRecord,
  Read,
  VariantRecord,
} from '../records.ts';
import type { SourceFile } from '../source-files.ts';
import { tableRows, type TableRow } from '../table.ts';
import { decimalIn, isYes, momentIn } from '../values.ts';
import {
  wooCommerceAttributes,
  cellOf,
  wooCommerceDescription,
  gramsOf,
  hasColumn,
  isTableWith,
  listOf,
  wooCommerceText,
} from './cells.ts';

/** A variation of the export, before it is known which product it belongs to. */
interface Variation {
  place: SourcePlace;
  id: string;
  number: string;
  /** Among the variants of its product. */
  position: number;
  offer: Omit<OfferRecord, 'number'>;
  selection: ReadonlyMap<string, readonly string[]>;
  isSharedStock: boolean;
  isDownload: boolean;
  remarks: readonly string[];
}

export const isProductTable = (file: SourceFile): boolean => isTableWith(file, 'type', 'name');

/**
 * The products of an export with their variants. Rows are in the order of their ids, so a variant may be anywhere, also
 * in another file: all variants are read first.
 */
export async function* wooCommerceProducts(
  files: readonly SourceFile[],
  now: Date,
): AsyncGenerator<Read<ProductRecord>> {
  const variations = new Map<string, Variation[]>();
  let count = 0;
  for await (const { row, place } of rowsIn(files)) {
    if (!typesOf(row).has('variation')) continue;
    const parent = cellOf(row, 'parent');
    if (isSwitchedOff(row)) yield productProblem(place, 'is a variant that is switched off');
    else if (parent === '') yield productProblem(place, 'is a variant without a product');
    else if (++count > MAX_VARIANTS) {
      throw new FileProblem(`The export has more than ${MAX_VARIANTS} variants. Export it in several parts`);
    } else {
      const siblings = variations.get(parent) ?? [];
      siblings.push(toVariation(row, place, now));
      variations.set(parent, siblings);
    }
  }
  for await (const { row, place } of rowsIn(files)) {
    const types = typesOf(row);
    if (types.has('variation')) continue;
    const [id, number] = [cellOf(row, 'id'), cellOf(row, 'number')];
    const mine = [`id:${id}`, number].flatMap((parent) => {
      const found = variations.get(parent) ?? [];
      variations.delete(parent);
      return found;
    });
    mine.sort((one, other) => one.position - other.position);
    if (id === '' && number === '') yield productProblem(place, 'has neither an id nor a number');
    else if (!types.has('simple') && !types.has('variable')) {
      yield productProblem(place, `is of the type ${[...types].join(', ')}, which this shop does not have`);
    } else if (types.has('variable') && mine.length === 0) {
      yield productProblem(place, 'has variants, but none of them is in the export');
    } else yield toProduct(row, place, mine, now);
  }
  for (const [parent, orphans] of variations) {
    for (const { place } of orphans)
      yield productProblem(place, `is a variant of ${parent}, which is not in the export`);
  }
}

async function* rowsIn(files: readonly SourceFile[]): AsyncGenerator<{ row: TableRow; place: SourcePlace }> {
  for (const { file } of files) {
    for await (const row of tableRows(file)) yield { row, place: { file: file.name, line: row.line } };
  }
}

const productProblem = (place: SourcePlace, text: string) =>
  ({ kind: 'problem', of: 'product', place, text }) as const;

/** `simple, downloadable, virtual`; these words are the same in all languages. */
const typesOf = (row: TableRow): Set<string> => new Set(listOf(cellOf(row, 'type').toLowerCase()));

/** A variant that is not enabled is private; it has the state of its product otherwise. */
const isSwitchedOff = (row: TableRow) => cellOf(row, 'published') === '0';

function toVariation(row: TableRow, place: SourcePlace, now: Date): Variation {
  const { remarks, ...offer } = offerOf(row, now);
  return {
    place,
    id: cellOf(row, 'id'),
    number: cellOf(row, 'number'),
    position: Number(decimalIn(cellOf(row, 'position'))),
    offer,
    selection: wooCommerceAttributes(row),
    isSharedStock: cellOf(row, 'stock').toLowerCase() === 'parent',
    isDownload: typesOf(row).has('downloadable'),
    remarks,
  };
}

function toProduct(
  row: TableRow,
  place: SourcePlace,
  variations: readonly Variation[],
  now: Date,
): Read<ProductRecord> {
  const [id, sku] = [cellOf(row, 'id'), cellOf(row, 'number')];
  const number = (sku || id).slice(0, MAX_NUMBER);
  const { remarks: ownRemarks, ...own } = offerOf(row, now);
  const attributes = wooCommerceAttributes(row);
  const options = optionsOf(attributes, variations);
  const variants = variantsOf({ number, options, attributes, variations, stock: own.stock });
  if (variants === undefined) return productProblem(place, `has more than ${MAX_OFFERED} variants`);
  const isDownload = typesOf(row).has('downloadable') || variations.some((one) => one.isDownload);
  const isShared = own.stock !== '' && variations.some(({ isSharedStock }) => isSharedStock);
  const remarks = [
    ...ownRemarks,
    ...variations.flatMap((one) => one.remarks),
    ...(isDownload ? ['is hidden, because its files to download do not come along'] : []),
    ...(isShared ? ['has one stock for its variants, and each of them got it'] : []),
  ];
  const isPublished = !hasColumn(row, 'published') || isYes(cellOf(row, 'published'));
  const [first] = variants;
  return {
    kind: 'product',
    sourceId: id || sku,
    place,
    formerAddresses: addressesOf(row),
    offer: { ...own, ...(first && { price: first.price, listPrice: first.listPrice }), number },
    name: wooCommerceText(cellOf(row, 'name')) || number,
    description: wooCommerceDescription(cellOf(row, 'description')),
    shortDescription: wooCommerceDescription(cellOf(row, 'shortDescription')),
    pageTitle: titleOf(row),
    keywords: listOf(cellOf(row, 'tags')).join(', '),
    isVisible: isPublished && cellOf(row, 'visibility').toLowerCase() !== 'hidden' && !isDownload,
    manufacturer: listOf(cellOf(row, 'brands'))[0] ?? '',
    manufacturerNumber: '',
    taxClass: taxClassOf(row),
    categories: categoriesOf(row),
    pictures: picturesOf(row),
    options,
    variants,
    attributes: [...attributes]
      .filter(([name, values]) => !options.includes(name) && values.length > 0)
      .map(([name, values]) => ({ name: name.slice(0, 200), values: values.slice(0, MAX_ATTRIBUTE_VALUES) })),
    remarks: [...new Set(remarks)],
  };
}

/** The attributes by which the variants differ, in the order of the product. */
function optionsOf(
  attributes: ReadonlyMap<string, readonly string[]>,
  variations: readonly Variation[],
): string[] {
  const chosen = new Set(variations.flatMap(({ selection }) => [...selection.keys()]));
  const ordered = [...attributes.keys()].filter((name) => chosen.has(name));
  const options = [...new Set([...ordered, ...chosen])];
  return variations.length > 0 && options.length === 0 ? ['Variant'] : options;
}

/** A variant without a value has any: it becomes one for each value of the product. undefined: too many. */
function variantsOf({
  number,
  options,
  attributes,
  variations,
  stock,
}: {
  number: string;
  options: readonly string[];
  attributes: ReadonlyMap<string, readonly string[]>;
  variations: readonly Variation[];
  stock: string;
}): VariantRecord[] | undefined {
  const takeNumber = uniqueNumbers();
  const variants = new Map<string, VariantRecord>();
  // A variant that names its values comes before one that has any.
  const exact = (one: Variation) => options.filter((name) => one.selection.get(name)?.[0]).length;
  for (const [index, one] of variations.toSorted((a, b) => exact(b) - exact(a)).entries()) {
    const own = one.number === number ? '' : one.number;
    const fallback = `${number}-${one.id || index + 1}`;
    const choices = options.map((name): readonly string[] => {
      const [value] = one.selection.get(name) ?? [];
      const all = attributes.get(name) ?? [];
      if (value !== undefined) return [value];
      return all.length > 0 ? all : [''];
    });
    const size = choices.reduce((product, values) => product * values.length, 1);
    if (variants.size + size > MAX_OFFERED) return undefined;
    for (const values of combinations(choices)) {
      const key = JSON.stringify(values);
      if (variants.has(key)) continue;
      const name = size === 1 ? own : '';
      const other = size === 1 ? fallback : [own || fallback, ...differing(values, choices)].join('-');
      variants.set(key, {
        ...one.offer,
        stock: one.isSharedStock ? stock : one.offer.stock,
        number: takeNumber(name, other),
        values,
      });
    }
  }
  return [...variants.values()];
}

const combinations = (choices: readonly (readonly string[])[]): string[][] =>
  choices.reduce<string[][]>(
    (starts, values) => starts.flatMap((start) => values.map((value) => [...start, value])),
    [[]],
  );

const differing = (values: readonly string[], choices: readonly (readonly string[])[]) =>
  values.filter((_value, index) => choices[index]!.length > 1).map((value) => value.replaceAll(/\s+/g, '-'));

/** What a row costs and what is there of it. A reduction counts if it holds now. */
function offerOf(row: TableRow, now: Date): Omit<OfferRecord, 'number'> & { remarks: string[] } {
  const [regular, sale] = [decimalIn(cellOf(row, 'regularPrice')), decimalIn(cellOf(row, 'salePrice'))];
  const [from, until] = [momentIn(cellOf(row, 'saleFrom')), momentIn(cellOf(row, 'saleUntil'))];
  const isCheaper = sale !== '' && (regular === '' || Number(sale) < Number(regular));
  const isLater = from !== undefined && from > now;
  const isOver = until !== undefined && until < now;
  const isReduced = isCheaper && !isLater && !isOver;
  const day = (moment: Date) => moment.toISOString().slice(0, 10);
  const remarks: string[] = [];
  if (isCheaper && isLater) remarks.push(`the price ${sale} from ${day(from)} on is left out`);
  else if (isReduced && until) remarks.push(`the price ${sale} until ${day(until)} has no end here`);
  return {
    price: isReduced ? sale : regular,
    listPrice: isReduced ? regular : '',
    stock: stockOf(row),
    weight: gramsOf(row, decimalIn),
    code: cellOf(row, 'code'),
    remarks,
  };
}

/** A product without a count that is sold out has none left; so has one that was sold beyond its stock. */
function stockOf(row: TableRow): string {
  const stock = decimalIn(cellOf(row, 'stock'));
  if (stock !== '') return Number(stock) < 0 ? '0' : stock;
  return cellOf(row, 'inStock') === '0' ? '0' : '';
}

/** Their keys here, where they are the usual ones; what is not taxed has the rate 0. */
function taxClassOf(row: TableRow): string {
  const status = cellOf(row, 'taxStatus').toLowerCase();
  if (status === 'none' || status === 'shipping') return '0';
  const name = cellOf(row, 'taxClass').toLowerCase();
  if (name === 'zero-rate') return '0';
  return name === 'standard' ? '' : name.replace(/-rate$/, '');
}

/** The category that WordPress gives to what has none. */
const NO_CATEGORY = /^(?:uncategorized|uncategorised|unkategorisiert|non classé|non catégorisé)$/i;

const categoriesOf = (row: TableRow): string[][] =>
  cellOf(row, 'categories')
    .split(/(?<!\\),/)
    .map((path) =>
      path
        .split(' > ')
        .map((name) => wooCommerceText(name.replaceAll(String.raw`\,`, ',')).trim())
        .filter((name) => name !== ''),
    )
    .filter((path) => path.length > 0 && !(path.length === 1 && NO_CATEGORY.test(path[0]!)));

const picturesOf = (row: TableRow): PictureRecord[] =>
  listOf(cellOf(row, 'pictures'))
    .filter((address) => /^https?:\/\//i.test(address))
    .slice(0, MAX_PICTURES)
    .map((address) => ({ address, text: '' }));

/** A title that is made of placeholders says nothing here. */
function titleOf(row: TableRow): string {
  const title = wooCommerceText(cellOf(row, 'pageTitle'));
  return /%\w+%/.test(title) ? '' : title;
}

/** The exporter itself writes no addresses; extensions add them. */
function addressesOf(row: TableRow): string[] {
  const slug = cellOf(row, 'slug');
  const path = cellOf(row, 'address').replace(/^https?:\/\/[^/?#]*/i, '');
  return [...new Set([path, slug && `/product/${slug}`])].filter((one) => one.startsWith('/') && one !== '/');
}

import type { OfferRecord, PictureRecord, ProductRecord, Read, VariantRecord } from '../records.ts';
import { MAX_NUMBER, MAX_PICTURES, uniqueNumbers } from '../products.ts';
import { groupedRows, tableRows, type TableRow } from '../table.ts';
import { decimalIn, isYes, listIn } from '../values.ts';
import type { ProductFile } from '../../catalogue/products/csv-file.ts';

const OPTIONS = [1, 2, 3] as const;
/** Rows of one product: Shopify has at most 2,048 variants and 250 pictures. */
const MAX_ROWS = 5_000;

/** Weights are in grams; newer files name the unit in which people see them. */
const handleOf = (row: TableRow) => row.cell('Handle', 'URL handle');

/** The products of an export: rows with one handle are one product with its variants and pictures. */
export async function* shopifyProducts(file: ProductFile): AsyncGenerator<Read<ProductRecord>> {
  for await (const rows of groupedRows(tableRows(file), handleOf, MAX_ROWS)) {
    const place = { file: file.name, line: rows[0]!.line };
    const problem = (text: string) => ({ kind: 'problem', of: 'product', place, text }) as const;
    if (rows.length > MAX_ROWS) yield problem(`has more than ${MAX_ROWS} rows`);
    else if (handleOf(rows[0]!) === '') yield problem('has no handle');
    else if (isYes(rows[0]!.cell('Gift Card')))
      yield problem('is a gift card, which this shop does not sell');
    else yield toProduct(rows, place);
  }
}

function toProduct(rows: readonly TableRow[], place: ProductRecord['place']): ProductRecord {
  const first = rows[0]!;
  const handle = handleOf(first);
  const options = OPTIONS.map((number) => first.cell(`Option${number} Name`)).filter((name) => name !== '');
  const offers = rows.filter(isVariant);
  const isSingle = offers.length <= 1 && isOnlyTitle(options, offers[0]);
  const takeNumber = uniqueNumbers();
  const numberOf = (row: TableRow | undefined, fallback: string) =>
    takeNumber(row?.cell('Variant SKU', 'SKU').replace(/^'/, '') ?? '', fallback);
  const variants = isSingle
    ? []
    : offers.map((row, index): VariantRecord => ({
        ...offerOf(row, numberOf(row, `${handle}-${index + 1}`)),
        values: OPTIONS.slice(0, Math.max(1, options.length)).map((number) =>
          row.cell(`Option${number} Value`),
        ),
      }));
  const collection = first.cell('Collection') || first.cell('Type');
  const status = first.cell('Status').toLowerCase();
  return {
    kind: 'product',
    sourceId: handle,
    place,
    offer: offerOf(offers[0], isSingle ? numberOf(offers[0], handle) : handle.slice(0, MAX_NUMBER)),
    name: first.cell('Title') || handle,
    description: first.cell('Body (HTML)', 'Body HTML', 'Description'),
    shortDescription: first.cell('SEO Description'),
    pageTitle: first.cell('SEO Title'),
    keywords: listIn(first.cell('Tags')).join(', '),
    isVisible:
      status === '' ? isYes(first.cell('Published', 'Published on online store')) : status === 'active',
    manufacturer: first.cell('Vendor'),
    manufacturerNumber: '',
    taxClass: '',
    categories: collection === '' ? [] : [[collection]],
    pictures: picturesOf(rows),
    options: isSingle ? [] : options.length > 0 ? options : ['Variant'],
    variants,
    attributes: [],
    remarks: [],
    formerAddresses: [`/products/${handle}`],
  };
}

/** Further rows may only hold pictures. */
const isVariant = (row: TableRow) =>
  row.cell('Option1 Value') !== '' ||
  row.cell('Variant Price', 'Price') !== '' ||
  row.cell('Variant SKU', 'SKU') !== '';

/** A product without variants has the option Title with the value Default Title. */
const isOnlyTitle = (options: readonly string[], offer: TableRow | undefined) =>
  options.length === 0 ||
  (options.length === 1 && /^default title$/i.test(offer?.cell('Option1 Value') ?? ''));

function offerOf(row: TableRow | undefined, number: string): OfferRecord {
  if (!row) return { number, price: '', listPrice: '', stock: '', weight: '', code: '' };
  const isCounted = row.cell('Variant Inventory Tracker', 'Inventory tracker') !== '';
  return {
    number,
    price: decimalIn(row.cell('Variant Price', 'Price')),
    listPrice: decimalIn(row.cell('Variant Compare At Price', 'Compare-at price')),
    stock: isCounted ? decimalIn(row.cell('Variant Inventory Qty', 'Inventory quantity')) : '',
    weight: decimalIn(row.cell('Variant Grams', 'Weight value (grams)')),
    code: row.cell('Variant Barcode', 'Barcode').replace(/^'/, ''),
  };
}

/** In their positions, each once. */
function picturesOf(rows: readonly TableRow[]): PictureRecord[] {
  const pictures = new Map<string, PictureRecord & { position: number }>();
  for (const row of rows) {
    const address = row.cell('Image Src', 'Product image URL');
    if (!/^https?:\/\//i.test(address) || pictures.has(address)) continue;
    const position = Number(row.cell('Image Position')) || pictures.size + 1;
    pictures.set(address, { address, text: row.cell('Image Alt Text'), position });
  }
  return [...pictures.values()]
    .toSorted((one, other) => one.position - other.position)
    .slice(0, MAX_PICTURES)
    .map(({ address, text }) => ({ address, text }));
}

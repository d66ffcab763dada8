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
  AttributeRecord,
  OfferRecord,
  PictureRecord,
  SourcePlace,
  ProductRecord,
  Read,
  VariantRecord,
} from '../records.ts';
import type { SourceFile } from '../source-files.ts';
import type { TableRow } from '../table.ts';
import { decimalIn } from '../values.ts';
import { idsIn, rowsIn, type Property, type ShopwareIndex } from './names.ts';

interface Variant {
  place: SourcePlace;
  offer: OfferRecord;
  optionIds: readonly string[];
}

const problem = (place: SourcePlace, text: string) =>
  ({ kind: 'problem', of: 'product', place, text }) as const;

/** A variant is a product with a parent, from which it has everything that it does not say itself. */
export async function* shopwareProducts(
  files: readonly SourceFile[],
  index: ShopwareIndex,
  taxModel: 'GROSS' | 'NET',
): AsyncGenerator<Read<ProductRecord>> {
  const variants = new Map<string, Variant[]>();
  let count = 0;
  for await (const { row, place } of rowsIn(files)) {
    const parent = row.cell('parent_id');
    if (parent === '') continue;
    if (row.cell('active') === '0') yield problem(place, 'is a variant that is switched off');
    else if (++count > MAX_VARIANTS)
      throw new FileProblem(`The export has more than ${MAX_VARIANTS} variants. Export it in several parts`);
    else {
      const siblings = variants.get(parent) ?? [];
      siblings.push({ place, offer: offerOf(row, taxModel), optionIds: idsIn(row.cell('optionIds')) });
      variants.set(parent, siblings);
    }
  }
  for await (const { row, place } of rowsIn(files)) {
    if (row.cell('parent_id') !== '') continue;
    const id = row.cell('id');
    const mine = variants.get(id) ?? [];
    variants.delete(id);
    if (id === '' && row.cell('product_number') === '')
      yield problem(place, 'has neither an id nor a number');
    else if (mine.length > MAX_OFFERED) yield problem(place, `has more than ${MAX_OFFERED} variants`);
    else yield await toProduct(row, { place, variants: mine, index, taxModel });
  }
  for (const [parent, orphans] of variants) {
    for (const { place } of orphans)
      yield problem(place, `is a variant of ${parent}, which is not in the export`);
  }
}

async function toProduct(
  row: TableRow,
  {
    place,
    variants,
    index,
    taxModel,
  }: {
    place: SourcePlace;
    variants: readonly Variant[];
    index: ShopwareIndex;
    taxModel: 'GROSS' | 'NET';
  },
): Promise<ProductRecord> {
  const properties = await index.properties();
  const paths = await index.categories();
  const own = offerOf(row, taxModel);
  const id = row.cell('id');
  const number = (own.number || id).slice(0, MAX_NUMBER);
  const offered = variantsOf(variants, own, number, properties);
  const hasUnknown = variants.some(({ optionIds }) => optionIds.some((one) => !properties.has(one)));
  const [first] = offered.variants;
  return {
    kind: 'product',
    sourceId: id || number,
    place,
    formerAddresses: id === '' ? [] : [`/detail/${id}`],
    offer: { ...own, ...(first && { price: first.price, listPrice: first.listPrice }), number },
    name: row.cell('name') || number,
    description: row.cell('description'),
    shortDescription: row.cell('meta_description'),
    pageTitle: row.cell('meta_title'),
    keywords: row.cell('keywords'),
    isVisible: row.cell('active') !== '0',
    manufacturer: row.cell('manufacturer_name'),
    manufacturerNumber: row.cell('manufacturer_number'),
    taxClass: decimalIn(row.cell('tax_rate')),
    categories: idsIn(row.cell('categories')).flatMap((category) => {
      const path = paths.get(category);
      return path ? [path] : [];
    }),
    pictures: picturesOf(row),
    ...offered,
    attributes: attributesOf(idsIn(row.cell('propertyIds')), properties),
    remarks: hasUnknown
      ? ['its options have their numbers for names, because the export of properties is missing']
      : [],
  };
}

function variantsOf(
  variants: readonly Variant[],
  own: OfferRecord,
  number: string,
  properties: ReadonlyMap<string, Property>,
): { options: string[]; variants: VariantRecord[] } {
  if (variants.length === 0) return { options: [], variants: [] };
  const chosen = variants.map(({ optionIds, offer }, index) => {
    const known = optionIds.flatMap((id) => properties.get(id) ?? []);
    const values = new Map(known.map(({ group, name }) => [group || 'Option', name]));
    return values.size > 0 && known.length === optionIds.length
      ? values
      : new Map([['Variant', offer.number || String(index + 1)]]);
  });
  const options = [...new Set(chosen.flatMap((values) => [...values.keys()]))];
  const takeNumber = uniqueNumbers();
  return {
    options,
    variants: variants.map(({ offer }, index) => ({
      number: takeNumber(offer.number === number ? '' : offer.number, `${number}-${index + 1}`),
      price: offer.price || own.price,
      listPrice: offer.price === '' ? own.listPrice : offer.listPrice,
      stock: offer.stock,
      weight: offer.weight || own.weight,
      code: offer.code,
      values: options.map((option) => chosen[index]!.get(option) ?? ''),
    })),
  };
}

function offerOf(row: TableRow, taxModel: 'GROSS' | 'NET'): OfferRecord {
  const kind = taxModel.toLowerCase();
  const price = decimalIn(row.cell(`price_${kind}`));
  const stock = decimalIn(row.cell('stock'));
  const weight = decimalIn(row.cell('weight'));
  return {
    number: row.cell('product_number').slice(0, MAX_NUMBER),
    price: price === '' ? '' : rounded(price),
    listPrice: decimalIn(row.cell(`list_price_${kind}`, `price_list_price_${kind}`)),
    // The stock of a product that was sold beyond it is below zero.
    stock: Number(stock) < 0 ? '0' : stock,
    // Shopware weighs in kilograms.
    weight: weight === '' ? '' : String(Math.round(Number(weight) * 1_000_000) / 1_000),
    code: row.cell('ean'),
  };
}

/** Net prices have eleven decimals there. */
const rounded = (price: string): string => String(Math.round(Number(price) * 10_000) / 10_000);

function attributesOf(ids: readonly string[], properties: ReadonlyMap<string, Property>): AttributeRecord[] {
  const groups = new Map<string, string[]>();
  for (const id of ids) {
    const property = properties.get(id);
    if (!property?.group || !property.name) continue;
    groups.set(property.group, [...(groups.get(property.group) ?? []), property.name]);
  }
  return [...groups].map(([name, values]) => ({
    name: name.slice(0, 200),
    values: [...new Set(values)].slice(0, MAX_ATTRIBUTE_VALUES),
  }));
}

function picturesOf(row: TableRow): PictureRecord[] {
  const addresses = [row.cell('cover_media_url'), ...row.cell('media').split('|')]
    .map((address) => address.trim())
    .filter((address) => /^https?:\/\//i.test(address));
  return [...new Set(addresses)].slice(0, MAX_PICTURES).map((address, index) => ({
    address,
    text: index === 0 ? row.cell('cover_media_alt', 'cover_media_title') : '',
  }));
}

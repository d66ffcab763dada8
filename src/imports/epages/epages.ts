import type { Address } from '../../shops/countries/address.ts';
import type {
  CategoryRecord,
  CustomerRecord,
  LegalRecord,
  OfferRecord,
  OrderRecord,
  PictureRecord,
  ProductRecord,
  Read,
  ImportedText,
  VariantRecord,
} from '../records.ts';
import { MAX_LEGAL_TEXT_LENGTH, PAGES } from '../../shops/legal/schema.ts';
import { decimal, importedTaxes } from '../order-taxes.ts';
import type { ImportSource } from '../source.ts';
import { momentIn } from '../values.ts';
import { ClientProblem, type Client } from './client.ts';

/* The answers of the API, as far as they are read. Servers differ, so nothing of them is taken for granted. */

interface Amount {
  amount?: number | string | null;
}
interface Link {
  rel?: string;
  href?: string;
}
interface Paged<Item> {
  results?: number;
  items?: Item[];
}
interface Category {
  categoryId: string;
  alias?: string;
  name?: string | null;
  description?: string | null;
  sfUrl?: string | null;
  subCategories?: Link[];
}
interface Product {
  productId: string;
  productNumber?: string | null;
  name?: string | null;
  description?: string | null;
  shortDescription?: string | null;
  title?: string | null;
  searchKeywords?: string[] | null;
  visible?: boolean;
  productVariationType?: string;
  manufacturer?: string | null;
  manufacturerProductNumber?: string | null;
  ean?: string | null;
  upc?: string | null;
  productCode?: string | null;
  stocklevel?: number | null;
  deliveryWeight?: { amount?: number; unit?: string } | null;
  images?: unknown[];
  sfUrl?: string | null;
  priceInfo?: {
    price?: Amount | null;
    manufacturerPrice?: Amount | null;
    taxClass?: { percentage?: number } | null;
  };
}
interface Variations {
  variationAttributes?: { name: string }[];
  items?: { link?: Link; attributeSelection?: { name: string; value: string }[] }[];
}
interface Customer {
  customerId: string;
  customerNumber?: string | null;
  creationDate?: string | null;
  internalNote?: string | null;
  billingAddress?: Partial<Address> | null;
}
interface LineItem {
  sku?: string | null;
  name?: string | null;
  variationString?: string | null;
  quantity?: Amount;
  singleItemPrice?: Amount;
  lineItemPrice?: Amount;
  taxClass?: { percentage?: number } | null;
}
interface Order {
  orderId: string;
  orderNumber?: string | null;
  creationDate?: string | null;
  currencyId?: string | null;
  taxModel?: string | null;
  grandTotal?: string | number | null;
  totalBeforeTax?: string | number | null;
  totalTax?: string | number | null;
  customerComment?: string | null;
  internalNote?: string | null;
  billingAddress?: Partial<Address> | null;
  shippingAddress?: Partial<Address> | null;
  shippingData?: { shippingMethod?: { name?: string | null } | null; price?: Amount | null } | null;
  paymentData?: { paymentMethod?: { name?: string | null } | null; price?: Amount | null } | null;
  paidOn?: string | null;
  dispatchedOn?: string | null;
  rejectedOn?: string | null;
  lineItemContainer?: { productLineItems?: LineItem[] };
}

const PER_PAGE = 100;
const MAX_DEPTH = 20;
const MAX_CATEGORIES = 20_000;
const MAX_PICTURES = 20;
const MAX_VARIATIONS = 5_000;
/** The largest picture of each: the others are made from it. */
const SIZES = ['Large', 'MediumLarge', 'Medium', 'MediumSmall', 'HotDeal', 'Small', 'Thumbnail'];
const GRAMS: Readonly<Record<string, number>> = {
  g: 1,
  'gram(s)': 1,
  kg: 1_000,
  'kilogram(s)': 1_000,
  mg: 0.001,
  lb: 453.592_37,
  oz: 28.349_523_125,
};

/** A shop of any server that speaks the REST API of ePages. */
export function epagesSource(client: Client): ImportSource {
  return {
    name: `epages ${client.url}`.slice(0, 300),
    category: () => categories(client),
    product: () => products(client),
    customer: () => customers(client),
    order: (skip) => orders(client, skip),
    legal: () => offeredTexts(client),
    unknownFiles: [],
  };
}

const place = (client: Client, path: string) => ({ file: client.url + path, line: null });
const text = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
const amountOf = (value: Amount | null | undefined) => text(value?.amount);

/** All items of a list. A list that changes meanwhile may show one twice, which the writers see. */
async function* paged<Item>(client: Client, path: string): AsyncGenerator<Item[]> {
  const sign = path.includes('?') ? '&' : '?';
  for (let page = 1; ; page++) {
    const answer = (await client.get(`${path}${sign}resultsPerPage=${PER_PAGE}&page=${page}`)) as
      | Paged<Item>
      | undefined;
    const items = answer?.items ?? [];
    if (items.length > 0) yield items;
    if (items.length < PER_PAGE || page * PER_PAGE >= (answer?.results ?? 0)) return;
  }
}

interface PlacedCategory {
  category: Category;
  /** From the top, without the root. */
  path: string[];
}

/** The tree from above, each level in its order. */
async function* tree(client: Client): AsyncGenerator<PlacedCategory> {
  const roots = ((await client.get('/categories')) ?? []) as Category[];
  let count = 0;
  const below = async function* (category: Category, path: string[]): AsyncGenerator<PlacedCategory> {
    if (path.length > 0) yield { category, path };
    if (path.length >= MAX_DEPTH) return;
    for (const { href } of category.subCategories ?? []) {
      const id = idIn(href);
      if (id === undefined || ++count > MAX_CATEGORIES) continue;
      const child = (await client.get(`/categories/${id}`)) as Category | undefined;
      if (child) yield* below(child, [...path, child.name ?? child.alias ?? id]);
    }
  };
  for (const root of roots) yield* below(root, []);
}

const idIn = (href: string | undefined) =>
  /\/([0-9A-Fa-f-]{36})(?:[/?#]|$)/.exec(href?.replace(/^.*\/rs\/shops\/[^/]+/, '') ?? '')?.[1];

/** The address of a page in the old shop; those that are the same here need no redirect. */
function formerAddresses(sfUrl: string | null | undefined): string[] {
  if (!sfUrl || !URL.canParse(sfUrl)) return [];
  const { pathname, search } = new URL(sfUrl);
  const isOurs = /^(?:\/shop\/[^/]+)?\/(?:Products|Categories)\/[^/]+$/.test(pathname);
  return isOurs || pathname === '/' ? [] : [pathname + search];
}

async function* categories(client: Client): AsyncGenerator<CategoryRecord> {
  for await (const { category, path } of tree(client)) {
    yield {
      kind: 'category',
      sourceId: category.categoryId,
      place: place(client, `/categories/${category.categoryId}`),
      formerAddresses: formerAddresses(category.sfUrl),
      path,
      description: category.description ?? '',
    };
  }
}

async function* products(client: Client): AsyncGenerator<ProductRecord> {
  const locales = await localesOf(client);
  const paths = new Map<string, string[][]>();
  for await (const { category, path } of tree(client)) {
    for await (const items of paged<Product>(
      client,
      `/products?categoryId=${category.categoryId}&includeInvisible=true`,
    )) {
      for (const { productId } of items) paths.set(productId, [...(paths.get(productId) ?? []), path]);
    }
  }
  for await (const items of paged<Product>(client, '/products?includeInvisible=true')) {
    for (const product of items) {
      if (product.productVariationType === 'variation') continue;
      yield await toProduct(client, product, locales, paths.get(product.productId) ?? []);
    }
  }
}

/** The other languages of the shop; texts are read in each of them. */
async function localesOf(client: Client): Promise<{ standard: string; others: string[] }> {
  const answer = (await client.get('/locales')) as { default?: string; items?: string[] } | undefined;
  const standard = answer?.default ?? 'en_GB';
  return { standard, others: (answer?.items ?? []).filter((locale) => locale !== standard) };
}

async function toProduct(
  client: Client,
  product: Product,
  { standard, others }: { standard: string; others: string[] },
  categories: string[][],
): Promise<ProductRecord> {
  const path = `/products/${product.productId}`;
  const byLocale = new Map([[standard, product]]);
  for (const locale of others) {
    const translated = (await client.get(`${path}?locale=${locale}`)) as Product | undefined;
    if (translated) byLocale.set(locale, translated);
  }
  const texts = (key: (one: Product) => string | null | undefined): ImportedText =>
    Object.fromEntries([...byLocale].map(([locale, one]) => [locale, key(one) ?? '']));
  const variants = product.productVariationType === 'master' ? await variantsOf(client, path) : undefined;
  return {
    kind: 'product',
    sourceId: product.productId,
    place: place(client, path),
    formerAddresses: formerAddresses(product.sfUrl),
    offer: offerOf(product, product.productNumber || product.productId),
    name: texts(({ name }) => name),
    description: texts(({ description }) => description),
    shortDescription: texts(({ shortDescription }) => shortDescription),
    pageTitle: texts(({ title }) => title),
    keywords: texts(({ searchKeywords }) => searchKeywords?.join(', ')),
    isVisible: product.visible ?? true,
    manufacturer: product.manufacturer ?? '',
    manufacturerNumber: product.manufacturerProductNumber ?? '',
    taxClass: text(product.priceInfo?.taxClass?.percentage),
    categories,
    pictures: (product.images?.length ?? 0) > 0 ? await picturesOf(client, path) : [],
    options: variants?.options ?? [],
    variants: variants?.variants ?? [],
    attributes: [],
    remarks: [],
  };
}

function offerOf(product: Product, number: string): OfferRecord {
  const { priceInfo, stocklevel, deliveryWeight, ean, upc, productCode } = product;
  const grams = GRAMS[deliveryWeight?.unit ?? ''];
  return {
    number,
    price: amountOf(priceInfo?.price),
    listPrice: amountOf(priceInfo?.manufacturerPrice),
    stock: text(stocklevel),
    weight: grams === undefined ? '' : text((deliveryWeight?.amount ?? 0) * grams),
    code: productCode || ean || upc || '',
  };
}

async function variantsOf(
  client: Client,
  path: string,
): Promise<{ options: string[]; variants: VariantRecord[] }> {
  const options: string[] = [];
  const variants: VariantRecord[] = [];
  for (let page = 1; variants.length < MAX_VARIATIONS; page++) {
    const answer = (await client.get(`${path}/variations?resultsPerPage=${PER_PAGE}&page=${page}`)) as
      | Variations
      | undefined;
    if (page === 1) options.push(...(answer?.variationAttributes ?? []).map(({ name }) => name));
    const items = answer?.items ?? [];
    for (const { link, attributeSelection = [] } of items) {
      const id = idIn(link?.href);
      const variation = id && ((await client.get(`/products/${id}`)) as Product | undefined);
      if (!variation) continue;
      const valueOf = (option: string) => attributeSelection.find(({ name }) => name === option)?.value ?? '';
      variants.push({
        ...offerOf(variation, variation.productNumber || variation.productId),
        values: options.map(valueOf),
      });
    }
    if (items.length < PER_PAGE) break;
  }
  return { options, variants };
}

async function picturesOf(client: Client, path: string): Promise<PictureRecord[]> {
  const answer = (await client.get(`${path}/slideshow`)) as
    | { items?: { sizes?: { url?: string | null; classifier?: string }[] }[] }
    | undefined;
  return (answer?.items ?? []).slice(0, MAX_PICTURES).flatMap(({ sizes = [] }) => {
    const best = SIZES.map((size) => sizes.find(({ classifier, url }) => classifier === size && url)?.url);
    const address = best.find((url) => url);
    return address ? [{ address, text: '' }] : [];
  });
}

async function* customers(client: Client): AsyncGenerator<CustomerRecord> {
  for await (const items of paged<Customer>(client, '/customers')) {
    for (const { customerId, customerNumber, creationDate, internalNote, billingAddress } of items) {
      yield {
        kind: 'customer',
        sourceId: customerId,
        place: place(client, `/customers/${customerId}`),
        formerAddresses: [],
        number: customerNumber ?? '',
        createdAt: momentIn(creationDate ?? ''),
        address: billingAddress ?? {},
        tags: [],
        group: '',
        note: internalNote ?? '',
        newsletter: undefined,
      };
    }
  }
}

/** The lines of an order are read one order at a time, so orders that were imported before are skipped. */
async function* orders(
  client: Client,
  skip: (sourceIds: readonly string[]) => Promise<ReadonlySet<string>>,
): AsyncGenerator<OrderRecord | { kind: 'problem'; of: 'order'; place: OrderRecord['place']; text: string }> {
  for await (const items of paged<Order>(client, '/orders')) {
    const known = await skip(items.map(({ orderId }) => orderId));
    for (const { orderId } of items) {
      if (known.has(orderId)) continue;
      const path = `/orders/${orderId}`;
      const order = (await client.get(path)) as Order | undefined;
      const createdAt = momentIn(order?.creationDate ?? '');
      if (order && createdAt && order.orderNumber) yield toOrder(order, createdAt, place(client, path));
      else
        yield { kind: 'problem', of: 'order', place: place(client, path), text: 'lacks a number or a date' };
    }
  }
}

function toOrder(order: Order, createdAt: Date, at: OrderRecord['place']): OrderRecord {
  const isTaxIncluded = order.taxModel !== 'NET';
  const [total, net, tax] = [order.grandTotal, order.totalBeforeTax, order.totalTax].map(Number) as [
    number,
    number,
    number,
  ];
  const items = order.lineItemContainer?.productLineItems ?? [];
  const lines = items.map(
    ({ sku, name, variationString, quantity, singleItemPrice, lineItemPrice, taxClass }) => {
      const pieces = Number(quantity?.amount ?? 1) || 1;
      const unit = Number(singleItemPrice?.amount ?? 0);
      const price = Number(lineItemPrice?.amount ?? unit * pieces);
      return {
        line: {
          number: sku ?? '',
          name: [name, variationString].filter(Boolean).join(', '),
          quantity: String(pieces),
          unitPrice: String(unit),
          discount: decimal(unit * pieces - price),
          taxRate: text(taxClass?.percentage),
        },
        price,
        rate: taxClass?.percentage ?? 0,
      };
    },
  );
  const shipping = Number(order.shippingData?.price?.amount ?? 0);
  const payment = Number(order.paymentData?.price?.amount ?? 0);
  const sold = lines.reduce((sum, { price }) => sum + price, 0);
  const paidAt = momentIn(order.paidOn ?? '');
  return {
    kind: 'order',
    sourceId: order.orderId,
    place: at,
    formerAddresses: [],
    number: order.orderNumber ?? '',
    createdAt,
    currency: order.currencyId ?? '',
    isTaxIncluded,
    lines: lines.map(({ line }) => line),
    discount: decimal(Math.max(0, sold + shipping + payment - (isTaxIncluded ? total : net))),
    shipping: { name: order.shippingData?.shippingMethod?.name ?? '', price: String(shipping) },
    payment: { name: order.paymentData?.paymentMethod?.name ?? '', price: String(payment) },
    taxes: importedTaxes(lines, tax, isTaxIncluded),
    total: String(order.grandTotal ?? ''),
    paidAmount: paidAt ? String(order.grandTotal ?? '0') : '0',
    refundedAmount: '0',
    paidAt,
    dispatchedAt: momentIn(order.dispatchedOn ?? ''),
    cancelledAt: momentIn(order.rejectedOn ?? ''),
    billingAddress: order.billingAddress ?? {},
    shippingAddress: order.shippingAddress ?? undefined,
    comment: order.customerComment ?? '',
    note: order.internalNote ?? '',
  };
}

/** Not every server has them, and not every token may read them: that is reported and does not end the import. */
async function* offeredTexts(client: Client): AsyncGenerator<Read<LegalRecord>> {
  try {
    yield* legalTexts(client);
  } catch (error) {
    if (!(error instanceof ClientProblem) || error.status === undefined || error.status >= 429) throw error;
    const text = `cannot be read: the other shop answers ${error.status}. Its token may lack a scope`;
    yield { kind: 'problem', of: 'legal', place: place(client, '/legal'), text };
  }
}

/** The texts that are set, in all languages of the other shop. */
async function* legalTexts(client: Client): AsyncGenerator<LegalRecord> {
  const { standard, others } = await localesOf(client);
  for (const { page, request } of PAGES) {
    for (const locale of [standard, ...others]) {
      const path = `/legal/${page}?locale=${locale}`;
      const given = ((await client.get(path)) ?? {}) as Record<string, unknown>;
      const content = Object.fromEntries(
        Object.entries(request.properties).flatMap(([key]) => {
          const value = given[key];
          return typeof value === 'string' && value.trim() !== '' && value.length <= MAX_LEGAL_TEXT_LENGTH
            ? [[key, value]]
            : [];
        }),
      );
      if (Object.keys(content).length === 0) continue;
      yield {
        kind: 'legal',
        sourceId: `${page} ${locale}`,
        place: place(client, path),
        formerAddresses: [],
        page,
        locale,
        content,
      };
    }
  }
}

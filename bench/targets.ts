import { OWNERS, type BenchShop } from './shop.ts';

/** One call; sent with the shop's token. */
export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: string;
  headers?: Record<string, string>;
}

/** What one run through a flow remembers of its answers. */
export type Memory = Record<string, string>;

/** A call of a flow, made from what the calls before it were answered. */
export interface Step {
  name: string;
  call: (memory: Memory) => Call;
  /** Notes what later steps need. */
  note?: (memory: Memory, body: string, headers: Record<string, string>) => void;
}

export interface Target {
  name: string;
  /** Least share of its baseline's requests per second; absent: measured, not judged. */
  goal?: number;
  /** What it is compared with; absent: one select. */
  baseline?: keyof typeof baselines;
  /** How many clients ask at the same time; 32 when it is not given. */
  connections?: number;
  /** The connections share these calls and each repeats its part, so many calls touch many rows. */
  calls: (shop: BenchShop) => Call[];
  /** Instead of the calls, each connection goes through these steps again and again. */
  flow?: (shop: BenchShop) => Step[];
  /** A step of the flow whose 99th percentile must stay below this many milliseconds. */
  slowest?: { step: string; belowMs: number };
}

/** What Kontor is measured by. A new line here is all that a new target needs. */
export const targets: Target[] = [
  { name: 'GET currencies', goal: 0.7, calls: ({ root }) => [get(`${root}/currencies`)] },
  {
    name: 'GET customer',
    goal: 0.7,
    calls: ({ root, customerIds }) => customerIds.map((id) => get(`${root}/customers/${id}`)),
  },
  {
    name: 'GET product, one of 100',
    goal: 0.85,
    calls: ({ root, productIds }) => productIds.slice(0, 100).map((id) => get(`${root}/products/${id}`)),
  },
  {
    name: 'GET product, one of 100, 1 connection',
    goal: 0.75,
    baseline: 'selectAlone',
    connections: 1,
    calls: ({ root, productIds }) => productIds.slice(0, 100).map((id) => get(`${root}/products/${id}`)),
  },
  // More than are asked for twice in a run, so most of them are rendered for the call.
  {
    name: 'GET product, any',
    goal: 0.6,
    calls: ({ root, productIds }) => productIds.map((id) => get(`${root}/products/${id}`)),
  },
  {
    name: 'GET products, 20 a page',
    goal: 0.75,
    baseline: 'page',
    calls: ({ root }) => [get(`${root}/products?resultsPerPage=20`)],
  },
  {
    name: 'GET products, 20 a page, 1 connection',
    goal: 0.5,
    baseline: 'pageAlone',
    connections: 1,
    calls: ({ root }) => [get(`${root}/products?resultsPerPage=20`)],
  },
  {
    name: 'GET products, 20 a page, Brotli',
    baseline: 'page',
    calls: ({ root }) => [
      { ...get(`${root}/products?resultsPerPage=20`), headers: { 'accept-encoding': 'br' } },
    ],
  },
  { name: 'search for a new word', calls: () => [], flow: ({ root }) => [newSearch(root)] },
  {
    name: 'search for a new word, 1 connection',
    baseline: 'selectAlone',
    connections: 1,
    calls: () => [],
    flow: ({ root }) => [newSearch(root)],
  },
  {
    name: 'search with facets for a new word',
    calls: () => [],
    flow: ({ root }) => [newFacetedSearch(root)],
  },
  {
    name: 'search with facets for a known word',
    calls: ({ root }) => SEARCHED.map((word) => facetsOf(root, word)),
  },
  {
    name: 'GET orders/{id}',
    goal: 0.6,
    calls: ({ root, orderIds }) => orderIds.map((id) => get(`${root}/orders/${id}`)),
  },
  {
    name: 'product page',
    goal: 0.4,
    calls: ({ shopId, saleNumbers }) =>
      saleNumbers.map((number) => get(`/shop/${shopId}/Products/${encodeURIComponent(number)}`)),
  },
  {
    name: 'category page',
    goal: 0.3,
    calls: ({ shopId, categoryAlias }) => [
      get(`/shop/${shopId}/Categories/${encodeURIComponent(categoryAlias)}`),
    ],
  },
  {
    name: 'POST line item',
    goal: 0.6,
    baseline: 'write',
    calls: ({ root, carts, saleIds }) =>
      carts.map(({ cartId, token }, index) => ({
        method: 'POST',
        path: `${root}/carts/${cartId}/line-items`,
        headers: { 'x-epages-cart-token': token },
        body: JSON.stringify({ productId: saleIds[(7 * index + 1) % saleIds.length], quantity: 1 }),
      })),
  },
  {
    name: 'cart with a line (2 writes)',
    baseline: 'write',
    calls: () => [],
    flow: (shop) => checkout(shop).slice(0, 2),
  },
  {
    name: 'products that sell (7 writes, 40 reads)',
    baseline: 'write',
    calls: () => [],
    flow: (shop) => sellAndRead({ ...shop, saleIds: shop.saleIds.slice(0, POPULAR) }),
  },
  {
    name: 'checkout (7 writes)',
    goal: 0.45,
    baseline: 'write',
    calls: () => [],
    flow: checkout,
    slowest: { step: 'order', belowMs: 100 },
  },
];

/** Products that are read and bought all the time, and how often one of them is read between two orders. */
const POPULAR = 20;
const READS = 40;

/** A checkout, and reads of the products that it has made fewer: half of them by the API, half as pages. */
function sellAndRead({ shopId, saleNumbers, ...shop }: BenchShop): Step[] {
  const popular = () => Math.floor(Math.random() * POPULAR);
  const product: Step = {
    name: 'product',
    call: () => get(`${shop.root}/products/${shop.saleIds[popular()]!}`),
  };
  const page: Step = {
    name: 'page',
    call: () => get(`/shop/${shopId}/Products/${encodeURIComponent(saleNumbers[popular()]!)}`),
  };
  return [...checkout(shop), ...Array.from({ length: READS / 2 }, () => [product, page]).flat()];
}

/** Words in the names of generated products: each is in one of thirty or of a hundred. */
const SEARCHED = (
  'candlestick chandelier floodlight tablecloth screwdriver sketchbook paintbrush chessboard marionette skateboard ' +
  'waterproof reversible stoneware terracotta porcelain'
).split(' ');

/** Letters of a word that may be large or small: so many times a thousand searches differ. */
const VARIED_LETTERS = 9;

let searches = 0;

/** A word that nobody has searched for: the same one in other letters, and later with another size of the page. */
export function newWord(): { word: string; perPage: number } {
  const variant = Math.floor(searches / SEARCHED.length);
  const letters = Array.from(SEARCHED[searches % SEARCHED.length]!, (letter, place) =>
    (variant >> place) % 2 === 1 && place < VARIED_LETTERS ? letter.toUpperCase() : letter,
  );
  searches++;
  return { word: letters.join(''), perPage: 10 + ((variant >> VARIED_LETTERS) % 90) };
}

export function newSearch(root: string): Step {
  return {
    name: 'search',
    call: () => {
      const { word, perPage } = newWord();
      return get(`${root}/products?q=${word}&resultsPerPage=${perPage}`);
    },
  };
}

function newFacetedSearch(root: string): Step {
  return {
    name: 'search',
    call: () => {
      const { word, perPage } = newWord();
      return facetsOf(root, word, perPage);
    },
  };
}

function facetsOf(root: string, query: string, perPage = 10): Call {
  const path = `${root}/search/products?resultsPerPage=${perPage}`;
  return { method: 'POST', path, body: JSON.stringify({ query }) };
}

/** A new customer buys two things: what a shop does most, from the empty cart to the order. */
export function checkout({
  root,
  saleIds,
  shippingMethodId,
}: Pick<BenchShop, 'root' | 'saleIds' | 'shippingMethodId'>): Step[] {
  let buyers = 0;
  const pick = () => saleIds[Math.floor(Math.random() * saleIds.length)]!;
  const inCart = (name: string, method: Call['method'], path: string, body: () => object): Step => ({
    name,
    call: ({ cart, token }) => ({
      method,
      path: `${cart}/${path}`,
      headers: { 'x-epages-cart-token': token! },
      body: JSON.stringify(body()),
    }),
  });
  const address = () => ({
    firstName: 'Ada',
    lastName: 'Brennan',
    street: 'Speicherweg 4',
    zipCode: '20457',
    city: 'Hamburg',
    country: 'DE',
    emailAddress: `buyer-${process.pid}-${++buyers}@mail.example`,
  });
  return [
    {
      name: 'create',
      call: () => ({ method: 'POST', path: `${root}/carts`, body: '{}' }),
      note: (memory, body, headers) => {
        memory['cart'] = `${root}/carts/${body.slice('{"cartId":"'.length, 36 + '{"cartId":"'.length)}`;
        memory['token'] = headers['x-epages-cart-token']!;
      },
    },
    inCart('first line', 'POST', 'line-items', () => ({ productId: pick(), quantity: 1 })),
    inCart('second line', 'POST', 'line-items', () => ({ productId: pick(), quantity: 2 })),
    inCart('billing address', 'PUT', 'billing-address', address),
    inCart('shipping address', 'PUT', 'shipping-address', address),
    inCart('shipping', 'PUT', 'shipping-data', () => ({ id: shippingMethodId })),
    inCart('order', 'POST', 'order', () => ({})),
  ];
}

/** What the targets are compared with: Fastify alone, with one select by primary key, with a long text too; a write. */
export const baselines = {
  constant: { name: 'Fastify, constant', calls: () => [get('/')] },
  select: {
    name: 'Fastify + one select',
    calls: ({ shopId, customerIds }) => customerIds.map((id) => get(`/${shopId}/${id}`)),
  },
  selectAlone: {
    name: 'Fastify + one select, 1 connection',
    connections: 1,
    calls: ({ shopId, customerIds }) => customerIds.map((id) => get(`/${shopId}/${id}`)),
  },
  page: {
    name: 'Fastify + one select + a page of text',
    calls: ({ shopId, customerIds }) => customerIds.map((id) => get(`/${shopId}/${id}`)),
  },
  pageAlone: {
    name: 'Fastify + one select + a page of text, 1 connection',
    connections: 1,
    calls: ({ shopId, customerIds }) => customerIds.map((id) => get(`/${shopId}/${id}`)),
  },
  write: {
    name: 'Fastify + one transaction (lock, 2 inserts, update)',
    calls: () => Array.from({ length: OWNERS }, (_, index) => ({ method: 'POST', path: `/${index}` })),
  },
} satisfies Record<string, Target>;

function get(path: string): Call {
  return { method: 'GET', path };
}

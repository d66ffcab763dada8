import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call, Memory, Step } from '../targets.ts';
import type { Job, JobCalls, Peer, PeerProduct } from './peer.ts';

/**
 * Vendure, as its documentation tells to run it: a server and a worker on PostgreSQL, the search that it comes with. It is
 * installed with `npm install @vendure/core pg` in a folder of its own.
 */
export const vendure: Peer = {
  name: 'Vendure',
  start: async (setup) => {
    const { folder, products, workFolder, start } = setup;
    const manifest = await readFile(path.join(folder, 'node_modules/@vendure/core/package.json'), 'utf8');
    const csv = path.join(workFolder, 'vendure.csv');
    await writeFile(csv, csvOf(products));
    const environment = {
      PEER_FOLDER: folder,
      PEER_DATABASE: JSON.stringify(setup.database),
      PEER_PRODUCTS: csv,
      VENDURE_DISABLE_TELEMETRY: 'true',
    };
    const server = 'bench/peers/vendure-server.js';
    const filling = await start('vendure-filling', [server, 'fill'], '/health', environment, FILLED_WITHIN);
    await filling.stop();
    const { origin } = await start('vendure', [server, 'serve'], '/health', environment, STARTS_WITHIN);
    await start('vendure-worker', [server, 'work'], '/health', environment, STARTS_WITHIN);
    const ids = await idsOf(origin);
    if (ids.length < products.length)
      throw new Error(`Vendure has taken ${ids.length} of ${products.length} products`);
    await indexed(origin, products.length);
    return {
      version: (JSON.parse(manifest) as { version: string }).version,
      origin,
      jobs: jobsOf(ids, setup.searched),
    };
  },
};

const STARTS_WITHIN = 120_000;
const FILLED_WITHIN = 1_200_000;

/** Its worker fills the search index by and by. */
async function indexed(origin: string, products: number): Promise<void> {
  const query = asked('{ search(input: { groupByProduct: true, take: 1 }) { totalItems } }');
  for (const began = performance.now(); ; await sleep(1_000)) {
    const { search } = (await answerOf(origin, query)) as { search: { totalItems: number } };
    if (search.totalItems >= products) return;
    if (performance.now() - began > FILLED_WITHIN)
      throw new Error('Vendure does not finish its search index');
  }
}

async function answerOf(origin: string, { method, path: place, body = '' }: Call): Promise<unknown> {
  const response = await fetch(origin + place, {
    method,
    body,
    headers: { 'content-type': 'application/json' },
  });
  return ((await response.json()) as { data: unknown }).data;
}

function csvOf(products: readonly PeerProduct[]): string {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const rows = products.map(({ number, name, description, price }) =>
    [
      name,
      number,
      description,
      '',
      '',
      '',
      '',
      number,
      (price / 100).toFixed(2),
      'standard',
      '100000000',
      'true',
      '',
      '',
    ]
      .map(quoted)
      .join(','),
  );
  const titles =
    'name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,trackInventory,variantAssets,variantFacets';
  return [titles, ...rows, ''].join('\n');
}

/** What a page of a product shows. */
const PRODUCT = `id name slug description
  featuredAsset { preview } assets { preview } collections { id name slug }
  variants { id sku name priceWithTax currencyCode stockLevel options { name } }`;

function jobsOf(ids: readonly Ids[], searched: string): Record<Job, JobCalls> {
  return {
    product: {
      calls: ids.map(({ productId }) =>
        asked(`query ($id: ID!) { product(id: $id) { ${PRODUCT} } }`, { id: productId }),
      ),
    },
    'list of 20': {
      calls: [asked(`{ products(options: { take: 20 }) { totalItems items { ${PRODUCT} } } }`)],
    },
    search: {
      calls: [
        asked(
          `query ($term: String!) { search(input: { term: $term, groupByProduct: true, take: 20 }) {
            totalItems items { productId productName slug description currencyCode
              priceWithTax { ... on PriceRange { min max } ... on SinglePrice { value } } } } }`,
          { term: searched },
        ),
      ],
    },
    checkout: { flow: checkout(ids.map(({ variantId }) => variantId)) },
  };
}

interface Ids {
  productId: string;
  variantId: string;
}

async function idsOf(origin: string): Promise<Ids[]> {
  const ids: Ids[] = [];
  for (let skip = 0; ; skip += 100) {
    const query = asked(
      'query ($skip: Int!) { products(options: { take: 100, skip: $skip }) { items { id variants { id } } } }',
      { skip },
    );
    const { products } = (await answerOf(origin, query)) as {
      products: { items: { id: string; variants: { id: string }[] }[] };
    };
    const { items } = products;
    if (items.length === 0) return ids;
    ids.push(...items.map(({ id, variants }) => ({ productId: id, variantId: variants[0]!.id })));
  }
}

function asked(query: string, variables: object = {}, headers: Record<string, string> = {}): Call {
  return { method: 'POST', path: '/shop-api', headers, body: JSON.stringify({ query, variables }) };
}

const ORDER = `... on Order { id code state totalWithTax
  lines { quantity linePriceWithTax productVariant { name sku } } shippingWithTax }
  ... on ErrorResult { errorCode message }`;

/** The same purchase as ours: two things, an address, a shipping method, the order. */
function checkout(variantIds: readonly string[]): Step[] {
  let buyers = 0;
  const pick = () => variantIds[Math.floor(Math.random() * variantIds.length)]!;
  const step = (name: string, query: string, variables: (memory: Memory) => object = () => ({})): Step => ({
    name,
    call: (memory) => {
      const { token } = memory;
      return asked(query, variables(memory), token === undefined ? {} : { authorization: `Bearer ${token}` });
    },
    note: (memory, body, headers) => {
      // Errors come with the status 200.
      if (/"errorCode":|"errors":/.test(body)) throw new Error(`Vendure, ${name}: ${body.slice(0, 500)}`);
      if (name === 'first line') delete memory['method'];
      memory['token'] = headers['vendure-auth-token'] ?? memory['token']!;
      const method = /"eligibleShippingMethods":\[\{"id":"([^"]+)"/.exec(body)?.[1];
      if (method !== undefined) memory['method'] = method;
    },
  });
  const add = `mutation ($id: ID!, $quantity: Int!) {
    addItemToOrder(productVariantId: $id, quantity: $quantity) { ${ORDER} } }`;
  const address = {
    fullName: 'Ada Brennan',
    streetLine1: 'Speicherweg 4',
    city: 'Hamburg',
    postalCode: '20457',
    countryCode: 'DE',
  };
  const first = step('first line', add, () => ({ id: pick(), quantity: 1 }));
  return [
    // A new shopper, who has no session yet.
    { ...first, call: () => first.call({}) },
    step('second line', add, () => ({ id: pick(), quantity: 2 })),
    step(
      'customer',
      `mutation ($input: CreateCustomerInput!) { setCustomerForOrder(input: $input) { ${ORDER} } }`,
      () => ({
        input: {
          firstName: 'Ada',
          lastName: 'Brennan',
          emailAddress: `buyer-${process.pid}-${++buyers}@mail.example`,
        },
      }),
    ),
    step(
      'address',
      `mutation ($input: CreateAddressInput!) { setOrderShippingAddress(input: $input) { ${ORDER} } }`,
      () => ({ input: address }),
    ),
    step('shipping methods', '{ eligibleShippingMethods { id priceWithTax } }'),
    step(
      'shipping',
      `mutation ($id: [ID!]!) { setOrderShippingMethod(shippingMethodId: $id) { ${ORDER} } }`,
      ({ method }) => ({ id: [method] }),
    ),
    step(
      'to payment',
      `mutation { transitionOrderToState(state: "ArrangingPayment") {
        ... on Order { id state } ... on OrderStateTransitionError { errorCode message transitionError } } }`,
    ),
    step('order', `mutation { addPaymentToOrder(input: { method: "later", metadata: {} }) { ${ORDER} } }`),
  ];
}

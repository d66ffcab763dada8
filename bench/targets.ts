import type { BenchShop } from './shop.ts';

/** One call; sent with the shop's token. */
export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: string;
}

export interface Target {
  name: string;
  /** Least share of its baseline's requests per second; absent: measured, not judged. */
  goal?: number;
  /** What it is compared with; absent: one select. */
  baseline?: keyof typeof baselines;
  /** The connections share these calls and each repeats its part, so many calls touch many rows. */
  calls: (shop: BenchShop) => Call[];
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
    name: 'GET product',
    goal: 0.6,
    calls: ({ root, productIds }) => productIds.map((id) => get(`${root}/products/${id}`)),
  },
  {
    name: 'GET products, 20 a page',
    goal: 0.5,
    baseline: 'page',
    calls: ({ root }) => [get(`${root}/products?resultsPerPage=20`)],
  },
];

/** What the targets are compared with: Fastify alone, with one select by primary key, and with a long text too. */
export const baselines = {
  constant: { name: 'Fastify, constant', calls: () => [get('/')] },
  select: {
    name: 'Fastify + one select',
    calls: ({ shopId, customerIds }) => customerIds.map((id) => get(`/${shopId}/${id}`)),
  },
  page: {
    name: 'Fastify + one select + a page of text',
    calls: ({ shopId, customerIds }) => customerIds.map((id) => get(`/${shopId}/${id}`)),
  },
} satisfies Record<string, Target>;

function get(path: string): Call {
  return { method: 'GET', path };
}

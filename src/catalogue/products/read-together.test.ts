import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';

const SHOP = 'DemoShop';
let service: Service;
let productIds: string[];

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0' });
  const { items } = await get('/products?resultsPerPage=30');
  productIds = items.map((item: { productId: string }) => item.productId);
});
afterAll(() => service.close());

async function get(path: string) {
  const { status, body } = await service.call('GET', `/${SHOP}${path}`, { token: 'demo-all' });
  expect({ path, status }).toEqual({ path, status: 200 });
  return body;
}

async function rename(productId: string, name: string): Promise<void> {
  const { status } = await service.call('PATCH', `/${SHOP}/products/${productId}`, {
    token: 'demo-all',
    body: [{ op: 'replace', path: '/name', value: name }],
  });
  expect(status).toBe(200);
}

/** How often a connection is taken meanwhile. */
async function countConnections(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const note = () => void count++;
  service.db.pool.on('acquire', note);
  await work();
  service.db.pool.off('acquire', note);
  return count;
}

test('whoever has changed a product sees the change, however many read it meanwhile', async () => {
  const [productId] = productIds;
  const paths = [`/products/${productId}`, '/products?resultsPerPage=5', '/products?q=renamed'];
  const end = new AbortController();
  const readers = Array.from({ length: 12 }, async (_, index) => {
    while (!end.signal.aborted) await get(paths[index % paths.length]!);
  });
  for (let round = 1; round <= 15; round++) {
    // The first of all names, so that it stands on the first page.
    const name = `!Renamed ${round}`;
    await rename(productId!, name);
    const [product, list, found] = await Promise.all(paths.map(get));
    expect([product.name, list.items[0].name, found.items[0].name]).toEqual([name, name, name]);
  }
  end.abort();
  await Promise.all(readers);
});

test('requests that come at once share their statements, and each gets its own answer', async () => {
  const paths = productIds.slice(0, 20).map((productId) => `/products/${productId}`);
  const alone: unknown[] = [];
  for (const path of paths) alone.push(await get(path));
  let together: unknown[] = [];
  const connections = await countConnections(async () => {
    together = await Promise.all(paths.map(get));
  });
  expect(together).toEqual(alone);
  expect(connections).toBeLessThan(5);

  const page = await get('/products?resultsPerPage=5');
  let pages: unknown[] = [];
  const forPages = await countConnections(async () => {
    pages = await Promise.all(Array.from({ length: 20 }, () => get('/products?resultsPerPage=5')));
  });
  expect(pages).toEqual(pages.map(() => page));
  expect(forPages).toBeLessThan(5);
});

test('what one of them asks for and there is not is its own problem', async () => {
  const unknown = '00000000-0000-4000-8000-000000000000';
  const answers = await Promise.all(
    [productIds[0]!, unknown, productIds[1]!].map((productId) =>
      service.call('GET', `/${SHOP}/products/${productId}`, { token: 'demo-all' }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 200]);
});

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startDemo } from '../../../test/demo.ts';
import { waitFor } from '../../../test/process.ts';
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

/**
 * The answers of requests that come together, and how many reads they take. The first read is held back until all of
 * them have asked, so that the count does not depend on how busy the machine is.
 */
async function getTogether(paths: readonly string[]): Promise<{ answers: unknown[]; reads: number }> {
  const { shared } = service.db;
  const [once, byId] = [shared.once.bind(shared), shared.byId.bind(shared)];
  let [asked, reads] = [0, 0];
  const allHaveAsked = waitFor(() => asked >= paths.length);
  const held =
    <Given extends unknown[], Result>(read: (...given: Given) => Promise<Result>) =>
    async (...given: Given) => {
      reads++;
      await allHaveAsked;
      return read(...given);
    };
  const spies = [
    vi.spyOn(shared, 'once').mockImplementation((shopId, what, read) => {
      asked++;
      return once(shopId, what, held(read));
    }),
    vi.spyOn(shared, 'byId').mockImplementation((shopId, what, id, read) => {
      asked++;
      return byId(shopId, what, id, held(read));
    }),
  ];
  const answers = await Promise.all(paths.map(get));
  for (const spy of spies) spy.mockRestore();
  return { answers, reads };
}

test('a client that has changed a product sees the change, however many read it meanwhile', async () => {
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
  const together = await getTogether(paths);
  expect(together.answers).toEqual(alone);
  expect(together.reads).toBeLessThanOrEqual(2);

  const page = '/products?resultsPerPage=5';
  const one = await get(page);
  const pages = await getTogether(Array.from({ length: 20 }, () => page));
  expect(pages.answers).toEqual(pages.answers.map(() => one));
  expect(pages.reads).toBeLessThanOrEqual(2);
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

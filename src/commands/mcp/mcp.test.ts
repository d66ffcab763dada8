import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { shopFingerprint, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { runCommand } from '../run.ts';
import { createAssistantServer } from './server.ts';
import { shortenAnswer } from '../../mcp/shortened.ts';
import { TOOLS } from '../../mcp/tools.ts';

let service: Service;
let origin: string;
const clients: Client[] = [];

beforeAll(async () => {
  service = await startDemo();
  origin = await service.app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));
afterAll(() => service.close());

/** The official client, connected to the server in this process. */
async function assistant({ token = 'demo-read', mayWrite = false, shopId = 'DemoShop', at = origin } = {}) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1.0.0' });
  clients.push(client);
  await createAssistantServer({ origin: at, shopId, token, mayWrite }).connect(ours);
  await client.connect(theirs);
  return {
    client,
    call: async (name: string, input: Record<string, unknown> = {}) => {
      const { content, isError } = (await client.callTool({ name, arguments: input })) as CallToolResult;
      const [part] = content;
      return { isError: isError === true, text: part?.type === 'text' ? part.text : '' };
    },
  };
}

const productIdOf = (number: string) => idOf('products?q=', number, 'productId');
const idOf = async (list: string, q: string, field: string): Promise<string> => {
  const { body } = await service.call('GET', `/DemoShop/${list}${q}`, { token: 'demo-all' });
  return body.items[0][field];
};

describe('reading', () => {
  test('the tools of /mcp are listed, and none that writes', async () => {
    const { client } = await assistant();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      TOOLS.filter(({ kind }) => kind === 'reads').map(({ name }) => name),
    );
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    expect(JSON.stringify(tools).length).toBeLessThan(40_000);
    expect(client.getInstructions()).toContain('Nothing can be changed.');
  });

  test('products are found, and one is read', async () => {
    const { call } = await assistant();
    const found = JSON.parse((await call('list_products', { q: 'kettle' })).text);
    expect(found).toMatchObject({ results: 1, items: [{ name: 'Beacon Kettle 1.7 l' }] });
    const [{ productId }] = found.items;
    const { text } = await call('get_product', { productId, locale: 'de_DE' });
    expect(JSON.parse(text)).toMatchObject({ productId, name: 'Beacon Wasserkocher 1,7 l' });
    expect(text).not.toContain('"links"');
    expect(text).not.toContain('null');
  });

  test('orders, customers and sales are read', async () => {
    const { call } = await assistant();
    const orders = JSON.parse((await call('list_orders', { dispatchedOn: false, resultsPerPage: 20 })).text);
    const unsent = await service.call('GET', '/DemoShop/orders?dispatchedOn=false', { token: 'demo-all' });
    expect(orders.results).toBe(unsent.body.results);
    const { orderId, orderNumber } = orders.items[0];
    expect(JSON.parse((await call('get_managed_order', { orderId })).text)).toMatchObject({
      orderId,
      orderNumber,
    });
    const customers = JSON.parse((await call('list_customers', { resultsPerPage: 20 })).text);
    expect(customers).toMatchObject({ results: 15, resultsPerPage: 20 });
    const { customerId } = customers.items[0];
    expect(JSON.parse((await call('get_customer', { customerId })).text)).toMatchObject({
      customerNumber: '1001',
    });
    const period = {
      createdAfter: new Date(service.db.now.getTime() - 20 * 86_400_000).toISOString(),
      createdBefore: service.db.now.toISOString(),
    };
    const sales = await service.call('GET', `/DemoShop/sales?${new URLSearchParams(period).toString()}`, {
      token: 'demo-all',
    });
    expect(JSON.parse((await call('get_sales', period)).text)).toEqual(JSON.parse(shortenAnswer(sales.body)));
    for (const name of ['get_shop', 'list_categories', 'list_returns']) {
      expect([name, (await call(name)).isError]).toEqual([name, false]);
    }
  });
});

describe('what is refused changes nothing', () => {
  test('a tool that writes, without --write', async () => {
    const before = await shopFingerprint(service, 'DemoShop');
    const { call } = await assistant({ token: 'demo-all' });
    const productId = await productIdOf('kettle');
    expect(await call('change_prices', { prices: [{ productId, price: 1 }] })).toEqual({
      isError: true,
      text: 'There is no tool change_prices',
    });
    expect(await shopFingerprint(service, 'DemoShop')).toEqual(before);
  });

  test('an argument that the tool does not have', async () => {
    const { call } = await assistant();
    const { isError, text } = await call('list_products', { words: 'kettle' });
    expect(isError).toBe(true);
    expect(text).toContain('words');
  });

  test('what the scopes of the token do not allow', async () => {
    const before = await shopFingerprint(service, 'DemoShop');
    const productId = await productIdOf('kettle');
    const { call } = await assistant({ mayWrite: true });
    expect(await call('change_prices', { prices: [{ productId, price: 1 }] })).toEqual({
      isError: true,
      text: `The token lacks the scope products_write, Request: PATCH /rs/shops/DemoShop/products/${productId}`,
    });
    const stranger = await assistant({ token: 'demo-none' });
    expect((await stranger.call('list_orders')).text).toContain('The token lacks the scope orders_read');
    expect(await shopFingerprint(service, 'DemoShop')).toEqual(before);
  });

  test('an id that is a path, another shop, an unknown token, a service that is not there', async () => {
    const { call } = await assistant({ token: 'demo-all', mayWrite: true });
    expect(await call('get_product', { productId: '../orders' })).toEqual({
      isError: true,
      text: 'productId is no id',
    });
    const other = await assistant({ shopId: '../EmptyShop' });
    expect(await other.call('get_shop')).toMatchObject({ isError: true });
    const unknown = await assistant({ token: 'no-such-token' });
    expect((await unknown.call('list_orders')).text).toContain('The token is unknown in this shop');
    const nowhere = await assistant({ at: 'http://127.0.0.1:1' });
    expect(await nowhere.call('get_shop')).toEqual({
      isError: true,
      text: expect.stringMatching(/^The shop at http:\/\/127\.0\.0\.1:1 could not be asked: /),
    });
  });
});

test('with --write, one price, the stock and orders are changed, and nothing that a person must confirm', async () => {
  const { client, call } = await assistant({ token: 'demo-all', mayWrite: true });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(
    TOOLS.filter(({ kind }) => kind !== 'plans').map(({ name }) => name),
  );
  const productId = await productIdOf('kettle');
  const change = { productId, price: 47.5 };
  expect(await call('change_prices', { prices: [change] })).toMatchObject({ isError: false });
  const stock = { op: 'replace', path: '/stocklevel', value: 30 };
  expect(await call('update_product', { productId, body: [stock] })).toMatchObject({ isError: false });
  const { body: product } = await service.call('GET', `/DemoShop/products/${productId}`, {
    token: 'demo-all',
  });
  expect([product.priceInfo.price.amount, product.stocklevel]).toEqual([47.5, 30]);

  const orders = await service.call('GET', '/DemoShop/orders?dispatchedOn=false&rejectedOn=false', {
    token: 'demo-all',
  });
  const [first, second] = orders.body.items as { orderId: string }[];
  const shipment = { orderId: first!.orderId, carrier: 'DHL', trackingCode: '0815' };
  expect(JSON.parse((await call('create_shipment', shipment)).text)).toMatchObject({
    management: { shipments: [{ carrier: 'DHL', trackingCode: '0815' }] },
  });

  const before = await shopFingerprint(service, 'DemoShop');
  for (const [name, input, text] of [
    ['cancel_order', { orderId: second!.orderId }, 'There is no tool cancel_order'],
    ['change_prices', { prices: [change, change] }, 'change_prices changes one price here'],
    [
      'update_product',
      { productId, body: [{ op: 'replace', path: '/priceInfo/price/amount', value: 1 }] },
      'Prices are changed with change_prices',
    ],
  ] as const) {
    expect(await call(name, input)).toEqual({ isError: true, text });
  }
  expect(await shopFingerprint(service, 'DemoShop')).toEqual(before);
});

test('the guides and the reference are read as well', async () => {
  const { client } = await assistant();
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain('kontor://guides/mcp.md');
  const { contents } = await client.readResource({ uri: 'kontor://reference/createShipment' });
  expect(contents).toMatchObject([
    { mimeType: 'application/json', text: expect.stringContaining('/shipments') },
  ]);
});

test('the command speaks the protocol over stdin and stdout, and ends with them', async () => {
  const client = new Client({ name: 'test', version: '1.0.0' });
  clients.push(client);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--import', 'tsx', 'src/cli.ts', 'mcp', 'DemoShop', '--url', origin],
    env: { KONTOR_TOKEN: 'demo-read' },
    stderr: 'inherit',
  });
  await client.connect(transport);
  const { content } = (await client.callTool({ name: 'get_shop', arguments: {} })) as CallToolResult;
  expect(content).toEqual([{ type: 'text', text: expect.stringContaining('"name": "Harbour & Hearth"') }]);
  const { pid } = transport;
  await client.close();
  expect(() => process.kill(pid!, 0)).toThrow('ESRCH');
});

test('answers are bounded', () => {
  const text = shortenAnswer({
    links: [{ rel: 'self' }],
    gone: null,
    description: 'a'.repeat(5_000),
    items: Array.from({ length: 300 }, () => ({ name: 'b'.repeat(5_000) })),
  });
  expect(text.length).toBeLessThan(40_100);
  expect(text).not.toMatch(/links|gone/);
  expect(
    JSON.parse(shortenAnswer({ items: Array.from({ length: 60 }, (_, index) => index) })).items.slice(-2),
  ).toEqual([49, '… and 10 more']);
});

test('the command says what is missing', async () => {
  const said = new PassThrough({ encoding: 'utf8' });
  const before = process.env['KONTOR_TOKEN'];
  delete process.env['KONTOR_TOKEN'];
  expect(await runCommand(['mcp', 'DemoShop'], {}, { stdout: said, stderr: said })).toBe(1);
  process.env['KONTOR_TOKEN'] = 'demo-read';
  expect(await runCommand(['mcp', 'DemoShop', '--url', 'shop'], {}, { stdout: said, stderr: said })).toBe(1);
  if (before === undefined) delete process.env['KONTOR_TOKEN'];
  else process.env['KONTOR_TOKEN'] = before;
  expect(said.read()).toBe(
    'kontor: KONTOR_TOKEN is not set. Create a token: npx kontor token create DemoShop --scopes products_read,orders_read\n' +
      'kontor: --url is an address such as https://shop.example, not "shop".\n',
  );
});

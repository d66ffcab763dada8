import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemo } from './demo.ts';
import type { Service } from './service.ts';

/** The calls of docs/getting-started.md, sent as they are written there. */
const guide = readFileSync(new URL('../docs/getting-started.md', import.meta.url), 'utf8');
const commands = [...guide.matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text!.trim());

let service: Service;

beforeAll(async () => {
  service = await startDemo();
});
afterAll(() => service.close());

/** Sends what curl would send. */
async function curl(command: string, variables: Readonly<Record<string, string>>) {
  const words = [...command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, quoted, filled, plain]) =>
      quoted ?? (filled ?? plain!).replaceAll(/\$([A-Z_]+)/g, (_, name: string) => variables[name]!),
  );
  expect(words.shift()).toBe('curl');
  const headers: Record<string, string> = {};
  let method: string | undefined;
  let payload: string | undefined;
  let url = '';
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '-H') {
      const [name, value] = words.shift()!.split(': ', 2) as [string, string];
      headers[name] = value;
    } else if (word === '-X') method = words.shift()!;
    else if (word === '-d') payload = words.shift()!;
    else if (word !== '-i') url = word.replace('http://localhost:8080', '');
  }
  const response = await service.app.inject({
    method: (method ?? (payload === undefined ? 'GET' : 'POST')) as 'GET',
    url,
    headers,
    ...(payload !== undefined && { payload }),
  });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

test('the first page lists products and places an order', async () => {
  const overview = readFileSync(new URL('../docs/README.md', import.meta.url), 'utf8');
  const calls = [...overview.matchAll(/```sh\n(curl.*?)```/gs)].map(([, text]) => text!.trim());
  const [list, create, place] = calls as [string, string, string];
  expect(calls).toHaveLength(3);
  const products = await curl(list, {});
  expect([products.status, create.includes(products.body.items[0].productId)]).toEqual([200, true]);
  const cart = await curl(create, {});
  const variables = { CART: cart.body.cartId, CART_TOKEN: String(cart.headers['x-epages-cart-token']) };
  const placed = await curl(place, variables);
  expect([placed.status, typeof placed.body.orderNumber]).toEqual([201, 'string']);
});

test('a purchase is three calls and a look, and each answers what the guide says', async () => {
  const calls = commands.filter((command) => command.startsWith('curl'));
  expect(calls).toHaveLength(4);
  const [find, create, place, look] = calls as [string, string, string, string];

  const found = await curl(find, {});
  expect(found.body.items).toHaveLength(1);
  expect(guide).toContain(`\`productId\` is \`${found.body.items[0].productId}\``);

  const cart = await curl(create, {});
  expect(cart.status).toBe(201);
  const variables = {
    CART: cart.body.cartId,
    CART_TOKEN: String(cart.headers['x-epages-cart-token']),
  };

  const { amount: grandTotal } = cart.body.lineItemContainer.grandTotal;

  const placed = await curl(place, variables);
  expect(placed.status).toBe(201);
  const again = await curl(place, variables);
  expect([again.status, again.body]).toEqual([201, placed.body]);
  expect(again.headers['idempotency-replayed']).toBe('true');

  const order = await curl(look, { ORDER: placed.body.orderId });
  expect(order.status).toBe(200);
  expect(order.body).toMatchObject({
    orderNumber: placed.body.orderNumber,
    grandTotal: String(grandTotal),
    billingAddress: { lastName: 'Lindqvist', city: 'Hamburg' },
  });
});

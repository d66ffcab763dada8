import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES } from '../src/http/scopes.ts';
import { newId, newSecret } from '../src/kernel/ids.ts';
import { givenToken } from './builders.ts';
import { demoShop, expectRefusal, startDemo } from './demo.ts';
import { cart, OPERATIONS, validCall, type Operation, type Shop, type ValidCall } from './operations.ts';
import { statementsOf } from './carts.ts';
import { isOfToday } from './seed.ts';
import { urlOf, type CallOptions, type Service } from './service.ts';

/**
 * What is wrong with a request is said in the order of the contract: shop, token and scope, cart token, Accept, body.
 * So nobody learns from a message about the body whether a cart exists, and a client mends first what comes first.
 */

let service: Service;
let shop: Shop;
/** It may do everything, but not what the operation asks for. */
const lacking = new Map<string, string>();

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  shop = demoShop(service);
  for (const scope of SCOPES) {
    const others = SCOPES.filter((one) => one !== scope);
    lacking.set(scope, await givenToken(service, 'DemoShop', others));
  }
});

afterAll(() => service.close());

const takesBody = ({ body, multipart }: Operation) => body !== undefined && !multipart;

const wrongAccept = ({ csv }: Operation) => ({ accept: csv ? 'application/json' : 'text/xml' });

/** As sent, but in a form that can't be answered, and with a body that is no JSON. */
function spoilt(operation: Operation, { options }: ValidCall): CallOptions {
  const headers = { ...options.headers, ...wrongAccept(operation) };
  return takesBody(operation)
    ? { ...options, body: '{', headers: { ...headers, 'content-type': 'application/json' } }
    : { ...options, headers };
}

async function refused({ method, path, search }: ValidCall, options: CallOptions, changed = path) {
  const answer = await service.call(method, changed + search, options);
  expectRefusal(answer, method, urlOf(changed));
  return { status: answer.status, text: answer.body.message as string };
}

function without(options: CallOptions, key: keyof CallOptions): CallOptions {
  const { [key]: _left, ...rest } = options;
  return rest;
}

const unclaimed = OPERATIONS.map((operation) =>
  operation.cartToken ? { ...operation, params: { ...operation.params, cartId: cart } } : operation,
);

describe.each(unclaimed.map((operation, index) => ({ ...operation, index })))('$name', (operation) => {
  // The order is the same few lines for all operations.
  const isTodays = isOfToday(operation.index, 3);

  test.runIf(isTodays)('the shop comes first', async () => {
    const call = await validCall(operation, shop);
    const options = without({ ...spoilt(operation, call), token: newSecret(32) }, 'cartToken');
    const elsewhere = call.path.replace('DemoShop', 'Nowhere');
    expect((await refused(call, options, elsewhere)).status).toBe(404);
  });

  test.runIf(isTodays)('then Accept, then the body', async () => {
    const call = await validCall(operation, shop);
    expect((await refused(call, spoilt(operation, call))).status).toBe(406);
    if (!takesBody(operation)) return;
    const headers = { 'content-type': 'application/json' };
    expect((await refused(call, { ...call.options, body: '{', headers })).status).toBe(400);
  });
});

// Of what a custom field, a rule or a task is decides its scope, which is known once the request was read.
const isOfFields = ({ name }: Operation) => /\/manage\/(custom-fields|rules|tasks)/.test(name);
const withToken = unclaimed.filter((operation) => operation.scopes.length > 0 || operation.anyToken);

test.each(withToken.filter((operation) => !isOfFields(operation)))(
  '$name looks at the token and the scope before the cart token',
  async (operation) => {
    const call = await validCall(operation, shop);
    const options = without(spoilt(operation, call), 'cartToken');
    expect((await refused(call, { ...options, token: newSecret(32) })).status).toBe(401);
    for (const scope of operation.scopes) {
      const { status, text } = await refused(call, { ...options, token: lacking.get(scope)! });
      expect([status, text]).toEqual([403, expect.stringContaining(`The token lacks the scope ${scope}`)]);
    }
  },
);

test.each(unclaimed.filter((operation) => operation.cartToken))(
  '$name looks at the cart token before Accept and the body',
  async (operation) => {
    const call = await validCall(operation, shop);
    const options = spoilt(operation, call);
    const wrong = [without(options, 'cartToken'), { ...options, cartToken: '' }];
    for (const changed of [...wrong, { ...options, cartToken: newSecret(24) }]) {
      const { status, text } = await refused(call, changed);
      expect([status, text]).toEqual([403, expect.stringContaining('Missing or wrong cart token')]);
    }
    // The same with each of the two mistakes alone.
    const other = { cartToken: newSecret(24) };
    const unacceptable = {
      ...call.options,
      headers: { ...call.options.headers, ...wrongAccept(operation) },
    };
    expect((await refused(call, { ...unacceptable, ...other })).status).toBe(403);
    if (!takesBody(operation)) return;
    for (const body of ['{', 'null', '"x"', `"${'x'.repeat(1_100_000)}"`]) {
      const headers = { 'content-type': 'application/json' };
      expect((await refused(call, { ...call.options, body, headers, ...other })).status).toBe(403);
    }
    const xml = { ...call.options, body: '<a/>', headers: { 'content-type': 'text/xml' } };
    expect((await refused(call, { ...xml, ...other })).status).toBe(403);
  },
);

test.each(unclaimed.filter((operation) => operation.cartToken))(
  '$name says whether there is such a cart before Accept and the body',
  async (operation) => {
    const call = await validCall(operation, shop);
    const options = spoilt(operation, call);
    for (const id of [newId(new Date()), 'x']) {
      const path = call.path.replace(call.params['cartId']!, id);
      expect((await refused(call, options, path)).status).toBe(404);
    }
    const { token, cartToken } = call.options as { token: string; cartToken: string };
    const placing = `/DemoShop/carts/${call.params['cartId']}/order`;
    expect((await service.call('POST', placing, { token, cartToken })).status).toBe(201);
    expect((await refused(call, options)).status).toBe(410);
    expect((await refused(call, { ...options, cartToken: newSecret(24) })).status).toBe(403);
  },
);

test('without any cart token nothing is looked up', async () => {
  const operation = OPERATIONS.find(({ name }) => name === 'POST /carts/{cartId}/multi-line-items')!;
  const call = await validCall({ ...operation, params: { cartId: cart } }, shop);
  await service.call('GET', '/DemoShop/countries', { token: 'demo-all' });
  const options = without(spoilt(operation, call), 'cartToken');
  const statements = await statementsOf(() => refused(call, options));
  expect(statements).toEqual([]);
});

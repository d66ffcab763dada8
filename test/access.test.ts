import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../src/db/sql.ts';
import { ANONYMOUS_SCOPES, SCOPES, type Scope } from '../src/http/scopes.ts';
import { newSecret } from '../src/kernel/ids.ts';
import { TOOLS } from '../src/mcp/tools.ts';
import { applySettings } from '../src/shops/settings/file.ts';
import {
  answerOf,
  givenTools,
  operationOf,
  outcomeOf,
  sent,
  SHOP_CALLS,
  shopRequest,
  toolRequest,
  type ShopCall,
} from './assistant-requests.ts';
import { givenToken } from './builders.ts';
import { demoShop, expectRefusal, fingerprint, givenOtherShop, startDemo } from './demo.ts';
import { profileFile, startFakeAssistant, type FakeAssistant } from './fake-assistant.ts';
import type { FuzzRequest } from './fuzz/damage.ts';
import { cart, OPERATIONS, validCall, type Operation, type Shop, type ValidCall } from './operations.ts';
import { aQuarter, isOfToday, oneInTurn, someInTurn } from './seed.ts';
import { urlOf, type CallOptions, type Service } from './service.ts';

let service: Service;
let shop: Shop;
let other: Shop;
/** As the demo shop, but it shows nothing to strangers. */
let closed: Shop;

beforeAll(async () => {
  service = await startDemo();
  shop = demoShop(service);
  other = await givenOtherShop(service);
  await service.db.run(sql`update shop set public_catalogue = false where shop_id = ${other.shopId}`);
  closed = other;
});

afterAll(() => service.close());

/** The options of a call with another Authorization header, or none. */
function optionsAs({ options }: ValidCall, authorization: string | undefined): CallOptions {
  const { token: _token, headers, ...rest } = options;
  return { ...rest, headers: { ...headers, ...(authorization && { authorization }) } };
}

/** Makes a valid call ready to be sent once, with another Authorization header, or none. */
async function readyAs(operation: Operation, openShop: Shop, authorization: string | undefined) {
  const call = await takeCall(operation, openShop);
  return () => service.call(call.method, call.path + call.search, optionsAs(call, authorization));
}

const lackingTokens = new Map<string, Promise<string>>();

/** A token with all scopes but this one. */
function tokenWithout(scope: Scope): Promise<string> {
  let token = lackingTokens.get(scope);
  if (!token) {
    const others = SCOPES.filter((one) => one !== scope);
    lackingTokens.set(scope, (token = givenToken(service, shop.shopId, others)));
  }
  return token;
}

const refusedCalls = new Map<string, Promise<ValidCall>>();

/**
 * What is refused changes nothing, so its tests share one valid call for each operation and shop, which the last of them
 * sends: it shows that nothing but the token was wrong with it.
 */
function refusedCall(operation: Operation, refusing: Shop): Promise<ValidCall> {
  const key = `${operation.name} ${refusing.shopId}`;
  let call = refusedCalls.get(key);
  if (!call) refusedCalls.set(key, (call = validCall(operation, refusing)));
  return call;
}

/** The call that was refused until now, or a new one. */
function takeCall(operation: Operation, takingShop: Shop): Promise<ValidCall> {
  const call = refusedCall(operation, takingShop);
  refusedCalls.delete(`${operation.name} ${takingShop.shopId}`);
  return call;
}

/** How a call is refused with each of these Authorization headers, and that nothing was written. */
async function refusalsOf(
  operation: Operation,
  refusing: Shop,
  authorizations: readonly (string | undefined)[],
) {
  const call = await refusedCall(operation, refusing);
  const { method, search } = call;
  const path = urlOf(call.path);
  const refusals = [];
  const before = await fingerprint(service);
  for (const authorization of authorizations) {
    const answer = await service.call(method, call.path + search, optionsAs(call, authorization));
    expectRefusal(answer, method, path);
    // Who is known is counted by token, anybody else by address.
    expect(answer.headers['x-ratelimit-limit']).toBe(answer.status === 403 ? '6000' : '36000');
    refusals.push({
      status: answer.status,
      challenge: answer.headers['www-authenticate'],
      text: answer.body.message.replace(`, Request: ${method} ${path}`, ''),
    });
  }
  expect(await fingerprint(service)).toEqual(before);
  return refusals;
}

const unauthorised = (text: string) => ({
  status: 401,
  challenge: `Bearer realm="kontor", error="invalid_token", error_description="${text}"`,
  text,
});

const isGuarded = ({ scopes, anyToken }: Operation) => scopes.length > 0 || anyToken;
const guarded = OPERATIONS.filter((operation) => isGuarded(operation));
const open = OPERATIONS.filter((operation) => !isGuarded(operation));

const ofCarts = OPERATIONS.filter(({ cartToken }) => cartToken);

test('only these need no token at all', () => {
  const names = open.filter(({ cartToken }) => !cartToken).map(({ name }) => name);
  expect(names).toEqual(['POST /carts', 'GET /countries', 'POST /token']);
});

test('these need the token of their cart, and some a scope as well', () => {
  expect(ofCarts).toHaveLength(25);
  const scoped = ofCarts.flatMap(({ method, path, scopes }) => {
    const part = path.split('/').at(-1);
    return scopes.map((scope) => `${method} ${part} ${scope}`);
  });
  expect(scoped.toSorted()).toEqual([
    'POST order orders_write',
    'PUT payment-data carts_price_write',
    'PUT product-price carts_price_write',
    'PUT shipping-data carts_price_write',
  ]);
});

test('these need two scopes, because they give away or change what both protect', () => {
  const names = guarded.flatMap(({ name, scopes }) =>
    scopes.length > 1 ? [`${name} ${scopes.join()}`] : [],
  );
  expect(names).toEqual([
    'GET /manage/customers/{customerId}/export customers_read,orders_read',
    'POST /manage/customers/{customerId}/erase customers_write,orders_write',
    // A rule reads what happens, and acts.
    'POST /manage/rules orders_read,orders_write',
    'PUT /manage/rules/{ruleId} orders_read,orders_write',
    'DELETE /manage/rules/{ruleId} orders_read,orders_write',
    // Drafts are among them, and reading what is public needs no token.
    'POST /manage/mailings newsletters_read,coupons_write',
    'PUT /manage/mailings/{mailingId} newsletters_read,coupons_write',
    'PUT /manage/mailings/{mailingId}/state newsletters_read,coupons_write',
    'DELETE /manage/mailings/{mailingId} newsletters_read,coupons_write',
    'POST /manage/newsletter-bounces newsletters_read,customers_write',
    'GET /manage/pages legal_read,legal_write',
    'GET /manage/pages/{pageId} legal_read,legal_write',
    'GET /manage/sandbox-emails orders_read,customers_read',
  ]);
});

const PUTS_PRODUCTS_INTO_CARTS = [
  'POST /carts',
  'POST /carts/{cartId}/line-items',
  'POST /carts/{cartId}/multi-line-items',
];

/** Nobody's, and of somebody who may not do anything: an operation that needs no token looks at none of them. */
const STRANGERS = [undefined, 'Bearer demo-none', `Bearer ${newSecret(32)}`, 'Basic dXNlcjpwYXNz', 'Bearer'];

describe.each(open.map((operation, index) => ({ ...operation, index })))('$name', (operation) => {
  test.each(someInTurn(STRANGERS, operation.index, 2))('is open to anybody: %s', async (authorization) => {
    const send = await readyAs(operation, shop, authorization);
    expect(await send()).toMatchObject({ status: operation.status });
    const sendAtClosed = await readyAs(operation, closed, authorization);
    // A line names and prices a product, which a closed shop does for nobody who may not read its products.
    const status = PUTS_PRODUCTS_INTO_CARTS.includes(operation.name) ? 401 : operation.status;
    expect(await sendAtClosed()).toMatchObject({ status });
  });
});

describe.each(guarded.map((operation, index) => ({ ...operation, index })))('$name', (operation) => {
  const { scopes, status } = operation;
  const isAnonymous = scopes.length > 0 && scopes.every((scope) => ANONYMOUS_SCOPES.has(scope));
  // What is wrong with a token is found out by the same lines for all operations.
  const isTodays = isOfToday(operation.index, 5);

  test('without a token', async () => {
    if (isAnonymous) {
      const send = await readyAs(operation, shop, undefined);
      expect(await send()).toMatchObject({ status });
    } else {
      expect(await refusalsOf(operation, shop, [undefined])).toEqual([unauthorised('A token is needed')]);
    }
    expect(isAnonymous && operation.writes).toBe(false);
  });

  // It makes a difference only to what strangers may see in other shops.
  test.runIf(isAnonymous || isTodays)(
    'without a token, in a shop that shows nothing to strangers',
    async () => {
      expect(await refusalsOf(operation, closed, [undefined])).toEqual([unauthorised('A token is needed')]);
      if (!isTodays) return;
      const send = await readyAs(operation, closed, `Bearer ${closed.token}`);
      expect(await send()).toMatchObject({ status });
    },
  );

  test.runIf(isTodays || scopes.length === 0)(
    'with a token that is unknown, or of another shop',
    async () => {
      const refusal = unauthorised('The token is unknown in this shop');
      expect(await refusalsOf(operation, shop, [`Bearer ${newSecret(32)}`, `Bearer ${other.token}`])).toEqual(
        [refusal, refusal],
      );
    },
  );

  test.runIf(isTodays)('with something that is no token', async () => {
    const noTokens = oneInTurn(['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer a b', 'demo-all'], operation.index);
    expect(await refusalsOf(operation, shop, noTokens)).toEqual(
      noTokens.map(() => unauthorised('The Authorization header is not a bearer token')),
    );
  });

  test.each(scopes)('with all scopes but %s, which it needs', async (scope) => {
    expect(await refusalsOf(operation, shop, [`Bearer ${await tokenWithout(scope)}`])).toEqual([
      {
        status: 403,
        challenge: `Bearer realm="kontor", error="insufficient_scope", scope="${scope}"`,
        text: `The token lacks the scope ${scope}`,
      },
    ]);
  });

  test('with what it needs, and no other scope', async () => {
    // Of the app that the call was made ready for: some things belong to an app.
    const token = await givenToken(service, shop.shopId, scopes, 'all-access');
    const send = await readyAs(operation, shop, `Bearer ${token}`);
    const before = await fingerprint(service);
    expect(await send()).toMatchObject({ status });
    const after = await fingerprint(service);
    if (operation.writes || operation.auditedRead) expect(after).not.toEqual(before);
    else expect(after).toEqual(before);
  });
});

let wrongTokens: Promise<(string | undefined)[]> | undefined;

/** None, an empty and an unknown one, and those of other carts, in this shop and in another. */
function wrongCartTokens(): Promise<(string | undefined)[]> {
  const make = async () => {
    const calls = [await validCall(withOwnCart[0]!, shop), await validCall(withOwnCart[0]!, other)];
    return [undefined, '', newSecret(24), ...calls.map(({ options }) => options.cartToken!)];
  };
  return (wrongTokens ??= make());
}

/** Each with a cart of its own, which nobody else uses. */
const withOwnCart = ofCarts.map((operation) => ({
  ...operation,
  params: { ...operation.params, cartId: cart },
}));

describe.each(withOwnCart)('$name', (operation) => {
  /** How the call is refused with each of these cart tokens, and that nothing was written. */
  const statusesWith = async (call: ValidCall, tokens: readonly (string | undefined)[]) => {
    const { method, path, search, options } = call;
    const { cartToken: _own, ...others } = options;
    const statuses = new Set<number>();
    const before = await fingerprint(service);
    for (const cartToken of tokens) {
      const changed = cartToken === undefined ? others : { ...others, cartToken };
      const answer = await service.call(method, path + search, changed);
      expectRefusal(answer, method, urlOf(path));
      statuses.add(answer.status);
    }
    expect(await fingerprint(service)).toEqual(before);
    return [...statuses];
  };

  test('without the token of the cart, or with a wrong one', async () => {
    const tokens = await wrongCartTokens();
    const call = await validCall(operation, shop);
    expect(await statusesWith(call, tokens)).toEqual([403]);
    const { status } = await service.call(operation.method, call.path + call.search, call.options);
    expect(status).toBe(operation.status);
  });

  test.runIf(operation.writes)('nobody else gets the answer again that was kept for a key', async () => {
    const tokens = await wrongCartTokens();
    const call = await validCall(operation, shop);
    const headers = { ...call.options.headers, 'idempotency-key': newSecret(24) };
    const keyed = { ...call, options: { ...call.options, headers } };
    for (const replayed of [undefined, 'true']) {
      const answer = await service.call(keyed.method, keyed.path + keyed.search, keyed.options);
      expect(answer).toMatchObject({ status: operation.status });
      expect(answer.headers['idempotency-replayed']).toBe(replayed);
    }
    expect(await statusesWith(keyed, tokens)).toEqual([403]);
  });

  test('once the cart has become an order', async () => {
    const tokens = await wrongCartTokens();
    const call = await validCall(operation, shop);
    const { token, cartToken } = call.options as { token: string; cartToken: string };
    const placing = `/${shop.shopId}/carts/${call.params['cartId']}/order`;
    expect((await service.call('POST', placing, { token, cartToken })).status).toBe(201);
    expect(await statusesWith(call, [cartToken])).toEqual([410]);
    expect(await statusesWith(call, tokens)).toEqual([403]);
  });
});

describe('what a shop offers to assistants', () => {
  let assistant: FakeAssistant;
  let stranger: FakeAssistant;
  const requests = new Map<ShopCall, FuzzRequest>();

  beforeAll(async () => {
    [assistant, stranger] = await Promise.all([startFakeAssistant(), startFakeAssistant()]);
    for (const call of SHOP_CALLS) requests.set(call, await shopRequest(call, shop, assistant.profile));
    // The key of a shop is made when it signs first.
    await outcomes();
    for (const call of SHOP_CALLS) requests.set(call, await shopRequest(call, shop, assistant.profile));
  });
  afterAll(() => Promise.all([assistant.close(), stranger.close()]));

  const setAssistants = (assistants: object) =>
    service.db.transaction((tx) => applySettings(tx, shop.shopId, { assistants }));
  const allWith = (outcome: string, of = SHOP_CALLS) => of.map(({ name }) => [name, outcome]);

  /** What comes of the requests, each changed. */
  async function outcomes(change = (request: FuzzRequest): FuzzRequest => request, of = SHOP_CALLS) {
    const found = [];
    for (const call of of) {
      found.push([call.name, outcomeOf(await sent(service, change(requests.get(call)!)))]);
    }
    return found;
  }

  const replacing = (text: string, other: string) => (request: FuzzRequest) =>
    JSON.parse(JSON.stringify(request).replaceAll(text, other)) as FuzzRequest;

  test('is refused to whom it is not for, and nothing changes', async () => {
    const before = await fingerprint(service);
    expect(await outcomes(replacing('ucp-agent', 'nobody'))).toEqual(allWith('400 invalid_profile_url'));
    const signature = { 'signature-input': 'sig1=("@method");keyid="x"', signature: 'sig1=:AA==:' };
    const signed = (request: FuzzRequest) => ({ ...request, headers: { ...request.headers, ...signature } });
    expect(await outcomes(signed)).toEqual(allWith('401 key_not_found'));
    // Whoever has the id of a cart may open it, as with its token; sessions and orders belong to their assistant.
    const owned = SHOP_CALLS.filter(({ operation }) => /^\/(?!carts\/).*:id/.test(operation.path));
    const asStranger = replacing(assistant.origin, stranger.origin);
    expect(await outcomes(asStranger, owned)).toEqual(allWith('not_found', owned));
    stranger.file = profileFile([]);
    const asUnable = replacing(assistant.profile, `${stranger.origin}/unable.json`);
    expect(await outcomes(asUnable)).toEqual(allWith('capabilities_incompatible'));
    expect(await fingerprint(service)).toEqual(before);
  });

  test.each([
    [{ open: false }, '404 not_found'],
    [{ open: true, signedOnly: true }, '401 signature_missing'],
    [
      { open: true, catalogue: false, carts: false, checkout: false, orders: false },
      'capabilities_incompatible',
    ],
  ])('is closed by the setting %j, and nothing changes', async (settings, outcome) => {
    await setAssistants(settings);
    const before = await fingerprint(service);
    expect(await outcomes()).toEqual(allWith(outcome));
    expect(await fingerprint(service)).toEqual(before);
    await setAssistants({ open: true });
  });

  test.each(SHOP_CALLS)('$name', async (call) => {
    const { operation, transport } = call;
    const before = await fingerprint(service);
    const answer = await sent(service, requests.get(call)!);
    const status = transport === 'rest' ? (operation.status ?? 200) : 200;
    expect([answer.status, outcomeOf(answer)]).toEqual([status, 'found']);
    const after = await fingerprint(service);
    // Without a token of its buyer, nothing is ordered.
    if (operation.writes && operation.name !== 'complete_checkout') expect(after).not.toEqual(before);
    else expect(after).toEqual(before);
  });
});

describe('the tools of merchants', () => {
  test('ask for a token of theirs before anything else', async () => {
    const [tool] = TOOLS;
    const request = await toolRequest(tool!, shop, '');
    const before = await fingerprint(service);
    // The token of an app opens the API, and not the tools, where people are asked.
    for (const authorization of [...STRANGERS, `Bearer ${shop.token}`, `Bearer DemoShop.${newSecret(32)}`]) {
      const headers = { ...request.headers, authorization: authorization ?? '' };
      const { status, body } = await sent(service, { ...request, headers });
      expect([authorization, status, body.error.code]).toEqual([authorization, 401, -32_600]);
    }
    expect(await fingerprint(service)).toEqual(before);
  });

  test.each(aQuarter(TOOLS))('$name', async (tool) => {
    const { kind } = tool;
    const { scopes, auditedRead } = operationOf(tool);
    const token = await givenTools(shop, scopes);
    const request = await toolRequest(tool, shop, token);
    for (const scope of scopes) {
      const lacking = await givenTools(
        shop,
        SCOPES.filter((one) => one !== scope),
      );
      const headers = { ...request.headers, authorization: `Bearer ${lacking}` };
      const before = await fingerprint(service);
      // What is read of a rule depends on the rule, so its operation finds out itself.
      expect(answerOf(await sent(service, { ...request, headers }))).toBe(
        tool.scopes.includes(scope)
          ? `Error: The permission ${scope} was not granted`
          : `Error: The token lacks the scope ${scope}`,
      );
      expect(await fingerprint(service)).toEqual(before);
    }

    expect(scopes).toEqual(expect.arrayContaining([...tool.scopes]));
    const before = await fingerprint(service);
    const answer = answerOf(await sent(service, request));
    expect(answer).not.toMatch(/^Error: |^Problem: /);
    const { assistant_plan: plans, audit_entry: entries, ...after } = await fingerprint(service);
    const { assistant_plan: plansBefore, audit_entry: entriesBefore, ...others } = before;
    // What a person must confirm has not happened yet.
    expect([kind, answer.includes('confirmAt'), plans !== plansBefore]).toEqual([
      kind,
      kind === 'plans',
      kind === 'plans',
    ]);
    if (kind === 'writes') expect(after).not.toEqual(others);
    else expect(after).toEqual(others);
    expect(entries !== entriesBefore).toBe(kind !== 'reads' || auditedRead);
  });
});

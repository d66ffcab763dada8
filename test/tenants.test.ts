import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../src/kernel/ids.ts';
import { TOOLS } from '../src/mcp/tools.ts';
import { givenMerchant } from './admin.ts';
import {
  answerOf,
  givenTools,
  operationOf,
  sent,
  SHOP_CALLS,
  shopRequest,
  toolRequest,
} from './assistant-requests.ts';
import { demoShop, expectRefusal, fingerprint, givenOtherShop, shopFingerprint, startDemo } from './demo.ts';
import { startFakeAssistant, type FakeAssistant } from './fake-assistant.ts';
import { OPERATIONS, validCall, type Operation, type Shop, type ValidCall } from './operations.ts';
import { aQuarter, isOfToday, ofTheDay, someInTurn } from './seed.ts';
import { urlOf, type Service } from './service.ts';

const MALFORMED = ['x', "'", '..%2f..', '%00', '%ff', 'x'.repeat(300), '%20', '*', 'null', '0', '-1'];
/** Stands in a path for one of them. */
const HOLE = 'malformed';

let service: Service;
let shop: Shop;
let other: Shop;

beforeAll(async () => {
  service = await startDemo();
  shop = demoShop(service);
  other = await givenOtherShop(service);
});

afterAll(() => service.close());

/** The operation with other ids in its path, of which nothing has to be made. */
function withIds(operation: Operation, ids: Readonly<Record<string, string>>): Operation {
  const given = Object.entries(ids).map(([name, id]) => [name, () => id]);
  return { ...operation, params: { ...operation.params, ...Object.fromEntries(given) } };
}

/** The operation with one of its ids in lower case. */
function inLowerCase(operation: Operation, name: string): Operation {
  const fact = operation.params[name]!;
  return {
    ...operation,
    params: { ...operation.params, [name]: async (...given) => (await fact(...given)).toLowerCase() },
  };
}

/** Sends a call that is good in this shop: its status, whether it has written here, and which tables of the other shop. */
async function effectsOf(
  here: Shop,
  elsewhere: Shop,
  { method, path, search, options }: ValidCall,
): Promise<{ status: number; isWrittenHere: boolean; writtenElsewhere: string[] }> {
  const rowsOf = async () => [
    await shopFingerprint(service, here.shopId),
    await shopFingerprint(service, elsewhere.shopId),
  ];
  const before = await rowsOf();
  const { status } = await service.call(method, path + search, options);
  const [changedHere = [], writtenElsewhere = []] = (await rowsOf()).map((after, shop) =>
    Object.keys(after).filter((table) => after[table] !== before[shop]![table]),
  );
  return { status, isWrittenHere: changedHere.length > 0, writtenElsewhere };
}

/** What a call that writes must do. */
const ofThisShopOnly = ({ status }: Operation) => ({ status, isWrittenHere: true, writtenElsewhere: [] });

/** A word of the contract, the same in every shop. */
const NO_ID = 'productProperty';

const addressed = OPERATIONS.flatMap((operation) =>
  Object.keys(operation.params)
    .filter((parameter) => parameter !== NO_ID)
    .map((parameter) => ({ ...operation, parameter })),
);

test('every id in a path is swept', () => {
  const holes = OPERATIONS.flatMap(({ path }) => path.match(/\{\w+\}/g) ?? []).filter(
    (hole) => hole !== `{${NO_ID}}`,
  );
  expect(addressed).toHaveLength(holes.length);
});

describe.each(addressed.map((operation, index) => ({ ...operation, index })))(
  '$name with a {$parameter}',
  (operation) => {
    const { parameter, index } = operation;

    test('of another shop: it does not exist', async () => {
      const call = await validCall(operation, shop, other);
      const before = await fingerprint(service);
      const answer = await service.call(call.method, call.path + call.search, call.options);
      expect(answer.status).toBe(404);
      expectRefusal(answer, call.method, urlOf(call.path));
      expect(answer.body.message).toMatch(/^HTTP 404 Not Found, /);
      expect(await fingerprint(service)).toEqual(before);

      // What was refused changed nothing, so the same ids are good at home.
      const atHome = await validCall(withIds(operation, call.params), other);
      if (operation.writes) {
        expect(await effectsOf(other, shop, atHome)).toEqual(ofThisShopOnly(operation));
      } else {
        const found = await service.call(atHome.method, atHome.path + atHome.search, atHome.options);
        expect(found.status).toBe(operation.status);
      }
    });

    // To a statement it is the same as one of another shop.
    test.runIf(isOfToday(index, 3))('that nobody has: 404', async () => {
      const call = await validCall(withIds(operation, { [parameter]: newId(new Date()) }), shop);
      const answer = await service.call(call.method, call.path + call.search, call.options);
      expect(answer.status).toBe(404);
      expectRefusal(answer, call.method, urlOf(call.path));
    });

    test.runIf(isOfToday(index, 3))('of a form that no id has: refused', async () => {
      const call = await validCall(withIds(operation, { [parameter]: HOLE }), shop);
      const before = await fingerprint(service);
      for (const id of someInTurn(MALFORMED, index, 4)) {
        const path = call.path.replace(`/${HOLE}`, `/${id}`);
        const answer = await service.call(call.method, path + call.search, call.options);
        expect({ id, status: answer.status }).toEqual({ id, status: expect.toBeOneOf([400, 404]) });
        expectRefusal(answer, call.method, urlOf(path));
      }
      expect(await fingerprint(service)).toEqual(before);
    });

    test.runIf(parameter.endsWith('Id') && isOfToday(index, 3))('in lower case: found', async () => {
      const call = await validCall(inLowerCase(operation, parameter), shop);
      const id = call.params[parameter]!;
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      const answer = await service.call(call.method, call.path + call.search, call.options);
      expect(answer).toMatchObject({ status: operation.status });
      if (operation.status !== 204) expect(answer.text).not.toContain(id);
    });
  },
);

describe('an answer to one shop', () => {
  test.each(OPERATIONS.filter(({ method }) => method === 'GET'))(
    '$name: holds nothing of another',
    async (operation) => {
      const { path, search, options } = await validCall(operation, other);
      const { text } = await service.call('GET', path + search, options);
      expect(text).not.toContain(shop.shopId);
      const ids = text.match(/[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}/g) ?? [];
      if (ids.length === 0) return;
      const ours = await service.db.pool.query<{ id: string }>(
        `
      select upper(id::text) as id from (
        select shop_id, customer_id as id from customer union all
        select shop_id, tax_class_id from tax_class union all
        select shop_id, category_id from category union all
        select shop_id, product_type_id from product_type union all
        select shop_id, product_id from product union all
        select shop_id, shipping_method_id from shipping_method union all
        select shop_id, payment_method_id from payment_method union all
        select shop_id, cart_id from cart union all
        select shop_id, campaign_id from coupon_campaign union all
        select shop_id, campaign_id from newsletter_campaign union all
        select shop_id, script_tag_id from script_tag union all
        select shop_id, webhook_id from webhook
      ) as things where shop_id = 'DemoShop' and id = any($1)`,
        [ids],
      );
      expect(ours.rows).toEqual([]);
    },
  );

  // Those with an id in their path are called above.
  const unaddressed = OPERATIONS.filter(
    ({ name, writes }) => writes && !addressed.some((one) => one.name === name),
  );
  test.each(unaddressed)('$name: changes nothing of another', async (operation) => {
    const call = await validCall(operation, shop);
    expect(await effectsOf(shop, other, call)).toEqual(ofThisShopOnly(operation));
  });
});

describe('assistants of a shop, and ids of another', () => {
  let assistant: FakeAssistant;

  beforeAll(async () => {
    assistant = await startFakeAssistant();
    const [first] = SHOP_CALLS;
    for (const one of [shop, other]) await sent(service, await shopRequest(first!, one, assistant.profile));
  });
  afterAll(() => assistant.close());

  const named = SHOP_CALLS.filter(
    ({ operation: { path, input } }) => /:id/.test(path) || !('query' in input.properties),
  );

  test.each(named)('$name: they do not exist', async (call) => {
    const request = await shopRequest(call, shop, assistant.profile, other);
    const before = await fingerprint(service);
    const answer = await sent(service, request);
    // Who looks several up is told of each that is not there.
    expect(answer.text).toContain('"code":"not_found"');
    expect(answer.text).not.toContain(other.shopId.toLowerCase());
    expect(await fingerprint(service)).toEqual(before);

    const atHome = { ...request, headers: { ...request.headers, host: 'othershop.localhost' } };
    const found = await sent(service, atHome);
    expect(found.text).not.toContain('"code":"not_found"');
    expect(found.text).not.toContain(shop.shopId.toLowerCase());
  });
});

describe('tools of merchants, and ids of another shop', () => {
  const withIds = TOOLS.filter((tool) =>
    Object.keys(operationOf(tool).params).some((name) => name !== NO_ID),
  );

  test.each(ofTheDay(withIds, Math.ceil(withIds.length / 2)))('$name: they do not exist', async (tool) => {
    const merchant = await givenMerchant(service, 'owner');
    const request = await toolRequest(tool, shop, await givenTools(shop), other);
    const before = await fingerprint(service);
    const answer = answerOf(await sent(service, request));
    if (tool.kind === 'plans') {
      // A plan names what it will do; that there is nothing to do it with is found out when it is done.
      const { pathname, search } = new URL(JSON.parse(answer).confirmAt);
      const { status, text } = await merchant.post(pathname + search, { answer: 'confirm' });
      expect([status, text.includes(other.shopId)]).toEqual([404, false]);
    } else {
      expect(answer).toMatch(/^Error: /);
    }
    const { assistant_plan: _plans, audit_entry: _entries, ...after } = await fingerprint(service);
    const { assistant_plan: _plansBefore, audit_entry: _entriesBefore, ...unchanged } = before;
    expect(after).toEqual(unchanged);
  });

  test.each(aQuarter(TOOLS.filter(({ kind }) => kind === 'reads')))(
    '$name: its answer holds nothing of another',
    async (tool) => {
      const answer = await sent(service, await toolRequest(tool, other, await givenTools(other)));
      expect(answerOf(answer)).not.toMatch(/^Error: |^Problem: /);
      expect(answer.text).not.toContain(shop.shopId);
    },
  );
});

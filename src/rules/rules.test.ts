import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenToken } from '../../test/builders.ts';
import {
  changesNothing,
  givenProduct,
  givenSmallShop,
  ID,
  NOW,
  queuedEmails,
  type Shop,
} from '../../test/carts.ts';
import { placed, service, SETTINGS, startManaging, well, type Placed } from '../../test/managed-orders.ts';
import { startReceiver, type Receiver } from '../../test/receiver.ts';
import type { Answer } from '../../test/service.ts';
import { startCallsOfRules } from '../composition/background.ts';
import { sql } from '../db/sql.ts';
import { recordEvents } from '../platform/events/log.ts';
import { runCleanup } from '../platform/cleanup.ts';
import { ruleRunCleanup } from './queries.ts';
import { taskCleanup } from './task-queries.ts';
import { MAX_RUNS_OF_RULE, runDueRules } from './runner.ts';

const log = pino({ level: 'silent' });

let shop: Shop;
let tea: string;
let receiver: Receiver | undefined;

beforeAll(startManaging);
afterAll(() => service.close());

beforeEach(async () => {
  service.setClock(NOW);
  shop = await givenSmallShop(service, SETTINGS);
  tea = await givenProduct(shop, { price: 500, stock: 50 });
});

afterEach(async () => {
  await service.db.run(sql`delete from rule`);
  await receiver?.close();
  receiver = undefined;
});

const call = (method: string, path: string, body?: unknown, token = shop.token): Promise<Answer> =>
  service.call(method, `/manage/shops/${shop.shopId}${path}`, {
    token,
    ...(body !== undefined && { body }),
  });

const get200 = async (path: string, token?: string) => {
  const { status, body } = await call('GET', path, undefined, token);
  expect({ status, message: body?.message }).toEqual({ status: 200, message: undefined });
  return body;
};

const RULE = {
  name: 'Large orders',
  isActive: true,
  event: 'ORDER_CREATE',
  needsAll: true,
  conditions: [{ fact: 'total', operator: 'atLeast', value: '19.90' }],
  actions: [{ kind: 'tagOrder', text: 'large' }],
};

const create = async (changes: object = {}): Promise<Answer['body']> => {
  const { status, body } = await call('POST', '/rules', { ...RULE, ...changes });
  expect({ status, message: body.message }).toEqual({ status: 201, message: undefined });
  return body;
};

const work = () => runDueRules({ db: service.db, log });
const order = (quantity: number) => placed(shop, { [tea]: quantity });
const tagsOf = async ({ id }: Placed) => (await get200(`/orders/${id}/tags`)).tags;
const runsOf = async (ruleId: string) => (await get200(`/rules/${ruleId}/runs`)).items;
const waiting = (ms = 50) => new Promise((resolve) => setTimeout(resolve, ms));

describe('rules', () => {
  test('are created, read, replaced and deleted', async () => {
    const rule = await create();
    expect(rule).toEqual({
      ruleId: ID,
      name: 'Large orders',
      isActive: true,
      event: 'ORDER_CREATE',
      schedule: null,
      resource: 'order',
      needsAll: true,
      conditions: [{ fact: 'total', operator: 'atLeast', value: '19.90' }],
      actions: [
        {
          kind: 'tagOrder',
          to: null,
          subject: null,
          text: 'large',
          address: null,
          field: null,
          value: null,
        },
      ],
      nextRunOn: null,
      paused: null,
      pausedReason: null,
    });
    expect(await get200(`/rules/${rule.ruleId}`)).toEqual(rule);
    expect(await get200('/rules')).toEqual({ items: [rule] });
    const weekly = {
      ...RULE,
      event: null,
      schedule: { every: 'week', weekday: 1, hour: 7 },
      conditions: [],
      actions: [{ kind: 'task', text: 'Count the stock' }],
    };
    const { status, body } = await call('PUT', `/rules/${rule.ruleId}`, weekly);
    expect([status, body]).toMatchObject([
      200,
      {
        resource: 'shop',
        schedule: { every: 'week', weekday: 1, day: null, hour: 7 },
        nextRunOn: '2026-11-16T06:00:00.000Z',
      },
    ]);
    expect((await call('DELETE', `/rules/${rule.ruleId}`)).status).toBe(204);
    expect((await call('GET', `/rules/${rule.ruleId}`)).status).toBe(404);
  });

  test.each<[string, object, string]>([
    ['an event and a schedule', { schedule: { every: 'day', hour: 1 } }, 'either an event or a schedule'],
    ['neither', { event: null }, 'either an event or a schedule'],
    ['an event of what is gone', { event: 'ORDER_DELETE' }, 'event'],
    ['an event without a thing', { event: 'SETTINGS_CHANGED' }, 'event'],
    [
      'a week without a day',
      { event: null, schedule: { every: 'week', hour: 1 } },
      'every week has a weekday',
    ],
    ['a fact of another thing', { conditions: [{ fact: 'stock', operator: 'is', value: '1' }] }, 'fact'],
    ['a fact of all objects', { conditions: [{ fact: 'constructor', operator: 'isSet' }] }, 'fact'],
    [
      'an operator of another kind',
      { conditions: [{ fact: 'total', operator: 'contains', value: '1' }] },
      'operator',
    ],
    ['an amount in words', { conditions: [{ fact: 'total', operator: 'is', value: 'much' }] }, 'value'],
    ['an unknown state', { conditions: [{ fact: 'state', operator: 'is', value: 'lost' }] }, 'value'],
    ['no value', { conditions: [{ fact: 'total', operator: 'is' }] }, 'value'],
    [
      'a value for nothing',
      { conditions: [{ fact: 'comment', operator: 'isSet', value: 'x' }] },
      'has no value',
    ],
    ['what an order can not', { actions: [{ kind: 'hideProduct' }] }, 'kind'],
    ['a part of another action', { actions: [{ kind: 'tagOrder', text: 'a', to: 'shop' }] }, 'has no to'],
    ['no tag', { actions: [{ kind: 'tagOrder' }] }, 'text'],
    ['two tags', { actions: [{ kind: 'tagOrder', text: 'a,b' }] }, 'text'],
    ['a long tag', { actions: [{ kind: 'tagOrder', text: 'a'.repeat(41) }] }, 'text'],
    ['an unknown placeholder', { actions: [{ kind: 'note', text: 'Hi {who}' }] }, 'no fact {who}'],
    [
      'an address of this machine',
      { actions: [{ kind: 'call', address: 'ftp://localhost/' }] },
      'the address',
    ],
    ['no address', { actions: [{ kind: 'call', address: 'nowhere' }] }, 'address'],
    ['an unknown field', { actions: [{ kind: 'setField', field: 'a.b', value: '1' }] }, 'field'],
    ['nothing to do', { actions: [] }, 'actions'],
    [
      'too much to do',
      { actions: Array.from({ length: 11 }, () => ({ kind: 'note', text: 'a' })) },
      'actions',
    ],
    [
      'too many conditions',
      { conditions: Array.from({ length: 21 }, () => ({ fact: 'comment', operator: 'isSet' })) },
      'conditions',
    ],
  ])('refuse %s', async (_, changes, text) => {
    const { status, body } = await changesNothing(service, () =>
      call('POST', '/rules', { ...RULE, ...changes }),
    );
    expect(status).toBe(400);
    expect(body.message).toContain(text);
  });

  test('need the scopes of what they do', async () => {
    const orders = await givenToken(service, shop.shopId, ['orders_read', 'orders_write']);
    const products = await givenToken(service, shop.shopId, ['products_read', 'products_write']);
    const { ruleId } = await create();
    const refused = async (method: string, path: string, token: string, body?: unknown) => {
      const answer = await changesNothing(service, () => call(method, path, body, token));
      return [answer.status, answer.body.message];
    };
    const needs = (scope: string) => [403, expect.stringContaining(scope)];
    expect(await get200('/rules', products)).toEqual({ items: [] });
    for (const path of ['', '/preview', '/runs']) {
      expect(await refused('GET', `/rules/${ruleId}${path}`, products)).toEqual(needs('orders_read'));
    }
    expect(await refused('DELETE', `/rules/${ruleId}`, products)).toEqual(needs('orders_read'));
    expect(await refused('PUT', `/rules/${ruleId}`, products, RULE)).toEqual(needs('orders_read'));
    expect(await refused('POST', '/rules', products, RULE)).toEqual(needs('orders_read'));
    const tags = { ...RULE, actions: [{ kind: 'tagCustomer', text: 'good' }] };
    expect(await refused('POST', '/rules', orders, tags)).toEqual(needs('customers_'));
    expect((await call('POST', '/rules', RULE, orders)).status).toBe(201);
  });

  test('there are 50 of them', async () => {
    for (let count = 0; count < 50; count += 1) await create({ name: `Rule ${count}`, isActive: false });
    const { status, body } = await changesNothing(service, () => call('POST', '/rules', RULE));
    expect([status, body.message]).toEqual([409, expect.stringContaining('at most 50 rules')]);
  });
});

describe('a run', () => {
  test('does everything once, and says so', async () => {
    const before = await order(9);
    const rule = await create({
      actions: [
        { kind: 'tagOrder', text: 'large' },
        { kind: 'tagCustomer', text: 'good' },
        { kind: 'note', text: 'Pack {number} well' },
        { kind: 'task', text: 'Check {number}, {total}' },
        { kind: 'email', to: 'shop', subject: 'Order {number}', text: 'From {country}\nfor {total}' },
        { kind: 'email', to: 'customer', subject: 'Thanks', text: 'For {items} things' },
      ],
    });
    const small = await order(1);
    const large = await order(3);
    const emailsBefore = (await queuedEmails(service, shop.shopId)).length;
    await work();
    await work();
    expect([await tagsOf(before), await tagsOf(small), await tagsOf(large)]).toEqual([[], [], ['large']]);
    const { orderNumber } = large.body;
    const [run, ...others] = await runsOf(rule.ruleId);
    expect(others).toEqual([]);
    expect(run).toEqual({
      runId: ID,
      ruleId: rule.ruleId,
      date: expect.any(String),
      position: expect.any(Number),
      resource: 'order',
      resourceId: large.id,
      outcome: 'done',
      error: null,
      reason: null,
      actions: rule.actions.map(({ kind }: { kind: string }) => ({
        kind,
        outcome: 'done',
        code: null,
        note: null,
      })),
    });
    expect((await well(large, 'GET')).internalNote).toBe(`Pack ${orderNumber} well`);
    expect((await get200('/tasks')).items).toMatchObject([
      {
        text: `Check ${orderNumber}, 19.9 EUR`,
        resource: 'order',
        resourceId: large.id,
        ruleId: rule.ruleId,
      },
    ]);
    const emails = (await queuedEmails(service, shop.shopId)).slice(emailsBefore);
    expect(emails.map(({ template, facts }) => [template, facts])).toMatchObject([
      ['rule', { subject: `Order ${orderNumber}`, text: 'From DE\nfor 19.9 EUR', rule: 'Large orders' }],
      ['ruleCustomer', { subject: 'Thanks', text: 'For 3 things' }],
    ]);
    const { tags } = await get200(`/customers/${large.body.customerId}/tags`);
    expect(tags).toEqual(['good']);
  });

  test('starts no other one', async () => {
    const rule = await create({
      event: 'ORDER_UPDATE',
      conditions: [],
      actions: [{ kind: 'note', text: 'again' }],
    });
    const placedOrder = await order(1);
    await well(placedOrder, 'POST', '/payments', { amount: 1 });
    for (let count = 0; count < 3; count += 1) await work();
    expect((await well(placedOrder, 'GET')).internalNote).toBe('again');
    expect(await runsOf(rule.ruleId)).toHaveLength(1);
    const events = await service.db.many(sql`
      select data ->> 'rule' as rule from event
      where shop_id = ${shop.shopId} and type = 'ORDER_UPDATE' order by position`);
    expect(events).toEqual([{ rule: null }, { rule: rule.ruleId }]);
  });

  test('of two events sees what the first has done', async () => {
    const rule = await create({
      event: 'ORDER_UPDATE',
      conditions: [{ fact: 'tags', operator: 'containsNot', value: 'seen' }],
      actions: [{ kind: 'tagOrder', text: 'Seen' }],
    });
    const placedOrder = await order(2);
    await well(placedOrder, 'POST', '/payments', { amount: 1 });
    await well(placedOrder, 'POST', '/payments', { amount: 2 });
    await work();
    expect(await runsOf(rule.ruleId)).toHaveLength(1);
    expect(await tagsOf(placedOrder)).toEqual(['Seen']);
  });

  test('in two processes at once happens once', async () => {
    const rule = await create({ conditions: [], actions: [{ kind: 'task', text: 'Once' }] });
    for (let count = 0; count < 3; count += 1) await order(1);
    await Promise.all([work(), work(), work()]);
    expect((await get200('/tasks')).results).toBe(3);
    expect(await runsOf(rule.ruleId)).toHaveLength(3);
  });

  test('that fails does nothing, and pauses the rule after five', async () => {
    const rule = await create({
      conditions: [],
      actions: [
        { kind: 'task', text: 'Not done' },
        { kind: 'tagOrder', text: 'one too many' },
      ],
    });
    for (let count = 0; count < 6; count += 1) {
      const { id } = await order(1);
      const tags = Array.from({ length: 20 }, (_, index) => `tag ${index}`);
      expect((await call('PUT', `/orders/${id}/tags`, { tags })).status).toBe(200);
    }
    await work();
    expect((await get200('/tasks')).items).toEqual([]);
    const runs = await runsOf(rule.ruleId);
    expect(runs).toHaveLength(5);
    expect(runs[0]).toMatchObject({
      outcome: 'failed',
      actions: [],
      error: expect.stringContaining('20 tags'),
      reason: { code: 'TOO_MANY_TAGS', values: { limit: 20 }, problems: [] },
    });
    expect(await get200(`/rules/${rule.ruleId}`)).toMatchObject({
      isActive: false,
      paused: expect.stringContaining('It has failed 5 times in a row'),
      pausedReason: { code: 'RUNS_FAILED', count: 5, reason: runs[0].reason, answer: null },
    });
    // Saved again, it begins with what happens from then on.
    expect((await call('PUT', `/rules/${rule.ruleId}`, { ...RULE, conditions: [] })).body).toMatchObject({
      isActive: true,
      paused: null,
    });
    const next = await order(1);
    await work();
    expect(await tagsOf(next)).toEqual(['large']);
    expect(await runsOf(rule.ruleId)).toHaveLength(6);
  });

  test('waits when a rule has run too often in an hour', async () => {
    const rule = await create({ conditions: [] });
    await service.db.run(sql`
      update rule set hour_began_at = ${service.db.serviceNow}, hour_runs = ${MAX_RUNS_OF_RULE - 1}
      where shop_id = ${shop.shopId}`);
    const orders = [await order(1), await order(1)];
    await work();
    expect(await Promise.all(orders.map(tagsOf))).toEqual([['large'], []]);
    await work();
    expect(await runsOf(rule.ruleId)).toHaveLength(1);
    service.setClock(new Date(NOW.getTime() + 2 * 3_600_000));
    await work();
    expect(await Promise.all(orders.map(tagsOf))).toEqual([['large'], ['large']]);
  });

  test('says as a code why there was nothing to do', async () => {
    const rule = await create({ conditions: [] });
    const { id } = await order(1);
    await call('PUT', `/orders/${id}/tags`, { tags: ['Large'] });
    await work();
    expect((await runsOf(rule.ruleId))[0].actions).toEqual([
      { kind: 'tagOrder', outcome: 'skipped', code: 'ORDER_HAS_TAG', note: 'It has the tag already' },
    ]);
  });

  test('has a log that is read on from the last run, whatever comes in the meantime', async () => {
    const rule = await create({ conditions: [] });
    for (let count = 0; count < 3; count += 1) await order(1);
    await work();
    const path = `/rules/${rule.ruleId}/runs`;
    const all = await runsOf(rule.ruleId);
    const first = await get200(`${path}?limit=2`);
    expect(first).toEqual({ items: all.slice(0, 2), next: all[1].runId });
    await order(1);
    await work();
    const rest = await get200(`${path}?limit=2&before=${first.next.toLowerCase()}`);
    expect(rest).toEqual({ items: all.slice(2), next: null });
    expect((await get200(`${path}?limit=100000`)).items).toHaveLength(4);
    expect((await call('GET', `${path}?before=x`)).status).toBe(400);
  });

  describe('by schedule for each order', () => {
    const DAILY = {
      event: null,
      schedule: { about: 'order', every: 'day', hour: 7 },
      conditions: [
        { fact: 'unpaid', operator: 'moreThan', value: '0' },
        { fact: 'age', operator: 'atLeast', value: '14' },
      ],
      actions: [{ kind: 'task', text: 'Remind of {number}, {age} days, {unpaid}' }],
    };
    const DAY = 86_400_000;
    const textsOf = async () =>
      (await get200('/tasks?resultsPerPage=100')).items.map(({ text }: { text: string }) => text);

    test('happens once a day for each that meets the conditions', async () => {
      const [unpaid, paid] = [await order(1), await order(1)];
      const { grandTotal } = paid.body;
      await well(paid, 'POST', '/payments', { amount: grandTotal });
      const rule = await create(DAILY);
      expect(rule).toMatchObject({ resource: 'order', schedule: { about: 'order' } });
      const number = unpaid.body.orderNumber;
      const total = Number(grandTotal);
      for (const [at, expected] of [
        ['2026-11-16T06:00:00Z', []],
        ['2026-11-29T05:59:59Z', []],
        ['2026-11-29T09:00:00Z', [`Remind of ${number}, 14 days, ${total} EUR`]],
        ['2026-11-29T23:00:00Z', [`Remind of ${number}, 14 days, ${total} EUR`]],
      ] as const) {
        service.setClock(new Date(at));
        await work();
        await work();
        expect([at, await textsOf()]).toEqual([at, expected]);
      }
      service.setClock(new Date('2026-11-30T09:00:00Z'));
      const late = await order(1);
      await work();
      expect(await textsOf()).toHaveLength(2);
      expect(await runsOf(rule.ruleId)).toMatchObject([
        { resource: 'order', resourceId: unpaid.id, position: null },
        { resource: 'order', resourceId: unpaid.id, position: null },
      ]);
      expect(late.id > unpaid.id).toBe(true);
      expect((await get200(`/rules/${rule.ruleId}`)).nextRunOn).toBe('2026-12-01T06:00:00.000Z');
    });

    test('goes on where it was when it has run too often in an hour, and meets none twice', async () => {
      const rule = await create({ ...DAILY, conditions: [] });
      const orders = [await order(1), await order(1), await order(1)];
      service.setClock(new Date(NOW.getTime() + DAY));
      await service.db.run(sql`
        update rule set hour_began_at = ${service.db.serviceNow}, hour_runs = ${MAX_RUNS_OF_RULE - 2}
        where shop_id = ${shop.shopId}`);
      await work();
      await work();
      expect(await textsOf()).toHaveLength(2);
      service.setClock(new Date(NOW.getTime() + DAY + 2 * 3_600_000));
      await work();
      await work();
      const runs: { resourceId: string }[] = await runsOf(rule.ruleId);
      expect(runs.map(({ resourceId }) => resourceId)).toEqual(orders.map(({ id }) => id).toReversed());
      const walk = await service.db.one(sql`
        select walk_after as after, walk_until as until from rule where shop_id = ${shop.shopId}`);
      expect(walk).toEqual({ after: null, until: null });
    });

    test('of more orders than one step takes', async () => {
      const rule = await create({ ...DAILY, conditions: [{ fact: 'items', operator: 'is', value: '2' }] });
      const many = await givenProduct(shop, { price: 500, stock: 100 });
      const placeOf = (quantity: number) => placed(shop, { [many]: quantity });
      const { id } = await placeOf(1);
      await placeOf(2);
      const step = 50;
      for (let count = 0; count < step; count += 1) await placeOf(1);
      const last = await placeOf(2);
      service.setClock(new Date(NOW.getTime() + DAY));
      await work();
      const runs: { resourceId: string }[] = await runsOf(rule.ruleId);
      expect(runs.map(({ resourceId }) => resourceId)).toHaveLength(2);
      expect(runs[0]!.resourceId).toBe(last.id);
      expect(runs.some(({ resourceId }) => resourceId === id)).toBe(false);
    });

    test('has a preview of the newest orders', async () => {
      const made = await order(1);
      const { ruleId } = await create({ ...DAILY, isActive: false });
      expect((await get200(`/rules/${ruleId}/preview`)).items).toMatchObject([
        { resourceId: made.id, conditions: [true, false], runs: false },
      ]);
    });
  });

  test('hides a product of which nothing is left, and sets its field', async () => {
    const field = await call('POST', '/custom-fields', {
      resource: 'product',
      namespace: 'stock',
      key: 'gone',
      type: 'boolean',
      name: { en_GB: 'Gone' },
      readableBy: 'public',
      writableBy: 'merchant',
      isFacet: true,
    });
    expect(field.status).toBe(201);
    // An app's own token is no person of the shop; its namespace is its own.
    await service.db.run(sql`
      update custom_field_namespace set app_id = null, app_name = null where shop_id = ${shop.shopId}`);
    const rule = await create({
      event: 'STOCK_OUT',
      conditions: [
        { fact: 'stock', operator: 'atMost', value: '0' },
        { fact: 'field.stock.gone', operator: 'isNotSet' },
      ],
      actions: [{ kind: 'hideProduct' }, { kind: 'setField', field: 'stock.gone', value: 'true' }],
    });
    const last = await givenProduct(shop, { price: 500, stock: 1 });
    await placed(shop, { [last]: 1 });
    await work();
    expect((await runsOf(rule.ruleId))[0]).toMatchObject({
      outcome: 'done',
      actions: [{ outcome: 'done' }, { outcome: 'done' }],
    });
    const row = await service.db.one(sql`
      select visible, (select value from custom_field_value where shop_id = ${shop.shopId}) as value
      from product where shop_id = ${shop.shopId} and product_id = ${last}`);
    expect(row).toEqual({ visible: false, value: true });
    const listed = await service.db.one(sql`
      select facets from listing where shop_id = ${shop.shopId} and product_id = ${last}`);
    expect(listed).toEqual({ facets: [`f:${field.body.fieldId}:true`] });
  });

  test('by schedule happens once at its hour, in the time zone of the shop', async () => {
    const rule = await create({
      event: null,
      schedule: { every: 'day', hour: 7 },
      conditions: [{ fact: 'newOrders', operator: 'atLeast', value: '2' }],
      actions: [{ kind: 'task', text: '{newOrders} orders, day {weekday}' }],
    });
    expect(rule.nextRunOn).toBe('2026-11-16T06:00:00.000Z');
    await order(1);
    await order(1);
    service.setClock(new Date('2026-11-16T05:59:59Z'));
    await work();
    expect((await get200('/tasks')).items).toEqual([]);
    service.setClock(new Date('2026-11-16T06:00:00Z'));
    await work();
    await work();
    expect((await get200('/tasks')).items).toMatchObject([{ text: '2 orders, day 1', resource: 'shop' }]);
    expect((await get200(`/rules/${rule.ruleId}`)).nextRunOn).toBe('2026-11-17T06:00:00.000Z');
    // Nothing was ordered since.
    service.setClock(new Date('2026-11-17T06:00:00Z'));
    await work();
    expect((await get200('/tasks')).results).toBe(1);
    expect((await get200(`/rules/${rule.ruleId}`)).nextRunOn).toBe('2026-11-18T06:00:00.000Z');
  });

  test('calls an address, signed, with what the thing is', async () => {
    receiver = await startReceiver();
    const rule = await create({ conditions: [], actions: [{ kind: 'call', address: receiver.url }] });
    const { id, body } = await order(2);
    await work();
    const [made] = await runsOf(rule.ruleId);
    expect([made.error, made.actions]).toEqual([
      null,
      [{ kind: 'call', outcome: 'waiting', code: null, note: null }],
    ]);
    const { db, config, app } = service;
    const calls = startCallsOfRules({
      db,
      config,
      demoAccess: app.demoAccess,
      log,
      origin: 'https://kontor.example',
      pause: 20,
    });
    try {
      const [received] = await receiver.until(1);
      expect(JSON.parse(received!.text)).toMatchObject({
        shopId: shop.shopId,
        ruleId: rule.ruleId,
        event: { eventType: 'ORDER_CREATE' },
        resource: 'order',
        resourceId: id,
        facts: { number: body.orderNumber, total: { amount: '14.9', currency: 'EUR' } },
      });
      const [, claims] = String(received!.headers['authorization']).split('.');
      expect(JSON.parse(Buffer.from(claims!, 'base64url').toString())).toMatchObject({
        iss: 'https://kontor.example',
        sub: rule.ruleId,
        shop: shop.shopId,
        bodySha256: expect.any(String),
      });
      for (let tries = 0; tries < 100; tries += 1) {
        if ((await runsOf(rule.ruleId))[0].actions[0].outcome === 'done') break;
        await waiting();
      }
      expect((await runsOf(rule.ruleId))[0].actions).toEqual([
        { kind: 'call', outcome: 'done', code: null, note: '200' },
      ]);
    } finally {
      await calls.stop();
    }
  });
});

describe('a preview', () => {
  test('says what would have happened, and changes nothing', async () => {
    const large = await order(3);
    const small = await order(1);
    const { ruleId } = await create({
      isActive: false,
      conditions: [...RULE.conditions, { fact: 'country', operator: 'is', value: 'de' }],
      actions: [{ kind: 'task', text: 'Check {number}' }],
    });
    const { items } = await changesNothing(service, () => get200(`/rules/${ruleId}/preview`));
    expect(items).toMatchObject([
      { resourceId: small.id, conditions: [false, true], runs: false },
      {
        resourceId: large.id,
        name: large.body.orderNumber,
        conditions: [true, true],
        runs: true,
        actions: [{ kind: 'task', text: `Check ${large.body.orderNumber}` }],
      },
    ]);
  });

  test('of a schedule is about now', async () => {
    const { ruleId } = await create({
      event: null,
      schedule: { every: 'month', day: 1, hour: 3 },
      conditions: [{ fact: 'weekday', operator: 'is', value: '7' }],
      actions: [{ kind: 'task', text: 'x' }],
    });
    expect((await get200(`/rules/${ruleId}/preview`)).items).toMatchObject([
      { position: null, resourceId: null, runs: true },
    ]);
  });
});

describe('tasks', () => {
  test('are added, done and opened again', async () => {
    const added = await call('POST', '/tasks', { text: ' Call Ada ' });
    expect(added).toMatchObject({
      status: 201,
      body: { taskId: ID, text: 'Call Ada', resource: 'shop', resourceId: null, ruleId: null, doneOn: null },
    });
    const { taskId } = added.body;
    const done = await call('PUT', `/tasks/${taskId}`, { isDone: true });
    expect(done.body).toMatchObject({ doneOn: NOW.toISOString(), doneBy: expect.any(String) });
    expect((await get200('/tasks')).results).toBe(0);
    expect((await get200('/tasks?state=done')).items).toEqual([done.body]);
    expect((await call('PUT', `/tasks/${taskId}`, { isDone: false })).body).toEqual(added.body);
  });

  test('are shown with the scope of what they are about', async () => {
    await call('POST', '/tasks', { text: 'x' });
    const products = await givenToken(service, shop.shopId, ['products_read', 'products_write']);
    expect((await get200('/tasks', products)).items).toEqual([]);
    const { status } = await changesNothing(service, () => call('POST', '/tasks', { text: 'x' }, products));
    expect(status).toBe(403);
  });
});

describe('what is old', () => {
  test('is removed', async () => {
    const { ruleId } = await create({ conditions: [] });
    await order(1);
    await work();
    const { taskId } = (await call('POST', '/tasks', { text: 'x' })).body;
    await call('PUT', `/tasks/${taskId}`, { isDone: true });
    service.setClock(new Date(NOW.getTime() + 31 * 86_400_000));
    await runCleanup(service.db, [ruleRunCleanup, taskCleanup], { log });
    expect([await runsOf(ruleId), (await get200('/tasks?state=done')).results]).toEqual([[], 1]);
    service.setClock(new Date(NOW.getTime() + 91 * 86_400_000));
    await runCleanup(service.db, [ruleRunCleanup, taskCleanup], { log });
    expect((await get200('/tasks?state=done')).results).toBe(0);
  });

  test('and what was removed from the event log is passed over', async () => {
    const rule = await create({ conditions: [] });
    await order(1);
    await service.db.run(sql`delete from event where shop_id = ${shop.shopId}`);
    await work();
    const next = await order(1);
    await work();
    expect(await runsOf(rule.ruleId)).toHaveLength(1);
    expect(await tagsOf(next)).toEqual(['large']);
  });

  test('an order that is gone is passed over', async () => {
    const rule = await create({ conditions: [] });
    await service.db.transaction(async (tx) =>
      recordEvents(tx, shop.shopId, [
        { type: 'ORDER_CREATE', resourceId: '019A8C1E-0000-7000-8000-000000001001' },
      ]),
    );
    await work();
    expect(await runsOf(rule.ruleId)).toEqual([]);
  });
});

describe('tags of orders', () => {
  test('are set, listed and found', async () => {
    const [first, second] = [await order(1), await order(2)];
    expect(
      await call('PUT', `/orders/${first.id}/tags`, { tags: ['Gift', 'gift', 'Express'] }),
    ).toMatchObject({
      status: 200,
      body: { tags: ['Express', 'Gift'] },
    });
    await call('PUT', `/orders/${second.id}/tags`, { tags: ['gift'] });
    expect(await get200('/order-tags')).toEqual({ tags: ['Express', 'Gift'] });
    const { results, items } = await get200('/tagged-orders?tag=GIFT');
    expect([
      results,
      items.map(({ orderId, tags }: { orderId: string; tags: string[] }) => [orderId, tags]),
    ]).toEqual([
      2,
      [
        [second.id, ['gift']],
        [first.id, ['Express', 'Gift']],
      ],
    ]);
    await call('PUT', `/orders/${first.id}/tags`, { tags: [] });
    expect(await tagsOf(first)).toEqual([]);
  });
});

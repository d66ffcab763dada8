import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../../test/admin.ts';
import { givenToken } from '../../../test/builders.ts';
import { startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { recordEvents } from '../../platform/events/log.ts';
import { runDueRules } from '../../rules/runner.ts';

let service: Service;
let merchant: Merchant;
let token: string;

beforeAll(async () => {
  service = await startDemo();
  merchant = await givenMerchant(service);
  token = await givenToken(service, 'DemoShop');
});
afterAll(() => service.close());

const BASE = '/admin/shops/DemoShop';
const rules = async () => (await service.call('GET', '/manage/shops/DemoShop/rules', { token })).body.items;

const FORM = {
  name: 'Large orders',
  isActive: 'yes',
  needsAll: 'yes',
  'fact.0': 'total',
  'operator.0': 'atLeast',
  'value.0': '10',
  'fact.2': 'comment',
  'operator.2': 'isNotSet',
  'action.0': 'task',
  'text.0': 'Look at {number}',
};

test('a rule is made, previewed, run and deleted, without a script', async () => {
  expect((await merchant.get('/automation')).text).toContain('There are no rules yet.');
  const choosing = await merchant.get('/automation/new');
  expect(choosing.text).toContain('<option value="ORDER_CREATE"');
  const form = await merchant.get('/automation/new?event=ORDER_CREATE&add=email');
  expect(form.text).toContain('name="subject.0"');
  const wrong = await merchant.post('/automation/new?event=ORDER_CREATE', { ...FORM, 'value.0': 'much' });
  expect([wrong.status, await rules()]).toEqual([400, []]);
  expect(wrong.text).toContain('value="much"');
  const none = await merchant.post('/automation/new?event=ORDER_CREATE', { ...FORM, 'remove.0': 'yes' });
  expect(none.text).toContain('Choose at least one action.');
  const made = await merchant.post('/automation/new?event=ORDER_CREATE', FORM);
  const [rule] = await rules();
  const path = `/automation/rules/${rule.ruleId}`;
  expect([made.status, made.location]).toEqual([303, BASE + path]);
  expect(rule).toMatchObject({
    name: 'Large orders',
    isActive: true,
    conditions: [
      { fact: 'total', operator: 'atLeast', value: '10' },
      { fact: 'comment', operator: 'isNotSet' },
    ],
    actions: [{ kind: 'task', text: 'Look at {number}' }],
  });
  const order = await service.db.one<{ id: string; number: string }>(sql`
    select upper(order_id::text) as id, order_number as number from customer_order
    where shop_id = 'DemoShop' and customer_comment is null and grand_total > 1000 and currency = 'EUR'
    order by created_at limit 1`);
  const { id, number } = order!;
  await service.db.transaction(async (tx) =>
    recordEvents(tx, 'DemoShop', [{ type: 'ORDER_CREATE', resourceId: id }]),
  );
  expect((await merchant.get(`${path}/preview`)).text).toContain(`Look at ${number}`);
  expect((await merchant.get(`${path}/runs`)).text).toContain('The rule has not run yet.');
  await runDueRules({ db: service.db, log: pino({ level: 'silent' }) });
  expect((await merchant.get(`${path}/runs`)).text).toContain(`${BASE}/orders/${id}`);
  expect((await merchant.get('')).text).toContain(`Look at ${number}`);
  const changed = await merchant.post(path, { ...FORM, name: 'All orders', needsAll: 'no', 'fact.2': '' });
  expect(changed.status).toBe(303);
  expect(await rules()).toMatchObject([{ name: 'All orders', isActive: true, needsAll: false }]);
  expect((await merchant.get(path)).text).toContain('value="All orders"');
  expect((await merchant.post(`${path}/delete`, {})).location).toBe(`${BASE}/automation`);
  expect(await rules()).toEqual([]);
});

test('one more action keeps what was typed, in a new rule and in one that is there', async () => {
  const path = '/automation/new?event=ORDER_CREATE';
  const more = await merchant.post(path, { ...FORM, do: 'add', add: 'email', 'value.0': 'much' });
  expect([more.status, await rules()]).toEqual([200, []]);
  expect(more.text).toContain('value="much"');
  expect(more.text).toContain('Look at {number}</textarea');
  expect(more.text).toContain('name="subject.1"');
  expect(more.text).toContain('name="action.1" value="email"');
  expect((await merchant.post(path, { ...FORM, do: 'save', add: 'email' })).status).toBe(303);
  const [{ ruleId, actions }] = await rules();
  expect(actions).toHaveLength(1);
  const rulePath = `/automation/rules/${ruleId}`;
  const again = await merchant.post(rulePath, { ...FORM, name: 'Typed', do: 'add', add: 'note' });
  expect(again.text).toContain('value="Typed"');
  expect(again.text).toContain('name="action.1" value="note"');
  expect((await rules())[0].name).toBe('Large orders');
  await merchant.post(`${rulePath}/delete`, {});
});

test('why a rule has failed is said in the language of its reader, and the log is paged', async () => {
  await merchant.post('/automation/new?event=ORDER_CREATE', FORM);
  const [{ ruleId }] = await rules();
  const reason = { code: 'TOO_MANY_TASKS', values: { limit: 1000 }, problems: [] };
  const insert = (count: number, outcome: string, actions: object[], why: object | null) =>
    service.db.run(sql`
      insert into rule_run (shop_id, run_id, rule_id, at, resource, outcome, actions, error, reason)
      select shop.shop_id, ('019A8C1E-0000-7000-8000-' || lpad(number::text, 12, '0'))::uuid, ${ruleId}::uuid,
        ${service.db.now}::timestamptz, 'shop', ${outcome}, ${JSON.stringify(actions)}::jsonb,
        ${why && 'English'}, ${why && JSON.stringify(why)}::jsonb
      from shop cross join generate_series(1, ${count}) number where shop.shop_id = 'DemoShop'`);
  await insert(
    60,
    'done',
    [{ kind: 'tagOrder', outcome: 'skipped', code: 'ORDER_HAS_TAG', note: 'x' }],
    null,
  );
  await service.db.run(sql`
    update rule_run set outcome = 'failed', error = 'English', reason = ${JSON.stringify(reason)}::jsonb
    where shop_id = 'DemoShop' and run_id = '019A8C1E-0000-7000-8000-000000000060'`);
  await service.db.run(sql`
    update rule set is_active = false, paused = 'English',
      paused_reason = ${JSON.stringify({ code: 'RUNS_FAILED', count: 5, reason, answer: null })}::jsonb
    where shop_id = 'DemoShop' and rule_id = ${ruleId}`);
  const path = `/automation/rules/${ruleId}`;
  const newest = await merchant.get(`${path}/runs`);
  expect(newest.text).toContain('It has the tag already.');
  expect(newest.text).toContain('1,000');
  expect(newest.text).not.toContain('English');
  const older = /href="[^"]*(\/automation[^"]*before=[^"]*)"/.exec(newest.text)![1]!;
  const rest = await merchant.get(older);
  expect(rest.text.split('It has the tag already.')).toHaveLength(11);
  expect(rest.text).toContain('Newest runs');
  const { text } = await merchant.get(path);
  expect(text).toMatch(/This rule was switched off\. It has failed 5 times in a row: [^<]*1,000/);
  await merchant.post(`${path}/delete`, {});
});

test('a rule by schedule', async () => {
  const { status } = await merchant.post('/automation/new?event=schedule', {
    ...FORM,
    'fact.0': 'newOrders',
    'fact.2': '',
    'text.0': 'Weekly',
    every: 'week',
    weekday: '3',
    day: '',
    hour: '6',
  });
  expect(status).toBe(303);
  expect(await rules()).toMatchObject([
    { event: null, schedule: { every: 'week', weekday: 3, day: null, hour: 6 } },
  ]);
  expect((await merchant.get('/automation')).text).toContain('Every Wednesday, 06:00');
});

test('tasks are added and done', async () => {
  expect((await merchant.post('/tasks', { text: 'Count the stock' })).status).toBe(303);
  const row = await service.db.one<{ id: string }>(sql`
    select upper(task_id::text) as id from task where shop_id = 'DemoShop' and text = 'Count the stock'`);
  expect((await merchant.get('/tasks')).text).toContain('Count the stock');
  const done = await merchant.post(`/tasks/${row!.id}`, { isDone: 'yes', from: 'home' });
  expect(done.location).toBe(BASE);
  expect((await merchant.get('/tasks')).text).not.toContain('Count the stock');
  expect((await merchant.get('/tasks?state=done')).text).toContain('Count the stock');
});

test('orders are tagged, and the list is filtered by tags', async () => {
  const rows = await service.db.many<{ id: string; number: string }>(sql`
    select upper(order_id::text) as id, order_number as number from customer_order where shop_id = 'DemoShop'
    order by created_at limit 2`);
  const [first, second] = rows as [(typeof rows)[0], (typeof rows)[0]];
  expect((await merchant.post(`/orders/${first.id}/tags`, { tags: 'Gift, Express' })).status).toBe(303);
  expect((await merchant.get(`/orders/${first.id}`)).text).toContain('value="Express, Gift"');
  const { text } = await merchant.get('/orders?state=all&tag=gift');
  expect(text).toContain(first.number);
  expect(text).not.toContain(second.number);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  givenOrder,
  historyOf,
  on,
  refused,
  service,
  startManaging,
  well,
} from '../../test/managed-orders.ts';
import { sql } from '../db/sql.ts';

beforeAll(startManaging);
afterAll(() => service.close());

const emailsOf = (shopId: string) =>
  service.db.many<{ template: string; to: string; facts: object }>(sql`
    select content ->> 'template' as template, content ->> 'to' as to, content -> 'facts' as facts from job
    where shop_id = ${shopId} and queue = 'mail' order by job_id`);

test('the confirmation and a document are sent again, to the address of today', async () => {
  const { shop, order } = await givenOrder();
  const { documentId } = (await on(order, 'POST', '/invoices', {})).body;
  const patch = await service.call('PATCH', `/${shop.shopId}/orders/${order.id}`, {
    token: shop.token,
    body: [
      {
        op: 'add',
        path: '/billingAddress',
        value: { ...order.body.billingAddress, emailAddress: 'new@mail.example' },
      },
    ],
  });
  expect(patch.status).toBe(200);
  const before = (await emailsOf(shop.shopId)).length;
  await well(order, 'POST', '/emails', {});
  await well(order, 'POST', '/emails', { documentId });
  expect((await emailsOf(shop.shopId)).slice(before)).toMatchObject([
    { template: 'order', to: 'new@mail.example', facts: { orderId: order.id } },
    { template: 'invoice', to: 'new@mail.example', facts: { documentId } },
  ]);
  expect((await historyOf(order)).at(-1)).toMatchObject({
    kind: 'email sent',
    details: { email: 'invoice', documentId },
  });
});

test('a document of another order is refused', async () => {
  const { order } = await givenOrder();
  const other = await givenOrder();
  const { documentId } = (await on(other.order, 'POST', '/invoices', {})).body;
  const [status, text] = await refused(order, 'POST', '/emails', { documentId });
  expect([status, text]).toEqual([400, expect.stringContaining('documentId')]);
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenMerchant, noticeIn, type Merchant } from '../../../test/admin.ts';
import { fingerprint, givenOtherShop, startDemo } from '../../../test/demo.ts';
import type { Service } from '../../../test/service.ts';
import { formOf } from '../../../test/upload.ts';
import { sql } from '../../db/sql.ts';

let service: Service;
let merchant: Merchant;
beforeAll(async () => {
  service = await startDemo();
  await givenOtherShop(service);
  merchant = await givenMerchant(service);
});
afterAll(() => service.close());

const managed = async (orderId: string) =>
  (await service.call('GET', `/manage/shops/DemoShop/orders/${orderId}`, { token: 'demo-all' })).body;

describe('bank statements', () => {
  const table = (rows: readonly (readonly [string, string, string])[]) =>
    `Buchungstag;Beguenstigter/Zahlungspflichtiger;Verwendungszweck;Betrag;Waehrung\n${rows
      .map(([payer, text, amount]) => `15.11.2026;${payer};${text};${amount};EUR\n`)
      .join('')}`;
  const upload = async (content: string | Buffer, by = merchant) => {
    const { headers, body: payload } = formOf({ name: 'file', filename: 'statement.csv', content });
    const answer = await service.app.inject({
      method: 'POST',
      url: '/admin/shops/DemoShop/orders/bank',
      headers: { host: 'localhost:8080', origin: 'http://localhost:8080', cookie: by.cookie, ...headers },
      payload,
    });
    const { statusCode: status, body: text } = answer;
    return { status, text, location: undefined, headers: answer.headers };
  };
  const payable = () =>
    service.db.many<{ id: string; number: string; left: number }>(sql`
      select upper(order_id::text) as id, order_number as number, grand_total - paid_amount as left from customer_order
      where shop_id = 'DemoShop' and grand_total > paid_amount and cancelled_at is null and rejected_at is null
        and currency = 'EUR' and editing_app_id is null
      order by created_at desc`);
  const german = (minor: number) => (minor / 100).toFixed(2).replace('.', ',');
  const paidOf = async (id: string) => (await managed(id)).management.paidAmount.amount;
  const fieldsIn = (text: string) =>
    [...text.matchAll(/name="pair" value="([^"]+)"/g)].map(([, pair]) => pair!);

  test('are matched by number and sum, and the sure ones are recorded once', async () => {
    const [sure, wrongSum] = await payable();
    const before = await Promise.all([sure, wrongSum].map((order) => paidOf(order!.id)));
    const content = table([
      ['Jonas', `Bestellung ${sure!.number}`, german(sure!.left)],
      ['Ada', `zu ${wrongSum!.number.toLowerCase()} danke`, german(wrongSum!.left - 1)],
      ['Somebody', 'rent', '1234567,89'],
      ['Shop', 'refund', '-5,00'],
    ]);
    const first = await upload(content);
    expect([first.status, noticeIn(first).text]).toEqual([303, '3 new payments received.']);
    const again = await upload(content);
    expect(noticeIn(again).text).toBe('0 new payments received. 3 were known already.');
    const { text } = await merchant.get('/orders/bank');
    expect(text).toContain('Record 1 matching payment');
    for (const kind of ['Order and amount match', 'Possible', 'No order found']) expect(text).toContain(kind);
    const pair = fieldsIn(text)[0]!;
    expect(pair.endsWith(sure!.id)).toBe(true);
    // Nothing is recorded before the merchant says so.
    expect(await Promise.all([sure, wrongSum].map((order) => paidOf(order!.id)))).toEqual(before);
    const clicks = await Promise.all([1, 2].map(() => merchant.post('/orders/bank/record', { pair })));
    expect(clicks.map(({ status }) => status)).toEqual([303, 303]);
    expect(clicks.map((answer) => noticeIn(answer).text).toSorted()).toEqual([
      '0 payments recorded. 1 no longer fits its order, or was recorded before.',
      '1 payment recorded.',
    ]);
    expect(Math.round((await paidOf(sure!.id)) * 100)).toBe(Math.round(before[0] * 100) + sure!.left);
    const { management } = await managed(sure!.id);
    expect(management.payments.at(-1).note).toBe('2026-11-15 Jonas');
    expect(noticeIn(await upload(content)).text).toBe('0 new payments received. 3 were known already.');
    expect((await merchant.get('/orders/bank')).text).not.toContain('Record 1 matching payment');
  });

  test('take a possible one with a click, another by the number of its order, and ignore the rest', async () => {
    const [order, other] = await payable();
    await upload(
      table([
        ['Eve', `for ${order!.number}`, german(1)],
        ['Zoe', 'thank you', german(1)],
      ]),
    );
    const shown = async () => (await merchant.get('/orders/bank')).text;
    const entryOf = async (payer: string) =>
      (await service.db.one<{ id: string }>(sql`
        select upper(entry_id::text) as id from bank_entry
        where shop_id = 'DemoShop' and state = 'open' and payer = ${payer}`))!.id;
    const pair = `${await entryOf('Eve')} ${order!.id}`;
    expect(fieldsIn(await shown())).toContain(pair);
    const before = await paidOf(order!.id);
    expect(noticeIn(await merchant.post('/orders/bank/record', { pair })).text).toBe('1 payment recorded.');
    expect(await paidOf(order!.id)).toBeCloseTo(before + 0.01, 5);
    const entries = [...(await shown()).matchAll(/name="entry" value="([^"]+)"/g)].map(([, id]) => id!);
    const zoe = await entryOf('Zoe');
    expect(entries).toContain(zoe);
    const unknown = await merchant.post('/orders/bank/record', { entry: zoe, orderNumber: 'nothing' });
    expect([unknown.status, unknown.text.includes('There is no unpaid order')]).toEqual([400, true]);
    const typed = await merchant.post('/orders/bank/record', { entry: zoe, orderNumber: other!.number });
    expect(noticeIn(typed).text).toBe('1 payment recorded.');
    for (const id of entries.filter((one) => one !== zoe)) {
      expect((await merchant.post(`/orders/bank/${id}/ignore`)).status).toBe(303);
      expect((await merchant.post(`/orders/bank/${id}/ignore`)).status).toBe(404);
    }
  });

  test('are refused with the reason, and store nothing', async () => {
    const count = async () => {
      const { bank_entry: entries, order_payment: payments } = await fingerprint(service);
      return [entries, payments];
    };
    const before = await count();
    const bomb = '<!DOCTYPE a [<!ENTITY b "b">]><Document>&b;</Document>';
    for (const [content, status, reason] of [
      [bomb, 400, 'a document type'],
      ['<Document>', 400, 'not a readable XML statement'],
      ['Name;Price\n', 400, 'columns were not recognised'],
      [table([]), 400, 'no received payments'],
      [Buffer.alloc(9 * 1_048_576, 'a'), 413, ''],
      [Buffer.concat([Buffer.from('<Document>'), Buffer.from([0xff, 0xe4])]), 400, 'do not fit its encoding'],
    ] as const) {
      const answer = await upload(content);
      expect([answer.status, answer.text.includes(reason)]).toEqual([status, true]);
    }
    expect(await count()).toEqual(before);
    const accountant = await givenMerchant(service, 'accountant');
    expect((await upload(table([['A', 'B', '1,00']]), accountant)).status).toBe(403);
    const stranger = await givenMerchant(service, 'owner', 'OtherShop');
    expect((await stranger.get('/orders/bank')).text).toContain('All received payments are assigned.');
    expect(await count()).toEqual(before);
  });
});

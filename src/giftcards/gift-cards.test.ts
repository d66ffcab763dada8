import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../test/builders.ts';
import { startService, type Answer, type Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { giftCardExpiry } from './expire.ts';

let service: Service;
let token: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  await service.db.run(sql`delete from shop`);
  await givenShop(service, 'Harbour');
  await givenShop(service, 'Other', { country: 'FR' });
  token = await givenToken(service, 'Harbour');
  service.setClock(new Date('2026-11-15T08:30:00Z'));
});
afterAll(() => service.close());

const manage = (method: string, path: string, body?: unknown) =>
  service.call(method, `/manage/shops/Harbour${path}`, { token, body });

async function givenCard(body: object = { value: 50 }) {
  const answer = await manage('POST', '/gift-cards', body);
  expect(answer.status).toBe(201);
  return answer.body;
}

const everything = async () => [
  await service.db.many(sql`select * from gift_card order by shop_id, gift_card_id`),
  await service.db.many(sql`select * from gift_card_entry order by shop_id, entry_id`),
];

/** The status and text of a refusal; on the way it is checked that nothing has changed. */
async function refusal(call: () => Promise<Answer>): Promise<[status: number, text: string]> {
  const before = await everything();
  const { status, body } = await call();
  expect(await everything()).toEqual(before);
  return [status, body.message.split(', Request: ')[0]];
}

const euro = (amount: number, formatted: string) => ({
  taxType: 'GROSS',
  formatted,
  amount,
  currency: 'EUR',
});

describe('issuing', () => {
  test('shows the code once, and stores only its hash', async () => {
    const { code, ...card } = await givenCard({ value: '50.00', note: ' Raffle ' });
    expect(code).toMatch(/^[A-HJ-NP-Z2-9]{4}(-[A-HJ-NP-Z2-9]{4}){3}$/);
    expect(card).toEqual({
      giftCardId: expect.any(String),
      lastCharacters: code.slice(-4),
      state: 'active',
      balance: euro(50, '50.00 €'),
      creationDate: '2026-11-15T08:30:00Z',
      expiresOn: '2029-12-31',
      customerId: null,
      note: 'Raffle',
    });
    expect((await manage('GET', `/gift-cards/${card.giftCardId}`)).body).toEqual(card);
    expect((await manage('GET', `/gift-cards?lastCharacters=${code.slice(-4)}`)).body).toEqual({
      results: 1,
      page: 1,
      resultsPerPage: 20,
      items: [card],
    });
    const stored = await service.db.one<{ text: string }>(
      sql`select row_to_json(gift_card)::text as text from gift_card`,
    );
    expect(stored!.text).not.toContain(code.replaceAll('-', ''));
  });

  test('keeps a card as long as the law of the country asks for, unless a day is named', async () => {
    const other = await givenToken(service, 'Other');
    const { body } = await service.call('POST', '/manage/shops/Other/gift-cards', {
      token: other,
      body: { value: 5 },
    });
    expect(body.expiresOn).toBeNull();
    expect(await givenCard({ value: 5, expiresOn: '2026-11-15' })).toMatchObject({ state: 'active' });
    expect(await givenCard({ value: 5, expiresOn: null })).toMatchObject({ expiresOn: null });
  });

  test.each([
    [{ value: 0 }, 400, 'value'],
    [{ value: -5 }, 400, 'value'],
    [{ value: 5, currency: 'JPY' }, 400, 'JPY'],
    [{ value: 5, expiresOn: '2026-11-14' }, 400, 'expiresOn'],
    [{ value: 5, expiresOn: '2026-02-30' }, 400, 'expiresOn'],
    [{ value: 5, customerId: '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E' }, 400, 'customerId'],
    [{ value: 5, customerId: 'x' }, 400, 'customerId'],
    [{ value: 5, note: ' '.repeat(200_000) }, 400, 'note'],
  ])('refusal %#', async (body, status, field) => {
    const [is, text] = await refusal(() => manage('POST', '/gift-cards', body));
    expect([is, text]).toEqual([status, expect.stringContaining(field)]);
  });

  test('repeated with the same Idempotency-Key makes one card, and answers its code again', async () => {
    const issue = () =>
      service.call('POST', '/manage/shops/Harbour/gift-cards', {
        token,
        body: { value: 10 },
        headers: { 'idempotency-key': 'raffle-1' },
      });
    const [first, second] = [await issue(), await issue()];
    expect(second.body).toEqual(first.body);
    expect((await manage('GET', '/gift-cards')).body.results).toBe(1);
  });
});

describe('the ledger', () => {
  test('names every change, and its sum is the balance', async () => {
    const { giftCardId } = await givenCard();
    const { status, body } = await manage('POST', `/gift-cards/${giftCardId}/corrections`, {
      amount: -12.5,
      reason: 'Redeemed at the till',
    });
    expect([status, body.balance]).toEqual([201, euro(37.5, '37.50 €')]);
    expect((await manage('GET', `/gift-cards/${giftCardId}/entries`)).body.items).toEqual([
      {
        entryId: expect.any(String),
        recordedOn: '2026-11-15T08:30:00Z',
        kind: 'correct',
        amount: euro(-12.5, '-12.50 €'),
        orderId: null,
        reason: 'Redeemed at the till',
      },
      {
        entryId: expect.any(String),
        recordedOn: '2026-11-15T08:30:00Z',
        kind: 'issue',
        amount: euro(50, '50.00 €'),
        orderId: null,
        reason: null,
      },
    ]);
  });

  test('never goes below zero, not even by corrections at the same moment', async () => {
    const { giftCardId } = await givenCard();
    const correct = (amount: number) =>
      manage('POST', `/gift-cards/${giftCardId}/corrections`, { amount, reason: 'Till' });
    expect(await refusal(() => correct(-50.01))).toEqual([
      409,
      'No more than 50 EUR is left on the gift card',
    ]);
    expect((await refusal(() => correct(0)))[0]).toBe(400);
    const answers = await Promise.all(Array.from({ length: 8 }, () => correct(-20)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(6);
    expect((await manage('GET', `/gift-cards/${giftCardId}`)).body.balance.amount).toBe(10);
  });

  test('of another shop is unknown', async () => {
    const { giftCardId } = await givenCard();
    token = await givenToken(service, 'Other');
    const other = (method: string, path: string, body?: unknown) =>
      service.call(method, `/manage/shops/Other/gift-cards/${giftCardId}${path}`, { token, body });
    expect((await refusal(() => other('GET', '')))[0]).toBe(404);
    expect((await refusal(() => other('GET', '/entries')))[0]).toBe(404);
    expect((await refusal(() => other('PUT', '/state', { state: 'blocked' })))[0]).toBe(404);
    expect((await refusal(() => other('POST', '/corrections', { amount: 1, reason: 'x' })))[0]).toBe(404);
  });
});

test('a card is blocked, and let go again', async () => {
  const { giftCardId } = await givenCard();
  const set = async (state: string) =>
    (await manage('PUT', `/gift-cards/${giftCardId}/state`, { state })).body;
  expect(await set('blocked')).toMatchObject({ state: 'blocked', balance: { amount: 50 } });
  expect(await set('active')).toMatchObject({ state: 'active' });
});

test('what is left on a card that expires is no longer owed, and the past stays as it was', async () => {
  const { giftCardId } = await givenCard({ value: 50, expiresOn: '2026-11-20' });
  await givenCard({ value: 20, expiresOn: null });
  service.setClock(new Date('2026-11-20T23:59:59Z'));
  expect(await giftCardExpiry.run(service.db, 100)).toBe(0);
  service.setClock(new Date('2026-11-21T00:00:00Z'));
  expect(await giftCardExpiry.run(service.db, 100)).toBe(1);
  expect(await giftCardExpiry.run(service.db, 100)).toBe(0);
  expect((await manage('GET', `/gift-cards/${giftCardId}`)).body).toMatchObject({
    state: 'expired',
    balance: { amount: 0 },
  });
  const correct = () =>
    manage('POST', `/gift-cards/${giftCardId}/corrections`, { amount: 5, reason: 'Goodwill' });
  expect((await refusal(correct))[0]).toBe(409);
  const owed = async (on: string) => (await manage('GET', `/gift-card-liability?on=${on}`)).body;
  expect(await owed('2026-11-20')).toMatchObject({
    on: '2026-11-20',
    items: [{ currency: 'EUR', issued: { amount: 70 }, expired: { amount: 0 }, owed: { amount: 70 } }],
  });
  expect(await owed('2026-11-21')).toMatchObject({
    items: [{ issued: { amount: 70 }, expired: { amount: -50 }, owed: { amount: 20 } }],
  });
  expect(await owed('2026-11-14')).toEqual({ on: '2026-11-14', items: [] });
  expect((await refusal(() => manage('GET', '/gift-card-liability?on=2026-13-01')))[0]).toBe(400);
});

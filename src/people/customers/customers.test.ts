import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenShop, givenToken } from '../../../test/builders.ts';
import { startService, type Answer, type CallOptions, type Service } from '../../../test/service.ts';
import { sql } from '../../db/sql.ts';
import { newId } from '../../kernel/ids.ts';
import { ADDRESS_FIELDS } from '../../shops/countries/address.ts';

let service: Service;
let token: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  // A shop is gone with everything it has, so each test begins with the first number.
  await service.db.run(sql`delete from shop`);
  await givenShop(service, 'Harbour');
  await givenShop(service, 'Other');
  token = await givenToken(service, 'Harbour');
  service.setClock(undefined);
});
afterAll(() => service.close());

const NOTHING = Object.fromEntries(ADDRESS_FIELDS.map((field) => [field, null]));
const ADA = { firstName: 'Ada', lastName: 'Brennan', emailAddress: 'ada@pelican.example' };

const get = (path: string) => service.call('GET', `/Harbour/customers${path}`, { token });
const post = (body: unknown) => service.call('POST', '/Harbour/customers', { token, body });
const patch = (id: string, body: unknown, type = 'application/json-patch+json') =>
  service.call('PATCH', `/Harbour/customers/${id}`, { token, body, headers: { 'content-type': type } });

const everything = async () => [
  await service.db.many(sql`select * from customer order by shop_id, customer_id`),
  await service.db.many(sql`select * from counter order by shop_id, name`),
];

/** The status and text of a refusal; on the way it is checked that nothing has changed. */
async function refusal(call: () => Promise<Answer>): Promise<[status: number, text: string]> {
  const before = await everything();
  const { status, body } = await call();
  expect(await everything()).toEqual(before);
  return [status, body.message.split(', Request: ')[0]];
}

async function givenCustomer(facts: object = {}): Promise<string> {
  const { status, body } = await post({ billingAddress: ADA, ...facts });
  expect(status).toBe(201);
  return body.customerId;
}

describe('creating', () => {
  test('with a minimal address answers the whole customer, which can be read again', async () => {
    service.setClock(new Date('2026-11-15T08:30:00.999Z'));
    const { status, headers, body, text } = await post({ billingAddress: ADA });
    const self = `http://localhost:80/rs/shops/Harbour/customers/${body.customerId}`;
    expect(status).toBe(201);
    expect(headers['content-type']).toBe('application/json');
    expect(body).toEqual({
      customerId: expect.stringMatching(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/),
      customerNumber: '1001',
      creationDate: '2026-11-15T08:30:00Z',
      billingAddress: { ...NOTHING, ...ADA },
      internalNote: null,
      links: [
        { rel: 'self', href: self },
        { rel: 'orders', href: `http://localhost:80/rs/shops/Harbour/orders?customerId=${body.customerId}` },
      ],
    });
    expect(await get(`/${body.customerId}`)).toMatchObject({ status: 200, text });
    expect((await get('')).body.items).toEqual([body]);
  });

  test('prints all 34 keys of the address, in the order of the contract', async () => {
    const { body } = await post({ billingAddress: {} });
    expect(Object.entries(body.billingAddress)).toEqual(ADDRESS_FIELDS.map((field) => [field, null]));
    expect(ADDRESS_FIELDS).toHaveLength(34);
  });

  test('keeps all 34 texts', async () => {
    const address = Object.fromEntries(ADDRESS_FIELDS.map((field) => [field, `the ${field}`.slice(0, 16)]));
    Object.assign(address, {
      country: 'GB',
      gender: 'MALE',
      birthday: '1984-02-29',
      emailAddress: 'ada@pelican.example',
      businessEmailAddress: 'ä "quoted" \\ 💐 <b>',
    });
    const { body } = await post({ billingAddress: address });
    expect((await get(`/${body.customerId}`)).body.billingAddress).toEqual(address);
  });

  test('takes a postcode that is a number, and a gender and country in any case', async () => {
    const { body } = await post({ billingAddress: { zipCode: 20457, gender: 'female', country: 'de' } });
    expect(body.billingAddress).toEqual({ ...NOTHING, zipCode: '20457', gender: 'FEMALE', country: 'DE' });
  });

  test('ignores what it does not know', async () => {
    const { status, body } = await post({
      billingAddress: { ...ADA, colour: 'blue' },
      customerId: 'mine',
      creationDate: 7,
      friends: [],
    });
    expect(status).toBe(201);
    expect(body.billingAddress).toEqual({ ...NOTHING, ...ADA });
    expect(body.customerId).not.toBe('mine');
  });

  test('takes back what an answer printed, under another number', async () => {
    const first = (await post({ billingAddress: { ...ADA, zipCode: 1, gender: 'Male' }, internalNote: 'x' }))
      .body;
    const { status, body } = await post({ ...first, customerNumber: null });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      customerNumber: '1002',
      billingAddress: first.billingAddress,
      internalNote: 'x',
    });
    expect(body.customerId).not.toBe(first.customerId);
  });

  test('keeps the note and the number that were given', async () => {
    const { body } = await post({
      billingAddress: ADA,
      customerNumber: '0812',
      internalNote: 'pays on time',
    });
    expect(body).toMatchObject({ customerNumber: '0812', internalNote: 'pays on time' });
  });

  test('once per Idempotency-Key', async () => {
    const call = () =>
      service.call('POST', '/Harbour/customers', {
        token,
        body: { billingAddress: ADA },
        headers: { 'idempotency-key': 'form-17' },
      });
    const first = await call();
    const second = await call();
    expect(second).toMatchObject({ status: 201, text: first.text });
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect((await get('')).body.results).toBe(1);
  });

  test.each([
    ['nothing', undefined, 'WRONG_TYPE on field body'],
    ['an empty object', {}, 'MISSING on field billingAddress'],
    ['a list', [], 'WRONG_TYPE on field body'],
    ['no address', { customerNumber: '1' }, 'MISSING on field billingAddress'],
    ['null for the address', { billingAddress: null }, 'WRONG_TYPE on field billingAddress'],
    ['a number for a text', { billingAddress: { city: 7 } }, 'WRONG_TYPE on field billingAddress.city'],
    ['a list for a text', { billingAddress: { city: ['x'] } }, 'WRONG_TYPE on field billingAddress.city'],
    [
      'Infinity for a postcode',
      '{"billingAddress":{"zipCode":1e999}}',
      'WRONG_TYPE on field billingAddress.zipCode',
    ],
    [
      'an unknown country',
      { billingAddress: { country: 'ZZ' } },
      'UNKNOWN_VALUE on field billingAddress.country',
    ],
    [
      'a day that does not exist',
      { billingAddress: { birthday: '2026-02-30' } },
      'WRONG_FORMAT on field billingAddress.birthday',
    ],
    [
      'no mail address',
      { billingAddress: { emailAddress: 'ada' } },
      'WRONG_FORMAT on field billingAddress.emailAddress',
    ],
    [
      'too long a name',
      { billingAddress: { lastName: 'x'.repeat(256) } },
      'TOO_LONG on field billingAddress.lastName',
    ],
    [
      'a number as the number',
      { billingAddress: ADA, customerNumber: 1005 },
      'WRONG_TYPE on field customerNumber',
    ],
    [
      'too long a number',
      { billingAddress: ADA, customerNumber: '1'.repeat(65) },
      'TOO_LONG on field customerNumber',
    ],
    ['a note that is no text', { billingAddress: ADA, internalNote: {} }, 'WRONG_TYPE on field internalNote'],
    [
      'too long a note',
      { billingAddress: ADA, internalNote: 'x'.repeat(10_001) },
      'TOO_LONG on field internalNote',
    ],
  ])('with %s is refused', async (_, body, problem) => {
    const headers = { 'content-type': 'application/json' };
    expect(await refusal(() => service.call('POST', '/Harbour/customers', { token, body, headers }))).toEqual(
      [400, `Create customer failed:\n\tvalidation error ${problem}`],
    );
  });

  test('names everything that is wrong with the values', async () => {
    expect(await refusal(() => post({ billingAddress: { country: 'ZZ', gender: 'other' } }))).toEqual([
      400,
      'Create customer failed:\n\tvalidation error UNKNOWN_VALUE on field billingAddress.country\n\tvalidation error UNKNOWN_VALUE on field billingAddress.gender',
    ]);
  });
});

describe('numbers', () => {
  const numberOf = async (facts: object = {}): Promise<string> =>
    (await post({ billingAddress: ADA, ...facts })).body.customerNumber;

  test('are counted from 1001 in each shop', async () => {
    expect([await numberOf(), await numberOf(), await numberOf()]).toEqual(['1001', '1002', '1003']);
    const other = await givenToken(service, 'Other');
    const { body } = await service.call('POST', '/Other/customers', {
      token: other,
      body: { billingAddress: ADA },
    });
    expect(body.customerNumber).toBe('1001');
  });

  test('skip those that were given by hand', async () => {
    for (const customerNumber of ['1001', '1003', '1004']) await givenCustomer({ customerNumber });
    expect([await numberOf(), await numberOf()]).toEqual(['1002', '1005']);
  });

  test.each(['', null])('count on when %j is sent', async (customerNumber) => {
    expect(await numberOf({ customerNumber })).toBe('1001');
  });

  test('are not used up by a refusal', async () => {
    await givenCustomer();
    expect((await post({ billingAddress: { country: 'ZZ' } })).status).toBe(400);
    expect(await numberOf()).toBe('1002');
  });

  test('that are taken are a conflict, when creating and when changing', async () => {
    await givenCustomer({ customerNumber: '0812' });
    const second = await givenCustomer();
    expect(await refusal(() => post({ billingAddress: ADA, customerNumber: '0812' }))).toEqual([
      409,
      'This customerNumber is taken',
    ]);
    expect(
      await refusal(() =>
        patch(second, [
          { op: 'add', path: '/internalNote', value: 'x' },
          { op: 'add', path: '/customerNumber', value: '0812' },
        ]),
      ),
    ).toEqual([409, 'This customerNumber is taken']);
  });

  test("of another shop are free, and so is one's own", async () => {
    const other = await givenToken(service, 'Other');
    const body = { billingAddress: ADA, customerNumber: '0812' };
    expect((await service.call('POST', '/Other/customers', { token: other, body })).status).toBe(201);
    const id = await givenCustomer({ customerNumber: '0812' });
    const same = await patch(id, [{ op: 'add', path: '/customerNumber', value: '0812' }]);
    expect(same.status).toBe(200);
  });

  test('of 20 that are created at once are 20 different ones', async () => {
    const numbers = await Promise.all(Array.from({ length: 20 }, () => numberOf()));
    const expected = Array.from({ length: 20 }, (_, index) => String(1001 + index));
    expect(numbers.toSorted()).toEqual(expected);
    expect((await get('')).body.results).toBe(20);
  });

  test('given by hand 20 times at once are given once', async () => {
    const body = { billingAddress: ADA, customerNumber: '1001' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(body)));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(19);
    expect(await numberOf()).toBe('1002');
  });
});

describe('reading', () => {
  test('finds an id in lower case and answers it in upper case', async () => {
    const id = await givenCustomer();
    const { status, body } = await get(`/${id.toLowerCase()}`);
    expect(status).toBe(200);
    expect(body.customerId).toBe(id);
  });

  test('does not find what is unknown, malformed or of another shop', async () => {
    const other = await givenToken(service, 'Other');
    const { body } = await service.call('POST', '/Other/customers', {
      token: other,
      body: { billingAddress: ADA },
    });
    const note = [{ op: 'add', path: '/internalNote', value: 'x' }];
    for (const id of [newId(new Date()), 'unknown', '1001', `${body.customerId}0`, body.customerId]) {
      expect(await refusal(() => get(`/${id}`))).toEqual([404, 'HTTP 404 Not Found']);
      expect(await refusal(() => patch(id, note))).toEqual([404, 'HTTP 404 Not Found']);
    }
  });

  test('and writing need their scopes', async () => {
    const id = await givenCustomer();
    const reader = await givenToken(service, 'Harbour', ['customers_read']);
    const writer = await givenToken(service, 'Harbour', ['customers_write']);
    const call = (method: string, path: string, token?: string) =>
      service.call(method, `/Harbour/customers${path}`, {
        ...(token === undefined ? {} : { token }),
        ...(method === 'GET' ? {} : { body: {} }),
      });
    for (const [method, path, wrong, scope] of [
      ['GET', '', writer, 'customers_read'],
      ['GET', `/${id}`, writer, 'customers_read'],
      ['POST', '', reader, 'customers_write'],
      ['PATCH', `/${id}`, reader, 'customers_write'],
    ] as const) {
      expect(await refusal(() => call(method, path, wrong))).toEqual([
        403,
        `The token lacks the scope ${scope}`,
      ]);
      expect(await refusal(() => call(method, path))).toEqual([401, 'A token is needed']);
    }
    expect((await call('GET', '', reader)).status).toBe(200);
  });
});

describe('the list', () => {
  const numbersOf = (answer: Answer) =>
    answer.body.items.map((item: { customerNumber: string }) => item.customerNumber);

  test('is empty in a new shop', async () => {
    expect((await get('')).text).toBe('{"results":0,"page":1,"resultsPerPage":10,"items":[]}');
  });

  test('comes oldest first, ten to a page', async () => {
    for (let second = 0; second < 12; second++) {
      service.setClock(new Date(Date.UTC(2026, 10, 15, 8, 0, second)));
      await givenCustomer();
    }
    const first = await get('');
    const second = await get('/?page=2');
    expect(first.body).toMatchObject({ results: 12, page: 1, resultsPerPage: 10 });
    expect(second.body).toMatchObject({ results: 12, page: 2, resultsPerPage: 10 });
    const all = Array.from({ length: 12 }, (_, index) => String(1001 + index));
    expect(numbersOf(first)).toEqual(all.slice(0, 10));
    expect(numbersOf(second)).toEqual(all.slice(10));
    expect(numbersOf(await get('?page=3&resultsPerPage=5'))).toEqual(all.slice(10));
    expect(numbersOf(await get('?resultsPerPage=100'))).toEqual(all);
  });

  test('has at most 100 to a page, and says so', async () => {
    await service.db.transaction(async (tx) => {
      for (let count = 0; count < 101; count++) {
        await tx.run(sql`
          insert into customer (shop_id, customer_id, customer_number, created_at)
          values ('Harbour', ${newId(tx.now)}, ${`by hand ${count}`}, ${tx.now})`);
      }
    });
    const { body } = await get('?resultsPerPage=101');
    expect(body).toMatchObject({ results: 101, page: 1, resultsPerPage: 100 });
    expect(body.items).toHaveLength(100);
    expect((await get('?resultsPerPage=5000&page=2')).body.items).toHaveLength(1);
  });

  test('beyond its end has no items and the true number of results', async () => {
    await givenCustomer();
    const expected = { results: 1, page: 7, resultsPerPage: 10, items: [] };
    expect((await get('?page=7')).body).toEqual(expected);
    expect((await get('?page=2147483647&resultsPerPage=100')).status).toBe(200);
  });

  test.each([
    ['page=0', 'OUT_OF_RANGE on field page'],
    ['page=-1', 'OUT_OF_RANGE on field page'],
    ['page=1.5', 'WRONG_TYPE on field page'],
    ['page=two', 'WRONG_TYPE on field page'],
    ['page=', 'WRONG_TYPE on field page'],
    ['page=1&page=2', 'WRONG_TYPE on field page'],
    ['resultsPerPage=0', 'OUT_OF_RANGE on field resultsPerPage'],
    ['resultsPerPage=-1', 'OUT_OF_RANGE on field resultsPerPage'],
    ['resultsPerPage=all', 'WRONG_TYPE on field resultsPerPage'],
  ])('with %s is refused', async (query, problem) => {
    const { status, body } = await get(`?${query}`);
    expect(status).toBe(400);
    expect(body).toEqual({
      message: `List customers failed:\n\tvalidation error ${problem}, Request: GET /rs/shops/Harbour/customers`,
      status: 'Bad Request',
    });
  });

  test('ignores parameters it does not know', async () => {
    expect((await get('?locale=en&sort=name')).status).toBe(200);
  });

  test('does not show the customers of another shop', async () => {
    await givenCustomer();
    const other = await givenToken(service, 'Other');
    expect((await service.call('GET', '/Other/customers', { token: other })).body.results).toBe(0);
  });
});

describe('changing', () => {
  let id: string;
  let before: { billingAddress: unknown };
  beforeEach(async () => {
    id = await givenCustomer({ internalNote: 'first note' });
    before = (await get(`/${id}`)).body;
  });

  /** The customer as the answer shows it; on the way it is checked that this is what was stored. */
  async function changed(body: unknown, type?: string): Promise<unknown> {
    const answer = await patch(id, body, type);
    expect(answer.status).toBe(200);
    expect((await get(`/${id}`)).text).toBe(answer.text);
    return answer.body;
  }

  test('adds, overwrites and removes', async () => {
    expect(await changed([{ op: 'add', path: '/internalNote', value: 'second' }])).toEqual({
      ...before,
      internalNote: 'second',
    });
    expect(await changed([{ op: 'remove', path: '/internalNote' }])).toEqual({
      ...before,
      internalNote: null,
    });
    expect(await changed([{ op: 'replace', path: '/internalNote', value: 'third' }])).toEqual({
      ...before,
      internalNote: 'third',
    });
    expect(await changed([{ op: 'add', path: '/internalNote', value: null }])).toEqual({
      ...before,
      internalNote: null,
    });
    expect(await changed([{ op: 'add', path: '/customerNumber', value: '0812' }])).toEqual({
      ...before,
      customerNumber: '0812',
      internalNote: null,
    });
  });

  test('sets the whole address, or unsets it', async () => {
    expect(
      await changed([{ op: 'add', path: '/billingAddress', value: { city: 'Hamburg', zipCode: 20457 } }]),
    ).toEqual({ ...before, billingAddress: { ...NOTHING, city: 'Hamburg', zipCode: '20457' } });
    expect(await changed([{ op: 'remove', path: '/billingAddress' }])).toEqual({
      ...before,
      billingAddress: null,
    });
    expect(await changed([{ op: 'replace', path: '/billingAddress', value: before.billingAddress }])).toEqual(
      before,
    );
  });

  test('removes what is not set', async () => {
    const body = [
      { op: 'remove', path: '/internalNote' },
      { op: 'remove', path: '/billingAddress' },
    ];
    expect(await changed(body)).toEqual({ ...before, internalNote: null, billingAddress: null });
    expect(await changed(body)).toEqual({ ...before, internalNote: null, billingAddress: null });
  });

  test('does its entries in order', async () => {
    const body = [
      { op: 'add', path: '/internalNote', value: 'a' },
      { op: 'remove', path: '/internalNote' },
      { op: 'add', path: '/customerNumber', value: 'A' },
      { op: 'add', path: '/customerNumber', value: 'B' },
    ];
    expect(await changed(body)).toEqual({ ...before, customerNumber: 'B', internalNote: null });
  });

  test.each([
    'application/json-patch+json',
    'application/json',
    'application/json-patch+json; charset=utf-8',
  ])('takes %s', async (type) => {
    expect(await changed([{ op: 'add', path: '/internalNote', value: 'x' }], type)).toEqual({
      ...before,
      internalNote: 'x',
    });
  });

  test('takes 500 entries, and escaped slashes', async () => {
    const body = Array.from({ length: 500 }, (_, index) => ({
      op: 'add',
      path: '/internalNote',
      value: `note ${index}`,
    }));
    const text = JSON.stringify(body).replaceAll('/', String.raw`\/`);
    expect(await changed(text)).toEqual({ ...before, internalNote: 'note 499' });
  });

  const good = { op: 'add', path: '/internalNote', value: 'changed' };
  test.each([
    [
      'an unknown path',
      [good, { op: 'add', path: '/colour', value: 'x' }],
      'UNKNOWN_PATH on field [1] /colour',
    ],
    [
      'a path inside the address',
      [good, { op: 'add', path: '/billingAddress/city', value: 'x' }],
      'UNKNOWN_PATH on field [1] /billingAddress/city',
    ],
    [
      'a path that is read only',
      [{ op: 'add', path: '/creationDate', value: 'x' }],
      'UNKNOWN_PATH on field [0] /creationDate',
    ],
    [
      'removal of the number',
      [good, { op: 'remove', path: '/customerNumber' }],
      'WRONG_OPERATION on field [1] /customerNumber',
    ],
    [
      'an empty number',
      [good, { op: 'add', path: '/customerNumber', value: '' }],
      'STRING_EMPTY on field [1] /customerNumber',
    ],
    [
      'a wrong type',
      [good, { op: 'add', path: '/customerNumber', value: 812 }],
      'WRONG_TYPE on field [1] /customerNumber',
    ],
    ['no value', [good, { op: 'add', path: '/internalNote' }], 'MISSING on field [1] /internalNote.value'],
    [
      'a wrong type in the address',
      [good, { op: 'add', path: '/billingAddress', value: { city: 7 } }],
      'WRONG_TYPE on field [1] /billingAddress.city',
    ],
    [
      'an unknown country',
      [good, { op: 'add', path: '/billingAddress', value: { country: 'ZZ' } }],
      'UNKNOWN_VALUE on field [1] /billingAddress.country',
    ],
    [
      'another operation',
      [good, { op: 'test', path: '/internalNote', value: 'x' }],
      'UNKNOWN_VALUE on field 1.op',
    ],
    ['a list in a list', [[good]], 'WRONG_TYPE on field 0'],
    ['an empty list', [], 'LIST_EMPTY on field body'],
    ['an empty object', {}, 'WRONG_TYPE on field body'],
    ['an object', good, 'WRONG_TYPE on field body'],
    ['nothing', undefined, 'WRONG_TYPE on field body'],
    ['501 entries', Array.from({ length: 501 }, () => good), 'TOO_LONG on field body'],
  ])('with %s is refused as a whole', async (_, body, problem) => {
    expect(await refusal(() => patch(id, body))).toEqual([
      400,
      `Update customer failed:\n\tvalidation error ${problem}`,
    ]);
  });

  test('with another type of body is refused', async () => {
    expect(await refusal(() => patch(id, JSON.stringify([good]), 'text/plain'))).toEqual([
      400,
      'The body must have one of these Content-Types: application/json, application/json-patch+json, application/vnd.epages.v1+json',
    ]);
  });

  test('by several at once loses no change', async () => {
    const changes = [
      { op: 'add', path: '/internalNote', value: 'kept' },
      { op: 'add', path: '/customerNumber', value: 'kept' },
      { op: 'add', path: '/billingAddress', value: { city: 'kept' } },
    ];
    await Promise.all(changes.map((change) => patch(id, [change])));
    expect((await get(`/${id}`)).body).toEqual({
      ...before,
      internalNote: 'kept',
      customerNumber: 'kept',
      billingAddress: { ...NOTHING, city: 'kept' },
    });
  });
});

describe('notes and segments', () => {
  const manage = (method: string, path: string, body?: unknown, options: CallOptions = {}) =>
    service.call(method, `/manage/shops/Harbour${path}`, { token, body, ...options });
  const stored = async () => [
    await service.db.many(sql`select * from customer_note order by note_id`),
    await service.db.many(sql`select * from customer_segment order by segment_id`),
    await service.db.many(sql`select * from audit_entry order by entry_id`),
  ];

  test('a note is written, read, changed and deleted, and each change is in the audit log', async () => {
    service.setClock(new Date('2026-11-15T08:30:00.999Z'));
    const customerId = await givenCustomer();
    const path = `/customers/${customerId}/notes`;
    const key = { headers: { 'idempotency-key': 'note-1' } };
    const made = await manage('POST', path, { note: '  Rings twice ' }, key);
    const again = await manage('POST', path, { note: '  Rings twice ' }, key);
    const { noteId, author } = made.body;
    expect([made.status, made.body]).toEqual([
      201,
      { noteId: expect.any(String), creationDate: '2026-11-15T08:30:00Z', author, note: 'Rings twice' },
    ]);
    expect(again.body).toEqual(made.body);
    const changed = await manage('PUT', `${path}/${noteId}`, { note: 'Rings once' });
    expect([changed.status, changed.body]).toEqual([200, { ...made.body, note: 'Rings once' }]);
    expect((await manage('GET', path)).body).toEqual({ items: [changed.body] });
    expect((await manage('DELETE', `${path}/${noteId}`)).status).toBe(204);
    expect((await manage('GET', path)).body).toEqual({ items: [] });
    const entries = await service.db.many<{ method: string; object: object }>(sql`
      select method, object from audit_entry where route like '%/notes%' order by entry_id`);
    expect(entries).toEqual(
      ['POST', 'PUT', 'DELETE'].map((method) => ({ method, object: { customerId, noteId } })),
    );

    await manage('POST', path, { note: 'Rings twice' });
    const before = await stored();
    const nowhere = newId(new Date());
    for (const [method, where, body, status] of [
      ['POST', path, { note: '   ' }, 400],
      ['POST', path, { note: 'x'.repeat(2_001) }, 400],
      ['POST', path, {}, 400],
      ['POST', `/customers/${nowhere}/notes`, { note: 'x' }, 404],
      ['GET', `/customers/${nowhere}/notes`, undefined, 404],
      ['PUT', `${path}/${noteId}`, { note: 'x' }, 404],
      ['DELETE', `${path}/${noteId}`, undefined, 404],
    ] as const) {
      expect([method, where, (await manage(method, where, body)).status]).toEqual([method, where, status]);
    }
    expect(await stored()).toEqual(before);
    await service.db.run(sql`
      insert into customer_note (shop_id, customer_id, note_id, created_at, author, note)
      select 'Harbour', ${customerId}, gen_random_uuid(), ${new Date()}, 'ada', 'x' from generate_series(1, 199)`);
    const full = await manage('POST', path, { note: 'x' });
    expect([full.status, full.headers['x-error-code']]).toEqual([400, 'TOO_MANY_NOTES']);
  });

  test('a segment is made, read, changed and deleted; its name is unique', async () => {
    const filter = { country: 'DE', minOrders: '3', unknown: 'x' };
    const made = await manage('POST', '/segments', { name: 'Germans', filter });
    const { segmentId } = made.body;
    expect([made.status, made.body]).toMatchObject([
      201,
      { name: 'Germans', filter: { country: 'DE', minOrders: '3' } },
    ]);
    expect((await manage('GET', '/segments')).body).toEqual({ items: [made.body] });
    expect((await manage('GET', `/segments/${segmentId}`)).body).toEqual(made.body);
    const changed = await manage('PUT', `/segments/${segmentId}`, {
      name: 'Austrians',
      filter: { country: 'AT' },
    });
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...made.body, name: 'Austrians', filter: { country: 'AT' } },
    ]);
    const other = await manage('POST', '/segments', { name: 'Germans', filter });
    const before = await stored();
    for (const [method, where, body, status] of [
      ['POST', '/segments', { name: 'GERMANS', filter }, 409],
      ['PUT', `/segments/${segmentId}`, { name: 'germans', filter }, 409],
      ['POST', '/segments', { name: 'Empty', filter: {} }, 400],
      ['POST', '/segments', { name: ' ', filter }, 400],
      ['POST', '/segments', { name: 'x'.repeat(61), filter }, 400],
      ['POST', '/segments', { name: 'Odd', filter: { minOrders: 'many' } }, 400],
      ['POST', '/segments', { name: 'Odd', filter: { q: 'x'.repeat(201) } }, 400],
      ['POST', '/segments', { name: 'Odd', filter: { country: 49 } }, 400],
      ['GET', `/segments/${newId(new Date())}`, undefined, 404],
    ] as const) {
      expect([method, where, (await manage(method, where, body)).status]).toEqual([method, where, status]);
    }
    expect(await stored()).toEqual(before);
    expect((await manage('DELETE', `/segments/${segmentId}`)).status).toBe(204);
    expect((await manage('DELETE', `/segments/${segmentId}`)).status).toBe(404);
    expect((await manage('GET', '/segments')).body).toEqual({ items: [other.body] });
  });

  test('a shop has at most 50 segments, also when many are made at once', async () => {
    await service.db.run(sql`
      insert into customer_segment (shop_id, segment_id, name, filter, created_at, author)
      select 'Harbour', gen_random_uuid(), 'Segment ' || number, '{"country": "DE"}', ${new Date()}, 'ada'
      from generate_series(1, 48) as number`);
    const made = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        manage('POST', '/segments', { name: `New ${index}`, filter: { country: 'DE' } }),
      ),
    );
    expect(made.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      201, 201, 400, 400, 400,
    ]);
  });
});

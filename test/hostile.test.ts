import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoShop, expectRefusal, fingerprint, startDemo } from './demo.ts';
import { OPERATIONS, shapeLines, typesOf, validCall, type Operation, type Shop } from './operations.ts';
import type { Answer, CallOptions, Service } from './service.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
const DEEP = 100_000;

/** Values that are no full locale. */
const LOCALES = "en english en_GB;drop en-GB en_GBR e1_GB %20 __proto__ en_GB'-- en_GB%0a %F0%9F%98%80"
  .split(' ')
  .concat('', 'e'.repeat(10_000));

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  shop = demoShop(service);
});

afterAll(() => service.close());

const withBody = OPERATIONS.filter(({ body, multipart }) => body !== undefined && !multipart);
const withoutBody = OPERATIONS.filter(({ body }) => body === undefined);

/** A query instead of the valid one, or made from it. */
type Search = string | ((valid: string) => string);
type Send = (changed?: CallOptions, search?: Search) => Promise<{ answer: Answer; path: string }>;

/** Makes one valid call ready, which then can be sent with another body, other headers, another query. */
async function prepared(operation: Operation): Promise<Send> {
  const call = await validCall(operation, shop);
  return async (changed = {}, search = call.search) => ({
    answer: await service.call(
      operation.method,
      call.path + (typeof search === 'string' ? search : search(call.search)),
      { ...call.options, ...changed },
    ),
    path: `/rs/shops${call.path}`,
  });
}

/** A valid call of its own, changed. */
async function send(operation: Operation, changed?: CallOptions, search?: Search) {
  return (await prepared(operation))(changed, search);
}

/** Refused with this status, by an answer in the contract's form; its text without the request. */
function textOf(operation: Operation, { answer, path }: { answer: Answer; path: string }, status: number) {
  expectRefusal(answer, operation.method, path);
  expect(answer).toMatchObject({ status });
  return (answer.body.message as string).replace(`, Request: ${operation.method} ${path}`, '');
}

/** Runs `work` with a call that is ready; then the database must be what it was. */
async function changesNothing(operation: Operation, work: (send: Send) => Promise<void>) {
  const send = await prepared(operation);
  const before = await fingerprint(service);
  await work(send);
  expect(await fingerprint(service)).toEqual(before);
}

/** The body of a valid call as JSON text, also where a form is usual. */
async function validText({ body }: Operation): Promise<string> {
  return JSON.stringify(await body!(shop));
}

/** Every key is optional, but not all of them at once. */
const NEEDS_ANY = ['POST /products'];

/** What is below an optional key may be needed there. */
const isEmptyFine = ({ name, request }: Operation) =>
  !request.startsWith('[]') &&
  !NEEDS_ANY.includes(name) &&
  shapeLines(request).every(({ path, optional }) => optional || /[.[]/.test(path));

/** An empty list takes all products away. */
const takesNothing = ({ name }: Operation) => name === 'PUT /products/{productId}/crossselling';

describe.each(withBody)('$name', (operation) => {
  /** Sends what must be refused, and gives the text of the refusal; nothing may change. */
  const refusing = (
    work: (
      refused: (body: string | Buffer, headers?: Record<string, string>) => Promise<string>,
    ) => Promise<void>,
  ) =>
    changesNothing(operation, (send) =>
      work(async (body, headers = JSON_TYPE) => textOf(operation, await send({ body, headers }), 400)),
    );

  test('malformed JSON', async () => {
    await refusing(async (refused) => {
      for (const text of [
        '{',
        '{"a":',
        'nope',
        '{"a":1}}',
        "{'a':1}",
        '\ufeff{',
        '{"a":NaN}',
        '[1,]',
        '{"__proto__":',
      ]) {
        expect(await refused(text)).toMatch(/^The body is not valid JSON: /);
      }
    });
  });

  test('no body, or one of another kind', async () => {
    const call = await validCall(operation, shop);
    await refusing(async (refused) => {
      for (const text of ['', 'null', '"text"', '123', 'true', '[]']) {
        if (text === '[]' && takesNothing(operation)) continue;
        expect(await refused(text)).toMatch(/ failed:\n\tvalidation error [A-Z_]+ on field body$/);
      }
      const answer = await service.call(operation.method, call.path + call.search, { token: shop.token });
      textOf(operation, { answer, path: `/rs/shops${call.path}` }, 400);
    });
  });

  test('an empty object', async () => {
    const sent = await send(operation, { body: '{}', headers: JSON_TYPE });
    if (isEmptyFine(operation)) expect(sent.answer.status).toBe(operation.status);
    else expect(textOf(operation, sent, 400)).toMatch(/validation error/);
  });

  test('brackets without end', async () => {
    const deep = `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`;
    const valid = await validText(operation);
    const hidden = valid.startsWith('{')
      ? `${valid.slice(0, -1)},"unknown":${deep}}`
      : valid.includes('{')
        ? valid.replace('{', `{"unknown":${deep},`)
        : valid.replace('[', `[${deep},`);
    await refusing(async (refused) => {
      for (const text of [deep, `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`, hidden]) {
        expect(await refused(text)).toBe('The body is nested more than 50 levels deep');
        await refused(text, { ...JSON_TYPE, 'idempotency-key': 'deep' });
      }
      expect(await refused('['.repeat(DEEP))).toMatch(/^The body is not valid JSON: /);
    });
  });

  test('__proto__ and constructor are no data', async () => {
    const valid = await validText(operation);
    const attack =
      '"__proto__":{"polluted":1},"\\u005f_proto__":{"polluted":2},"constructor":{"prototype":{"polluted":3}},';
    const { answer } = await send(operation, { body: valid.replace('{', `{${attack}`), headers: JSON_TYPE });
    expect(answer).toMatchObject({ status: operation.status });
    expect(answer.text).not.toContain('polluted');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    await refusing(async (refused) => {
      await refused('[{"op":"add","path":"/__proto__/polluted","value":1}]');
    });
  });

  test('a body over 1 MB', async () => {
    const limit = 1_048_576;
    const text = (length: number) => `"${'x'.repeat(length - 2)}"`;
    await changesNothing(operation, async (send) => {
      const over = await send({ body: text(limit + 1), headers: JSON_TYPE });
      expect(textOf(operation, over, 413)).toBe('The body is larger than 1048576 bytes');
      textOf(operation, await send({ body: text(limit), headers: JSON_TYPE }), 400);
    });
  });

  test('another Content-Type', async () => {
    const valid = await validText(operation);
    const accepted = operation.form
      ? 'application/x-www-form-urlencoded, application/json'
      : 'application/json, application/json-patch+json, application/vnd.epages.v1+json';
    const others: Record<string, string>[] = [
      {},
      { 'content-type': 'text/xml' },
      { 'content-type': 'text/plain' },
      { 'content-type': 'multipart/form-data; boundary=x' },
      { 'content-type': 'application/jsonp' },
      { 'content-type': 'nonsense' },
      { 'content-type': '' },
      ...(operation.form ? [] : [FORM_TYPE]),
    ];
    await refusing(async (refused) => {
      for (const headers of others) {
        expect(await refused(valid, headers)).toBe(
          `The body must have one of these Content-Types: ${accepted}`,
        );
      }
    });
  });

  test('the Content-Types that it takes', async () => {
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'APPLICATION/JSON',
      'application/vnd.epages.v1+json',
      'application/json-patch+json',
    ]) {
      const body = await validText(operation);
      const { answer } = await send(operation, { body, headers: { 'content-type': type } });
      expect(answer).toMatchObject({ status: operation.status });
    }
  });

  test('bytes that are not UTF-8', async () => {
    const valid = Buffer.from(await validText(operation));
    const quote = valid.lastIndexOf('"');
    await refusing(async (refused) => {
      for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe4]]) {
        const broken = Buffer.concat([valid.subarray(0, quote), Buffer.from(bytes), valid.subarray(quote)]);
        expect(await refused(broken)).toBe('The body is not UTF-8');
      }
      expect(await refused(Buffer.from([0xff, 0xfe, 0x7b, 0x00]))).toBe('The body is not UTF-8');
    });
  });

  test('text that no column can hold', async () => {
    const valid = await validText(operation);
    // The closing quotes of all texts, keys and values.
    const quotes = [...valid.matchAll(/(?<=[^:,[{])"/g)].map(({ index }) => index);
    await refusing(async (refused) => {
      for (const escape of ['\\u0000', '\\ud800', '\\udc00', '\\udc00\\ud800']) {
        for (const at of quotes) {
          const text = await refused(valid.slice(0, at) + escape + valid.slice(at));
          expect(text).toBe('The body holds text that is not valid Unicode');
        }
      }
    });
  });

  /** All keys of the body, each with a body that is valid but for this one, and its name in a message. */
  const keys = async () => {
    const valid = JSON.parse(await validText(operation)) as unknown;
    const ofBody = shapeLines(operation.request).map((line) => ({
      ...line,
      body: (value: unknown) => replaced(valid, line.path, value),
      field: line.path.replaceAll('[]', '.0').replace(/^\./, ''),
    }));
    const ofPatch = Object.entries(operation.patch).flatMap(([path, text]) => {
      const change = (valid as { path: string }[]).find((one) => one.path === path);
      return shapeLines(text).map((line) => ({
        ...line,
        body: (value: unknown) => [replaced(change, line.path, value)],
        field: `[0] ${path}${line.path.slice('value'.length).replaceAll('[]', '.0')}`,
      }));
    });
    return [...ofBody, ...ofPatch];
  };

  test('a wrong type for any key', async () => {
    const all = await keys();
    await refusing(async (refused) => {
      for (const { types, body, field } of all) {
        const wrong = VALUES.filter((value) => !typesOf(value).some((type) => types.includes(type)));
        for (const value of wrong) {
          const text = await refused(JSON.stringify(body(value)));
          expect(text).toMatch(/ failed:\n\tvalidation error [A-Z_]+ on field [^\n]+$/);
          expect(text.split(' on field ')[1]).toBe(field);
        }
      }
    });
    expect(all.length).toBeGreaterThan(0);
  });

  test('a required key that is missing', async () => {
    // The entries of a list have no keys that could be missing.
    const required = (await keys()).filter(({ optional, path }) => !optional && !path.endsWith('[]'));
    await refusing(async (refused) => {
      for (const { body, field } of required) {
        const text = await refused(JSON.stringify(body(undefined)));
        expect(text).toContain(`\n\tvalidation error MISSING on field ${field}`);
      }
    });
  });

  test('numbers that JSON has, but no column', async () => {
    const numeric = (await keys()).filter(
      ({ types, path }) => types.includes('number') && path !== '[].value',
    );
    await refusing(async (refused) => {
      for (const { body, field } of numeric) {
        for (const number of ['1e999', '-1e999']) {
          const text = await refused(JSON.stringify(body('@')).replace('"@"', number));
          expect(text).toContain(` on field ${field}`);
        }
      }
      for (const number of ['1e999', '-0', '1e-400', '123456789012345678901234567890']) await refused(number);
    });
  });
});

/** One value of each type. */
const VALUES = ['text', 7, 1.5, true, null, [], {}, ['text'], { key: 'text' }];

/** A copy with the value at the path replaced, in the first entry of a list; undefined leaves the key out. */
function replaced(body: unknown, path: string, value: unknown): unknown {
  const copy = structuredClone(body);
  const steps = path.replaceAll('[]', '.0').split('.').filter(Boolean);
  const last = steps.pop()!;
  let place = copy as Record<string, unknown>;
  for (const step of steps) place = place[step] as Record<string, unknown>;
  place[last] = value;
  return copy;
}

describe.each(withoutBody)('$name', (operation) => {
  test.each(['', '{}', '[]'])('a useless body %j does no harm', async (body) => {
    for (const headers of [JSON_TYPE, { 'content-type': 'application/json; charset=utf-8' }]) {
      const { answer } = await send(operation, { body, headers });
      expect(answer).toMatchObject({ status: operation.status });
    }
  });

  test('nor does one that is no JSON', async () => {
    for (const body of ['{', '\ufeff', '__proto__', '['.repeat(DEEP)]) {
      const { answer } = await send(operation, { body, headers: JSON_TYPE });
      expect(answer).toMatchObject({ status: operation.status });
    }
  });
});

describe.each(OPERATIONS)('$name', (operation) => {
  const join = (more: string) => (valid: string) => (valid === '' ? `?${more}` : `${valid}&${more}`);

  test('unknown parameters are ignored, also odd ones', async () => {
    for (const search of [
      'unknown=1',
      'a=1&a=2&a=3',
      '__proto__=1&constructor=2&toString=3&__proto__[x]=1',
      '&&&=&=x&%20=%20',
      'x[]=1&x[y]=2&x.y=3',
      `long=${'x'.repeat(8_000)}`,
      '%F0%9F%98%80=%E2%82%AC',
      'bad=%ff%',
      Array.from({ length: 1_500 }, (_, index) => `p${index}`).join('&'),
    ]) {
      const { answer } = await send(operation, {}, join(search));
      expect(answer).toMatchObject({ status: operation.status });
    }
  });

  test('NUL in the address is refused', async () => {
    await changesNothing(operation, async (send) => {
      expect(textOf(operation, await send({}, join('unknown=%00')), 400)).toBe(
        'The address holds a NUL character',
      );
    });
  });

  test('odd headers do no harm', async () => {
    for (const odd of [
      { accept: `${operation.csv ? 'text/csv' : 'application/json'}${',x'.repeat(2_000)}` },
      { 'if-none-match': '"'.repeat(4_000) },
      { 'x-epages-cart-token': 'x'.repeat(4_000) },
      { 'user-agent': '' },
      { 'accept-language': '\u00ff\u00fe' },
      { 'x-http-method-override': 'DELETE' },
      { range: 'bytes=0-1' },
    ] as Record<string, string>[]) {
      const call = await validCall(operation, shop);
      const { status } = await service.call(operation.method, call.path + call.search, {
        ...call.options,
        headers: { ...call.options.headers, ...odd },
      });
      expect({ odd, status }).toEqual({ odd, status: operation.status });
    }
  });
});

describe.each(OPERATIONS.filter(({ query }) => query.includes('page')))('the page of $name', (operation) => {
  const refused = async (search: string) => textOf(operation, await send(operation, {}, `?${search}`), 400);

  test('odd values are refused', async () => {
    for (const name of ['page', 'resultsPerPage']) {
      for (const value of [
        '0',
        '-1',
        '1.5',
        'x',
        '',
        '%20',
        'NaN',
        '-Infinity',
        '1,5',
        'null',
        'true',
        '1;',
        '%27',
      ]) {
        expect(await refused(`${name}=${value}`)).toMatch(
          new RegExp(` failed:\\n\\tvalidation error (WRONG_TYPE|OUT_OF_RANGE) on field ${name}$`),
        );
      }
      expect(await refused(`${name}=1&${name}=2`)).toContain(`WRONG_TYPE on field ${name}`);
    }
    for (const value of ['1e999', 'Infinity', '2147483648', '99999999999999999999999']) {
      expect(await refused(`page=${value}`)).toContain('OUT_OF_RANGE on field page');
    }
  });

  test('large ones are taken as the largest', async () => {
    const { largestPage } = operation;
    for (const value of [String(largestPage + 1), '100000', '99999999999999999999999']) {
      const { answer } = await send(operation, {}, `?resultsPerPage=${value}`);
      expect([answer.status, answer.body.resultsPerPage]).toEqual([200, largestPage]);
    }
    const { answer } = await send(operation, {}, '?page=2147483647&resultsPerPage=100');
    expect(answer.body).toMatchObject({ page: 2_147_483_647, resultsPerPage: 100, items: [] });
    expect(answer.body.results).toBeGreaterThan(0);
  });
});

describe.each(OPERATIONS.filter(({ query }) => query.includes('locale')))(
  'the locale of $name',
  (operation) => {
    const inLocale = (value: string) => (valid: string) =>
      `?${[`locale=${value}`, ...valid.slice(1).split('&')].filter((part, at) => at === 0 || !/^(locale=|$)/.test(part)).join('&')}`;

    test('odd values are refused', async () => {
      await changesNothing(operation, async (send) => {
        for (const value of LOCALES) {
          const text = textOf(operation, await send({}, inLocale(value)), 400);
          expect(text).toBe('expected full locale for example en_US');
        }
        const twice = textOf(operation, await send({}, inLocale('en_GB&locale=de_DE')), 400);
        expect(twice).toMatch(/ failed:\n\tvalidation error WRONG_TYPE on field locale$/);
      });
    });

    test('one that the shop lacks is its default for reading, and refused for writing', async () => {
      const { answer } = await send(operation, {}, inLocale('xx_XX'));
      expect(answer.status).toBe(operation.writes ? 400 : 200);
    });
  },
);

test.each(['yes', '2', '', 'TRUE', '%27', 'true&myScriptTagsOnly=false'])('no boolean: %s', async (value) => {
  const operation = OPERATIONS.find(({ query }) => query.includes('myScriptTagsOnly'))!;
  const text = textOf(operation, await send(operation, {}, `?myScriptTagsOnly=${value}`), 400);
  expect(text).toMatch(/ failed:\n\tvalidation error WRONG_TYPE on field myScriptTagsOnly$/);
});

test.each(OPERATIONS.filter(({ writes, secret }) => writes && !secret))(
  '$name: an odd Idempotency-Key is refused',
  async (operation) => {
    const { options } = await validCall(operation, shop);
    await changesNothing(operation, async (send) => {
      for (const key of ['', ' ', 'a b', 'x'.repeat(256), '\u00e4']) {
        const headers = {
          ...options.headers,
          'idempotency-key': key,
          ...(operation.body && !operation.multipart && !operation.form && JSON_TYPE),
        };
        const text = textOf(operation, await send({ headers }), 400);
        expect(text).toBe('Idempotency-Key must be 1 to 255 visible ASCII characters');
      }
    });
  },
);

test(
  'whatever comes, the answer is no 5xx, and a refusal has the body of the contract',
  { timeout: 60_000 },
  async () => {
    const segments = [...new Set(OPERATIONS.flatMap(({ path }) => path.split('/')))].filter(
      (segment) => segment !== '' && !segment.startsWith('{'),
    );
    const id = await OPERATIONS.find(({ params }) => params['customerId'])!.params['customerId']!(shop);
    const segment = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...segments, 'DemoShop', 'EmptyShop', id, id.toLowerCase()) },
      fc.webSegment({ size: 'small' }),
      fc.constantFrom('%', '%00', '%ff', '%2f', ';x=1', ':', '~', '%0d%0a', '%5c'),
    );
    const path = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom(...OPERATIONS.map((one) => one.path.replaceAll(/\{\w+\}/g, id))),
      },
      fc.array(segment, { maxLength: 5 }).map((parts) => parts.map((part) => `/${part}`).join('')),
    );
    const query = fc.oneof(
      fc.constant(''),
      fc.webQueryParameters({ size: 'small' }),
      fc
        .array(fc.tuple(fc.constantFrom('page', 'resultsPerPage', 'locale', 'x'), fc.webQueryParameters()))
        .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&')),
    );
    const keys = [...new Set(OPERATIONS.flatMap(({ request }) => request.match(/\w+(?=\??:)/g) ?? []))];
    const json = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string({ unit: 'binary', maxLength: 10 }),
        fc.double(),
        fc.constantFrom(
          null,
          true,
          0,
          '',
          'add',
          'remove',
          '/billingAddress',
          '/internalNote',
          '/customerNumber',
        ),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string({ maxLength: 5 })), tie('value'), {
          maxKeys: 5,
        }),
      ),
    })).value;
    const body = fc.oneof(
      fc.constant(undefined),
      json.map((value) => JSON.stringify(value)),
      fc.string({ maxLength: 50 }),
      fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
    );
    const type = fc.oneof(
      { weight: 5, arbitrary: fc.constant('application/json') },
      fc.constantFrom('application/json-patch+json', 'application/x-www-form-urlencoded', 'text/xml', ''),
    );
    const token = fc.constantFrom('demo-all', 'demo-all', 'demo-all', 'demo-none', 'x', undefined);
    const shopId = fc.oneof(
      { weight: 5, arbitrary: fc.constant('DemoShop') },
      fc.constant('EmptyShop'),
      segment,
    );

    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
        shopId,
        path,
        query,
        body,
        type,
        token,
        async (method, shopId, path, query, body, type, token) => {
          const response = await service.app.inject({
            method: method as 'GET',
            url: `/rs/shops/${shopId}${path}${query === '' ? '' : `?${query}`}`,
            headers: {
              ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
              ...(body === undefined ? {} : { 'content-type': type }),
            },
            ...(body === undefined ? {} : { payload: body }),
          });
          const { statusCode, headers } = response;
          expect(statusCode).toBeLessThan(500);
          if (method === 'HEAD' || method === 'OPTIONS' || statusCode === 204) return;
          expect(headers['content-type']).toBe('application/json');
          const answer: unknown = response.json();
          if (statusCode < 400) return;
          expect(answer).toEqual({ message: expect.any(String), status: expect.any(String) });
          expect((answer as { message: string }).message).toContain(`, Request: ${method} /rs/shops/`);
        },
      ),
      { numRuns: 600, seed: 20261115, interruptAfterTimeLimit: 10_000 },
    );
  },
);

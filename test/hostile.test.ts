import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoShop, expectRefusal, fingerprint, startDemo } from './demo.ts';
import { newId } from '../src/kernel/ids.ts';
import { TOOLS } from '../src/mcp/tools.ts';
import { givenTools, outcomeOf, sent, SHOP_CALLS, shopRequest, toolRequest } from './assistant-requests.ts';
import { startFakeAssistant, type FakeAssistant } from './fake-assistant.ts';
import type { FuzzRequest } from './fuzz/damage.ts';
import {
  OPERATIONS,
  shapeLines,
  shapeProblems,
  typesOf,
  validCall,
  type Operation,
  type Shop,
  type ValidCall,
} from './operations.ts';
import { aQuarter, halfOf, isOfToday, ofTheDay, oneInTurn, SEED, someInTurn } from './seed.ts';
import { urlOf, type Answer, type CallOptions, type Service } from './service.ts';

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
  service = await startDemo({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0', WEBHOOK_ALLOW: '127.0.0.0/8' });
  shop = demoShop(service);
});

afterAll(() => service.close());

function named(name: string): Operation {
  return OPERATIONS.find((operation) => operation.name === name)!;
}

const words = (text: string) => text.trim().split(/\s+/);

/** Each with its place, by which it takes turns. */
const indexed = (operations: readonly Operation[]) =>
  operations.map((operation, index) => ({ ...operation, index }));

const withBody = OPERATIONS.filter(({ body, multipart }) => body !== undefined && !multipart);
const withoutBody = OPERATIONS.filter(({ body }) => body === undefined);

/** A query instead of the valid one, or made from it. */
type Search = string | ((valid: string) => string);
type Send = (changed?: CallOptions, search?: Search) => Promise<{ answer: Answer; path: string }>;

const repeatable = new Map<string, Promise<ValidCall>>();

/** A valid call for whatever changes nothing: what it names is made once for all tests of the operation. */
function repeatableCall(operation: Operation): Promise<ValidCall> {
  let call = repeatable.get(operation.name);
  if (!call) repeatable.set(operation.name, (call = validCall(operation, shop)));
  return call;
}

/** A valid call that will be taken: only one that writes needs things of its own. */
function acceptedCall(operation: Operation): Promise<ValidCall> {
  return operation.writes ? validCall(operation, shop) : repeatableCall(operation);
}

/** Sends a valid call with another body, other headers, another query. */
function sender(operation: Operation, call: ValidCall): Send {
  return async (changed = {}, search = call.search) => ({
    answer: await service.call(
      operation.method,
      call.path + (typeof search === 'string' ? search : search(call.search)),
      { ...call.options, ...changed },
    ),
    path: urlOf(call.path),
  });
}

/** A valid call, changed. */
async function send(operation: Operation, changed?: CallOptions, search?: Search) {
  return sender(operation, await acceptedCall(operation))(changed, search);
}

/** Refused with this status, by an answer in the contract's form; its text without the request. */
function textOf(operation: Operation, { answer, path }: { answer: Answer; path: string }, status: number) {
  expectRefusal(answer, operation.method, path);
  // Compared plainly first: asking the test runner is slow.
  if (answer.status !== status) expect(answer).toMatchObject({ status });
  return (answer.body.message as string).replace(`, Request: ${operation.method} ${path}`, '');
}

/** Runs `work` with a call that is ready; then the database must be what it was. */
async function changesNothing(operation: Operation, work: (send: Send) => Promise<void>) {
  const send = sender(operation, await repeatableCall(operation));
  const before = await fingerprint(service);
  await work(send);
  expect(await fingerprint(service)).toEqual(before);
}

/** The body of a valid call as JSON text, also where a form is usual. */
async function validText({ body }: Operation): Promise<string> {
  return JSON.stringify(await body!(shop));
}

/** Every key is optional, but not all of them at once. */
const NEEDS_ANY = ['POST /products', 'PUT /manage/orders/{orderId}/line-items/{lineItemId}'];

/** What is below an optional key may be needed there. */
const isEmptyFine = ({ name, request }: Operation) =>
  !request.startsWith('[]') &&
  !NEEDS_ANY.includes(name) &&
  shapeLines(request).every(({ path, optional }) => optional || /[.[]/.test(path));

/** An empty list takes all products away. */
const takesNothing = ({ name }: Operation) => name === 'PUT /products/{productId}/crossselling';

/** What both kinds of tests of bodies use. */
function bodiesOf(operation: Operation) {
  /** Sends what must be refused, and gives the text of the refusal; nothing may change. */
  const refusing = (
    work: (
      refused: (body: string | Buffer | undefined, headers?: Record<string, string>) => Promise<string>,
    ) => Promise<void>,
  ) =>
    changesNothing(operation, (send) =>
      work(async (body, headers = JSON_TYPE) => textOf(operation, await send({ body, headers }), 400)),
    );

  let repeatableText: Promise<string> | undefined;
  /** The text of a body that will be changed and refused, the same for all tests of the operation. */
  const refusedText = () => (repeatableText ??= validText(operation));
  return { refusing, refusedText };
}

/** Operations of the day for what the same few lines find out for all of them. */
const aSixth = (operations: readonly Operation[]) => ofTheDay(operations, Math.ceil(operations.length / 6));

// What a body is before anybody knows its operation.
describe.each(aSixth(withBody))('$name', (operation) => {
  const { refusing, refusedText } = bodiesOf(operation);

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
    await refusing(async (refused) => {
      for (const text of ['', 'null', '"text"', '123', 'true', '[]']) {
        if (text === '[]' && takesNothing(operation)) continue;
        expect(await refused(text)).toMatch(/ failed:\n\tvalidation error [A-Z_]+ on field body$/);
      }
      await refused(undefined, {});
    });
  });

  test('brackets without end', async () => {
    const deep = `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`;
    const valid = await refusedText();
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
    // Where bad entries are left out, this is one more of them.
    if (operation.lenient === '[]') return;
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
    const valid = await refusedText();
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
    const types = [
      'application/json',
      'application/json; charset=utf-8',
      'APPLICATION/JSON',
      'application/vnd.epages.v1+json',
      'application/json-patch+json',
    ];
    // That it reads the body, and finds it broken, shows that it takes the type.
    await refusing(async (refused) => {
      for (const type of types) {
        expect(await refused('{', { 'content-type': type })).toMatch(/^The body is not valid JSON: /);
      }
    });
    const body = await validText(operation);
    const headers = { 'content-type': 'application/vnd.epages.v1+json' };
    const { answer } = await send(operation, { body, headers });
    expect(answer).toMatchObject({ status: operation.status });
  });

  test('bytes that are not UTF-8', async () => {
    const valid = Buffer.from(await refusedText());
    const quote = valid.lastIndexOf('"');
    await refusing(async (refused) => {
      for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe4]]) {
        const broken = Buffer.concat([valid.subarray(0, quote), Buffer.from(bytes), valid.subarray(quote)]);
        expect(await refused(broken)).toBe('The body is not UTF-8');
      }
      expect(await refused(Buffer.from([0xff, 0xfe, 0x7b, 0x00]))).toBe('The body is not UTF-8');
    });
  });
});

describe.each(indexed(withBody))('$name', (operation) => {
  const { refusing, refusedText } = bodiesOf(operation);
  // What reads texts and numbers is the same for all operations; a body without any key lacks each required one.
  const isTodays = isOfToday(operation.index, 3);

  test.runIf(isTodays)('an empty object', async () => {
    const isFine = isEmptyFine(operation);
    const call = await (isFine ? acceptedCall(operation) : repeatableCall(operation));
    const sent = await sender(operation, call)({ body: '{}', headers: JSON_TYPE });
    if (isFine) expect(sent.answer.status).toBe(operation.status);
    else expect(textOf(operation, sent, 400)).toMatch(/validation error/);
  });

  test.runIf(isTodays)('text that no column can hold', async () => {
    const valid = await refusedText();
    // The closing quotes of texts, keys and values; one scan of the whole body finds what stands before them.
    const quotes = someInTurn(
      [...valid.matchAll(/(?<=[^:,[{])"/g)].map(({ index }) => index),
      0,
      4,
    );
    const escapes = ['\\u0000', '\\ud800', '\\udc00', '\\udc00\\ud800'];
    await refusing(async (refused) => {
      for (const [index, at] of quotes.entries()) {
        // All of them in the first text, one of them in each of the others.
        for (const escape of index === 0 ? escapes : [escapes[index % escapes.length]!]) {
          const text = await refused(valid.slice(0, at) + escape + valid.slice(at));
          expect(text).toBe('The body holds text that is not valid Unicode');
        }
      }
    });
  });

  /** Members of a body that its example can not have beside the others. */
  const alternatives: Record<string, object> = {
    'PATCH /manage/products/{productId}': {
      parts: [{ productId: '018C16DF-9280-7011-A1E6-35C0FF99683F', quantity: 1 }],
    },
  };

  /** The keys of the body, each with a body that is valid but for this one, and its name in a message. */
  const keys = async () => {
    const example = JSON.parse(await refusedText()) as unknown;
    const alternative = alternatives[operation.name];
    const valid = alternative ? { ...(example as object), ...alternative } : example;
    const strict = shapeLines(operation.request).filter(({ path }) => !isLenient(operation, path));
    const ofBody = strict.map((line) => ({
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
      for (const [index, { types, body, field }] of all.entries()) {
        const wrong = VALUES.filter((value) => !typesOf(value).some((type) => types.includes(type)));
        for (const value of someInTurn(wrong, index, 1)) {
          const text = await refused(JSON.stringify(body(value)));
          const [, named] = / failed:\n\tvalidation error [A-Z_]+ on field ([^\n]+)$/.exec(text) ?? [];
          // Compared plainly first, as above.
          if (named !== field) expect({ text, named }).toEqual({ text, named: field });
        }
      }
    });
    expect(all.length > 0).toBe(operation.lenient !== '[]');
  });

  test('a required key that is missing', async () => {
    // An address says of what is not there that it is empty.
    const isAddress = (field: string) =>
      operation.path.endsWith('-address') ||
      (operation.path === '/carts' && field.startsWith('billingAddress.'));
    // The entries of a list have no keys that could be missing.
    const required = (await keys()).filter(({ optional, path }) => !optional && !path.endsWith('[]'));
    await refusing(async (refused) => {
      for (const { body, field } of required) {
        const text = await refused(JSON.stringify(body(undefined)));
        const code = isAddress(field) ? 'STRING_EMPTY' : 'MISSING';
        expect(text).toContain(`\n\tvalidation error ${code} on field ${field}`);
      }
    });
  });

  test.runIf(isTodays)('numbers that JSON has, but no column', async () => {
    // The value of a JSON Patch is named by the path that it changes.
    const numeric = (await keys()).filter(
      ({ types, path }) => types.includes('number') && !path.endsWith('[].value'),
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

/** Below a list whose bad entries are left out. */
function isLenient({ lenient }: Operation, path: string): boolean {
  return lenient !== '' && path.startsWith(`${lenient}.`);
}

/** One value of each type. */
const VALUES = ['text', 7, 1.5, true, null, [], {}, ['text'], { key: 'text' }];

/** A copy with the value at the path replaced, in the first entry of a list; undefined leaves the key out. */
function replaced(body: unknown, path: string, value: unknown): unknown {
  const copy = structuredClone(body);
  const steps = path.replaceAll('[]', '.0').split('.').filter(Boolean);
  const last = steps.pop()!;
  let place = copy as Record<string, unknown>;
  // What the body leaves out is there for its key: a list, or an object.
  for (const [at, step] of steps.entries()) {
    const next = steps[at + 1] ?? last;
    place = (place[step] ??= next === '0' ? [] : {}) as Record<string, unknown>;
  }
  place[last] = value;
  return copy;
}

describe.each(OPERATIONS.filter(({ lenient }) => lenient !== ''))('$name', (operation) => {
  /** Bodies of two entries, of which the first is bad; what is wrong with it has a name. */
  const halfBad = async () => {
    const valid = JSON.parse(await validText(operation)) as unknown;
    const text = (path: string, value: unknown) => JSON.stringify(replaced(valid, path, value));
    const keys = shapeLines(operation.request).filter(({ path }) => isLenient(operation, path));
    return [
      ...VALUES.map((value) => ({ field: operation.lenient, text: text(operation.lenient, value) })),
      ...keys.flatMap(({ path, types, optional }) =>
        [
          ...(optional ? [] : [undefined]),
          ...VALUES.filter((value) => !typesOf(value).some((type) => types.includes(type))),
        ].map((value) => ({ field: path, text: text(path, value) })),
      ),
      ...['1e999', '-1e999', '0', '-1', '1e-7', '"x"'].map((number) => {
        const field = `${operation.lenient}.quantity`;
        return { field, text: text(field, '@').replace('"@"', number) };
      }),
    ].map((bad) => ({ ...bad, field: bad.field.replaceAll('[]', '.0') }));
  };

  test('a bad entry is left out, and the good one taken', async () => {
    for (const { text } of aQuarter(await halfBad())) {
      const { answer } = await send(operation, { body: text, headers: JSON_TYPE });
      const { status, lineItemContainer } = answer.body;
      expect({ text, code: answer.status, status }).toEqual({
        text,
        code: operation.status,
        status: 'PartiallyComplete',
      });
      const sent = JSON.parse(text);
      const { productId } = (operation.lenient === '[]' ? sent : sent.lineItems)[1];
      expect(lineItemContainer.productLineItems.at(-1).productId).toBe(productId);
    }
  });

  test.runIf(operation.name === 'POST /carts')('unless only all of them will do', async () => {
    await changesNothing(operation, async (send) => {
      for (const [index, { field, text }] of (await halfBad()).entries()) {
        const others = ['"forceCreate":false', '"forceCreate":null', '"unknown":true'];
        for (const other of oneInTurn(others, index)) {
          const body = text.replace('"forceCreate":true', other);
          const refusal = textOf(operation, await send({ body, headers: JSON_TYPE }), 400);
          expect(refusal).toMatch(/^Create cart failed:\n\tvalidation error [A-Z_]+ on field [^\n]+$/);
          expect(refusal.split(' on field ')[1]).toContain(field);
        }
      }
    });
  });
});

describe.each(aSixth(withoutBody))('$name', (operation) => {
  test.each([
    ['', 'application/json'],
    ['{}', 'application/json; charset=utf-8'],
    ['[]', 'application/json'],
  ])('a useless body %j does no harm', async (body, type) => {
    const { answer } = await send(operation, { body, headers: { 'content-type': type } });
    expect(answer).toMatchObject({ status: operation.status });
  });

  test('nor does one that is no JSON', async () => {
    for (const body of ['{', '\ufeff', '__proto__', '['.repeat(DEEP)]) {
      const { answer } = await send(operation, { body, headers: JSON_TYPE });
      expect(answer).toMatchObject({ status: operation.status });
    }
  });
});

/** The contract takes lists of these. */
const REPEATABLE = ['id', 'categoryId', 'productId'];

const UNKNOWN_PARAMETERS = [
  'unknown=1',
  'a=1&a=2&a=3',
  '__proto__=1&constructor=2&toString=3&__proto__[x]=1',
  '&&&=&=x&%20=%20',
  'x[]=1&x[y]=2&x.y=3',
  `long=${'x'.repeat(8_000)}`,
  '%F0%9F%98%80=%E2%82%AC',
  Array.from({ length: 1_500 }, (_, index) => `p${index}`).join('&'),
];

/**
 * What a call that is taken must not mind: one by one where it reads, all in one call where it writes, because each such
 * call needs things of its own, and making them takes much longer than the call.
 */
function together<Oddity>(
  { writes }: Operation,
  oddities: readonly Oddity[],
  merged: (all: readonly Oddity[]) => Oddity,
): readonly Oddity[] {
  return writes ? [merged(oddities)] : oddities;
}

const join = (more: string) => (valid: string) => (valid === '' ? `?${more}` : `${valid}&${more}`);

test.each(OPERATIONS.filter(({ query }) => query.length > 0))(
  '$name: a parameter that comes twice is refused, unless it is a list',
  async (operation) => {
    const refused = sender(operation, await repeatableCall(operation));
    for (const name of operation.query.filter((one) => !REPEATABLE.includes(one))) {
      const repeated = await refused({}, join(`${name}=1&${name}=2`));
      expect(textOf(operation, repeated, 400)).toMatch(
        new RegExp(` failed:\\n\\tvalidation error (WRONG_TYPE|UNKNOWN_VALUE) on field ${name}$`),
      );
    }
  },
);

describe.each(aSixth(OPERATIONS))('$name', (operation) => {
  test('unknown parameters are ignored, also odd ones', async () => {
    for (const search of together(operation, UNKNOWN_PARAMETERS, (all) => all.join('&'))) {
      const { answer } = await send(operation, {}, join(search));
      expect(answer).toMatchObject({ status: operation.status });
    }
    const { answer } = await send(operation, {}, join('bad=%ff%'));
    expect(answer).toMatchObject({ status: operation.status });
  });

  test('those of other operations are as unknown, also when they come twice', async () => {
    const others = [...new Set(OPERATIONS.flatMap(({ query }) => query))].filter(
      (name) => !operation.query.includes(name),
    );
    const twice = others.map((name) => `${name}=GBP&${name}=x`).join('&');
    const { answer } = await send(operation, {}, join(twice));
    expect(answer).toMatchObject({ status: operation.status });
  });

  test('NUL in the address is refused', async () => {
    await changesNothing(operation, async (send) => {
      expect(textOf(operation, await send({}, join('unknown=%00')), 400)).toBe(
        'The address holds a NUL character',
      );
    });
  });

  test('odd headers do no harm', async () => {
    const oddities: Record<string, string>[] = [
      { accept: `${operation.csv ? 'text/csv' : 'application/json'}${',x'.repeat(2_000)}` },
      { 'if-none-match': '"'.repeat(4_000) },
      { 'user-agent': '' },
      { 'accept-language': '\u00ff\u00fe' },
      { 'x-http-method-override': 'DELETE' },
      { range: 'bytes=0-1' },
    ];
    const cartToken = { 'x-epages-cart-token': 'x'.repeat(10_000) };
    for (const odd of [...together(operation, oddities, (all) => Object.assign({}, ...all)), cartToken]) {
      const call = await acceptedCall(operation);
      const { status } = await service.call(operation.method, call.path + call.search, {
        ...call.options,
        headers: { ...call.options.headers, ...odd },
      });
      // Where it opens a cart, a wrong one is told so.
      const isWrong = operation.cartToken && odd === cartToken;
      expect({ odd, status }).toEqual({ odd, status: isWrong ? 403 : operation.status });
    }
  });
});

// Webhooks have a paging of their own.
describe.each(indexed(OPERATIONS.filter(({ query }) => query.includes('resultsPerPage'))))(
  'the page of $name',
  (operation) => {
    const isTodays = isOfToday(operation.index, 4);
    const searched = (search: string) => (valid: string) => `${valid || '?'}&${search}`;
    const refused = async (search: string) =>
      textOf(operation, await send(operation, {}, searched(search)), 400);

    test('odd values are refused', async () => {
      for (const name of ['page', 'resultsPerPage']) {
        const odd = [
          '0',
          '-1',
          '1.5',
          'x',
          '',
          '%20',
          'NaN',
          'Infinity',
          '+Infinity',
          '%20Infinity',
          '-Infinity',
          '1,5',
          'null',
          'true',
          '1;',
          '%27',
        ];
        for (const value of someInTurn(odd, operation.index, 3)) {
          expect(await refused(`${name}=${value}`)).toMatch(
            new RegExp(` failed:\\n\\tvalidation error (WRONG_TYPE|OUT_OF_RANGE) on field ${name}$`),
          );
        }
        expect(await refused(`${name}=1&${name}=2`)).toContain(`WRONG_TYPE on field ${name}`);
      }
    });

    test.runIf(isTodays)('large ones are taken as the largest', async () => {
      const { largestPage } = operation;
      const tooLarge = [String(largestPage + 1), '100000', '99999999999999999999999'];
      for (const value of oneInTurn(tooLarge, operation.index)) {
        const { answer } = await send(operation, {}, searched(`resultsPerPage=${value}`));
        expect([answer.status, answer.body.resultsPerPage]).toEqual([200, largestPage]);
      }
      const { results } = (await send(operation, {}, searched(''))).answer.body;
      expect(results).toBeGreaterThan(0);
      const largest = Number.MAX_SAFE_INTEGER;
      const pages: [string, number][] = [
        ['2147483647', 2_147_483_647],
        ['2147483648', 2_147_483_648],
        ['4611686018427387904', largest],
        ['9223372036854775808', largest],
        ['99999999999999999999999', largest],
        ['9'.repeat(400), largest],
        ['1e999', largest],
      ];
      for (const [value, page] of someInTurn(pages, operation.index, 2)) {
        const { answer } = await send(operation, {}, searched(`page=${value}&resultsPerPage=100`));
        expect(answer).toMatchObject({
          status: 200,
          body: { results, page, resultsPerPage: 100, items: [] },
        });
      }
    });
  },
);

describe.each(indexed(OPERATIONS.filter(({ query }) => query.includes('locale'))))(
  'the locale of $name',
  (operation) => {
    // Where it is that of the custom fields alone, it says nothing without them.
    const withFields = operation.query.includes('includeFields') ? ['includeFields=true'] : [];
    const inLocale = (value: string) => (valid: string) =>
      `?${[`locale=${value}`, ...withFields, ...valid.slice(1).split('&')].filter((part, at) => at === 0 || !/^(locale=|$)/.test(part)).join('&')}`;

    test('odd values are refused', async () => {
      await changesNothing(operation, async (send) => {
        for (const value of someInTurn(LOCALES, operation.index, 2)) {
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

describe.each(['myScriptTagsOnly', 'hasAddressData'])('%s', (name) => {
  test.each(['yes', '2', '', 'TRUE', '%27', `true&${name}=false`])('no boolean: %s', async (value) => {
    const operation = OPERATIONS.find(({ query }) => query.includes(name))!;
    const text = textOf(operation, await send(operation, {}, `?${name}=${value}`), 400);
    expect(text).toMatch(new RegExp(` failed:\\n\\tvalidation error WRONG_TYPE on field ${name}$`));
  });
});

describe.each(['createdAfter', 'createdBefore'])('%s', (name) => {
  const operation = named('GET /carts');

  test.each(
    words(`x 0 -1 2026-13-01 2026-02-30 0000-00-00 99999-01-01 1e5 2026-11-15T25:00:00Z %27 null
      +275760-09-13T00:00:00Z 2026-11-15&${name}=2026-11-16`).concat('', '%20', '2'.repeat(10_000)),
  )('no moment: %s', async (value) => {
    const text = textOf(operation, await send(operation, {}, `?${name}=${value}`), 400);
    expect(text).toMatch(new RegExp(` failed:\\n\\tvalidation error WRONG_(TYPE|FORMAT) on field ${name}$`));
  });

  test.each(['1000-01-01', '9999-12-31T23:59:59Z'])('far away: %s', async (value) => {
    const { answer } = await send(operation, {}, `?${name}=${value}`);
    expect(answer).toMatchObject({ status: 200 });
  });
});

describe('what goes into carts', () => {
  const newCart = named('POST /carts');
  const newLine = 'POST /carts/{cartId}/line-items';
  const line = 'PUT /carts/{cartId}/line-items/{lineItemId}';
  const linePrice = 'PUT /carts/{cartId}/line-items/{lineItemId}/product-price';
  const payment = 'PUT /carts/{cartId}/payment-data';
  const shipping = 'PUT /carts/{cartId}/shipping-data';

  /** A body that is valid but for this key. */
  const bodyWith = async (operation: Operation, key: string, value: unknown) =>
    JSON.stringify(replaced(JSON.parse(await validText(operation)), key, value));

  const NO_NUMBERS = [...words('1e5 0x10 2,5 2. .5 +2 --2 NaN 1_000 ２'), '', ' ', '9'.repeat(400)];
  const TOO_LARGE = [1e308, -1e308, 1e15, -1e15, 1e12, '999999999999', Number.MAX_SAFE_INTEGER];
  const NOT_POSITIVE = [-1, -0.01, '-1'];
  const TOO_SMALL = [-0.000_000_1, 0.000_000_1, '0.0000001'];

  test.each([
    [newLine, 'quantity', [...NOT_POSITIVE, ...TOO_SMALL, 0, '0', null, 1_000_001]],
    [line, 'quantity', [...NOT_POSITIVE, ...TOO_SMALL, null, 1_000_001]],
    [linePrice, 'singleItemPrice', [...NOT_POSITIVE, null]],
    [payment, 'priceAmount', []],
    [shipping, 'priceAmount', NOT_POSITIVE],
  ] as const)('numbers that %s refuses for %s', async (name, key, others) => {
    const operation = named(name);
    const values = [...NO_NUMBERS, ...TOO_LARGE, true, [], [2], {}, ...others];
    const bodies = await Promise.all(values.map((value) => bodyWith(operation, key, value)));
    await changesNothing(operation, async (send) => {
      for (const body of bodies) {
        const text = textOf(operation, await send({ body, headers: JSON_TYPE }), 400);
        expect({ body, text }).toEqual({
          body,
          text: expect.stringMatching(
            new RegExp(`^Update cart failed:\\n\\tvalidation error \\w+ on field ${key}$`),
          ),
        });
      }
    });
  });

  test.each([
    [newLine, 'quantity', [' 2 ', '2.50', 0.000_001, 1_000_000]],
    [line, 'quantity', [' 2 ', '2.50', 0.000_001, 1_000_000, 0, '0']],
    [linePrice, 'singleItemPrice', [' 2 ', '12.345', 0, 0.000_000_1]],
    [payment, 'priceAmount', [' 2 ', '12.345', 0, 0.000_000_1, -1, '-1', -99_999_999_999, null]],
    [shipping, 'priceAmount', [' 2 ', '12.345', 0, 0.000_000_1, 9_999_999_999, null]],
  ] as const)('numbers that %s takes for %s', async (name, key, values) => {
    const operation = named(name);
    for (const value of values) {
      const { answer } = await send(operation, {
        body: await bodyWith(operation, key, value),
        headers: JSON_TYPE,
      });
      expect({ value, status: answer.status }).toEqual({ value, status: operation.status });
      const problems = shapeProblems(answer.body, operation.answer);
      expect(problems.filter((problem) => !problem.endsWith('never occurs'))).toEqual([]);
    }
  });

  test('more than can be counted', async () => {
    const { path, options } = await validCall(named(line), shop);
    const put = (place: string, body: unknown) => service.call('PUT', place, { ...options, body });
    const price = (singleItemPrice: number) => put(`${path}/product-price`, { singleItemPrice });
    const tooMuch = 'The cart would be worth more than can be ordered at once';
    expect((await price(90_000_000_000)).status).toBe(200);
    const before = await fingerprint(service);
    for (const quantity of [2, 1_000_000]) {
      const answer = await put(path, { quantity });
      expect(textOf(named(line), { answer, path: urlOf(path) }, 400)).toBe(tooMuch);
    }
    expect(await price(99_999_999_999)).toMatchObject({ status: 400 });
    expect(await fingerprint(service)).toEqual(before);
  });

  const NO_IDS = [
    ...words(`x 0 ' % __proto__ null {} 00000000-0000-0000-0000-00000000000G`),
    ' ',
    'A'.repeat(10_000),
  ];

  test.each([
    [newLine, 'productId', 404, /^HTTP 404 Not Found$/],
    [payment, 'id', 400, /UNKNOWN_VALUE on field id$/],
    [shipping, 'id', 400, /UNKNOWN_VALUE on field id$/],
    ['POST /carts', 'customerId', 400, /UNKNOWN_VALUE on field customerId$/],
  ] as const)('what is no id for %s: %s', async (name, key, status, refusal) => {
    const operation = named(name);
    const ids = [...NO_IDS, newId(new Date())];
    const bodies = await Promise.all(ids.map((id) => bodyWith(operation, key, id)));
    await changesNothing(operation, async (send) => {
      for (const body of bodies) {
        expect(textOf(operation, await send({ body, headers: JSON_TYPE }), status)).toMatch(refusal);
      }
    });
  });

  test('more entries than a cart has lines', async () => {
    const entries = (count: number) => Array.from({ length: count }, () => ({ productId: 'x', quantity: 1 }));
    const many = named('POST /carts/{cartId}/multi-line-items');
    await changesNothing(many, async (send) => {
      const text = textOf(many, await send({ body: JSON.stringify(entries(501)), headers: JSON_TYPE }), 400);
      expect(text).toMatch(/TOO_LONG on field body$/);
    });
    const most = await send(many, { body: JSON.stringify(entries(500)), headers: JSON_TYPE });
    expect([most.answer.status, most.answer.body.status]).toEqual([201, 'PartiallyComplete']);
    await changesNothing(newCart, async (send) => {
      const body = JSON.stringify({ lineItems: entries(501), forceCreate: true });
      expect(textOf(newCart, await send({ body, headers: JSON_TYPE }), 400)).toMatch(
        /TOO_LONG on field lineItems$/,
      );
    });
  });

  test.each([
    ['currency', ['', 'EURO', 'eu', '__proto__', 'XXX', 'E'.repeat(10_000)], /^The shop has no currency /],
    ['taxType', ['', 'gross', 'TAX', '__proto__'], /UNKNOWN_VALUE on field taxType$/],
    ['locale', ['en', 'english', '__proto__', 'en-GB', 'e'.repeat(10_000)], /^expected full locale /],
  ])('what is no %s of a new cart', async (key, values, refusal) => {
    const bodies = await Promise.all(values.map((value) => bodyWith(newCart, key, value)));
    await changesNothing(newCart, async (send) => {
      for (const body of bodies) {
        expect(textOf(newCart, await send({ body, headers: JSON_TYPE }), 400)).toMatch(refusal);
      }
    });
  });

  test('codes that no coupon has', async () => {
    const coupon = named('POST /carts/{cartId}/coupon');
    const codes = [' ', "' or 1=1 --", 'ß'.repeat(100), '\u202e', '__proto__', 'x'.repeat(101), '%25'];
    const forms = [
      ...codes.map((code) => new URLSearchParams({ code }).toString()),
      ...words('code=%00 code=a%00b code=SUMMER20&code=AUTUMN15 code[]=x &&& code'),
    ];
    const sent = [
      ...codes.map((code) => ({ body: JSON.stringify({ code }), headers: JSON_TYPE })),
      ...forms.map((body) => ({ body, headers: FORM_TYPE })),
    ];
    await changesNothing(coupon, async (send) => {
      for (const one of sent) {
        expect(textOf(coupon, await send(one), 400)).toMatch(
          /^There is no coupon with this code$| on field code$|^The body holds text that is not valid Unicode$/,
        );
      }
    });
  });
});

test.each(aQuarter(OPERATIONS.filter(({ writes, secret }) => writes && !secret)))(
  '$name: an odd Idempotency-Key is refused',
  async (operation) => {
    const { options } = await repeatableCall(operation);
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
  `whatever comes, the answer is no 5xx, and a refusal has the body of the contract (seed ${SEED})`,
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
    const { params, options } = await validCall(named('PUT /carts/{cartId}/line-items/{lineItemId}'), shop);
    const path = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          ...OPERATIONS.map((one) =>
            one.path.replaceAll(/\{(\w+)\}/g, (_hole, name: string) => params[name] ?? id),
          ),
        ),
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
              'x-epages-cart-token': options.cartToken!,
              ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
              ...(body === undefined ? {} : { 'content-type': type }),
            },
            ...(body === undefined ? {} : { payload: body }),
          });
          const { statusCode, headers } = response;
          expect(statusCode).toBeLessThan(500);
          if (method === 'HEAD' || method === 'OPTIONS' || statusCode === 204) return;
          // GET /products/export answers with a table.
          if (statusCode === 200 && String(headers['content-type']).startsWith('text/csv')) return;
          expect(headers['content-type']).toBe('application/json');
          const answer: unknown = response.json();
          if (statusCode < 400) return;
          expect(answer).toEqual({ message: expect.any(String), status: expect.any(String) });
          expect((answer as { message: string }).message).toContain(`, Request: ${method} /rs/shops/`);
        },
      ),
      { numRuns: halfOf(600), seed: SEED, interruptAfterTimeLimit: 10_000 },
    );
  },
);

describe('requests of assistants', () => {
  let assistant: FakeAssistant;
  let token: string;

  beforeAll(async () => {
    assistant = await startFakeAssistant();
    token = await givenTools(shop);
  });
  afterAll(() => assistant.close());

  /** Values that no field should have, beside those of a wrong type. */
  const ODD_VALUES = [
    null,
    7,
    -1e308,
    '',
    '../../EmptyShop/orders',
    "' or 1=1 --",
    '\u0000',
    '\ud800',
    'x'.repeat(20_000),
    ' '.repeat(200_000),
    '00000000-0000-0000-0000-000000000000',
    [],
    {},
    [[[[]]]],
    Array.from({ length: 5_000 }, () => ({})),
  ];

  /** Bodies that are refused before anybody knows what they ask for. */
  const BROKEN: readonly (string | Buffer | undefined)[] = [
    undefined,
    '',
    'null',
    '[]',
    '{',
    '{"a":1}}',
    '\ufeff{}',
    '{"a":"\\ud800"}',
    Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    `{"a":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`,
    `{"a":"${'x'.repeat(300_000)}"}`,
  ];

  /** The answer is JSON, in the form of its protocol, and below 500. */
  const expectAnswer = (request: FuzzRequest, { status, headers, body }: Answer) => {
    const isRpc = request.path.endsWith('/mcp');
    const isForm = isRpc ? body?.jsonrpc === '2.0' : typeof (body?.ucp ?? body?.code) !== 'undefined';
    const isFine = status < 500 && headers['content-type'] === 'application/json' && isForm;
    if (!isFine) expect({ request, status, body }).toBe('a refusal');
  };

  /** The bodies with one value replaced by an odd one. */
  function* oddBodies(body: string, place: (parsed: never) => object, index: number): Generator<string> {
    const parsed = JSON.parse(body) as never;
    const holder = place(parsed) as Record<string, unknown>;
    for (const [at, key] of Object.keys(holder).entries()) {
      const valid = holder[key];
      for (const value of someInTurn(ODD_VALUES, index + at, 3)) {
        holder[key] = value;
        yield JSON.stringify(parsed);
      }
      holder[key] = valid;
    }
  }

  test.each(SHOP_CALLS.map((call, index) => ({ ...call, index })))('$name', async (call) => {
    const request = await shopRequest(call, shop, assistant.profile);
    const { body } = request;
    const isRpc = call.transport === 'mcp';
    const before = await fingerprint(service);
    if (isRpc || call.operation.argument !== undefined) {
      for (const broken of someInTurn(BROKEN, call.index, 3)) {
        const answer = await sent(service, { ...request, body: broken });
        expectAnswer(request, answer);
        // Who ends something, or asks for it, need not say more.
        if (answer.status < 400) expect(outcomeOf(answer)).not.toBe('found');
      }
      expect(await fingerprint(service)).toEqual(before);
    }
    const whole = (parsed: object) => parsed;
    const given = (parsed: { params: { arguments: object } }) => parsed.params.arguments;
    const texts = [
      ...(isRpc ? oddBodies(String(body), given, call.index) : []),
      ...(body === undefined ? [] : oddBodies(String(body), whole, call.index)),
    ];
    for (const text of texts) expectAnswer(request, await sent(service, { ...request, body: text }));
    for (const id of call.operation.path.includes(':id')
      ? ['%00', '%ff', 'x'.repeat(500), '%2e%2e', '{}']
      : []) {
      const path = request.path.replace(/(s)\/[^/]+/, `$1/${id}`);
      const { status } = await sent(service, { ...request, path });
      expect([id, status < 500]).toEqual([id, true]);
    }
  });

  test.each(ofTheDay(TOOLS, 12).map((tool, index) => ({ ...tool, tool, index })))(
    '$name',
    async ({ tool, index }) => {
      const request = await toolRequest(tool, shop, token);
      for (const broken of someInTurn(BROKEN, index, 2)) {
        const answer = await sent(service, { ...request, body: broken });
        expectAnswer(request, answer);
        expect(answer.status).toBeGreaterThanOrEqual(400);
      }
      const given = (parsed: { params: { arguments: object } }) => parsed.params.arguments;
      for (const text of oddBodies(String(request.body), given, index)) {
        expectAnswer(request, await sent(service, { ...request, body: text }));
      }
    },
  );
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OpenApiDocument, Parameter } from '../src/openapi/components.ts';
import { sql } from '../src/db/sql.ts';
import { readExamples } from '../src/openapi/examples.ts';
import { startDemo } from './demo.ts';
import type { Answer, CallOptions, Service } from './service.ts';
import { formOf, PNG } from './upload.ts';

/** The examples of the API reference are sent to the demo shop as they are documented. */

/** 1320 seconds before the hour is over, as the example of too many calls says. */
const NOW = new Date('2026-11-16T08:38:00Z');

const examplesFor = readExamples();

let service: Service;
let calls: Call[];

beforeAll(async () => {
  service = await startDemo({}, NOW, { hasImages: true });
  await service.db.run(sql`
    insert into missed_address (shop_id, day, address, referrer, hits)
    values ('DemoShop', ${NOW}, '/teapots/old-teapot.html', '', 3)`);
  // The example of a filter by a custom field. That of products is one of the examples.
  for (const resource of ['customer', 'order']) {
    const { status } = await service.call('POST', '/manage/shops/DemoShop/custom-fields', {
      token: 'demo-all',
      body: {
        resource,
        namespace: 'care',
        key: 'washing',
        type: 'choice',
        name: { en_GB: 'Care instructions' },
        readableBy: 'merchant',
        writableBy: 'owner',
        isFilter: true,
        choices: [{ key: 'cold', label: { en_GB: 'Cold wash' } }],
      },
    });
    if (status !== 201) throw new Error(`The custom field of ${resource} is answered with ${status}`);
  }
  calls = callsOf((await service.app.inject('/openapi.json')).json());
});
afterAll(() => service.close());

interface Call {
  name: string;
  method: string;
  path: string;
  parameters: Parameter[];
  body: unknown;
  bodyType: string | undefined;
  status: number;
  responses: OpenApiDocument['paths'][string][string]['responses'];
}

function callsOf(document: OpenApiDocument): Call[] {
  // The demo shop has no token of the host: src/host/host-api.test.ts.
  const paths = Object.entries(document.paths).filter(([path]) => !path.startsWith('/host/'));
  return paths.flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, parameters = [], requestBody, responses }]) => {
      const [bodyType, media] = Object.entries(requestBody?.content ?? {}).at(-1) ?? [];
      return {
        name: operationId,
        method: method.toUpperCase(),
        path,
        parameters: parameters.map((parameter) =>
          '$ref' in parameter
            ? document.components.parameters[parameter.$ref.split('/').at(-1)!]!
            : parameter,
        ),
        body: media?.example,
        bodyType,
        status: Number(Object.keys(responses).find((status) => status.startsWith('2'))),
        responses,
      };
    }),
  );
}

const exampleOf = ({ parameters }: Call, name: string) =>
  parameters.find((parameter) => parameter.name === name)?.example as string | undefined;

/** Only the answer of another example knows these ids. */
const answers = new Map<string, Answer>();
const ID_IN: Record<string, (answer: Answer) => string> = {
  webhookId: ({ body }) => body.webhookId,
  documentId: ({ body }) => body.documentId,
  noteId: ({ body }) => body.noteId,
  segmentId: ({ body }) => body.segmentId,
  pageId: ({ body }) => body.pageId,
  mailingId: ({ body }) => body.mailingId,
  redirectId: ({ body }) => body.redirectId,
  fieldId: ({ body }) => body.fieldId,
  ruleId: ({ body }) => body.ruleId,
  giftCardId: ({ body }) => body.giftCardId,
};

function urlOf(call: Call): string {
  const { from = {} } = examplesFor(call.name);
  return call.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const source = from[name];
    const id = source === undefined ? exampleOf(call, name) : ID_IN[name]!(answers.get(source)!);
    return encodeURIComponent(String(id));
  });
}

function optionsOf(call: Call, options: CallOptions = {}): CallOptions {
  const cartToken = exampleOf(call, 'X-ePages-Cart-Token');
  const name = call.path.includes('/downloads/') ? 'file' : 'image';
  const upload =
    call.bodyType === 'multipart/form-data'
      ? formOf({ name, filename: 'kettle.png', content: PNG })
      : undefined;
  return {
    token: 'demo-all',
    ...(cartToken !== undefined && { cartToken }),
    ...(call.body !== undefined && { body: call.body }),
    ...(upload && { body: upload.body, headers: upload.headers }),
    ...options,
  };
}

const requiredOf = ({ parameters }: Call) =>
  searchOf(parameters.filter((parameter) => parameter.in === 'query' && parameter.required));

/**
 * Operations that need the answer of another come after it. Those that take something away come last, so that the
 * others still find it.
 */
const LAST = ['createOrder', 'endOrderEditing'];
function rank({ name, method }: Call): number {
  const among = method === 'DELETE' ? 2 : examplesFor(name).from ? 1 : 0;
  return among + 3 * (LAST.indexOf(name) + 1);
}

/** What the query must have. */
function searchOf(parameters: readonly Parameter[]): string {
  const search = new URLSearchParams(
    Object.fromEntries(parameters.map(({ name, example }) => [name, String(example)])),
  );
  return search.size === 0 ? '' : `?${search.toString()}`;
}

function send(call: Call, options: CallOptions = {}, query = requiredOf(call)): Promise<Answer> {
  return service.call(call.method, urlOf(call).replace('/rs/shops', '') + query, optionsOf(call, options));
}

test('every refusal is answered word for word as its example says', async () => {
  const wrong: unknown[] = [];
  for (const call of calls) {
    for (const [status, response] of Object.entries(call.responses)) {
      if ('$ref' in response || status.startsWith('2')) continue;
      const expected = response.content!['application/json']!.example as { message: string };
      const path = /, Request: [A-Z]+ (\S+)$/.exec(expected.message)![1]!.replace('/rs/shops', '');
      const answer = await refused(call, status, path);
      if (answer.status !== Number(status) || answer.body.message !== expected.message) {
        wrong.push({ name: call.name, status, expected: expected.message, answer: answer.text });
      }
    }
  }
  expect(wrong).toEqual([]);
});

/** Provokes a refusal. */
async function refused(call: Call, status: string, path: string): Promise<Answer> {
  const options = optionsOf(call);
  const ask = (changed: CallOptions, query = requiredOf(call)) =>
    service.call(call.method, path + query, { ...options, ...changed });
  const withHeaders = (headers: Record<string, string>) => ({
    headers: { 'content-type': 'application/json', ...options.headers, ...headers },
  });
  switch (status) {
    case '400': {
      if (call.bodyType !== undefined) {
        return ask({ body: 'text', ...withHeaders({ 'content-type': 'text/plain' }) });
      }
      if (exampleOf(call, 'Idempotency-Key') !== undefined) {
        return ask(withHeaders({ 'idempotency-key': 'a key' }));
      }
      // Where it is that of the custom fields alone, it says nothing without them.
      const withFields = exampleOf(call, 'includeFields') === undefined ? '' : '&includeFields=true';
      return ask({}, `${requiredOf(call) || '?'}&locale=en${withFields}`);
    }
    case '401':
      return ask({ token: 'no-such-token' });
    case '403':
      return ask({ token: 'demo-none', cartToken: 'wrong' });
    case '409': {
      const key = `conflict-${call.name}`;
      await useKey(key, { ...call, path }, options.cartToken);
      return ask(withHeaders({ 'idempotency-key': key }));
    }
    case '410':
      return ask({ cartToken: 'demo-cart-d' });
    case '412':
      return ask(withHeaders({ 'if-match': '"another"' }));
    case '429':
      for (;;) {
        const answer = await ask({ token: 'demo-busy' });
        if (answer.status === 429) return answer;
      }
    default:
      return ask({});
  }
}

/** Sends another request with this key: of the same cart, or of the same token. */
async function useKey(key: string, { name, path }: Call, cartToken: string | undefined): Promise<void> {
  const others =
    cartToken === undefined
      ? ['createCustomer', 'updateCustomer']
      : ['updateBillingAddress', 'updateShippingAddress'];
  const other = calls.find((call) => call.name === others.find((one) => one !== name))!;
  const cartId = /\/carts\/([^/]+)/.exec(path)?.[1];
  const url = urlOf(other).replace('/rs/shops', '');
  const answer = await service.call(
    other.method,
    cartId === undefined ? url : url.replace(/(?<=\/carts\/)[^/]+/, cartId),
    optionsOf(other, {
      headers: { 'idempotency-key': key, 'content-type': 'application/json' },
      ...(cartToken !== undefined && { cartToken }),
    }),
  );
  expect(answer.status).toBe(other.status);
}

test('every example succeeds when it is sent, and so does one with all parameters of the query', async () => {
  const wrong: unknown[] = [];
  for (const call of calls.toSorted((a, b) => rank(a) - rank(b))) {
    const { unavailable } = examplesFor(call.name);
    const key = exampleOf(call, 'Idempotency-Key');
    const { headers, ...options } = optionsOf(call);
    const answer = await send(call, {
      ...options,
      headers: {
        ...(call.body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
        ...(key !== undefined && { 'idempotency-key': key }),
      },
    });
    answers.set(call.name, answer);
    const isExpected =
      unavailable === undefined ? answer.status === call.status : answer.status >= 400 && answer.status < 500;
    if (!isExpected) wrong.push([call.name, urlOf(call), answer.text, call.body]);
    if (call.method !== 'GET' || unavailable !== undefined) continue;
    // Waiting for an event takes long.
    const query = call.parameters.filter(
      (parameter) => parameter.in === 'query' && parameter.name !== 'wait',
    );
    const all = await send(call, {}, searchOf(query));
    if (all.status !== call.status) wrong.push([call.name, searchOf(query), all.text]);
  }
  expect(wrong).toEqual([]);
});

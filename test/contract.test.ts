import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Label } from '../src/http/operation.ts';
import { demoShop, expectRefusal, startDemo } from './demo.ts';
import {
  methodsByPath,
  OPERATIONS,
  shapeLines,
  shapeProblems,
  validCall,
  type Operation,
  type Shop,
  type ValidCall,
} from './operations.ts';
import { isOfToday, oneInTurn } from './seed.ts';
import { urlOf, type Answer, type CallOptions, type Service } from './service.ts';

const MEDIA_TYPE = 'application/vnd.epages.v1+json';
const METHODS = ['HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const readings = OPERATIONS.filter(
  ({ method, csv, streamed, momentary }) => method === 'GET' && !csv && !streamed && !momentary,
);

let service: Service;
let shop: Shop;

beforeAll(async () => {
  service = await startDemo();
  shop = demoShop(service);
});

afterAll(() => service.close());

const untakenCalls = new Map<string, Promise<ValidCall>>();

/** A valid call for what is read, refused or only asked about, made once for each operation: it changes nothing. */
function untakenCall(operation: Operation): Promise<ValidCall> {
  let call = untakenCalls.get(operation.name);
  if (!call) untakenCalls.set(operation.name, (call = validCall(operation, shop)));
  return call;
}

async function send(operation: Operation, { slash = '', method = operation.method, headers = {} } = {}) {
  const call = await (operation.writes ? validCall(operation, shop) : untakenCall(operation));
  return service.call(method, call.path + slash + call.search, {
    ...call.options,
    headers: { ...call.options.headers, ...headers },
  });
}

describe('the checker of shapes', () => {
  const text = 'id: integer\nname?: string|null\nitems: array\nitems[].price: number';

  test('accepts what fits', () => {
    expect(shapeProblems({ id: 1, name: null, items: [{ price: 1 }, { price: 1.5 }] }, text)).toEqual([]);
    expect(shapeProblems({ id: 1, items: [{ price: 1 }] }, text)).toEqual([]);
    expect(shapeProblems([{ a: 'x' }], '[].a: string')).toEqual([]);
  });

  test.each([
    ['a key too many', { id: 1, items: [{ price: 1 }], more: 1 }, '.more is not in the contract'],
    ['an inner key too many', { id: 1, items: [{ price: 1, tax: 1 }] }, 'items[].tax is not in the contract'],
    ['a missing key', { items: [{ price: 1 }] }, 'id is missing'],
    ['a key missing in one entry', { id: 1, items: [{ price: 1 }, {}] }, 'items[].price is missing'],
    ['another type', { id: 1.5, items: [{ price: 1 }] }, 'id is number, not integer'],
    ['text for a number', { id: 1, items: [{ price: '1' }] }, 'items[].price is string, not number'],
    ['null', { id: null, items: [{ price: 1 }] }, 'id is null, not integer'],
    ['another order', { items: [{ price: 1 }], id: 1 }, ' has the order items,id'],
    ['an empty list', { id: 1, items: [] }, 'items[].price never occurs'],
    ['entries of another kind', { id: 1, items: ['a'] }, 'items[] is string'],
    ['a list', [], 'the answer is a list or an object'],
  ])('names %s', (_case, answer, problem) => {
    expect(shapeProblems(answer, text)).toContain(problem);
  });
});

describe('the table', () => {
  interface Documented {
    'x-scope': string;
    'x-labels': Label[];
    parameters?: { $ref?: string; name?: string; in?: string }[];
    requestBody?: { content: Record<string, { schema: Schema }> };
    responses: Record<string, unknown>;
  }
  interface Schema {
    $ref?: string;
    properties?: Record<string, Schema>;
    items?: Schema;
    anyOf?: Schema[];
  }
  type Document = {
    paths: Record<string, Record<string, Documented>>;
    components: Record<string, Record<string, Schema & { name?: string; in?: string }>>;
  };
  let document: Document;
  let documented: Map<string, Documented>;

  beforeAll(async () => {
    document = (await service.app.inject('/openapi.json')).json();
    documented = new Map(
      // Those of the host are in no shop: src/host/host-api.test.ts goes over them.
      Object.entries(document.paths)
        .filter(([path]) => !path.startsWith('/host/'))
        .flatMap(([path, item]) =>
          Object.entries(item).map(([method, facts]) => {
            const below =
              path.replace('/rs/shops/{shopId}', '').replace('/manage/shops/{shopId}', '/manage') || '/';
            return [`${method.toUpperCase()} ${below}`, facts] as const;
          }),
        ),
    );
  });

  const resolved = <Part extends { $ref?: string }>(part: Part) => {
    const [, , group, name] = part.$ref?.split('/') ?? [];
    return group && name ? (document.components[group]![name]! as Part) : part;
  };

  /** The paths of all keys, as in the shapes. */
  const keysOf = (schema: Schema, place = ''): string[] => {
    const { properties, items, anyOf } = resolved(schema);
    if (anyOf) return anyOf.flatMap((one) => keysOf(one, place));
    if (items) {
      const inner = keysOf(items, `${place}[]`);
      return inner.length > 0 ? inner : [`${place}[]`];
    }
    return Object.entries(properties ?? {}).flatMap(([key, inner]) => {
      const path = place === '' ? key : `${place}.${key}`;
      return [path, ...keysOf(inner, path)];
    });
  };

  test('has all operations of the service, and no others', () => {
    expect(OPERATIONS.map(({ name }) => name).toSorted()).toEqual([...documented.keys()].toSorted());
    expect(OPERATIONS).toHaveLength(documented.size);
  });

  test.each(OPERATIONS)('agrees with the reference on $name', (operation) => {
    const facts = documented.get(operation.name)!;
    // A custom field, a rule and a task need the scope of what they are about.
    const dependsOnBody = /^\/manage\/(custom-fields|rules|tasks)/.test(operation.path);
    expect(facts['x-scope']).toBe((!dependsOnBody && operation.scopes.join(' and ')) || 'none');
    expect(facts['x-labels']).toEqual(operation.labels);
    expect(Object.keys(facts.responses)).toContain(String(operation.status));

    const parameters = (facts.parameters ?? []).map(resolved);
    const named = (place: string) =>
      new Set(parameters.filter((one) => one.in === place).map(({ name }) => name));
    expect(named('query')).toEqual(new Set(operation.query));
    expect(named('path')).toEqual(new Set(['shopId', ...Object.keys(operation.params)]));
    expect(named('header').has('Idempotency-Key')).toBe(
      // The token of an app is never stored.
      operation.writes && operation.name !== 'POST /token',
    );
    expect(named('header').has('X-ePages-Cart-Token')).toBe(operation.cartToken);

    const schemas = Object.values(facts.requestBody?.content ?? {});
    const known = operation.request === '' ? [] : shapeLines(operation.request).map(({ path }) => path);
    expect(schemas.length > 0).toBe(operation.body !== undefined);
    for (const { schema } of schemas) expect(keysOf(schema).toSorted()).toEqual(known.toSorted());
  });
});

/**
 * What can be asked for, and what can't. All operations share the code that reads the header, so each takes turns, and
 * those that write, which need things of their own for each call that is taken, do so on one day of four.
 */
const ACCEPTED = {
  json: ['application/json', '*/*', 'application/*', MEDIA_TYPE, `text/html, ${MEDIA_TYPE};q=0.5`],
  csv: ['text/csv', '*/*', 'application/vnd.epages.v1+csv', 'text/html, text/csv;q=0.5'],
};
const REFUSED = {
  json: ['application/vnd.epages.v2+json', 'text/html', 'application/json;q=0'],
  csv: ['application/vnd.epages.v2+csv', 'application/json', 'text/csv;q=0'],
};

describe.each(OPERATIONS)('$name', (operation) => {
  const index = OPERATIONS.indexOf(operation);
  const kind = operation.csv ? 'csv' : 'json';
  const isEmpty = operation.answer === '' && !operation.csv;

  /** What an answer must have, and what this one has. */
  const expected = {
    status: operation.status,
    problems: [],
    headers: {
      'content-type': isEmpty ? undefined : operation.csv ? 'text/csv' : 'application/json',
      'x-epages-media-type': `application/vnd.epages.v1+${kind}`,
      'access-control-allow-origin': '*',
      'x-ratelimit-limit': '6000',
      'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
      'x-ratelimit-reset': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/),
      vary: 'Accept-Encoding,User-Agent',
    },
  };
  const found = ({ status, headers, text, body }: Answer) => {
    const problems = operation.csv
      ? []
      : isEmpty
        ? text === ''
          ? []
          : [text]
        : shapeProblems(body, operation.answer);
    const isOfUnknownLength = operation.status === 204 || operation.csv || operation.streamed;
    const length = isOfUnknownLength ? undefined : String(Buffer.byteLength(text));
    if (headers['content-length'] !== length) problems.push(`Content-Length ${headers['content-length']}`);
    const names = Object.keys(expected.headers);
    return {
      status,
      problems: status < 300 ? problems : [text],
      headers: Object.fromEntries(names.map((name) => [name, headers[name]])),
    };
  };

  test('answers as the contract says', async () => {
    expect(found(await send(operation))).toEqual(expected);
  });

  test.runIf(!operation.writes || isOfToday(index, 4)).each(oneInTurn(ACCEPTED[kind], index))(
    'does so with a slash at the end, and accepts Accept: %s',
    async (accept) => {
      expect(found(await send(operation, { slash: '/', headers: { accept } }))).toEqual(expected);
    },
  );

  test.each(oneInTurn(REFUSED[kind], index))('refuses Accept: %s', async (accept) => {
    const call = await untakenCall(operation);
    const answer = await service.call(operation.method, call.path + call.search, {
      ...call.options,
      headers: { ...call.options.headers, accept },
    });
    expect(answer.status).toBe(406);
    expectRefusal(answer, operation.method, urlOf(call.path));
    expect(answer.headers['x-ratelimit-limit']).toBe('6000');
  });
});

describe.each(readings)('$name', (operation) => {
  const lasting = ({ headers }: Answer) =>
    Object.fromEntries(
      Object.entries(headers).filter(
        ([name]) => !['date', 'x-request-id', 'x-ratelimit-remaining'].includes(name),
      ),
    );

  test('HEAD has the headers and no body', async () => {
    const answer = await send(operation);
    const head = await send(operation, { method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(lasting(head)).toEqual(lasting(answer));
  });

  test('If-None-Match with its ETag is 304 without a body', async () => {
    const { headers } = await send(operation);
    const etag = String(headers['etag']);
    expect(etag).toMatch(/^"[^"]+"$/);
    const tags = [etag, `W/${etag}`, `"other", ${etag}`, '*'];
    for (const seen of oneInTurn(tags, readings.indexOf(operation))) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await send(operation, { method, headers: { 'if-none-match': seen } });
        expect(answer).toMatchObject({ status: 304, text: '' });
        expect(answer.headers).toMatchObject({ etag, 'access-control-allow-origin': '*' });
        expect(answer.headers['content-type']).toBeUndefined();
      }
    }
    const other = await send(operation, { headers: { 'if-none-match': '"other"' } });
    expect(other.status).toBe(200);
  });
});

describe.each([...methodsByPath()])('the path %s', (path, methods) => {
  const operation = OPERATIONS.find((one) => one.path === path)!;
  const allow = [...methods, 'OPTIONS'];

  test('OPTIONS lists its methods', async () => {
    const call = await untakenCall(operation);
    for (const slash of ['', '/']) {
      const { status, headers, text } = await service.call('OPTIONS', call.path + slash);
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        'content-type': 'text/plain',
        allow: allow.join(','),
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET,POST,PUT,PATCH,DELETE',
        'access-control-allow-headers': expect.stringContaining('accept, authorization'),
        'access-control-max-age': '3628800',
      });
      expect(text).toBe(allow.join(', '));
      expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    }
  });

  test('other methods are 405', async () => {
    const call = await untakenCall(operation);
    for (const method of METHODS.filter((one) => !methods.includes(one))) {
      const { token } = shop;
      const answer = await service.call(method, call.path, { token });
      expect(answer.status).toBe(405);
      expect(answer.headers).toMatchObject({ allow: allow.join(','), 'x-ratelimit-limit': '6000' });
      // The body of a HEAD is cut by the HTTP server, which is not in use here.
      if (method !== 'HEAD') expectRefusal(answer, method, urlOf(call.path));
    }
  });
});

describe('the demo shop', () => {
  const now = new Date('2026-11-15T08:30:00Z');
  const base = 'http://localhost:80/rs/shops';
  let demo: Service;

  beforeAll(async () => {
    demo = await startDemo({}, now);
  });

  afterAll(() => demo.close());

  const readWith = async (path: string, options: CallOptions) => {
    const answer = await demo.call('GET', path, options);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  };
  const read = (path: string, token = 'demo-all') => readWith(path, { token });

  test('its name and country', async () => {
    expect(await read('/DemoShop')).toEqual({
      name: 'Harbour & Hearth',
      email: 'hello@harbour-hearth.example',
      slogan: '<p>Small things from the sea side</p>',
      logoUrl: null,
      sfUrl: 'http://localhost:80/shop/DemoShop',
      mboUrl: 'http://localhost:80/admin/shops/DemoShop',
      isInEU: true,
      countryCode2: 'DE',
    });
    expect((await read('/DemoShop?locale=de_DE')).slogan).toBe('<p>Kleine Dinge von der Küste</p>');
    expect((await read('/DemoShop?locale=fr_FR')).slogan).toBe('<p>Petites choses du bord de mer</p>');
  });

  test('its six countries, with numbers for flags', async () => {
    const country = (code2: string, code3: string, countryID: string, names: string[], flags: number[]) => ({
      nativeName: names[0],
      countryIsDefault: flags[0],
      code3,
      code2,
      englishName: names[1],
      countryIsEU: flags[1],
      countryID,
    });
    expect(await read('/DemoShop/countries')).toEqual([
      country('DE', 'DEU', '276', ['Deutschland', 'Germany'], [1, 1]),
      country('AT', 'AUT', '040', ['Österreich', 'Austria'], [0, 1]),
      country('FR', 'FRA', '250', ['France', 'France'], [0, 1]),
      country('GB', 'GBR', '826', ['United Kingdom', 'United Kingdom'], [0, 0]),
      country('CH', 'CHE', '756', ['Schweiz', 'Switzerland'], [0, 0]),
      country('US', 'USA', '840', ['United States', 'United States'], [0, 0]),
    ]);
  });

  test('its currencies and locales', async () => {
    expect(await read('/DemoShop/currencies')).toEqual({ default: 'EUR', items: ['EUR', 'GBP', 'USD'] });
    expect(await read('/DemoShop/locales')).toEqual({ default: 'en_GB', items: ['en_GB', 'de_DE', 'fr_FR'] });
  });

  test('its tax classes, with the two defaults', async () => {
    const english = ['no VAT', 'standard', 'reduced', 'Digital products and services', 'eBooks'];
    const german = ['ohne MwSt.', 'normal', 'ermäßigt', 'Digitale Produkte und Dienste', 'E-Books'];
    for (const [query, names] of [
      ['', english],
      ['?locale=de_DE', german],
      ['?locale=es_ES', english],
    ] as const) {
      const { results, items, ...others } = await read(`/DemoShop/tax-classes${query}`);
      expect([results, others.page, others.resultsPerPage]).toEqual([5, 1, 10]);
      expect(items.map((item: { name: string }) => item.name)).toEqual(names);
      expect(others.defaultTaxClass).toEqual(items[1]);
      expect(others.defaultTaxClassDigital).toEqual(items[3]);
      for (const item of items) {
        const href = `${base}/DemoShop/tax-classes/${item.taxClassId}`;
        expect(item.links).toEqual([{ rel: 'self', href }]);
        expect(await read(`/DemoShop/tax-classes/${item.taxClassId}${query}`)).toEqual(item);
      }
    }
    const second = await read('/DemoShop/tax-classes?page=2&resultsPerPage=3');
    expect(second.items.map((item: { name: string }) => item.name)).toEqual(english.slice(3));
    expect(second).toMatchObject({ results: 5, page: 2, resultsPerPage: 3 });
  });

  test('its tax model', async () => {
    expect(await read('/DemoShop/tax-model')).toEqual({
      model: 'gross',
      displayTaxes: true,
      noTaxesMessage: null,
      deliveryThresholdIsActive: false,
      countryCode2: 'DE',
    });
  });

  test('its shipping methods, in English and German', async () => {
    const gross = (amount: number, formatted: string) => ({
      taxType: 'GROSS',
      formatted,
      amount,
      currency: 'EUR',
    });
    const english = [
      ['Standard delivery', null, gross(7, '7.00 €')],
      ['Express delivery', 'Next working day', gross(12, '12.00 €')],
      ['Customer pickup', null, null],
      ['Freight', null, gross(49, '49.00 €')],
    ];
    const german = [
      ['Standardversand', null, gross(7, '7,00 €')],
      ['Expressversand', 'Am nächsten Werktag', gross(12, '12,00 €')],
      ['Selbstabholung', null, null],
      ['Spedition', null, gross(49, '49,00 €')],
    ];
    for (const [query, expected] of [
      ['', english],
      ['?locale=de_DE', german],
      ['?locale=de_de', german],
      ['?locale=it_IT', english],
    ] as const) {
      const methods = await read(`/DemoShop/shipping-methods${query}`);
      expect(methods).toEqual(
        expected.map(([name, description, price]) => ({
          shippingMethodId: expect.stringMatching(/^[0-9A-F-]{36}$/),
          name,
          description,
          logo: null,
          price,
        })),
      );
      for (const method of methods) {
        expect(await read(`/DemoShop/shipping-methods/${method.shippingMethodId}${query}`)).toEqual(method);
      }
    }
  });

  test('the summary of its legal pages', async () => {
    const links = [
      ['contact', 'contact-information'],
      ['privacy', 'privacy-policy'],
      ['tac', 'terms-and-conditions'],
      ['withdrawal', 'rights-of-withdrawal'],
      ['shipping', 'shipping-information'],
      ['cookie', 'cookie-policy'],
    ].map(([rel, page]) => ({ rel, href: `${base}/DemoShop/legal/${page}` }));
    const english = {
      contactInformation: { name: 'Contact information' },
      privacyPolicy: { name: 'Privacy policy' },
      termsAndConditions: { name: 'Terms and conditions' },
      rightsOfWithdrawal: { name: 'Right of withdrawal' },
      shippingInformation: { name: 'Shipping' },
      cookiePolicy: { name: 'Cookie policy' },
      links,
    };
    expect(await read('/DemoShop/legal')).toEqual(english);
    expect(await read('/DemoShop/legal?locale=es_ES')).toEqual(english);
    expect(await read('/DemoShop/legal?locale=de_DE')).toEqual({
      contactInformation: { name: 'Impressum' },
      privacyPolicy: { name: 'Datenschutz' },
      termsAndConditions: { name: 'Allgemeine Geschäftsbedingungen' },
      rightsOfWithdrawal: { name: 'Widerrufsrecht' },
      shippingInformation: { name: 'Versand' },
      cookiePolicy: null,
      links,
    });
    expect(await read('/DemoShop/legal?locale=fr_FR')).toEqual({
      contactInformation: { name: 'Mentions légales' },
      privacyPolicy: { name: 'Protection des données' },
      termsAndConditions: { name: 'Conditions générales de vente' },
      rightsOfWithdrawal: { name: 'Droit de rétractation' },
      shippingInformation: null,
      cookiePolicy: null,
      links,
    });
  });

  test('its legal pages, in the languages they are written in', async () => {
    expect(await read('/DemoShop/legal/contact-information')).toEqual({
      name: 'Contact information',
      title: 'Contact information',
      navigationCaption: 'Contact',
      shortDescription: '<p>We answer within one working day.</p>',
      description: '<p>Harbour &amp; Hearth, owner: Ina Feldkamp. VAT id DE811907980.</p>',
      company: 'Harbour & Hearth',
      contactPerson: 'Ina Feldkamp',
      contactPersonJobTitle: 'Owner',
      address: '<p>Speicherweg 4<br />20457 Hamburg<br />Germany</p>',
      phone: '+49 40 5550150',
      email: 'hello@harbour-hearth.example',
    });
    expect(await read('/DemoShop/legal/contact-information?locale=fr_FR')).toMatchObject({
      contactPersonJobTitle: 'Propriétaire',
    });
    expect(await read('/DemoShop/legal/shipping-information')).toEqual({
      name: 'Shipping',
      navigationCaption: 'Shipping',
      description: '<p>Standard delivery takes two to three days within Germany. Pickup is free.</p>',
    });
    expect(await read('/DemoShop/legal/shipping-information?locale=fr_FR')).toEqual({});
    expect(await read('/DemoShop/legal/cookie-policy')).toMatchObject({ name: 'Cookie policy' });
    expect(await read('/DemoShop/legal/cookie-policy?locale=de_DE')).toEqual({});
    expect(await read('/DemoShop/legal/cookie-policy?locale=fr_FR')).toEqual({});
  });

  test('its newsletters: who unsubscribed is listed, and not counted', async () => {
    const id = expect.stringMatching(/^[0-9A-F-]{36}$/);
    const campaigns = await read('/DemoShop/newsletter-campaigns');
    expect(campaigns).toEqual({
      results: 3,
      page: 1,
      resultsPerPage: 10,
      items: [
        {
          campaignId: id,
          language: 'en',
          identifier: 'TideLetter_EN',
          name: 'Tide letter',
          description: 'What the sea brought in this month',
          numberOfSubscribers: 12,
          subject: 'News from the harbour',
        },
        {
          campaignId: id,
          language: 'de',
          identifier: 'TideLetter_DE',
          name: 'Gezeitenbrief',
          description: 'Was die See diesen Monat gebracht hat',
          numberOfSubscribers: 3,
          subject: 'Neues vom Hafen',
        },
        {
          campaignId: id,
          language: 'fr',
          identifier: 'Empty_FR',
          name: 'Lettre des marées',
          description: null,
          numberOfSubscribers: 0,
          subject: 'Nouvelles du port',
        },
      ],
    });

    const [english, german, french] = campaigns.items.map(
      ({ campaignId }: { campaignId: string }) => `/DemoShop/newsletter-campaigns/${campaignId}/subscribers`,
    );
    const [first, second] = [await read(english), await read(`${english}?page=2`)];
    expect([first.results, first.items.length, second.results, second.items.length]).toEqual([14, 10, 14, 4]);
    const all = [...first.items, ...second.items];
    expect(new Set(all.map(({ email }: { email: string }) => email)).size).toBe(14);
    expect(all[0]).toEqual({ email: 'ada.brennan@mail.example', name: 'Ada Brennan', subscribed: true });
    expect(
      all.filter(({ subscribed }: { subscribed: boolean }) => !subscribed).map(({ name }) => name),
    ).toEqual(['Silas Penrose', 'Isla Corran']);
    expect((await read(german)).items.map(({ name }: { name: string }) => name)).toEqual([
      'Jonas Wittmoor',
      'Rika Sandvoss',
      'Thies Petersen',
    ]);
    expect(await read(french)).toEqual({ results: 0, page: 1, resultsPerPage: 10, items: [] });
  });

  test('its customers, on two pages', async () => {
    const numbers = ({ items }: { items: { customerNumber: string }[] }) =>
      items.map(({ customerNumber }) => Number(customerNumber));
    const first = await read('/DemoShop/customers');
    const second = await read('/DemoShop/customers?page=2');
    const third = await read('/DemoShop/customers?page=3');
    const all = await read('/DemoShop/customers?resultsPerPage=1000');
    const counted = Array.from({ length: 15 }, (_, index) => 1001 + index);
    expect([numbers(first), first.results, first.page]).toEqual([counted.slice(0, 10), 15, 1]);
    expect([numbers(second), second.results, second.page]).toEqual([counted.slice(10), 15, 2]);
    expect([third.items, third.results, third.page]).toEqual([[], 15, 3]);
    expect([numbers(all), all.results, all.resultsPerPage]).toEqual([counted, 15, 100]);

    const [ada] = first.items;
    expect(ada).toMatchObject({
      customerNumber: '1001',
      creationDate: '2025-09-21T08:30:00Z',
      billingAddress: { company: 'Cafe Pelican', firstName: 'Ada', gender: 'FEMALE', vatId: null },
      internalNote: 'pays on time',
      links: [
        { rel: 'self', href: `${base}/DemoShop/customers/${ada.customerId}` },
        { rel: 'orders', href: `${base}/DemoShop/orders?customerId=${ada.customerId}` },
      ],
    });
    const rika = await read(`/DemoShop/customers/${first.items[4].customerId}`);
    expect(rika).toEqual(first.items[4]);
    expect(rika.customerNumber).toBe('1005');
    expect(Object.keys(rika.billingAddress)).toHaveLength(34);
    expect(Object.values(rika.billingAddress)).not.toContain(null);
    expect(rika.billingAddress).toMatchObject({
      company: 'Sandvoss Events GmbH',
      vatId: 'DE811907980',
      websiteUrl: 'https://sandvoss.example',
    });
  });

  test('the next customer gets the next number', async () => {
    const { status, body } = await demo.call('POST', '/DemoShop/customers', {
      token: 'demo-all',
      body: { billingAddress: { firstName: 'Sixteenth' } },
    });
    expect([status, body.customerNumber, body.creationDate]).toEqual([201, '1016', '2026-11-15T08:30:00Z']);
    await demo.db.pool.query(`delete from customer where customer_number = '1016'`);
  });

  test('its script tags, which only their own app can delete', async () => {
    const tags = async (query = '', token = 'demo-widgets') =>
      (await read(`/DemoShop/script-tags${query}`, token)).items as {
        scriptTagId: string;
        scriptUrl: string;
        scriptType: string;
      }[];
    const all = await tags();
    const shown = new Map(all.map((tag) => [tag.scriptUrl, tag]));
    expect(new Map(all.map((tag) => [tag.scriptUrl, tag.scriptType]))).toEqual(
      new Map([
        ['https://cdn.example/chat.js', 'NORMAL'],
        ['https://cdn.example/worker.js', 'SERVICE_WORKER'],
        ['https://cdn.example/badge.js', 'NORMAL'],
      ]),
    );
    expect(all[0]).toMatchObject({
      createdOn: '2026-11-15T08:30:00Z',
      updatedOn: '2026-11-15T08:30:00Z',
      links: [{ rel: 'self', href: `${base}/DemoShop/script-tags/${all[0]!.scriptTagId}` }],
    });
    const addresses = (list: { scriptUrl: string }[]) => list.map(({ scriptUrl }) => scriptUrl).toSorted();
    expect(addresses(await tags('?myScriptTagsOnly=true'))).toEqual([
      'https://cdn.example/chat.js',
      'https://cdn.example/worker.js',
    ]);
    expect(addresses(await tags('?myScriptTagsOnly=true', 'demo-all'))).toEqual([
      'https://cdn.example/badge.js',
    ]);

    const remove = async (name: string, token: string) => {
      const { scriptTagId } = shown.get(`https://cdn.example/${name}.js`)!;
      return (await demo.call('DELETE', `/DemoShop/script-tags/${scriptTagId}`, { token })).status;
    };
    expect(await remove('badge', 'demo-widgets')).toBe(403);
    expect(await remove('chat', 'demo-all')).toBe(403);
    expect(await tags()).toHaveLength(3);
    expect(await remove('badge', 'demo-all')).toBe(204);
    expect(await remove('chat', 'demo-widgets')).toBe(204);
    expect(await remove('chat', 'demo-widgets')).toBe(404);
    expect(addresses(await tags())).toEqual(['https://cdn.example/worker.js']);
  });

  test('a token whose calls are almost used up', async () => {
    const use = () => demo.call('GET', '/DemoShop/locales', { token: 'demo-busy' });
    const left = ({ status, headers }: Answer) => [status, headers['x-ratelimit-remaining']];
    expect(left(await use())).toEqual([200, '1']);
    expect(left(await use())).toEqual([200, '0']);
    const refused = await use();
    expect(left(refused)).toEqual([429, '0']);
    expect(refused.headers['x-ratelimit-reset']).toBe('2026-11-15T09:00:00.000Z');
    expectRefusal(refused, 'GET', '/rs/shops/DemoShop/locales');
  });

  test('what its tokens may do', async () => {
    const statuses = async (token: string) =>
      Promise.all(
        ['/locales', '/customers', '/legal', '/script-tags', '/newsletter-campaigns', '/countries'].map(
          async (path) => (await demo.call('GET', `/DemoShop${path}`, { token })).status,
        ),
      );
    expect(await statuses('demo-all')).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await statuses('demo-read')).toEqual([200, 200, 403, 403, 403, 200]);
    expect(await statuses('demo-widgets')).toEqual([403, 403, 403, 200, 403, 200]);
    expect(await statuses('demo-pricing')).toEqual([403, 403, 403, 403, 403, 200]);
    expect(await statuses('demo-none')).toEqual([403, 403, 403, 403, 403, 200]);
  });

  test('the empty shop beside it', async () => {
    expect(await readWith('/EmptyShop', {})).toEqual({
      name: 'Empty shop',
      email: 'hello@empty-shop.example',
      slogan: null,
      logoUrl: null,
      sfUrl: 'http://localhost:80/shop/EmptyShop',
      mboUrl: 'http://localhost:80/admin/shops/EmptyShop',
      isInEU: true,
      countryCode2: 'DE',
    });
    expect(await readWith('/EmptyShop/locales', {})).toEqual({ default: 'de_DE', items: ['de_DE'] });
    expect(await readWith('/EmptyShop/currencies', {})).toEqual({ default: 'EUR', items: ['EUR'] });
    expect(await readWith('/EmptyShop/countries', {})).toHaveLength(1);
    expect(await readWith('/EmptyShop/shipping-methods', {})).toEqual([]);
    expect(await readWith('/EmptyShop/tax-classes', {})).toMatchObject({ results: 1 });
    expect(await readWith('/EmptyShop/legal/cookie-policy', {})).toEqual({});
    expect((await demo.call('GET', '/EmptyShop/customers', { token: 'demo-all' })).status).toBe(401);
  });
});

import { createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ask,
  CATALOGUE,
  digestOf,
  profileFile,
  signedHeaders,
  startFakeAssistant,
  type AssistantCall,
  type FakeAssistant,
} from '../../test/fake-assistant.ts';
import { givenOtherShop, startDemo } from '../../test/demo.ts';
import type { Answer, Service } from '../../test/service.ts';
import { sql } from '../db/sql.ts';
import { applySettings } from '../shops/settings/file.ts';
import { UCP_VERSION } from './capabilities.ts';
import { assistantKeyRotation } from './keys.ts';
import { OPERATIONS } from './operations.ts';

const CART = 'dev.ucp.shopping.cart';
const CHECKOUT = 'dev.ucp.shopping.checkout';

let service: Service;
let assistant: FakeAssistant;
let file: FakeAssistant['file'];

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0', WEBHOOK_ALLOW: '127.0.0.0/8' });
  await givenOtherShop(service);
  // A request by another name ends demo access, in which every machine may be called.
  await ask(service, '/', undefined, { method: 'GET', host: 'kontor.example' });
  await service.app.demoAccess.refresh();
  assistant = await startFakeAssistant();
  ({ file } = assistant);
});
afterAll(async () => {
  await assistant.close();
  await service.close();
});

const set = (shopId: string, settings: Parameters<typeof applySettings>[2]) =>
  service.db.transaction((tx) => applySettings(tx, shopId, settings));

let round = 0;
beforeEach(() => {
  service.setClock(undefined);
  assistant.file = file;
  assistant.answer = () => false;
  // Profiles are cached by their address.
  assistant.profile = `${assistant.origin}/profile-${round++}.json`;
});

const search = (body: unknown, call: AssistantCall = {}) =>
  ask(service, '/ucp/catalog/search', body, { profile: assistant.profile, ...call });
const lookup = (body: unknown, call: AssistantCall = {}) =>
  ask(service, '/ucp/catalog/lookup', body, { profile: assistant.profile, ...call });
const product = (body: unknown, call: AssistantCall = {}) =>
  ask(service, '/ucp/catalog/product', body, { profile: assistant.profile, ...call });
const profileOf = (host = 'demoshop.localhost', headers: Record<string, string> = {}) =>
  ask(service, '/.well-known/ucp', undefined, { method: 'GET', host, headers });

const problemOf = ({ status, body }: Answer) => [status, body?.code ?? body?.error?.data?.code];

describe('the profile of a shop', () => {
  test('says what is there, in the version of the specification, and nothing else', async () => {
    const { status, headers, body } = await profileOf();
    expect(status).toBe(200);
    expect([headers['content-type'], headers['cache-control'], headers['set-cookie']]).toEqual([
      'application/json',
      'public, max-age=300',
      undefined,
    ]);
    const entry = (page: string, schema: string, extended?: string[]) => [
      {
        version: '2026-08-25',
        spec: `https://ucp.dev/2026-08-25/specification/${page}`,
        schema: `https://ucp.dev/2026-08-25/schemas/shopping/${schema}.json`,
        ...(extended && { extends: extended }),
      },
    ];
    expect(body.ucp).toEqual({
      version: '2026-08-25',
      services: {
        'dev.ucp.shopping': [
          {
            version: '2026-08-25',
            spec: 'https://ucp.dev/2026-08-25/specification/overview',
            transport: 'rest',
            endpoint: 'http://demoshop.localhost/ucp',
            schema: 'https://ucp.dev/2026-08-25/services/shopping/rest.openapi.json',
          },
          {
            version: '2026-08-25',
            spec: 'https://ucp.dev/2026-08-25/specification/overview',
            transport: 'mcp',
            endpoint: 'http://demoshop.localhost/ucp/mcp',
            schema: 'https://ucp.dev/2026-08-25/services/shopping/mcp.openrpc.json',
          },
        ],
      },
      capabilities: {
        'dev.ucp.shopping.catalog.search': entry('shopping/catalog/search', 'catalog_search'),
        'dev.ucp.shopping.catalog.lookup': entry('shopping/catalog/lookup', 'catalog_lookup'),
        'dev.ucp.shopping.cart': entry('shopping/cart', 'cart'),
        'dev.ucp.shopping.checkout': entry('shopping/checkout', 'checkout'),
        'dev.ucp.shopping.order': entry('shopping/order', 'order'),
        'dev.ucp.shopping.fulfillment': entry('fulfillment', 'fulfillment', [CHECKOUT]),
        'dev.ucp.shopping.discount': entry('discount', 'discount', [CART, CHECKOUT]),
        'dev.ucp.shopping.buyer_consent': entry('buyer-consent', 'buyer_consent', [CART, CHECKOUT]),
      },
      payment_handlers: {},
    });
    const again = await profileOf('demoshop.localhost', { 'if-none-match': String(headers.etag) });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test('is only on the own host of a shop that has opened it', async () => {
    expect((await profileOf('localhost')).status).toBe(404);
    expect((await profileOf('othershop.localhost')).status).toBe(200);
    for (const [url, host] of [
      ['/shop/DemoShop/.well-known/ucp', 'localhost'],
      ['/shop/DemoShop/.well-known/ucp', 'demoshop.localhost'],
      ['/shop/DemoShop/.well-known/ucp', 'rebound.example'],
      ['/shop/NoSuchShop/.well-known/ucp', 'localhost'],
    ] as const) {
      const { status, body } = await ask(service, url, undefined, { method: 'GET', host });
      expect([url, host, status, body.code]).toEqual([url, host, 404, 'not_found']);
    }
    await set('OtherShop', { assistants: { open: false } });
    expect((await profileOf('othershop.localhost')).status).toBe(404);
    expect(problemOf(await search({ query: 'kettle' }, { host: 'othershop.localhost' }))).toEqual([
      404,
      'not_found',
    ]);
    await set('OtherShop', {
      assistants: { open: true, catalogue: false, carts: false, checkout: false, orders: false },
    });
    expect((await profileOf('othershop.localhost')).body.ucp.capabilities).toEqual({});
    expect((await search({ query: 'kettle' }, { host: 'othershop.localhost' })).body).toMatchObject({
      ucp: { status: 'error' },
      messages: [{ code: 'capabilities_incompatible' }],
    });
    await set('OtherShop', { assistants: { open: true } });
    await service.db.run(
      sql`update shop set is_open = false, settings_version = settings_version + 1 where shop_id = 'OtherShop'`,
    );
    expect((await profileOf('othershop.localhost')).status).toBe(404);
  });
});

describe('products', () => {
  test('are found as visitors find them, with prices in cents and no stock', async () => {
    const { status, body, headers, text } = await search({ query: 'kettle' });
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body.ucp).toEqual({
      version: UCP_VERSION,
      capabilities: { 'dev.ucp.shopping.catalog.search': [{ version: UCP_VERSION }] },
    });
    expect(body.pagination).toEqual({ has_next_page: false, total_count: 1 });
    const { body: seen } = await service.call('GET', '/DemoShop/products?q=kettle', {});
    const [{ productId, priceInfo }] = seen.items;
    expect(body.products).toMatchObject([
      {
        id: productId,
        title: 'Beacon Kettle 1.7 l',
        url: 'http://demoshop.localhost/Products/AP-100',
        variants: [
          {
            id: productId,
            sku: 'AP-100',
            price: { amount: Math.round(priceInfo.price.amount * 100), currency: 'EUR' },
            availability: { available: true, status: 'in_stock' },
          },
        ],
      },
    ]);
    expect(text).not.toMatch(/stocklevel|minStock|customerSpecific/i);
    expect(body.messages[0]).toEqual({
      type: 'info',
      code: 'prices',
      content: 'All prices incl. VAT, plus shipping costs',
    });
  });

  test('are in the language and the currency that the request asks for', async () => {
    const german = await search({ query: 'wasserkocher', context: { language: 'de-AT' } });
    expect(german.body.products[0].title).toBe('Beacon Wasserkocher 1,7 l');
    expect(german.body.products[0].url).toBe('http://demoshop.localhost/Products/AP-100?locale=de_DE');
    const byHeader = await search(
      { query: 'wasserkocher' },
      { headers: { 'accept-language': 'fi, de;q=0.8' } },
    );
    expect(byHeader.body.products[0].title).toBe('Beacon Wasserkocher 1,7 l');
    const pounds = await search({ query: 'kettle', context: { currency: 'GBP' } });
    expect(pounds.body.products[0].variants[0].price.currency).toBe('GBP');
  });

  test('come in pages', async () => {
    const all = await search({ filters: { price: { min: 0 } }, pagination: { limit: 25 } });
    const first = await search({ filters: { price: { min: 0 } }, pagination: { limit: 3 } });
    expect([first.body.products.length, first.body.pagination.has_next_page]).toEqual([3, true]);
    const second = await search({
      filters: { price: { min: 0 } },
      pagination: { limit: 3, cursor: first.body.pagination.cursor },
    });
    const ids = (answer: Answer) => answer.body.products.map(({ id }: { id: string }) => id);
    expect([...ids(first), ...ids(second)]).toEqual(ids(all).slice(0, 6));
    expect(problemOf(await search({ query: 'a', pagination: { cursor: 'bzk5OTk5' } }))).toEqual([
      400,
      'invalid_request',
    ]);
  });

  test('are filtered by category and price', async () => {
    const [{ name }] = (
      await service.db.many<{ name: string }>(sql`
        select name ->> 'en_GB' as name from category
        where shop_id = 'DemoShop' and visible and parent_id is not null order by position limit 1`)
    ).slice(0, 1) as [{ name: string }];
    const found = await search({
      filters: { categories: [name.toUpperCase(), 'No such'] },
      pagination: { limit: 25 },
    });
    expect(found.body.products.length).toBeGreaterThan(0);
    expect(
      found.body.products.every(
        ({ categories }: { categories: { value: string }[] }) => categories.length > 0,
      ),
    ).toBe(true);
    const none = await search({ filters: { categories: ['No such'] } });
    expect([none.status, none.body.products, none.body.pagination.total_count]).toEqual([200, [], 0]);
    const cheap = await search({ filters: { price: { max: 1_000 } }, context: { currency: 'EUR' } });
    expect(
      cheap.body.products.every(
        ({ price_range: range }: { price_range: { min: { amount: number } } }) => range.min.amount <= 1_000,
      ),
    ).toBe(true);
    const ignored = await search({
      query: 'kettle',
      filters: { price: { max: 1 } },
      context: { currency: 'GBP' },
    });
    expect(ignored.body.products).toHaveLength(1);
    expect(ignored.body.messages.map(({ code }: { code: string }) => code)).toContain('price_filter_ignored');
  });

  test('are looked up by ids and numbers, each once, with what led to them', async () => {
    const kettle = (await search({ query: 'kettle' })).body.products[0].id;
    const [variation] = await service.db.many<{ id: string; number: string; masterId: string }>(sql`
      select upper(product_id::text) as id, product_number as number, upper(master_id::text) as "masterId"
      from product where shop_id = 'DemoShop' and kind = 'variation' and visible order by product_number limit 1`);
    const { id, number, masterId } = variation!;
    const { body } = await lookup({ ids: [kettle, 'AP-100', number, id.toLowerCase(), 'nothing', kettle] });
    expect(body.products.map((one: { id: string }) => one.id)).toEqual([kettle, masterId]);
    expect(body.products[0].variants[0].inputs).toEqual([
      { id: kettle, match: 'exact' },
      { id: 'AP-100', match: 'exact' },
    ]);
    expect(body.products[1].variants).toHaveLength(1);
    expect(body.products[1].variants[0]).toMatchObject({
      id,
      sku: number,
      inputs: [
        { id: number, match: 'exact' },
        { id: id.toLowerCase(), match: 'exact' },
      ],
    });
    expect(body.messages.filter(({ code }: { code: string }) => code === 'not_found')).toEqual([
      { type: 'info', code: 'not_found', content: 'nothing' },
    ]);
    const ofMaster = await lookup({ ids: [masterId] });
    expect(ofMaster.body.products[0].variants[0].inputs).toEqual([{ id: masterId, match: 'featured' }]);
    expect(problemOf(await lookup({ ids: Array.from({ length: 26 }, (_, index) => `n${index}`) }))).toEqual([
      400,
      'request_too_large',
    ]);
  });

  test('one product shows the choice among its variations', async () => {
    const [master] = await service.db.many<{ id: string; count: number }>(sql`
      select upper(master_id::text) as id, count(*)::int as count from product
      where shop_id = 'DemoShop' and kind = 'variation' and visible
      group by master_id having count(*) > 2 order by count(*) desc limit 1`);
    const { body } = await product({ id: master!.id });
    expect(body.product.id).toBe(master!.id);
    expect(body.product.selected.length).toBe(body.product.options.length);
    const [featured] = body.product.variants;
    expect(featured.options).toEqual(body.product.selected);
    const [option] = body.product.options;
    expect(option.values.every(({ exists }: { exists: boolean }) => exists)).toBe(true);
    const [wanted] = option.values.toReversed();
    const chosen = await product({
      id: master!.id,
      selected: [{ name: option.name, label: wanted.label }],
      preferences: [option.name],
    });
    expect(chosen.body.product.selected).toEqual([{ name: option.name, id: wanted.id, label: wanted.label }]);
    for (const variant of chosen.body.product.variants) {
      expect(variant.options).toContainEqual({ name: option.name, id: wanted.id, label: wanted.label });
    }
    // Nothing has the second value, so the less important option is dropped.
    const relaxed = await product({
      id: master!.id,
      selected: [
        { name: 'Nothing', label: 'like it' },
        { name: option.name, label: wanted.label },
      ],
      preferences: [option.name, 'Nothing'],
    });
    expect(relaxed.body.product.selected).toEqual(chosen.body.product.selected);
    const byVariation = await product({ id: featured.id, selected: [{ name: option.name, label: 'other' }] });
    expect(byVariation.body.product.variants[0].id).toBe(featured.id);
    expect(byVariation.body.product.selected).toEqual(featured.options);
  });

  test('one that is hidden or unknown is not found', async () => {
    const kettle = (await search({ query: 'kettle' })).body.products[0].id;
    await service.db.run(
      sql`update product set visible = false where shop_id = 'DemoShop' and product_number = 'AP-100'`,
    );
    for (const id of [kettle, 'AP-100', 'nothing', 'a\\u0000b']) {
      const { status, body } = await product({ id });
      expect([status, body]).toEqual([
        200,
        {
          ucp: {
            version: UCP_VERSION,
            status: 'error',
            capabilities: { 'dev.ucp.shopping.catalog.lookup': [{ version: UCP_VERSION }] },
          },
          messages: [
            {
              type: 'error',
              code: 'not_found',
              content: `Product not found: ${id}`,
              severity: 'unrecoverable',
            },
          ],
        },
      ]);
    }
    expect((await lookup({ ids: [kettle] })).body.products).toEqual([]);
    await service.db.run(
      sql`update product set visible = true where shop_id = 'DemoShop' and product_number = 'AP-100'`,
    );
  });

  test('what a consumer must know comes as disclosures', async () => {
    await service.db.run(sql`
      update product set version = version + 1, facts = facts || '{"energyLabel": {"classes": "B", "best": "A"}, "eprelNumber": "1234567"}'
      where shop_id = 'DemoShop' and product_number = 'AP-100'`);
    const { body: kettle } = await product({ id: 'AP-100' });
    expect(kettle.messages.find(({ code }: { code: string }) => code === 'energy_label')).toEqual({
      type: 'warning',
      code: 'energy_label',
      path: '$.product.variants[0]',
      content: 'Energy efficiency class B (scale A to G)',
      presentation: 'disclosure',
      url: 'https://eprel.ec.europa.eu/qr/1234567',
    });
    const codes = new Set<string>();
    const units: unknown[] = [];
    for (let cursor: string | undefined; ;) {
      const { body } = await search({ filters: { price: { min: 0 } }, pagination: { limit: 25, cursor } });
      for (const { code, presentation } of body.messages) {
        codes.add(presentation === undefined ? code : `${code} (${presentation})`);
      }
      for (const { variants } of body.products)
        units.push(...variants.flatMap((one: { unit_price?: unknown }) => one.unit_price ?? []));
      if (!body.pagination.has_next_page) break;
      ({ cursor } = body.pagination);
    }
    expect([...codes].toSorted()).toEqual([
      'delivery_time',
      'deposit (disclosure)',
      'energy_label (disclosure)',
      'lowest_price_30_days (disclosure)',
      'prices',
      'recycling_fee (disclosure)',
      'withdrawal_excluded (disclosure)',
    ]);
    expect(units.length).toBeGreaterThan(0);
    const [unit] = (await search({ query: 'espresso beans' })).body.products[0].variants;
    const { measure, reference, amount } = unit.unit_price;
    expect([measure.unit, reference.unit]).toEqual(['GRM', 'GRM']);
    expect(amount).toBe(Math.round((unit.price.amount * reference.value) / measure.value));
  });
});

describe('requests', () => {
  test.each([
    ['not JSON', '{"query":'],
    ['a list', '[]'],
    ['nothing', undefined],
    ['no input', '{}'],
    ['a wrong type', '{"query":7}'],
    ['a long query', JSON.stringify({ query: 'a'.repeat(201) })],
    ['half a character', '{"query":"\\ud800"}'],
    ['too deep', `{"query":${'['.repeat(60)}${']'.repeat(60)}}`],
  ])('with %s are refused', async (_name, body) => {
    expect(problemOf(await search(body))).toEqual([400, 'invalid_request']);
    expect(assistant.asked >= 0).toBe(true);
  });

  test('name a profile', async () => {
    const refused = async (profile: string | undefined, headers: Record<string, string> = {}) =>
      problemOf(await search({ query: 'kettle' }, { profile, headers }));
    expect(await refused(undefined)).toEqual([400, 'invalid_profile_url']);
    for (const address of [
      'no address',
      'ftp://127.0.0.1/a',
      `http://user:pw@127.0.0.1:9000/a`,
      'http://127.0.0.1:22/a',
      'javascript:alert(1)',
      'https://10.0.0.1/profile.json',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/profile.json',
      `http://127.0.0.1:9000/${'a'.repeat(500)}`,
    ]) {
      expect([address, await refused(address)]).toEqual([address, [400, 'invalid_profile_url']]);
    }
    expect(await refused(undefined, { 'ucp-agent': 'profile=unquoted token' })).toEqual([
      400,
      'invalid_profile_url',
    ]);
  });

  test('a profile is fetched once, and again when it may have changed', async () => {
    assistant.asked = 0;
    for (let count = 0; count < 5; count++) expect((await search({ query: 'kettle' })).status).toBe(200);
    expect(assistant.asked).toBe(1);
    service.setClock(new Date(Date.now() + 61_000));
    await Promise.all([search({ query: 'kettle' }), search({ query: 'kettle' })]);
    expect(assistant.asked).toBe(2);
  });

  test('a hostile profile is refused, and not asked for again at once', async () => {
    const refusedWith = async (answer: FakeAssistant['answer']) => {
      assistant.profile = `${assistant.origin}/hostile-${round++}.json`;
      assistant.answer = answer;
      const first = problemOf(await search({ query: 'kettle' }));
      const asked = assistant.asked;
      expect(problemOf(await search({ query: 'kettle' }))).toEqual(first);
      expect(assistant.asked).toBe(asked);
      return first;
    };
    const says =
      (status: number, headers: Record<string, string>, text = '') =>
      (
        _: unknown,
        response: {
          writeHead: (status: number, headers: Record<string, string>) => void;
          end: (text: string) => void;
        },
      ) => {
        response.writeHead(status, headers);
        response.end(text);
        return true;
      };
    expect(await refusedWith(says(302, { location: `${assistant.origin}/profile-0.json` }))).toEqual([
      424,
      'profile_unreachable',
    ]);
    expect(await refusedWith(says(500, {}))).toEqual([424, 'profile_unreachable']);
    expect(await refusedWith(says(200, {}, 'a'.repeat(10_000_000)))).toEqual([424, 'profile_unreachable']);
    expect(await refusedWith(says(200, {}, '<html>'))).toEqual([422, 'profile_malformed']);
    expect(await refusedWith(says(200, {}, '[]'))).toEqual([422, 'profile_malformed']);
    expect(await refusedWith(says(200, {}, '['.repeat(100_000)))).toEqual([422, 'profile_malformed']);
    expect(await refusedWith(says(200, {}, '{"ucp":{"version":"2026-08-25"}}'))).toEqual([
      422,
      'profile_malformed',
    ]);
    expect(
      await refusedWith(
        says(200, {}, JSON.stringify(profileFile(CATALOGUE, [{ kid: 'a', kty: 'EC', d: 'secret' }]))),
      ),
    ).toEqual([422, 'profile_malformed']);
    expect(
      await refusedWith(says(200, {}, JSON.stringify(profileFile(CATALOGUE, [], '2026-01-11')))),
    ).toEqual([422, 'version_unsupported']);
    expect(
      await refusedWith((request) => {
        request.socket.destroy();
        return true;
      }),
    ).toEqual([424, 'profile_unreachable']);
  });

  test('a profile that never ends is given up after five seconds', async () => {
    assistant.answer = (_request, response) => {
      response.writeHead(200);
      response.write('{');
      return true;
    };
    const begun = Date.now();
    expect(problemOf(await search({ query: 'kettle' }))).toEqual([424, 'profile_unreachable']);
    expect(Date.now() - begun).toBeLessThan(8_000);
  }, 20_000);

  test('an assistant without a capability in common gets a link for its buyer', async () => {
    assistant.file = profileFile(['dev.ucp.shopping.catalog.lookup']);
    const { status, body } = await search({ query: 'kettle' });
    expect([status, body]).toEqual([
      200,
      {
        ucp: { version: UCP_VERSION, status: 'error', capabilities: {} },
        messages: [
          {
            type: 'error',
            code: 'capabilities_incompatible',
            content: 'The profile of the assistant does not name what this operation needs',
            severity: 'unrecoverable',
          },
        ],
        continue_url: 'http://demoshop.localhost/',
      },
    ]);
    expect((await lookup({ ids: ['AP-100'] })).body.products).toHaveLength(1);
  });

  test('are limited for each assistant', async () => {
    await set('DemoShop', { assistants: { open: true, callsPerHour: 10 } });
    for (let count = 0; count < 10; count++) expect((await search({ query: 'kettle' })).status).toBe(200);
    const refused = await search({ query: 'kettle' });
    expect(problemOf(refused)).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    // Somebody who names the same profile without its key has used up only the requests of his own address.
    const body = '{"query":"kettle"}';
    const signed = await search(body, { headers: signedHeaders(assistant, '/ucp/catalog/search', body) });
    expect(signed.status).toBe(200);
    await set('DemoShop', { assistants: { open: true } });
  });
});

describe('signatures', () => {
  const body = '{"query":"kettle"}';
  const path = '/ucp/catalog/search';
  const send = (headers: Record<string, string>, sent = body) => search(sent, { headers });

  test('of a request are verified', async () => {
    expect((await send(signedHeaders(assistant, path, body))).status).toBe(200);
    const refused = async (headers: Record<string, string>, sent = body) =>
      problemOf(await send(headers, sent));
    const signed = signedHeaders(assistant, path, body);
    expect(await refused(signed, '{"query":"kettles"}')).toEqual([400, 'digest_mismatch']);
    const other = '{"query":"lamp"}';
    expect(await refused({ ...signed, 'content-digest': digestOf(other) }, other)).toEqual([
      401,
      'signature_invalid',
    ]);
    expect(await refused(signedHeaders(assistant, '/ucp/catalog/lookup', body))).toEqual([
      401,
      'signature_invalid',
    ]);
    expect(await refused(signedHeaders(assistant, path, body, { host: 'othershop.localhost' }))).toEqual([
      401,
      'signature_invalid',
    ]);
    expect(await refused(signedHeaders(assistant, path, body, { keyId: 'other' }))).toEqual([
      401,
      'key_not_found',
    ]);
    expect(
      await refused(signedHeaders(assistant, path, body, { components: ['@method', '@authority', '@path'] })),
    ).toEqual([401, 'signature_invalid']);
    expect(await refused(signedHeaders(assistant, path, body, { parameters: ';expires=1' }))).toEqual([
      401,
      'signature_invalid',
    ]);
    expect(await refused(signedHeaders(assistant, path, body, { parameters: ';tag="other"' }))).toEqual([
      401,
      'signature_invalid',
    ]);
    expect(await refused({ 'signature-input': 'sig1=(((', signature: 'sig1=:AAAA:' })).toEqual([
      401,
      'signature_invalid',
    ]);
    expect(await refused({ signature: signed['signature']! })).toEqual([401, 'signature_invalid']);
    // Of several signatures one must be good.
    const two = {
      ...signed,
      'signature-input': `bad=("@method");keyid="x", ${signed['signature-input']}`,
      signature: `bad=:AAAA:, ${signed['signature']}`,
    };
    expect((await send(two)).status).toBe(200);
  });

  test('with a new key lead to the newer profile', async () => {
    assistant.file = profileFile(CATALOGUE);
    expect((await search({ query: 'kettle' })).status).toBe(200);
    expect(problemOf(await send(signedHeaders(assistant, path, body)))).toEqual([401, 'key_not_found']);
    assistant.file = file;
    // It was fetched a moment ago.
    expect(problemOf(await send(signedHeaders(assistant, path, body)))).toEqual([401, 'key_not_found']);
    service.setClock(new Date(Date.now() + 61_000));
    expect((await send(signedHeaders(assistant, path, body))).status).toBe(200);
  });

  test('are demanded where the shop says so', async () => {
    await set('DemoShop', { assistants: { open: true, signedOnly: true } });
    expect(problemOf(await search({ query: 'kettle' }))).toEqual([401, 'signature_missing']);
    expect((await send(signedHeaders(assistant, path, body))).status).toBe(200);
    await set('DemoShop', { assistants: { open: true } });
  });

  test('of an answer are those of a published key', async () => {
    const { headers, text } = await search({ query: 'kettle' });
    const { keys } = (await profileOf()).body;
    const input = String(headers['signature-input']);
    const [, parameters, keyId] =
      /^sig1=(\("@status" "content-digest" "content-type"\);created=\d+;keyid="([^"]+)")$/.exec(input)!;
    expect(headers['content-digest']).toBe(digestOf(text));
    const key = keys.find(({ kid }: { kid: string }) => kid === keyId);
    expect(Object.keys(key).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    const base = `"@status": 200\n"content-digest": ${digestOf(text)}\n"content-type": application/json\n"@signature-params": ${parameters}`;
    const [, signature] = /^sig1=:(.*):$/.exec(String(headers['signature']))!;
    expect(
      verify(
        'sha256',
        Buffer.from(base),
        { key: createPublicKey({ key: key as JsonWebKey, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
        Buffer.from(signature!, 'base64'),
      ),
    ).toBe(true);
    const stored = await service.db.many<{ row: string }>(
      sql`select row_to_json(assistant_key)::text as row from assistant_key`,
    );
    expect(stored.some(({ row }) => row.includes('"d"'))).toBe(false);
  });

  test('keys are made before they are needed and replaced after 90 days', async () => {
    const rotation = assistantKeyRotation(service.config);
    const clean = () => rotation.run(service.db, 100);
    await service.db.run(sql`delete from assistant_key`);
    await clean();
    const keysOf = async () =>
      (await profileOf()).body.keys.map(({ kid }: { kid: string }) => kid) as string[];
    const [first] = await keysOf();
    expect(await keysOf()).toEqual([first]);
    const day = 86_400_000;
    const start = Date.now();
    service.setClock(new Date(start + 91 * day));
    await clean();
    const [second] = await keysOf();
    expect(await keysOf()).toEqual([second, first]);
    const signer = async () =>
      /keyid="([^"]+)"/.exec(String((await search({ query: 'kettle' })).headers['signature-input']))![1];
    // Assistants may still have the profile without the new one.
    expect(await signer()).toBe(first);
    service.setClock(new Date(start + 92.1 * day));
    assistant.profile = `${assistant.origin}/later.json`;
    expect(await signer()).toBe(second);
    service.setClock(new Date(start + 99 * day));
    await clean();
    expect(await keysOf()).toEqual([second]);
  });
});

describe('the tools of MCP', () => {
  const rpc = (body: unknown, call: AssistantCall = {}) => ask(service, '/ucp/mcp', body, call);
  const tool = (name: string, catalog: unknown, call: AssistantCall = {}) =>
    rpc(
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: { meta: { 'ucp-agent': { profile: assistant.profile } }, catalog } },
      },
      call,
    );

  test('give the same answers', async () => {
    for (const [name, path, request] of [
      ['search_catalog', '/ucp/catalog/search', { query: 'kettle' }],
      ['lookup_catalog', '/ucp/catalog/lookup', { ids: ['AP-100', 'nothing'] }],
      ['get_product', '/ucp/catalog/product', { id: 'AP-100' }],
      ['get_product', '/ucp/catalog/product', { id: 'nothing' }],
    ] as const) {
      const { status, body } = await tool(name, request);
      const rest = await ask(service, path, request, { profile: assistant.profile });
      expect([status, body]).toEqual([
        200,
        {
          jsonrpc: '2.0',
          id: 1,
          result: { structuredContent: rest.body, content: [{ type: 'text', text: rest.text }] },
        },
      ]);
    }
  });

  test('are listed, and nothing is streamed', async () => {
    const hello = await rpc({
      jsonrpc: '2.0',
      id: 'a',
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    });
    expect(hello.body).toMatchObject({
      id: 'a',
      result: { protocolVersion: '2025-06-18', capabilities: { tools: {} } },
    });
    expect((await rpc({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    const { body } = await rpc({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
    expect(body.result.tools.map(({ name }: { name: string }) => name)).toEqual([
      'search_catalog',
      'lookup_catalog',
      'get_product',
      'create_cart',
      'get_cart',
      'update_cart',
      'cancel_cart',
      'create_checkout',
      'get_checkout',
      'update_checkout',
      'cancel_checkout',
      'complete_checkout',
      'get_order',
    ]);
    expect((await rpc(undefined, { method: 'GET' })).status).toBe(405);
    expect((await rpc({ jsonrpc: '2.0', id: 3, method: 'resources/list' })).body.error.code).toBe(-32601);
  });

  test('say problems as JSON-RPC does, with the status of HTTP', async () => {
    const said = ({ status, body }: Answer) => [status, body.id, body.error.code, body.error.data.code];
    expect(said(await tool('search_catalog', { query: 7 }))).toEqual([400, 1, -32602, 'invalid_request']);
    expect(said(await tool('no_such_tool', {}))).toEqual([400, 1, -32602, 'invalid_request']);
    expect(said(await rpc('[]'))).toEqual([400, null, -32602, 'invalid_request']);
    expect(said(await rpc('{'))).toEqual([400, null, -32600, 'invalid_request']);
    expect(
      said(await tool('lookup_catalog', { ids: Array.from({ length: 26 }, (_, one) => `n${one}`) })),
    ).toEqual([400, 1, -32602, 'request_too_large']);
    assistant.profile = 'http://127.0.0.1:9/nobody';
    expect(said(await tool('search_catalog', { query: 'kettle' }))).toEqual([
      400,
      1,
      -32001,
      'invalid_profile_url',
    ]);
    assistant.profile = `${assistant.origin}/profile-gone.json`;
    assistant.answer = (_request, response) => {
      response.writeHead(404).end();
      return true;
    };
    expect(said(await tool('search_catalog', { query: 'kettle' }))).toEqual([
      424,
      1,
      -32001,
      'profile_unreachable',
    ]);
  });

  test('are not for pages of other sites, nor for other names of the host', async () => {
    const said = ({ status, body }: Answer) => [status, body.error?.data?.code ?? body.code];
    const request = { query: 'kettle' };
    expect(
      said(await tool('search_catalog', request, { headers: { origin: 'https://evil.example' } })),
    ).toEqual([403, 'origin_refused']);
    expect(said(await tool('search_catalog', request, { headers: { origin: 'null' } }))).toEqual([
      403,
      'origin_refused',
    ]);
    const own = await tool('search_catalog', request, { headers: { origin: 'http://demoshop.localhost' } });
    expect(own.status).toBe(200);
    const { app } = service;
    const rebound = await app.inject({
      method: 'POST',
      url: '/shop/DemoShop/ucp/mcp',
      headers: { host: 'rebound.example', 'content-type': 'application/json' },
      payload: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    });
    expect(rebound.statusCode).toBe(404);
  });
});

test('the official client of MCP lists and calls them', async () => {
  const { app } = service;
  const fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const headers = Object.fromEntries(new Headers(init.headers));
    const answer = await app.inject({
      method: (init.method ?? 'GET') as 'GET',
      url: new URL(url).pathname,
      headers: { ...headers, host: 'demoshop.localhost' },
      ...(typeof init.body === 'string' && { payload: init.body }),
    });
    const hasBody = answer.statusCode !== 202 && answer.statusCode !== 405;
    return new Response(hasBody ? answer.body : null, {
      status: answer.statusCode,
      headers: { 'content-type': String(answer.headers['content-type'] ?? '') },
    });
  };
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL('http://demoshop.localhost/ucp/mcp'), {
    fetch,
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(OPERATIONS.map(({ name }) => name));
  expect(
    tools.filter(({ annotations }) => annotations?.readOnlyHint === true).map(({ name }) => name),
  ).toEqual(OPERATIONS.filter(({ writes }) => !writes).map(({ name }) => name));
  const meta = { 'ucp-agent': { profile: assistant.profile } };
  const { structuredContent } = await client.callTool({
    name: 'search_catalog',
    arguments: { meta, catalog: { query: 'kettle' } },
  });
  expect(structuredContent).toMatchObject({ products: [{ title: 'Beacon Kettle 1.7 l' }] });
  await client.close();
});

test('the last calls are noted, and of each shop only so many', async () => {
  await service.app.assistantCalls.write();
  await service.db.run(sql`delete from assistant_call`);
  await search({ query: 'kettle' });
  await product({ id: 'nothing' });
  await search({});
  await service.app.assistantCalls.write();
  const calls = () =>
    service.db.many<{ operation: string; status: number; problem: string | null; profile: string }>(sql`
      select operation, status, problem, profile from assistant_call where shop_id = 'DemoShop' order by call_id`);
  expect(await calls()).toEqual([
    { operation: 'search_catalog', status: 200, problem: null, profile: assistant.profile },
    { operation: 'get_product', status: 200, problem: null, profile: assistant.profile },
    { operation: 'search_catalog', status: 400, problem: 'invalid_request', profile: assistant.profile },
  ]);
  for (let count = 0; count < 230; count++) await search({});
  await service.app.assistantCalls.write();
  expect(await calls()).toHaveLength(200);
});

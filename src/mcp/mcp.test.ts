import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenMerchant, type Merchant } from '../../test/admin.ts';
import {
  agree,
  CALLBACK,
  callTool,
  connectAssistant,
  connectLink,
  exchange,
  HOST,
  ORIGIN,
  registerClient,
  request,
  rpc,
} from '../../test/connected-assistant.ts';
import { shopFingerprint, startDemo } from '../../test/demo.ts';
import { startFakeAssistant } from '../../test/fake-assistant.ts';
import type { Answer, Service } from '../../test/service.ts';
import { oauthCleanup } from '../apps/oauth/tokens.ts';
import { sql } from '../db/sql.ts';
import { adminMessagesIn, LANGUAGES } from '../admin/messages.ts';
import { TOOLS } from './tools.ts';

let service: Service;
let merchant: Merchant;

beforeAll(async () => {
  service = await startDemo({ RATE_LIMIT_ANONYMOUS: '0' });
  merchant = await givenMerchant(service);
}, 60_000);
afterAll(() => service.close());
beforeEach(() => service.setClock(undefined));

const fingerprint = () => shopFingerprint(service, 'DemoShop');

async function firstOf(list: string, field: string): Promise<string> {
  const { body } = await service.call('GET', `/DemoShop/${list}`, { token: 'demo-all' });
  return body.items[0][field];
}

describe('how an assistant finds out', () => {
  test('without a token, where one is given', async () => {
    const { status, headers, body } = await rpc(service, undefined, 'tools/list');
    expect([status, headers['www-authenticate'], body.error.message]).toEqual([
      401,
      `Bearer resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/mcp", scope="products_read orders_read"`,
      'A token is needed',
    ]);
    const resource = await request(service, '/.well-known/oauth-protected-resource/mcp');
    expect(resource.body).toMatchObject({ resource: `${ORIGIN}/mcp`, authorization_servers: [ORIGIN] });
    const server = await request(service, '/.well-known/oauth-authorization-server');
    expect(server.body).toMatchObject({
      issuer: ORIGIN,
      authorization_endpoint: `${ORIGIN}/admin/connect`,
      token_endpoint: `${ORIGIN}/oauth/token`,
      revocation_endpoint: `${ORIGIN}/oauth/revoke`,
      revocation_endpoint_auth_methods_supported: ['none'],
      registration_endpoint: `${ORIGIN}/oauth/register`,
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
    });
  });

  test('by registering, with addresses that a code may travel to', async () => {
    const { status, body } = await request(service, '/oauth/register', {
      body: { client_name: ' A\nname ', redirect_uris: [CALLBACK, 'https://app.example/back'], scope: 'all' },
    });
    expect([status, body]).toEqual([
      201,
      {
        client_id: expect.stringMatching(/^[0-9A-F-]{36}$/),
        client_id_issued_at: expect.any(Number),
        client_name: 'A name',
        redirect_uris: [CALLBACK, 'https://app.example/back'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
    ]);
    for (const address of [
      'http://app.example/',
      'app://x',
      'https://a.example/#b',
      'https://u@a.example/',
      'no',
    ]) {
      const refused = await request(service, '/oauth/register', { body: { redirect_uris: [address] } });
      expect([address, refused.status, refused.body.error]).toEqual([address, 400, 'invalid_redirect_uri']);
    }
    for (const wrong of [
      {},
      [],
      { redirect_uris: [] },
      { redirect_uris: Array.from({ length: 11 }, () => CALLBACK) },
    ]) {
      const refused = await request(service, '/oauth/register', { body: wrong });
      expect([refused.status, typeof refused.body.error]).toEqual([400, 'string']);
    }
  });

  test('the official client goes the whole way, and its access is renewed', async () => {
    const opened: URL[] = [];
    const stored: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string } = {};
    const provider: OAuthClientProvider = {
      redirectUrl: CALLBACK,
      clientMetadata: { client_name: 'Claude', redirect_uris: [CALLBACK] },
      clientInformation: () => stored.client,
      saveClientInformation: (client) => void (stored.client = client),
      tokens: () => stored.tokens,
      saveTokens: (tokens) => void (stored.tokens = tokens),
      saveCodeVerifier: (verifier) => void (stored.verifier = verifier),
      codeVerifier: () => stored.verifier!,
      redirectToAuthorization: (address) => void opened.push(address),
    };
    const fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
      const { pathname, search } = new URL(url);
      const headers = Object.fromEntries(new Headers(init.headers));
      const answer = await service.app.inject({
        method: (init.method ?? 'GET') as 'GET',
        url: pathname + search,
        headers: { ...headers, host: HOST },
        ...(init.body != null && { payload: await new Response(init.body).text() }),
      });
      const isEmpty = [202, 204, 405].includes(answer.statusCode);
      return new Response(isEmpty ? null : answer.body, {
        status: answer.statusCode,
        headers: Object.entries(answer.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]),
      });
    };
    const transport = () =>
      new StreamableHTTPClientTransport(new URL(`${ORIGIN}/mcp`), { authProvider: provider, fetch });
    const newClient = () => new Client({ name: 'test', version: '1.0.0' });
    const first = transport();
    await expect(newClient().connect(first)).rejects.toThrow('Unauthorized');
    expect(opened[0]?.origin + opened[0]!.pathname).toBe(`${ORIGIN}/admin/connect`);
    // The only shop of this person, and then the consent.
    const chosen = await merchant.get(opened[0]!.pathname + opened[0]!.search);
    expect([chosen.status, chosen.location]).toEqual([
      303,
      `/admin/shops/DemoShop/apps/connect${opened[0]!.search}`,
    ]);
    const connecting = { clientId: '', verifier: '', search: opened[0]!.search.slice(1) };
    const back = await agree(merchant, connecting, { sees: ['products_read'] });
    expect([back.origin + back.pathname, back.searchParams.get('iss')]).toEqual([CALLBACK, ORIGIN]);
    await first.finishAuth(back.searchParams.get('code')!);

    const client = newClient();
    await client.connect(transport());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('list_products');
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    const { content } = (await client.callTool({ name: 'get_shop', arguments: {} })) as CallToolResult;
    expect(content).toEqual([{ type: 'text', text: expect.stringContaining('Harbour & Hearth') }]);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('kontor://guides/mcp.md');

    const before = stored.tokens!.access_token;
    service.setClock(new Date(Date.now() + 61 * 60_000));
    await client.callTool({ name: 'get_shop', arguments: {} });
    expect(stored.tokens!.access_token).not.toBe(before);
    await client.close();
  });
});

describe('the consent', () => {
  test('shows who asks, where the answer goes, and what is granted', async () => {
    const { search } = connectLink(await registerClient(service, '<b>Robot</b>'), {
      scope: 'products_read orders_write',
    });
    const { status, text } = await merchant.get(`/apps/connect?${search}`);
    expect(status).toBe(200);
    expect(text).toContain('Connect &lt;b&gt;Robot&lt;/b&gt;?');
    expect(text).toContain('127.0.0.1:4711');
    expect(text).toContain('any program on it may have sent you here');
    const ticked = [...text.matchAll(/<input[^>]*value="(\w+)"[^>]*>/g)]
      .filter(([input]) => input.includes('checked'))
      .map(([, scope]) => scope);
    expect(ticked).toEqual(['products_read']);
  });

  test('is asked of people who may manage apps, and grants no more than they may', async () => {
    const { search } = connectLink(await registerClient(service));
    const packer = await givenMerchant(service, 'orders');
    expect((await packer.get(`/apps/connect?${search}`)).status).toBe(403);
    expect((await packer.get(`/admin/connect?${search}`)).text).toContain('connect an assistant to any');
    const stranger = { ...merchant, ...(await givenMerchant(service, 'owner', 'EmptyShop')) };
    expect((await stranger.get(`/admin/shops/DemoShop/apps/connect?${search}`)).status).toBe(404);
    const none = await merchant.post(`/apps/connect?${search}`, {
      answer: 'agree',
      sees: ['settings_write'],
    });
    expect([none.status, none.text.includes('Select at least one permission')]).toEqual([400, true]);
  });

  test('a wrong request is shown, and leads nowhere', async () => {
    const clientId = await registerClient(service);
    for (const more of [
      { redirect_uri: 'https://evil.example/' },
      { redirect_uri: `${CALLBACK}/more` },
      { code_challenge_method: 'plain' },
      { code_challenge: 'short' },
      { response_type: 'token' },
      { resource: 'https://other.example/mcp' },
      { client_id: '0193A5F0-7C1E-7B3A-9D2E-4F6A8B0C1D2E' },
      { client_id: 'https://127.0.0.1:1/client.json' },
      { state: 's'.repeat(1_001) },
    ]) {
      const { search } = connectLink(clientId, more);
      const answers = [
        await merchant.get(`/apps/connect?${search}`),
        await merchant.post(`/apps/connect?${search}`, { answer: 'agree', sees: 'products_read' }),
      ];
      for (const { status, headers, location } of answers) {
        expect([more, status, headers['refresh'], location]).toEqual([more, 400, undefined, undefined]);
      }
    }
  });

  test('that is declined tells the assistant, and connects nothing', async () => {
    const { search } = connectLink(await registerClient(service, 'Unwanted'));
    const { headers } = await merchant.post(`/apps/connect?${search}`, { answer: 'decline' });
    const back = new URL(String(headers['refresh']).slice(7));
    expect(Object.fromEntries(back.searchParams)).toEqual({
      error: 'access_denied',
      state: 'a state',
      iss: ORIGIN,
    });
    expect((await merchant.get('/apps')).text).not.toContain('Unwanted');
  });

  test('a program of a machine may take any port', async () => {
    const connecting = connectLink(await registerClient(service), {
      redirect_uri: 'http://127.0.0.1:59999/callback',
    });
    const back = await agree(merchant, connecting);
    const { status } = await exchange(service, connecting, back.searchParams.get('code')!, {
      redirect_uri: 'http://127.0.0.1:59999/callback',
    });
    expect(status).toBe(200);
  });
});

test('a client whose id is the address of its description is connected, and shown by its host', async () => {
  const site = await startFakeAssistant();
  const clientId = `${site.origin}/client.json`;
  site.file = { client_id: clientId, client_name: 'Described', redirect_uris: [CALLBACK] };
  const connecting = connectLink(clientId);
  const { status, text } = await merchant.get(`/apps/connect?${connecting.search}`);
  expect([status, text.includes('Connect Described?'), text.includes(new URL(site.origin).host)]).toEqual([
    200,
    true,
    true,
  ]);
  const code = (await agree(merchant, connecting)).searchParams.get('code')!;
  const { body } = await exchange(service, connecting, code);
  expect((await rpc(service, body.access_token, 'tools/list')).status).toBe(200);

  const before = await fingerprint();
  for (const file of [
    { client_id: `${site.origin}/other.json`, redirect_uris: [CALLBACK] },
    { client_id: clientId, redirect_uris: ['http://evil.example/'] },
    { client_id: clientId, redirect_uris: [] },
    { redirect_uris: [CALLBACK] },
    'no JSON',
    `{"client_id":"${'x'.repeat(2_000_000)}"}`,
  ]) {
    site.file = file;
    const refused = await merchant.post(`/apps/connect?${connecting.search}`, {
      answer: 'agree',
      sees: 'products_read',
    });
    expect([file, refused.status, refused.headers['refresh']]).toEqual([file, 400, undefined]);
  }
  site.file = { client_id: clientId, redirect_uris: [CALLBACK] };
  site.answer = (_request, response) => {
    response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    return true;
  };
  expect((await merchant.get(`/apps/connect?${connecting.search}`)).status).toBe(400);
  expect(await fingerprint()).toEqual(before);
  await site.close();
});

describe('codes and tokens', () => {
  test('a code works once, in time, and for the one who asked', async () => {
    const connecting = connectLink(await registerClient(service, 'Once'));
    const newCode = async () => (await agree(merchant, connecting)).searchParams.get('code')!;
    const before = await fingerprint();
    for (const more of [
      { code_verifier: 'another' },
      { client_id: await registerClient(service) },
      { redirect_uri: 'http://127.0.0.1:4711/other' },
    ]) {
      const code = await newCode();
      const refused = await exchange(service, connecting, code, more);
      expect([more, refused.status, refused.body.error]).toEqual([more, 400, 'invalid_grant']);
      expect((await exchange(service, connecting, code)).status).toBe(400);
    }
    const late = await newCode();
    service.setClock(new Date(Date.now() + 5 * 60_000 + 1));
    expect((await exchange(service, connecting, late)).body.error).toBe('invalid_grant');
    service.setClock(undefined);
    expect((await fingerprint()).app).toEqual(before.app);
    const code = await newCode();
    const { body, headers } = await exchange(service, connecting, code);
    expect([body, headers['cache-control']]).toEqual([
      {
        access_token: expect.stringMatching(/^DemoShop\.[A-Za-z0-9]{32}$/),
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: expect.stringMatching(/^DemoShop\.[A-Za-z0-9]{32}\.[A-Za-z0-9]{32}$/),
        scope: 'customers_read orders_read products_read',
      },
      'no-store',
    ]);
  });

  test('a code that is used twice ends the connection of its first use, and no later one', async () => {
    const connecting = connectLink(await registerClient(service, 'Replayed'));
    const newCode = async () => (await agree(merchant, connecting)).searchParams.get('code')!;
    const works = async ({ body }: Answer) =>
      (await rpc(service, body.access_token, 'tools/list')).status === 200;
    const first = await newCode();
    const begun = await exchange(service, connecting, first);
    expect(await works(begun)).toBe(true);
    // Whoever sends it again, even without the verifier.
    const again = await exchange(service, connecting, first, { code_verifier: 'another' });
    expect([again.status, again.body]).toEqual([
      400,
      {
        error: 'invalid_grant',
        error_description: 'The code was used before, so the connection has ended',
      },
    ]);
    expect(await works(begun)).toBe(false);
    const form = { grant_type: 'refresh_token', refresh_token: begun.body.refresh_token };
    const renewed = await request(service, '/oauth/token', {
      form: { ...form, client_id: connecting.clientId },
    });
    expect(renewed.body.error).toBe('invalid_grant');

    const second = await newCode();
    await exchange(service, connecting, second);
    const third = await exchange(service, connecting, await newCode());
    expect((await exchange(service, connecting, second)).body.error_description).toMatch(
      /^The code is unknown/,
    );
    expect(await works(third)).toBe(true);

    const code = await newCode();
    const both = await Promise.all([1, 2].map(() => exchange(service, connecting, code)));
    expect(both.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 400]);
    expect(await works(both.find(({ status }) => status === 200)!)).toBe(false);
  });

  test('are given back, both at once, by the assistant that has them', async () => {
    const revoke = (form: Record<string, string>) => request(service, '/oauth/revoke', { form });
    for (const [name, hint] of [
      ['token', 'access_token'],
      ['refreshToken', 'refresh_token'],
      // The hint may be wrong.
      ['refreshToken', 'access_token'],
    ] as const) {
      const connected = await connectAssistant(service, merchant, {}, 'Leaver');
      const { clientId, token, refreshToken } = connected;
      const other = await revoke({ token: connected[name], client_id: await registerClient(service) });
      expect([other.status, other.body.error]).toEqual([400, 'invalid_grant']);
      expect((await rpc(service, token, 'tools/list')).status).toBe(200);
      const given = { token: connected[name], token_type_hint: hint, client_id: clientId };
      for (const answer of [await revoke(given), await revoke(given)]) {
        expect([answer.status, answer.text, answer.headers['cache-control']]).toEqual([200, '', 'no-store']);
      }
      expect((await rpc(service, token, 'tools/list')).status).toBe(401);
      const refreshed = await request(service, '/oauth/token', {
        form: { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId },
      });
      expect(refreshed.body.error).toBe('invalid_grant');
    }
    const before = await fingerprint();
    for (const [form, status, error] of [
      [{ token: 'demo-all', client_id: 'x' }, 200, undefined],
      [{ token: 'DemoShop.demo-all', client_id: 'x' }, 200, undefined],
      [{ token: `NoShop.${'x'.repeat(32)}`, client_id: 'x' }, 200, undefined],
      [{ token: 'x' }, 401, 'invalid_client'],
      [{ client_id: 'x' }, 400, 'invalid_request'],
    ] as const) {
      const answer = await revoke(form);
      expect([form, answer.status, answer.body?.error]).toEqual([form, status, error]);
    }
    expect(await fingerprint()).toEqual(before);
  });

  test('are not in the database, and open nothing but the tools', async () => {
    const { token, refreshToken } = await connectAssistant(service, merchant);
    for (const secret of [token, ...refreshToken.split('.').slice(1)]) {
      const rows = await service.db.many<{ found: string }>(sql`
        select token::text as found from token union all select refresh_token::text from refresh_token
        union all select consent_code::text from consent_code`);
      expect(rows.filter(({ found }) => found.includes(secret))).toEqual([]);
    }
    expect((await service.call('GET', '/DemoShop/orders', { token })).status).toBe(401);
    expect((await rpc(service, 'demo-all', 'tools/list')).status).toBe(401);
    expect((await rpc(service, token.replace('DemoShop', 'EmptyShop'), 'tools/list')).status).toBe(401);
    expect((await rpc(service, token, 'tools/list')).status).toBe(200);
  });

  test('a refresh token changes with each use, and one that is used twice ends the connection', async () => {
    const { clientId, token, refreshToken } = await connectAssistant(service, merchant, {}, 'Twice');
    const refresh = (secret: string, more = {}) =>
      request(service, '/oauth/token', {
        form: { grant_type: 'refresh_token', refresh_token: secret, client_id: clientId, ...more },
      });
    expect((await refresh(refreshToken, { client_id: 'another' })).body.error).toBe('invalid_grant');
    expect((await refresh(refreshToken, { resource: 'https://other.example' })).body.error).toBe(
      'invalid_target',
    );
    const next = (await refresh(refreshToken)).body;
    expect((await rpc(service, token, 'tools/list')).status).toBe(401);
    expect((await rpc(service, next.access_token, 'tools/list')).status).toBe(200);
    expect((await refresh(refreshToken)).body).toMatchObject({
      error: 'invalid_grant',
      error_description: 'The refresh token was used before, so the connection has ended',
    });
    expect((await rpc(service, next.access_token, 'tools/list')).status).toBe(401);
    expect((await refresh(next.refresh_token)).body.error).toBe('invalid_grant');
  });

  test('end with the app, with their time, and with the work of the person', async () => {
    const manager = await givenMerchant(service, 'manager');
    const { token } = await connectAssistant(service, manager, { does: ['products_write'] }, 'Ends');
    const page = await merchant.get('/apps');
    const appId = /\/apps\/([0-9A-F-]{36})">Ends</.exec(page.text)![1]!;
    expect((await merchant.get(`/apps/${appId}`)).text).toContain('End connection');
    expect((await merchant.get(`/apps/${appId}/tokens`)).status).toBe(404);
    // A role that may not change products takes that from the assistant too.
    const userId = (await service.db.one<{ userId: string }>(sql`
      select user_id as "userId" from connected_assistant where app_id = ${appId}`))!.userId;
    const names = async () =>
      (await rpc(service, token, 'tools/list')).body.result.tools.map(({ name }: { name: string }) => name);
    expect(await names()).toContain('create_product');
    await service.db.run(sql`update shop_user set role = 'orders' where user_id = ${userId}`);
    expect(await names()).not.toContain('create_product');
    await service.db.run(sql`delete from shop_user where user_id = ${userId}`);
    expect((await rpc(service, token, 'tools/list')).status).toBe(401);
    await service.db.run(sql`
      insert into shop_user (shop_id, user_id, role, created_at) values ('DemoShop', ${userId}, 'owner', ${service.db.now})`);
    expect((await rpc(service, token, 'tools/list')).status).toBe(200);
    await merchant.post(`/apps/${appId}/uninstall`);
    expect((await rpc(service, token, 'tools/list')).status).toBe(401);

    const second = await connectAssistant(service, merchant, {}, 'Unused');
    service.setClock(new Date(Date.now() + 61 * 86_400_000));
    await oauthCleanup.run(service.db, 500);
    const left = await service.db.one<{ tokens: number }>(sql`
      select count(*) as tokens from token where token_hash in (
        select token_hash from token join app using (shop_id, app_id) where app.name = 'Unused')`);
    expect([left, (await rpc(service, second.token, 'tools/list')).status]).toEqual([{ tokens: 0 }, 401]);
  });
});

describe('tools', () => {
  test('are those of the granted permissions, described for whoever calls them', async () => {
    const { token } = await connectAssistant(service, merchant, {
      sees: ['orders_read'],
      does: ['orders_write'],
    });
    const { tools } = (await rpc(service, token, 'tools/list')).body.result;
    const expected = TOOLS.filter(({ scopes }) => scopes.every((scope) => scope.startsWith('orders_')));
    expect(tools.map(({ name }: { name: string }) => name)).toEqual([
      ...expected.map(({ name }) => name),
      'get_plan',
    ]);
    const refund = tools.find(({ name }: { name: string }) => name === 'create_order_refund');
    expect(refund).toMatchObject({
      title: 'Create order refund',
      inputSchema: { type: 'object', required: ['orderId', 'amount'], additionalProperties: false },
      annotations: { readOnlyHint: false, destructiveHint: true },
    });
    expect(JSON.stringify(tools).length).toBeLessThan(60_000);
    expect(await callTool(service, token, 'delete_product', { productId: 'x' })).toBe(
      'Error: The permission products_write was not granted',
    );
  });

  test('read and write at once, and the log names the assistant', async () => {
    const { token } = await connectAssistant(service, merchant, { does: ['products_write'] }, 'Writer');
    const productId = await firstOf('products', 'productId');
    expect(JSON.parse(await callTool(service, token, 'get_product', { productId }))).toMatchObject({
      productId,
    });
    const changed = await callTool(service, token, 'change_prices', { prices: [{ productId, price: 47.5 }] });
    expect(changed).not.toContain('Error');
    const { body } = await service.call('GET', `/DemoShop/products/${productId}`, { token: 'demo-all' });
    expect(body.priceInfo.price.amount).toBe(47.5);
    const entry = await service.db.one<object>(sql`
      select app_name as "appName", route, object from audit_entry where shop_id = 'DemoShop' order by entry_id desc limit 1`);
    expect(entry).toEqual({
      appName: 'Writer',
      route: '/rs/shops/:shopId/products/:productId',
      object: { productId },
    });
  });

  test('refuse what they can not do in words, and change nothing', async () => {
    const { token } = await connectAssistant(service, merchant, { does: ['products_write', 'orders_write'] });
    const productId = await firstOf('products', 'productId');
    const before = await fingerprint();
    for (const [name, input, answer] of [
      ['no_such_tool', {}, 'Problem: There is no such tool'],
      ['get_product', {}, 'Error: MISSING at productId'],
      ['get_product', { productId: 7 }, 'Error: WRONG_TYPE at productId'],
      ['get_product', { productId: '../orders' }, 'Error: '],
      ['get_product', { productId, more: 1 }, 'Error: UNKNOWN_FIELD at more'],
      [
        'update_product',
        { productId, body: [{ op: 'replace', path: '/priceInfo/price/amount', value: 1 }] },
        'Error: Prices are changed with change_prices',
      ],
      ['update_product', { productId, body: [{ op: 'replace', path: '/nothing', value: 1 }] }, 'Error: '],
      ['get_plan', { planId: 'x' }, 'Error: There is no such plan'],
    ] as const) {
      expect([name, await callTool(service, token, name, input)]).toEqual([
        name,
        expect.stringContaining(answer),
      ]);
    }
    expect(await fingerprint()).toEqual(before);
  });
});

test('every tool that answers a plan has words in the languages of the admin', () => {
  const planned = TOOLS.filter(({ kind }) => kind === 'plans').map(({ name }) => name);
  for (const language of LANGUAGES) {
    const { tools } = adminMessagesIn(language).plans;
    expect([language, Object.keys(tools).toSorted()]).toEqual([
      language,
      ['change_prices', ...planned].toSorted(),
    ]);
  }
});

describe('plans', () => {
  const planOf = async (token: string, name: string, input: object) =>
    JSON.parse(await callTool(service, token, name, input)) as { planId: string; confirmAt: string };
  const pathOf = ({ confirmAt }: { confirmAt: string }) => confirmAt.slice(ORIGIN.length);

  test('change nothing until a person confirms them, once', async () => {
    const { token } = await connectAssistant(service, merchant, { does: ['products_write'] }, 'Planner');
    const productId = await firstOf('products?page=2&resultsPerPage=1', 'productId');
    const product = () => service.call('GET', `/DemoShop/products/${productId}`, { token: 'demo-all' });
    const { name } = (await product()).body;
    const plan = await planOf(token, 'delete_product', { productId });
    expect((await product()).status).toBe(200);
    const page = await merchant.get(pathOf(plan));
    expect([page.status, page.text.includes('Delete a product'), page.text.includes('Planner')]).toEqual([
      200,
      true,
      true,
    ]);
    expect(page.text).toContain(name.replace('&', '&amp;'));
    expect(await callTool(service, token, 'get_plan', { planId: plan.planId })).toContain('"open"');
    const twice = await Promise.all([1, 2].map(() => merchant.post(pathOf(plan), { answer: 'confirm' })));
    expect(new Set(twice.map(({ status }) => status))).toEqual(new Set([303, 409]));
    expect((await product()).status).toBe(404);
    expect(await callTool(service, token, 'get_plan', { planId: plan.planId })).toContain('"confirmed"');
    const entries = await service.db.many<object>(sql`
      select app_name as "who", method, route from audit_entry where shop_id = 'DemoShop' order by entry_id desc limit 3`);
    expect(entries).toEqual([
      { who: merchant.email, method: 'DELETE', route: '/rs/shops/:shopId/products/:productId' },
      { who: merchant.email, method: 'POST', route: '/admin/shops/:shopId/plans/:planId/confirm' },
      { who: 'Planner', method: 'POST', route: '/mcp/plans' },
    ]);
  });

  test('are answered to all that moves money or makes orders cheaper, and end with the connection', async () => {
    const does = ['orders_write', 'coupons_write'];
    const { token } = await connectAssistant(service, merchant, { does }, 'Payer');
    const orderId = await firstOf('orders', 'orderId');
    const before = await fingerprint();
    const links: string[] = [];
    const campaign = {
      locale: 'en_GB',
      name: 'All',
      currency: 'EUR',
      type: { name: 'PERCENT', amount: 100 },
    };
    const couponCampaignId = orderId;
    for (const [name, input] of [
      ['create_order_payment', { orderId, amount: 1 }],
      ['create_return', { orderId, lines: [{ lineItemId: orderId, quantity: 1 }], refund: 1 }],
      ['create_coupon_campaign', { ...campaign, identifier: 'all' }],
      ['change_coupon_campaign', { ...campaign, couponCampaignId }],
      ['make_coupon_codes', { couponCampaignId, count: 1 }],
    ] as const) {
      const answer = await callTool(service, token, name, input);
      expect([name, answer]).toEqual([name, expect.stringContaining('confirmAt')]);
      links.push(pathOf(JSON.parse(answer)));
    }
    const ignored = { assistant_plan: 0, audit_entry: 0 };
    expect({ ...(await fingerprint()), ...ignored }).toEqual({ ...before, ...ignored });

    const { text } = await merchant.get('/apps');
    const appId = /\/apps\/([0-9A-F-]{36})">Payer</.exec(text)![1]!;
    expect((await merchant.post(`/apps/${appId}/uninstall`)).status).toBe(303);
    const ended = await fingerprint();
    expect((await merchant.post(links[0]!, { answer: 'confirm' })).status).toBe(409);
    expect(await fingerprint()).toEqual(ended);
  });

  test('of many prices are done together, and one after the other is many', async () => {
    const { token } = await connectAssistant(service, merchant, { does: ['products_write'] });
    const { body } = await service.call('GET', '/DemoShop/products?resultsPerPage=2', { token: 'demo-all' });
    const prices = body.items.map(({ productId }: { productId: string }, index: number) => ({
      productId,
      price: 10 + index,
    }));
    const plan = await planOf(token, 'change_prices', { prices });
    expect((await merchant.post(pathOf(plan), { answer: 'confirm' })).status).toBe(303);
    for (const { productId, price } of prices) {
      const { body: after } = await service.call('GET', `/DemoShop/products/${productId}`, {
        token: 'demo-all',
      });
      expect(after.priceInfo.price.amount).toBe(price);
    }
    const answers: string[] = [];
    for (let time = 0; time < 11; time++) {
      answers.push(await callTool(service, token, 'change_prices', { prices: [prices[0]] }));
    }
    expect(answers.map((answer) => answer.includes('confirmAt'))).toEqual([
      ...Array.from({ length: 10 }, () => false),
      true,
    ]);
  });

  test('that are refused, declined, changed, late or not for this role change nothing', async () => {
    const { token } = await connectAssistant(service, merchant, { does: ['orders_write'] });
    const orderId = await firstOf('orders', 'orderId');
    const catalogue = await givenMerchant(service, 'catalogue');
    const neighbour = await givenMerchant(service, 'owner', 'EmptyShop');
    const before = await fingerprint();
    const unchanged = async () => {
      const after = await fingerprint();
      expect({ ...after, assistant_plan: 0, audit_entry: 0 }).toEqual({
        ...before,
        assistant_plan: 0,
        audit_entry: 0,
      });
    };
    const plan = () => planOf(token, 'create_order_refund', { orderId, amount: 999_999 });
    const tooMuch = await plan();
    const refused = await merchant.post(pathOf(tooMuch), { answer: 'confirm' });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(refused.status).toBeLessThan(500);
    await unchanged();
    // It is still open, because nothing was done.
    const declined = await merchant.post(pathOf(tooMuch), { answer: 'decline' });
    expect(declined.status).toBe(303);
    expect((await merchant.post(pathOf(tooMuch), { answer: 'confirm' })).status).toBe(409);

    const other = pathOf(await plan());
    expect((await merchant.get(`${other.slice(0, -3)}AAA`)).status).toBe(404);
    expect((await merchant.get(other.split('?')[0]!)).status).toBe(404);
    const seen = await catalogue.get(other);
    expect([seen.status, seen.text.includes('value="confirm"')]).toEqual([200, false]);
    expect((await catalogue.post(other, { answer: 'confirm' })).status).toBe(403);
    expect((await neighbour.get(other)).status).toBe(404);
    expect((await neighbour.get(other.replace('DemoShop', 'EmptyShop'))).status).toBe(404);
    service.setClock(new Date(Date.now() + 15 * 60_000 + 1_000));
    expect((await merchant.get(other)).text).not.toContain('value="confirm"');
    expect((await merchant.post(other, { answer: 'confirm' })).status).toBe(409);
    service.setClock(undefined);
    await unchanged();
    const another = await connectAssistant(service, merchant, {}, 'Curious');
    const { planId } = await plan();
    expect(await callTool(service, another.token, 'get_plan', { planId })).toBe(
      'Error: There is no such plan',
    );
  });

  test('are bounded for each assistant', async () => {
    const { token } = await connectAssistant(service, merchant, { does: ['orders_write'] });
    const orderId = await firstOf('orders', 'orderId');
    for (let number = 0; number < 20; number++) await planOf(token, 'cancel_order', { orderId });
    expect(await callTool(service, token, 'cancel_order', { orderId })).toContain('Error: 20 plans wait');
  });
});

describe('the protocol', () => {
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headersOf = (method: string, more = {}) => ({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...more,
  });

  test('of 2026-07-28 says its version itself', async () => {
    const { token } = await connectAssistant(service, merchant);
    const modern = (method: string, params = {}, headers = headersOf(method)) =>
      rpc(service, token, method, { ...params, _meta: META }, headers);
    const found = await modern('server/discover');
    expect(found.body.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'],
      capabilities: { tools: {}, resources: {} },
      cacheScope: 'private',
      ttlMs: 300_000,
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'kontor' } },
    });
    const call = await modern(
      'tools/call',
      { name: 'get_shop', arguments: {} },
      headersOf('tools/call', { 'mcp-name': '=?base64?Z2V0X3Nob3A=?=' }),
    );
    expect(call.body.result).toMatchObject({ resultType: 'complete', content: [{ type: 'text' }] });
    const problem = async (answer: Promise<{ status: number; body: { error: { code: number } } }>) => {
      const { status, body } = await answer;
      return [status, body.error.code];
    };
    expect(await problem(modern('initialize'))).toEqual([404, -32_601]);
    expect(await problem(modern('tools/list', {}, headersOf('tools/call')))).toEqual([400, -32_020]);
    expect(
      await problem(modern('tools/call', { name: 'get_shop' }, headersOf('tools/call', { 'mcp-name': 'x' }))),
    ).toEqual([400, -32_020]);
    expect(await problem(rpc(service, token, 'tools/list', { _meta: META }))).toEqual([400, -32_020]);
    expect(
      await problem(
        rpc(
          service,
          token,
          'tools/list',
          { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': '1900-01-01' } },
          { 'mcp-protocol-version': '1900-01-01' },
        ),
      ),
    ).toEqual([400, -32_022]);
    expect(await problem(rpc(service, token, 'tools/list', {}, headersOf('tools/list')))).toEqual([
      400, -32_602,
    ]);
  });

  test('of older versions begins with a greeting', async () => {
    const { token } = await connectAssistant(service, merchant);
    const hello = await rpc(service, token, 'initialize', { protocolVersion: '2025-11-25' });
    expect(hello.body.result).toMatchObject({
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'kontor' },
    });
    expect((await rpc(service, token, 'ping')).body.result).toEqual({});
    expect((await rpc(service, token, 'prompts/list')).body.error.code).toBe(-32_601);
    const authorization = `Bearer ${token}`;
    const raw = (body: unknown) => request(service, '/mcp', { headers: { authorization }, body });
    expect((await raw({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    expect([(await raw('{')).status, (await raw([])).status, (await raw('null')).status]).toEqual([
      400, 400, 400,
    ]);
    expect((await raw({ jsonrpc: '2.0', id: 1, method: 'ping', more: 'x'.repeat(262_144) })).status).toBe(
      413,
    );
    expect((await request(service, '/mcp')).status).toBe(405);
  });

  test('is for the host of the service alone', async () => {
    const { token } = await connectAssistant(service, merchant);
    const headers = (more: object) => ({ authorization: `Bearer ${token}`, ...more });
    const body = { jsonrpc: '2.0', id: 1, method: 'ping' };
    for (const more of [{ host: 'evil.example' }, { origin: 'https://evil.example' }, { origin: 'null' }]) {
      expect([more, (await request(service, '/mcp', { headers: headers(more), body })).status]).toEqual([
        more,
        403,
      ]);
    }
    expect((await request(service, '/mcp', { headers: headers({ origin: ORIGIN }), body })).status).toBe(200);
    const onShop = await request(service, '/mcp', { headers: headers({ host: 'demoshop.localhost' }), body });
    expect(onShop.status).toBe(404);
  });
});

test('developers read the guides and the reference', async () => {
  const { token } = await connectAssistant(service, merchant);
  const read = async (uri: string) => {
    const { body } = await rpc(service, token, 'resources/read', { uri });
    return body.error ? [body.error.code, body.error.data.uri] : body.result.contents[0];
  };
  expect(await read('kontor://guides/mcp.md')).toMatchObject({
    mimeType: 'text/markdown',
    text: expect.stringMatching(/^# Assistants/),
  });
  expect((await read('kontor://reference')).text).toContain(
    '- createOrderRefund: POST /manage/shops/{shopId}/orders/{orderId}/refunds (Create order refund)',
  );
  const refund = JSON.parse((await read('kontor://reference/createOrderRefund')).text);
  expect(refund).toMatchObject({ method: 'POST', operationId: 'createOrderRefund' });
  expect(Object.keys(refund.components)).toContain('parameters/shopId');
  for (const uri of [
    'kontor://guides/../package.json',
    'kontor://reference/nothing',
    'file:///etc/passwd',
    '',
  ]) {
    expect(await read(uri)).toEqual([-32_602, uri]);
  }
});

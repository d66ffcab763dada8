import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAdmin } from '../admin.ts';
import { browsing, look } from '../browser.ts';

/** A merchant connects an assistant with a browser, and confirms what it plans: with the official client, over the network. */

const shop = browsing({ onLocalhost: true });
const PATIENCE = { timeout: 90_000 };

/** Where the browser takes the code: a program on the machine of the merchant. */
let program: Server;
let callback: string;
let arrived: (address: URL) => void = () => {};

beforeAll(async () => {
  program = createServer(({ url }, response) => {
    if (url!.startsWith('/callback')) arrived(new URL(url!, callback));
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Done</title>');
  }).listen(0, '127.0.0.1');
  await once(program, 'listening');
  callback = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
});
afterAll(() => void program.close());

/** The browser's side of the client: what it keeps, and the links that it opens. */
function newProvider(): OAuthClientProvider & { opened: URL[] } {
  let client: OAuthClientInformationMixed | undefined;
  let tokens: OAuthTokens | undefined;
  let kept = '';
  const opened: URL[] = [];
  return {
    opened,
    redirectUrl: callback,
    clientMetadata: { client_name: 'Harbour Helper', redirect_uris: [callback] },
    clientInformation: () => client,
    saveClientInformation: (given) => void (client = given),
    tokens: () => tokens,
    saveTokens: (given) => void (tokens = given),
    codeVerifier: () => kept,
    saveCodeVerifier: (given) => void (kept = given),
    redirectToAuthorization: (address) => void opened.push(address),
  };
}

test.each(['wide', 'phone'] as const)(
  'an assistant is connected, proposes a change and is ended, on a screen that is a %s one',
  PATIENCE,
  async (screen) => {
    shop.otherSites.push(new URL(callback).origin);
    const provider = newProvider();
    const transport = () =>
      new StreamableHTTPClientTransport(new URL(`${shop.serviceOrigin}/mcp`), { authProvider: provider });
    const first = transport();
    await expect(new Client({ name: 'test', version: '1.0.0' }).connect(first)).rejects.toThrow(
      'Unauthorized',
    );

    const page = await openAdmin(shop, '/apps/connect', { screen });
    await look(page);
    await page.goto(provider.opened[0]!.href);
    await page.getByRole('heading', { name: 'Connect Harbour Helper?' }).waitFor();
    await look(page);
    const does = page.getByRole('group', { name: /It may also change/ });
    expect(await does.getByRole('checkbox', { checked: true }).count()).toBe(0);
    await does.getByLabel('Add, change and delete products, prices and stock').check();
    const back = new Promise<URL>((resolve) => (arrived = resolve));
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await first.finishAuth((await back).searchParams.get('code')!);

    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(transport());
    const call = async (name: string, input: object) => {
      const { content } = (await client.callTool({ name, arguments: { ...input } })) as CallToolResult;
      const [part] = content;
      return JSON.parse(part?.type === 'text' ? part.text : '');
    };
    const { items } = await call('list_products', { resultsPerPage: 1, page: screen === 'wide' ? 3 : 4 });
    const [{ productId, name }] = items;
    const { planId, confirmAt } = await call('delete_product', { productId });
    await page.goto(confirmAt);
    await page.getByRole('heading', { name: 'Delete a product' }).waitFor();
    await page.getByRole('link', { name }).waitFor();
    await look(page);
    await page.getByRole('button', { name: 'Do it' }).click();
    await page.getByText('It is done.').first().waitFor();
    expect(await call('get_plan', { planId })).toMatchObject({ state: 'confirmed' });

    await page.goto('/admin/shops/DemoShop/apps');
    await page.getByRole('link', { name: 'Harbour Helper' }).click();
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'End connection' }).click();
    await page.getByText('Harbour Helper is no longer connected.').waitFor();
    await expect(client.callTool({ name: 'get_shop', arguments: {} })).rejects.toThrow();
  },
);

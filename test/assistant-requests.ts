import { createHash, randomBytes } from 'node:crypto';
import { OPERATIONS as SHOP_OPERATIONS, type AssistantOperation } from '../src/assistants/operations.ts';
import { exchangeCode, issueCode } from '../src/apps/oauth/tokens.ts';
import { findOrCreateUser, putRole } from '../src/admin/users/queries.ts';
import { sql } from '../src/db/sql.ts';
import { SCOPES, type Scope } from '../src/http/scopes.ts';
import { newId } from '../src/kernel/ids.ts';
import { CHANGE_PRICES, changesPrice, OPERATIONS as CALLED, type Tool } from '../src/mcp/tools.ts';
import { CALLBACK, HOST } from './connected-assistant.ts';
import { injected, type FuzzRequest } from './fuzz/damage.ts';
import { endSandbox, OPERATIONS, validCall, type Operation, type Shop } from './operations.ts';
import type { Answer, Service } from './service.ts';

/**
 * Requests of assistants that succeed, made from the operations themselves: those of a shop by REST and as tools, and the
 * tools of merchants. The sweeps go over them, so a new operation is swept by itself.
 */

/** An operation of a shop, in one of its two forms. */
export interface ShopCall {
  name: string;
  operation: AssistantOperation;
  transport: 'rest' | 'mcp';
}

export const SHOP_CALLS: readonly ShopCall[] = SHOP_OPERATIONS.flatMap((operation) => [
  { name: `${operation.method} /ucp${operation.path}`, operation, transport: 'rest' as const },
  { name: `/ucp/mcp ${operation.name}`, operation, transport: 'mcp' as const },
]);

const hostOf = ({ shopId }: Pick<Shop, 'shopId'>) => `${shopId.toLowerCase()}.localhost`;

const rpcBody = (name: string, given: object) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } });

/** A request that succeeds in this shop; with `idsFrom`, one that names another shop's things. */
export async function shopRequest(
  { operation, transport }: ShopCall,
  shop: Shop,
  profile: string,
  idsFrom: Shop = shop,
): Promise<FuzzRequest> {
  const { method, path, argument, name } = operation;
  // Sandboxes have nothing for assistants.
  await endSandbox(idsFrom);
  const id = path.includes('/:id') ? await idBelow(path, idsFrom, profile) : '';
  const given = argument === undefined ? undefined : await validInput(operation, idsFrom);
  const headers = { host: hostOf(shop), 'content-type': 'application/json' };
  const meta = { 'ucp-agent': { profile } };
  return transport === 'mcp'
    ? {
        method: 'POST',
        path: '/ucp/mcp',
        query: '',
        headers,
        body: rpcBody(name, { meta, ...(id !== '' && { id }), ...(argument && { [argument]: given }) }),
      }
    : {
        method,
        path: `/ucp${path.replace(':id', id)}`,
        query: '',
        headers: { ...headers, 'ucp-agent': `profile="${profile}"` },
        body: given === undefined ? undefined : JSON.stringify(given),
      };
}

/** The smallest request that is right, by what the operation asks for. */
async function validInput({ input }: AssistantOperation, shop: Shop): Promise<object> {
  const { properties } = input;
  if (!['ids', 'id', 'line_items', 'query'].some((name) => name in properties)) return {};
  if ('query' in properties) return { query: 'kettle' };
  const row = await shop.service.db.one<{ id: string }>(sql`
    select upper(product_id::text) as id from product
    where shop_id = ${shop.shopId} and product_number = 'AP-100'`);
  const { id } = row!;
  if ('line_items' in properties) return { line_items: [{ item: { id }, quantity: 1 }] };
  return 'ids' in properties ? { ids: [id] } : { id };
}

/** An id of what an operation with this path is about, made for it. */
async function idBelow(path: string, shop: Shop, profile: string): Promise<string> {
  const noun = path.split('/')[1]!;
  const create = SHOP_CALLS.find(({ name }) => name === `POST /ucp/${noun === 'carts' ? noun : SESSIONS}`)!;
  const request = await shopRequest(create, shop, profile);
  const { body } = await sent(shop.service, request);
  if (noun === 'carts' || noun === SESSIONS) return body.id;
  if (noun !== 'orders') throw new Error(`No test knows how to make an id below /${noun}`);
  await orderOf(shop, body.id);
  const { headers } = request;
  const read: FuzzRequest = {
    method: 'GET',
    path: `/ucp/${SESSIONS}/${body.id}`,
    query: '',
    headers,
    body: undefined,
  };
  return (await sent(shop.service, read)).body.order.id;
}

const SESSIONS = 'checkout-sessions';

/** An order that this session led to. The id that an assistant knows begins with the session's own. */
async function orderOf(shop: Shop, token: string): Promise<void> {
  const { service, shopId } = shop;
  const getOrder = OPERATIONS.find(({ name }) => name === 'GET /manage/orders/{orderId}')!;
  const { params } = await validCall(getOrder, shop);
  const sessionId = Buffer.from(token, 'base64url').subarray(0, 16).toString('hex');
  await service.db.run(sql`
    update customer_order set assistant_session_id = ${sessionId}
    where shop_id = ${shopId} and order_id = ${params['orderId']!}`);
}

/** Sends a request; its answer is parsed where it is JSON. */
export async function sent({ app }: Pick<Service, 'app'>, request: FuzzRequest): Promise<Answer> {
  const response = await app.inject(injected(request));
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  return {
    status: response.statusCode,
    headers: response.headers,
    text: response.body,
    body: isJson && response.body !== '' ? JSON.parse(response.body) : undefined,
  };
}

/** What came of a request to a shop: `found`, or the code of what is wrong. */
export function outcomeOf({ status, body }: Answer): string {
  const { code, error, result } = body;
  if (code !== undefined || error !== undefined) return `${status} ${code ?? error.data?.code}`;
  const { ucp, messages } = result?.structuredContent ?? body;
  return ucp.status === 'error' ? messages[0].code : 'found';
}

/** The operation of the API that a tool calls, as the sweeps know it. */
export function operationOf(tool: Tool): Operation {
  const { method, path, under } = CALLED.get(tool.operation)!;
  const name = `${method} ${under === 'manage' ? '/manage' : ''}${path.replaceAll(/:(\w+)/g, '{$1}') || '/'}`;
  const found = OPERATIONS.find((one) => one.name === name);
  if (!found) throw new Error(`The sweeps do not know ${name}`);
  return found;
}

/** The arguments of a tool that succeed in this shop. */
async function toolInput(tool: Tool, shop: Shop, idsFrom: Shop): Promise<Record<string, unknown>> {
  const { params, search, options } = await validCall(operationOf(tool), shop, idsFrom);
  if (tool === CHANGE_PRICES) return { prices: [{ ...params, price: 12.5 }] };
  const query = Object.fromEntries(
    [...new URLSearchParams(search)].map(([name, text]) => [name, text === 'true' ? true : text]),
  );
  const { body } = options;
  if (typeof body === 'string') return { ...params, ...Object.fromEntries(new URLSearchParams(body)) };
  if (!('body' in tool.input.properties)) return { ...params, ...query, ...(body as object | undefined) };
  const changes = Array.isArray(body) ? body : undefined;
  const allowed = changes?.filter((change) => !changesPrice(tool, { body: [change] })) ?? body;
  return { ...params, ...query, body: allowed };
}

/** A call of a tool of merchants that succeeds in this shop; with `idsFrom`, one that names another shop's things. */
export async function toolRequest(
  tool: Tool,
  shop: Shop,
  token: string,
  idsFrom: Shop = shop,
): Promise<FuzzRequest> {
  return {
    method: 'POST',
    path: '/mcp',
    query: '',
    headers: { host: HOST, 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: rpcBody(tool.name, await toolInput(tool, shop, idsFrom)),
  };
}

/** What a tool has answered; a refusal begins with `Error: `. */
export function answerOf({ body }: Answer): string {
  if (body.error) return `Problem: ${body.error.message}`;
  const { content, isError } = body.result;
  return `${isError ? 'Error: ' : ''}${content[0].text}`;
}

/** An assistant with these scopes, connected by an owner of the shop. */
export async function givenTools(
  { service, shopId }: Shop,
  scopes: readonly Scope[] = SCOPES,
): Promise<string> {
  return service.db.ofShop(shopId).transaction(async (tx) => {
    const userId = await findOrCreateUser(tx, `owner@${shopId.toLowerCase()}.example`);
    await putRole(tx, shopId, userId, 'owner');
    const clientId = newId(tx.now);
    const verifier = randomBytes(32).toString('base64url');
    const code = await issueCode(tx, shopId, {
      clientId,
      clientName: `Assistant ${clientId}`,
      userId,
      redirectAddress: CALLBACK,
      challenge: createHash('sha256').update(verifier).digest('base64url'),
      scopes: [...scopes],
    });
    const issued = await exchangeCode(tx, shopId, { code, clientId, redirectAddress: CALLBACK, verifier });
    if (typeof issued === 'string') throw new Error(issued);
    return issued.access_token;
  });
}

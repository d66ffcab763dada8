import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import type { Database } from '../../src/db/database.ts';
import { insertDemoShop } from '../../src/commands/demo/demo-shop.ts';
import { TOOLS } from '../../src/mcp/tools.ts';
import { givenTools, SHOP_CALLS, shopRequest, toolRequest } from '../assistant-requests.ts';
import { givenToken } from '../builders.ts';
import { startFakeAssistant } from '../fake-assistant.ts';
import { OPERATIONS, validCall, type Operation, type Shop } from '../operations.ts';
import type { CallOptions, Service } from '../service.ts';
import { damaged, injected, type FuzzRequest, type Vocabulary } from './damage.ts';
import { seeded, type Random } from './random.ts';

/**
 * Sends damaged requests to every operation, one operation after the other in a random order. Whatever comes, the
 * answer is below 500, in the words of the contract, and there within two seconds.
 */
export interface FuzzOptions {
  requests: number;
  seed: number;
  /** Requests under way at the same time. */
  lanes?: number;
  onProgress?: (requests: number) => void;
  onFinding?: (finding: Finding) => void;
  isStopped?: () => boolean;
}

export interface Finding {
  problem: string;
  /** The name of the operation that was damaged. */
  operation: string;
  request: FuzzRequest;
  status: number;
  answer: string;
  ms: number;
}

export interface FuzzReport {
  requests: number;
  findings: Finding[];
  /** How often each status was answered. */
  statuses: Map<number, number>;
  slowest: { ms: number; operation: string };
}

const SLOWEST = 2_000;
/** Longer than the database may take for any statement. */
const NEVER = 60_000;
/** A shop grows by what succeeds; lists of a full one would be measured instead of damage. */
const REQUESTS_PER_SHOP = 20_000;
/** What fails in a shop that is newer than this is a mistake. */
const MIN_PER_SHOP = 500;
/** The same valid call is damaged so many times, because making one takes several statements. */
const USES = 25;
const MAX_FINDINGS = 50;

/** Of the requests, those of assistants: by them the rest of the service is reached in other ways. */
const ASSISTANTS = 0.15;

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'Payload Too Large',
  429: 'Too Many Requests',
};

export async function fuzz(service: Service, options: FuzzOptions): Promise<FuzzReport> {
  const { requests, seed, lanes = 8, onProgress, onFinding, isStopped = () => false } = options;
  const report: FuzzReport = {
    requests: 0,
    findings: [],
    statuses: new Map(),
    slowest: { ms: 0, operation: '' },
  };
  const assistant = await startFakeAssistant();
  let begun = 0;
  const isOver = () => begun >= requests || isStopped() || report.findings.length >= MAX_FINDINGS;
  const found = (finding: Finding | undefined) => {
    if (!finding) return;
    report.findings.push(finding);
    onFinding?.(finding);
  };
  let unluckyShops = 0;
  for (let round = 0; !isOver(); round++) {
    const stage = await newStage(service, `Fuzz${round}`, assistant.profile);
    const first = begun;
    let isWornOut = false;
    const isShopOver = () => isWornOut || begun - first >= REQUESTS_PER_SHOP || isOver();
    const slow: Sent[] = [];
    const lane = async () => {
      while (!isShopOver()) {
        // Each request has random numbers of its own, so that it does not matter which lane is faster.
        const sent = await stage
          .next(seeded(seed ^ Math.imul(++begun, 0x9e3779b1)))
          .catch((error: unknown) => {
            // A damaged request may have deleted what valid calls need; a new shop has it all again.
            // A shop may be unlucky at its first requests; when several are in a row, the fuzz itself is broken.
            if (!isWornOut && begun - first < MIN_PER_SHOP && ++unluckyShops === 3) throw error;
            isWornOut = true;
            begun--;
          });
        if (!sent) return;
        const answered = await send(service.app, sent);
        count(report, sent, answered);
        onProgress?.(1);
        if (answered.ms > SLOWEST && slow.length < MAX_FINDINGS) slow.push(sent);
        found(findingOf(sent, answered));
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    if (begun - first >= MIN_PER_SHOP) unluckyShops = 0;
    // On a busy machine anything may take long once: what counts is how long it takes alone.
    for (const sent of slow) {
      const again = [
        await send(service.app, sent),
        await send(service.app, sent),
        await send(service.app, sent),
      ];
      const fastest = again.toSorted((left, right) => left.ms - right.ms)[0]!;
      if (fastest.ms > SLOWEST) found({ ...sent, ...fastest, problem: `took ${Math.round(fastest.ms)} ms` });
    }
  }
  await assistant.close();
  return report;
}

/** What was sent, and as the damage of which operation. */
interface Sent {
  operation: string;
  request: FuzzRequest;
}

function count(report: FuzzReport, { operation }: Sent, { status, ms }: Answered): void {
  report.requests++;
  report.statuses.set(status, (report.statuses.get(status) ?? 0) + 1);
  if (ms > report.slowest.ms) report.slowest = { ms, operation };
}

/** A shop with all that a demo shop has, and calls on it that would succeed. */
async function newStage(service: Service, shopId: string, profile: string) {
  await service.db.transaction((tx) => insertDemoShop(tx, { shopId, knownTokens: false, rateLimit: 0 }));
  await service.app.shopHosts.refresh();
  const shop: Shop = { service, shopId, token: await givenToken(service, shopId) };
  const words = {
    allParameters: [...new Set(OPERATIONS.flatMap(({ query }) => query))],
    keys: [...new Set(OPERATIONS.flatMap(({ request }) => request.match(/\w+(?=\??:)/g) ?? [])), '__proto__'],
    tokens: [
      await givenToken(service, shopId, []),
      await givenToken(service, shopId, ['products_read', 'carts_read']),
      'unknown',
    ],
  };
  const tools = await givenTools(shop);
  const ofAssistants: Fuzzed[] = [
    ...SHOP_CALLS.map((call) => ({
      name: call.name,
      query: [],
      make: () => shopRequest(call, shop, profile),
    })),
    ...TOOLS.map((tool) => ({
      name: `/mcp ${tool.name}`,
      query: [],
      make: () => toolRequest(tool, shop, tools),
    })),
  ];
  const ready = new Map<string, { request: FuzzRequest; uses: number }>();

  const next = async (random: Random): Promise<Sent> => {
    let operation = random.pick(OPERATIONS);
    // Drawing a document or a picture takes as long as fifty other requests.
    while (isCostly(operation) && random.chance(0.9)) operation = random.pick(OPERATIONS);
    const { name, query, make }: Fuzzed = random.chance(ASSISTANTS)
      ? random.pick(ofAssistants)
      : { ...operation, make: () => validRequest(operation, shop) };
    let valid = ready.get(name);
    if (!valid || valid.uses >= USES) {
      valid = { request: await make(), uses: 0 };
      ready.set(name, valid);
    }
    valid.uses++;
    const vocabulary: Vocabulary = { ...words, parameters: query };
    return { operation: name, request: damaged(random, valid.request, vocabulary) };
  };
  return { next };
}

/** What is damaged. */
interface Fuzzed {
  name: string;
  /** The query parameters that it declares. */
  query: readonly string[];
  make: () => Promise<FuzzRequest>;
}

async function validRequest(operation: Operation, shop: Shop): Promise<FuzzRequest> {
  const { method, path, search, options } = await validCall(operation, shop);
  const { token, cartToken, body, headers } = options;
  const isRaw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
  return {
    method,
    path: path.startsWith('/manage/') ? path : `/rs/shops${path}`,
    query: search.slice(1),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(cartToken === undefined ? {} : { 'x-epages-cart-token': cartToken }),
      ...(isRaw ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: isRaw ? body : JSON.stringify(body),
  };
}

function isCostly({ name, multipart }: Operation): boolean {
  return multipart || /\/(invoices|credit-notes|documents)$/.test(name);
}

async function send(app: FastifyInstance, { request }: Sent): Promise<Answered> {
  const began = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const never = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), NEVER);
  });
  const response = await Promise.race([app.inject(injected(request)), never]);
  clearTimeout(timer);
  const ms = performance.now() - began;
  if (!response) return { status: 0, type: '', answer: '', ms };
  const type = String(response.headers['content-type'] ?? '');
  return { status: response.statusCode, type, answer: textOf(response), ms };
}

/** Some damage of `Accept-Encoding` still asks for a compressed answer. */
function textOf({ headers, rawPayload, body }: LightMyRequestResponse): string {
  const encoding = headers['content-encoding'];
  if (encoding === 'gzip') return gunzipSync(rawPayload).toString();
  return encoding === 'br' ? brotliDecompressSync(rawPayload).toString() : body;
}

function findingOf(sent: Sent, answered: Answered): Finding | undefined {
  const problem = problemOf(sent.request, answered);
  return problem === undefined ? undefined : { ...sent, ...answered, problem };
}

interface Answered {
  status: number;
  type: string;
  answer: string;
  ms: number;
}

/** What is wrong with an answer; undefined: nothing. */
function problemOf({ method, path }: FuzzRequest, { status, type, answer }: Answered): string | undefined {
  if (status === 0) return 'was not answered';
  if (status >= 500) return `answered ${status}`;
  if (method === 'HEAD' || method === 'OPTIONS' || status === 304) return undefined;
  if (status === 204) return answer === '' ? undefined : '204 with a body';
  if (type.startsWith('text/csv') && status === 200) return undefined;
  // What a damaged path leads to may be a page for people.
  if (!path.startsWith('/rs/') && !path.startsWith('/manage/')) return undefined;
  if (status < 300 && answer === '') return undefined;
  if (type !== 'application/json') return `has the Content-Type ${type}`;
  let body: unknown;
  try {
    body = JSON.parse(answer);
  } catch {
    return 'is no JSON';
  }
  if (status < 300) return undefined;
  const { message, status: reason, ...more } = body as Record<string, unknown>;
  if (reason !== REASONS[status]) return `${status} with the status ${JSON.stringify(reason)}`;
  // The client that puts the request in tidies up `..` in a path.
  const tidy = new URL(path, 'http://localhost').pathname;
  const isNamed = (place: string) => String(message).endsWith(`, Request: ${method} ${place}`);
  if (typeof message !== 'string' || !(isNamed(path) || isNamed(tidy))) {
    return 'a refusal that does not name its request';
  }
  return Object.keys(more).length > 0 ? `a refusal with ${Object.keys(more).join()}` : undefined;
}

/** As text that can be sent again. */
export function describeFinding({ problem, operation, request, status, answer, ms }: Finding): string {
  const { method, path, query, headers, body } = request;
  const isText = typeof body === 'string' || body === undefined;
  const sent = {
    method,
    url: query === '' ? path : `${path}?${query}`,
    headers,
    ...(isText ? { body } : { base64: body.toString('base64') }),
  };
  return `${operation}: ${problem}\n  sent ${JSON.stringify(sent)}\n  got  ${status} in ${Math.round(ms)} ms: ${answer.slice(0, 500)}`;
}

/** The part of the service of the tests that making valid calls needs, for runs outside of the tests. */
export function serviceOf(app: FastifyInstance, db: Database, config: Service['config']): Service {
  return {
    app,
    db,
    config,
    database: 'kontor',
    setClock: () => {},
    call: async (method, path, { token, cartToken, body, headers }: CallOptions = {}) => {
      const response = await app.inject({
        method: method as 'GET',
        url: path.startsWith('/manage/') ? path : `/rs/shops${path}`,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(cartToken === undefined ? {} : { 'x-epages-cart-token': cartToken }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      });
      const text = response.body;
      return {
        status: response.statusCode,
        headers: response.headers,
        text,
        body: text === '' ? undefined : JSON.parse(text),
      };
    },
    close: () => app.close(),
  };
}

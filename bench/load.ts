import autocannon, { type Request } from 'autocannon';
import type { Call, Memory, Step } from './targets.ts';
import { percentile } from './timing.ts';

export interface Round {
  requests: number;
  requestsPerSecond: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  /** Of the steps of a flow. */
  stepMs?: Record<string, { p95: number; p99: number }>;
}

/** What is measured: calls to one server. */
export interface Subject {
  name: string;
  origin: string;
  token: string;
  calls: Call[];
  flow?: Step[];
  /** How many clients ask at the same time; 32 when it is not given. */
  connections?: number;
  /** A peer may be so slow that it answers nothing in a short round, which then counts as it is. */
  mayBeSilent?: boolean;
}

const CONNECTIONS = 32;

/** One round of load. Any answer but a 2xx makes it worthless, and so does a round without answers: both throw. */
export async function load(
  { name, origin, token, calls, flow, connections = CONNECTIONS, mayBeSilent = false }: Subject,
  seconds: number,
): Promise<Round> {
  const allTimes: number[] = [];
  const times = new Map<string, number[]>(flow?.map((step) => [step.name, []]));
  const requests: Request[] = flow
    ? flowRequests(flow, token)
    : calls.map((call) => ({ ...call, headers: headersOf(call, token) }));
  const parts = flow
    ? Array.from({ length: connections }, () => requests.map((request) => ({ ...request }))).values()
    : partsOf(requests, connections).values();
  const result = await autocannon({
    url: origin,
    connections,
    duration: seconds,
    // A round ends at a sample, so that short samples make it as long as it should be.
    sampleInt: 100,
    requests: requests.slice(0, 1),
    setupClient: (client) => {
      client.setRequests(parts.next().value!);
      let answers = 0;
      client.on('response', (_status, _bytes, ms) => {
        allTimes.push(ms);
        if (flow) times.get(flow[answers++ % flow.length]!.name)!.push(ms);
      });
    },
  });
  const failed = result.non2xx + result.errors + result.timeouts;
  if (failed > 0) {
    const statuses = JSON.stringify(result.statusCodeStats);
    throw new Error(
      `${name}: ${failed} calls failed, ${result.errors} of them without an answer: ${statuses}`,
    );
  }
  if (result['2xx'] === 0 && !mayBeSilent) {
    throw new Error(`${name}: no call was answered within the ${seconds} s of a round`);
  }
  return {
    requests: result['2xx'],
    requestsPerSecond: result['2xx'] / result.duration,
    p50Ms: result.latency.p50,
    p95Ms: percentile(allTimes, 0.95),
    p99Ms: result.latency.p99,
    ...(flow && {
      stepMs: Object.fromEntries(
        [...times].map(([step, ms]) => [step, { p95: percentile(ms, 0.95), p99: percentile(ms, 0.99) }]),
      ),
    }),
  };
}

/** The steps as autocannon takes them: each is built from what the answers before it have left in the context. */
function flowRequests(flow: readonly Step[], token: string): Request[] {
  return flow.map(({ call, note }) => ({
    method: 'POST',
    path: '/',
    setupRequest: (request, memory) => {
      const made = call(memory as Memory);
      return { ...request, ...made, headers: headersOf(made, token) };
    },
    ...(note && {
      onResponse: (_status, body, memory, headers) =>
        note(memory as Memory, body, lowerCase(headers as Record<string, string>)),
    }),
  }));
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Asked once before the load, because a refusal explains itself in its body. */
export async function tryOnce({ name, origin, token, calls, flow }: Subject): Promise<void> {
  const memory: Memory = {};
  const steps: Step[] = flow ?? [{ name, call: () => calls[0]! }];
  for (const step of steps) {
    const call = step.call(memory);
    const { method, path, body = null } = call;
    const response = await fetch(origin + path, { method, body, headers: headersOf(call, token) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${name}: ${method} ${path} answers ${response.status} ${text}`);
    step.note?.(memory, text, Object.fromEntries(response.headers));
  }
}

/**
 * Rounds of all subjects in turn, each round beginning with another one, so that whatever else the machine does
 * meets all of them alike. What a round has left to be done is done before the next one: `settle` waits for it.
 */
export async function interleavedRounds(
  subjects: Subject[],
  { rounds, seconds, settle }: { rounds: number; seconds: number; settle: () => Promise<void> },
  say: (line: string) => void,
): Promise<Map<Subject, Round[]>> {
  const measured = new Map<Subject, Round[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < rounds; round++) {
    const first = round % subjects.length;
    for (const subject of [...subjects.slice(first), ...subjects.slice(0, first)]) {
      await settle();
      measured.get(subject)!.push(await load(subject, seconds));
    }
    const rates = subjects.map((subject) => Math.round(measured.get(subject)![round]!.requestsPerSecond));
    say(`round ${round + 1} of ${rounds}: ${rates.join(', ')} requests per second`);
  }
  return measured;
}

function headersOf({ body, headers }: Call, token: string): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    ...headers,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
}

/** Copies, because autocannon writes into what it is given. Every part gets at least one. */
function partsOf<Item extends object>(items: Item[], count: number): Item[][] {
  return Array.from({ length: count }, (_, part) => {
    const own = items.filter((_, index) => index % count === part);
    return (own.length > 0 ? own : [items[part % items.length]!]).map((item) => ({ ...item }));
  });
}

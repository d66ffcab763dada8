import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statementSummary } from '../src/platform/tracing.ts';
import { newStartedFolder } from './first-start.ts';
import { cleanUp, startKontor } from './process.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
  status: { code?: number };
}

interface Export {
  resourceSpans: {
    resource: { attributes: Span['attributes'] };
    scopeSpans: { spans: Span[] }[];
  }[];
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const TOKEN = 'demo-all';
const EMAIL = 'ada.lovelace@example.org';

describe('a service with a collector', () => {
  /** What came, as it came. */
  const bodies: string[] = [];
  const collector = http.createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(`${request.method} ${request.url} ${body}`);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  const statuses: number[] = [];
  let spans: Span[];
  let stderr: string;

  beforeAll(async () => {
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const { port } = collector.address() as AddressInfo;
    const service = await startKontor({
      KONTOR_DATA: await newStartedFolder(),
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    });
    const call = async (path: string, given: Record<string, string> = {}, body?: string) => {
      const headers = { authorization: `Bearer ${TOKEN}`, ...given };
      const method = body === undefined ? 'GET' : 'POST';
      const response = await fetch(service.address + path, { method, headers, body: body ?? null });
      await response.arrayBuffer();
      statuses.push(response.status);
    };
    const shop = '/rs/shops/DemoShop';
    await call(`${shop}/products?q=${EMAIL}`, { traceparent: `00-${TRACE}-${CALLER}-01` });
    const customer = { billingAddress: { firstName: 'Ada', emailAddress: EMAIL } };
    await call(`${shop}/customers`, { 'content-type': 'application/json' }, JSON.stringify(customer));
    await call(`/rs/shops/${TOKEN}/products`);
    await call(`/${EMAIL}`);
    // Sends what is left.
    ({ stderr } = await service.stop());
    spans = bodies.flatMap((each) =>
      (JSON.parse(each.slice(each.indexOf('{'))) as Export).resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap((scope) => scope.spans),
      ),
    );
  });

  afterAll(async () => {
    await cleanUp();
    collector.close();
  });

  const attributesOf = ({ attributes }: Span) =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
  const named = (name: string) => spans.filter((span) => span.name === name);

  test('sends its spans to it, under the name of the service', () => {
    expect(statuses).toEqual([200, 201, 404, 404]);
    expect(new Set(bodies.map((body) => body.split(' {', 1)[0]))).toEqual(new Set(['POST /v1/traces']));
    expect(bodies[0]).toContain('{"key":"service.name","value":{"stringValue":"kontor"}}');
    expect(stderr).toBe('');
  });

  test('has a span per request, in the trace of the caller', () => {
    const [span, ...others] = named('GET /rs/shops/:shopId/products').filter(
      ({ traceId }) => traceId === TRACE,
    );
    expect(others).toEqual([]);
    expect(span).toMatchObject({ parentSpanId: CALLER });
    expect(attributesOf(span!)).toEqual({
      'http.request.method': 'GET',
      'http.route': '/rs/shops/:shopId/products',
      'http.response.status_code': 200,
      'kontor.shop': 'DemoShop',
    });
  });

  test('has a span per statement below that of its request, also after a body was read', () => {
    const [request] = named('POST /rs/shops/:shopId/customers');
    const children = spans.filter(({ parentSpanId }) => parentSpanId === request!.spanId);
    expect(children.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['update counter', 'insert customer', 'insert audit_entry']),
    );
    expect(attributesOf(children.find(({ name }) => name === 'insert customer')!)).toEqual({
      'db.system.name': 'postgresql',
      'db.query.summary': 'insert customer',
    });
  });

  test('calls what does not exist by its method alone', () => {
    expect(named('GET').map(attributesOf)).toEqual([
      { 'http.request.method': 'GET', 'http.response.status_code': 404 },
    ]);
  });

  test('gives away no token and nothing of a person', () => {
    const everything = bodies.join('\n');
    for (const secret of [TOKEN, EMAIL, 'lovelace', 'Ada', 'Bearer'])
      expect(everything).not.toContain(secret);
  });
});

test.each([
  ['select name from shop where shop_id = $1', 'select shop'],
  ['select 1', 'select'],
  ['insert into cart (shop_id) values ($1) on conflict do update set a = 1', 'insert cart'],
  ['update cart\n   set version = 1 from x', 'update cart'],
  ['update cart c set version = 1', 'update cart'],
  ['delete from token where shop_id = $1', 'delete token'],
  ['select 1 from product where shop_id = $1 for update', 'select product'],
  ['with a as (select 1 from b) insert into c select * from a', 'insert c'],
])('%j is called %s', (statement, summary) => {
  expect(statementSummary(statement)).toBe(summary);
});

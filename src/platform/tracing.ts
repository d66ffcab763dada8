import { AsyncLocalStorage } from 'node:async_hooks';
import {
  defaultTextMapGetter,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { isDeferred } from '../http/deferred-routes.ts';
import { isShopFolder } from './media/storage.ts';

/**
 * Traces for OpenTelemetry: a span per request, and below it one per statement. This file is imported only when
 * OTEL_EXPORTER_OTLP_ENDPOINT is set; the exporter itself reads that variable and its relatives (headers, timeouts).
 *
 * A span holds the route and not the path, and the kind of a statement and not its values, so no token, no personal
 * address and no search word leaves the service.
 */
export interface Tracing {
  /** Must come before all other hooks. */
  traceRequests(app: FastifyInstance): void;
  /** Begins the span of a statement; the result ends it. */
  traceStatement: (text: string) => (error?: unknown) => void;
  /** Sends the remaining spans. */
  stop(): Promise<void>;
}

/** A collector that is down must not delay the end of the process. */
const EXPORT_WITHIN = 3_000;

const ignore = () => {};

export function startTracing(log: FastifyBaseLogger): Tracing {
  const warn = (message: string) => log.warn({ reason: message.slice(0, 500) }, 'traces could not be sent');
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const provider = new TracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override this, if set.
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'kontor' }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ timeoutMillis: EXPORT_WITHIN }),
        exportTimeoutMillis: EXPORT_WITHIN,
      }),
    ],
  });
  const tracer = provider.getTracer('kontor');
  const propagator = new W3CTraceContextPropagator();
  const active = new AsyncLocalStorage<Context>();
  const contexts = new WeakMap<FastifyRequest, Context>();
  const summaries = new LRUCache<string, string>({ max: 1_000, memoMethod: statementSummary });

  return {
    traceRequests(app) {
      app.addHook('onRequest', (request, _reply, done) => {
        const { method, headers, routeOptions, is404, operationPath } = request;
        const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
        const route = is404 ? operationPath?.url : routeOptions.url;
        const span = tracer.startSpan(
          route === undefined ? method : `${method} ${route}`,
          { kind: SpanKind.SERVER, attributes: { 'http.request.method': method, 'http.route': route } },
          parent,
        );
        const context = trace.setSpan(parent, span);
        contexts.set(request, context);
        active.run(context, done);
      });
      // The body arrives in socket events, which know nothing of the request.
      app.addHook('preValidation', (request, _reply, done) => active.run(contexts.get(request)!, done));
      app.addHook('onResponse', (request, { statusCode }, done) => {
        if (isDeferred(request)) {
          done();
          return;
        }
        const span = trace.getSpan(contexts.get(request)!)!;
        span.setAttribute('http.response.status_code', statusCode);
        // The id of a shop that does not exist is client input.
        const { shopId } = (request.params ?? {}) as { shopId?: string };
        if (shopId !== undefined && statusCode !== 404 && isShopFolder(shopId)) {
          span.setAttribute('kontor.shop', shopId);
        }
        if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
        done();
      });
    },

    traceStatement(text) {
      const parent = active.getStore();
      // Background work, such as the clean-up, is not traced.
      if (!parent) return ignore;
      const summary = summaries.memo(text);
      const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': summary };
      const span = tracer.startSpan(summary, { kind: SpanKind.CLIENT, attributes }, parent);
      return (error) => {
        if (error !== undefined) {
          // The text of an error may contain a value.
          const { code } = error as { code?: string };
          if (code !== undefined) span.setAttribute('db.response.status_code', code);
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      };
    },

    stop: () => provider.shutdown(),
  };
}

const WRITES = /\b(?:(insert) into (\w+)|(update) (\w+)(?: \w+)? set|(delete) from (\w+))\b/;

/** The action and table of a statement, such as `select product`. Of several the first write counts. */
export function statementSummary(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ');
  const [, ...words] = WRITES.exec(plain) ?? [];
  const [verb, table] = words.filter((word) => word !== undefined);
  if (verb !== undefined) return `${verb} ${table}`;
  const [, source] = /\bfrom (\w+)/.exec(plain) ?? [];
  return source === undefined ? 'select' : `select ${source}`;
}

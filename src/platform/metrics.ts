import Fastify, {
  LogController,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type onResponseHookHandler,
} from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { isPrivate, type Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { COMMON_HEADERS } from '../http/answer-headers.ts';
import { notFound, unauthorised } from '../http/errors.ts';
import { answerFailure } from '../http/failures.ts';
import { isFromThisMachine } from '../http/forwarded.ts';
import { isSecretOf, secretHash } from '../kernel/ids.ts';

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Registry;
  }
}

/**
 * Process metrics are measured once, however many apps the process has: the observers of the garbage collection and of
 * the event loop are never removed, so those of a closed app would continue and keep the whole app in memory.
 */
let processMetrics: Registry | undefined;

function collectProcessMetrics(): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register;
}

/** What is measured: the registry that Prometheus reads, and the durations of requests by route and status. */
export interface Metrics {
  registry: Registry;
  duration: Histogram;
}

/** Requests by route and status, the pool of connections, the event loop and the process, for Prometheus. */
export function createMetrics(db: Database): Metrics {
  processMetrics ??= collectProcessMetrics();
  const registry = Registry.merge([processMetrics]);
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of requests by method, route and status; its count is the number of requests',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const connections = new Gauge({
    name: 'database_connections',
    help: 'Connections of this process to the database, and requests that wait for one',
    labelNames: ['state'],
    registers: [],
    collect() {
      this.set({ state: 'open' }, db.pool.totalCount);
      this.set({ state: 'idle' }, db.pool.idleCount);
      this.set({ state: 'waiting' }, db.pool.waitingCount + db.shares.waiting);
    },
  });
  registry.registerMetric(connections);
  const caches = new Gauge({
    name: 'cache_entries',
    help: 'Entries of the caches, each bounded by its entries or its bytes',
    labelNames: ['cache'],
    registers: [],
    collect() {
      for (const { name, entries } of db.caches.sizes) this.set({ cache: name }, entries);
    },
  });
  registry.registerMetric(caches);
  return { registry, duration };
}

/** Measures the requests of an app by their route and status. */
export function observeRoutes(app: FastifyInstance, { duration }: Metrics): void {
  // One counter per route, method and status, looked up once: finding labels costs more than counting.
  const observerOf = (route: string) => {
    const children = new Map<string, { observe: (seconds: number) => void }>();
    return (method: string, reply: FastifyReply) => {
      const key = method + reply.statusCode;
      let child = children.get(key);
      if (!child) {
        child = duration.labels({ method, route, status: String(reply.statusCode) });
        children.set(key, child);
      }
      child.observe(reply.elapsedTime / 1000);
    };
  };

  app.addHook('onRoute', (route) => {
    const observe = observerOf(route.url);
    const count: onResponseHookHandler = (request, reply, done) => {
      observe(request.method, reply);
      done();
    };
    route.onResponse = [count, ...[route.onResponse ?? []].flat()];
  });

  // Unknown paths share one label, or a scanner would fill the memory.
  const observeUnrouted = observerOf('unrouted');
  const observersOfPaths = new Map<string, ReturnType<typeof observerOf>>();
  app.addHook('onResponse', (request, reply, done) => {
    const { is404, operationPath, method } = request;
    if (is404 && operationPath) {
      const { url } = operationPath;
      const observe = observersOfPaths.get(url) ?? observerOf(url);
      observersOfPaths.set(url, observe);
      observe(method, reply);
    } else if (is404) observeUnrouted('any', reply);
    done();
  });
}

/** Decorates the app with them, and serves them at `/metrics` unless they have a port of their own. */
export function registerMetrics(app: FastifyInstance, { registry }: Metrics, config: Config): void {
  app.decorate('metrics', registry);
  if (config.METRICS_PORT === undefined && config.PROCESSES === '1') serveMetrics(app, registry, config);
}

/** With METRICS_PORT: the server that serves only the metrics there; it must still be told to listen. */
export function metricsServer({ metrics, log }: FastifyInstance, config: Config): FastifyInstance {
  const server = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
  });
  server.addHook('onRequest', async (_request, reply) => void reply.headers(COMMON_HEADERS));
  server.setErrorHandler(answerFailure);
  server.setNotFoundHandler(notFoundHere);
  serveMetrics(server, metrics, config);
  return server;
}

function notFoundHere(): never {
  throw notFound();
}

/**
 * Whether the metrics can be read at all: they reveal how much a shop sells, so the default is no. Several processes
 * need a port each, because a client cannot choose which of them answers on the shared one.
 */
export function areMetricsServed(config: Config): boolean {
  if (config.METRICS_PORT !== undefined) return true;
  return config.PROCESSES === '1' && (config.METRICS_TOKEN !== undefined || isPrivate(config));
}

function serveMetrics(app: FastifyInstance, registry: Registry, config: Config): void {
  const check = metricsCheck(config);
  app.get('/metrics', { schema: { hide: true } }, async (request, reply) => {
    check(request);
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

/**
 * Who may read them: clients with METRICS_TOKEN; without one, clients that reach METRICS_PORT; without both, programs
 * on this machine.
 */
function metricsCheck(config: Config): (request: FastifyRequest) => void {
  const { METRICS_TOKEN, METRICS_PORT } = config;
  if (METRICS_TOKEN !== undefined) {
    const expected = secretHash(METRICS_TOKEN);
    return ({ headers }) => {
      const sent = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '';
      if (!isSecretOf(sent, expected)) throw unauthorised('METRICS_TOKEN_NEEDED');
    };
  }
  if (METRICS_PORT !== undefined) return () => {};
  const isOpen = !isPrivate(config);
  return (request) => {
    if (isOpen || !isFromThisMachine(request)) throw notFound();
  };
}

import type { FastifyInstance, FastifyReply, onResponseHookHandler } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from '../db/database.ts';
import { textMemories } from '../http/text-memory.ts';

/** Requests by route and status, the pool of connections, the event loop and the process, for Prometheus. */
export function registerMetrics(app: FastifyInstance, db: Database): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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
      this.set({ state: 'waiting' }, db.pool.waitingCount);
    },
  });
  registry.registerMetric(connections);
  const caches = new Gauge({
    name: 'cache_entries',
    help: 'Entries of the caches of rendered texts, each bounded by its bytes',
    labelNames: ['cache'],
    registers: [],
    collect() {
      for (const [cache, memory] of textMemories(db)) this.set({ cache }, memory.size);
    },
  });
  registry.registerMetric(caches);

  // One counter per route, method and status, found once: looking labels up costs more than counting.
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

  // Paths that lead nowhere share one label, or a scanner would fill the memory.
  const observeUnrouted = observerOf('unrouted');
  app.addHook('onResponse', (request, reply, done) => {
    if (request.is404) observeUnrouted('any', reply);
    done();
  });

  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}

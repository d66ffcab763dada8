import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from '../db/database.ts';

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

  // One observer per route and status: looking labels up by value costs more than counting.
  const observers = new Map<string, Map<number, (seconds: number) => void>>();
  const observerOf = (method: string, route: string, status: number) => {
    const key = `${method} ${route}`;
    let byStatus = observers.get(key);
    if (!byStatus) observers.set(key, (byStatus = new Map()));
    let observe = byStatus.get(status);
    if (!observe) {
      const child = duration.labels({ method, route, status: String(status) });
      byStatus.set(status, (observe = (seconds) => child.observe(seconds)));
    }
    return observe;
  };

  app.addHook('onResponse', (request: FastifyRequest, reply: FastifyReply, done) => {
    // Unrouted paths share one label, or a scanner would fill the memory.
    const route = request.is404 ? 'unrouted' : request.routeOptions.url!;
    observerOf(request.is404 ? 'any' : request.method, route, reply.statusCode)(reply.elapsedTime / 1000);
    done();
  });

  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}

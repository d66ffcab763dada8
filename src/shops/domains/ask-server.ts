import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import { hostName } from '../shop/domain-policy.ts';
import type { ShopHosts } from '../shop/hosts.ts';
import { isCertifiable } from './certificate-host.ts';

/** Names that were refused a moment ago, which scanners repeat: as many as they can ask for in that time. */
const REFUSED = { max: 1_000, ttl: 2_000, ttlResolution: 0 };

/** Unknown names in a second that are looked up; names that are known are always answered. */
const MAX_UNKNOWN = 100;

/** Milliseconds between two reads of the database for names that are unknown. */
const MIN_REFRESH_PAUSE = 1_000;

const SECOND = 1_000;

/**
 * Answers Caddy's question (`on_demand_tls { ask http://127.0.0.1:PORT/ask }`) whether it may get a certificate for a
 * name: GET /ask?domain=shop.example is 200 for a host of the service and for a proved domain of a shop, and 404 for
 * all others. It is a server of its own, because a program that can ask it learns which shops are here: no route of the
 * service leads to it, and no header changes its answer. It must still be told to listen.
 */
export function certificateAskServer(hosts: ShopHosts, log: FastifyBaseLogger): FastifyInstance {
  const server = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    requestTimeout: 5_000,
    http: { maxHeaderSize: 8_192 },
  });
  const statusOf = createAskDecision(hosts);
  server.get<{ Querystring: { domain?: unknown } }>('/ask', async ({ query }, reply) => {
    const status = await statusOf(query.domain);
    return reply
      .code(status)
      .type('text/plain')
      .send(status === 200 ? 'yes\n' : 'no\n');
  });
  server.setNotFoundHandler((_request, reply) =>
    reply.code(404).type('text/plain').send('GET /ask?domain=NAME\n'),
  );
  return server;
}

/** 200: it may have one. All others are refusals: 400, not a name; 404, nobody's; 429, too many unknown names. */
export function createAskDecision(
  hosts: Pick<ShopHosts, 'mayHaveCertificate' | 'refreshQuietly'>,
  now: () => number = () => performance.now(),
): (domain: unknown) => Promise<200 | 400 | 404 | 429> {
  const refused = new LRUCache<string, true>({ ...REFUSED, perf: { now } });
  let second = -Infinity;
  let unknown = 0;
  let refreshedAt = -Infinity;
  return async (domain) => {
    if (typeof domain !== 'string' || domain.length > 254) return 400;
    const name = /:\d*$/.test(domain) ? '' : hostName(domain);
    if (!isCertifiable(name)) return 400;
    if (hosts.mayHaveCertificate(name)) return 200;
    if (refused.has(name)) return 404;
    const time = now();
    if (time - second >= SECOND) {
      second = time;
      unknown = 0;
    }
    if (++unknown > MAX_UNKNOWN) return 429;
    // Another process may have proved it since the hosts were read.
    if (time - refreshedAt >= MIN_REFRESH_PAUSE) {
      refreshedAt = time;
      await hosts.refreshQuietly();
      if (hosts.mayHaveCertificate(name)) return 200;
    }
    refused.set(name, true);
    return 404;
  };
}

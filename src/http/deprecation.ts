import type { FastifyReply, FastifyRequest } from 'fastify';

/** Days such as `2027-01-31`, in UTC. */
export interface Deprecation {
  /** When clients should start to use something else. */
  since: string;
  /** When it may be removed; absent: not decided. */
  sunset?: string;
}

/**
 * Marks every answer of an operation, refusals included, as deprecated (RFC 9745) and names the end date (RFC 8594).
 */
export function deprecationHook({ since, sunset }: Deprecation) {
  if (sunset !== undefined && sunset < since)
    throw new Error(`An operation ends on ${sunset}, before it is deprecated on ${since}`);
  const headers = {
    deprecation: `@${new Date(since).getTime() / 1000}`,
    ...(sunset !== undefined && { sunset: new Date(sunset).toUTCString() }),
  };
  return async (_request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.headers(headers);
  };
}

import type { FastifyReply, FastifyRequest } from 'fastify';

/** Days such as `2027-01-31`, in UTC. */
export interface Deprecation {
  /** From when on clients should use something else. */
  since: string;
  /** From when on it may be gone; absent: nobody has decided that. */
  sunset?: string;
}

/** Says on every answer of an operation, refusals included, that it is deprecated (RFC 9745) and when it ends (RFC 8594). */
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

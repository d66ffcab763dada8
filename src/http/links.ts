import type { FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { Refusal } from './errors.ts';

const HOST = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Scheme and host of the links in an answer: PUBLIC_URL, or else the request's own. With a configured proxy Fastify
 * takes them from X-Forwarded-*; from any other peer those headers are ignored.
 */
export function originOf(request: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl;
  const host = request.host || 'localhost';
  if (!HOST.test(host)) throw new Refusal('HOST_MALFORMED');
  // X-Forwarded-Proto is client input: only these two may become the scheme of a link.
  const scheme = request.protocol.toLowerCase() === 'https' ? 'https' : 'http';
  return `${scheme}://${host}`;
}

/** The addresses a server may listen on that a browser on the same machine calls localhost. */
export const REACHED_AS_LOCALHOST: readonly string[] = ['127.0.0.1', '::1', '0.0.0.0', '::'];

/** The name of a host that a server listens on, as a browser on the same machine calls it. */
export function reachableName(host: string): string {
  if (REACHED_AS_LOCALHOST.includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Scheme and host of the service, as far as a command knows them. */
export function configuredOrigin({ PUBLIC_URL, HOST, PORT }: Config): string {
  return PUBLIC_URL?.replace(/\/$/, '') ?? `http://${reachableName(HOST)}:${PORT}`;
}

/** The base address of a shop's API; `origin` is the service's. */
export function shopUrl(origin: string, shopId: string): string {
  return `${origin}/rs/shops/${shopId}`;
}

/**
 * The base address of a shop's pages: its main domain, else below /shop on the service's host, whose origin is given.
 */
export function storefrontUrl(
  origin: string,
  { shopId, domainsInUse: [domain] }: { shopId: string; domainsInUse: readonly string[] },
): string {
  return domain === undefined ? `${origin}/shop/${shopId}` : `${schemeOf(origin)}//${domain}`;
}

/** The address of a page of the admin: `adminUrl(context, '/orders')`; `origin` is the service's. */
export function adminUrl({ origin, shopId }: { origin: string; shopId: string }, path = ''): string {
  return `${origin}/admin/shops/${shopId}${path}`;
}

export function schemeOf(origin: string): 'http:' | 'https:' {
  return origin.startsWith('http:') ? 'http:' : 'https:';
}

import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isLoopback } from '../config.ts';

/** Headers with which proxies say for whom they call, beside the family X-Forwarded-*. */
const FORWARDING_HEADERS = [
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-original-host',
  'cf-connecting-ip',
  'true-client-ip',
];

function hasForwardingHeader(headers: IncomingHttpHeaders): boolean {
  return (
    FORWARDING_HEADERS.some((name) => headers[name] !== undefined) ||
    Object.keys(headers).some((name) => name.startsWith('x-forwarded'))
  );
}

const PORT = /:\d{1,5}$/;

/**
 * Whether a program on this machine has sent the request directly: no proxy has passed it on, and it was not led here
 * by a name that somebody else has pointed at this machine (DNS rebinding).
 */
export function isFromThisMachine({ headers, socket }: FastifyRequest): boolean {
  return (
    isLoopback(socket.remoteAddress ?? '') &&
    isLoopback((headers.host ?? '').replace(PORT, '')) &&
    !hasForwardingHeader(headers)
  );
}

/**
 * Logs once when a peer that is not in TRUST_PROXY sends X-Forwarded-*: then either somebody tries to pass for another
 * address, or the operator has forgotten the setting, and all visitors share one address and one rate limit.
 */
export function proxyWarning(): (request: FastifyRequest) => void {
  let isLogged = false;
  return (request) => {
    if (isLogged || !sentByUntrustedPeer(request)) return;
    isLogged = true;
    request.log.warn(
      { peer: request.socket.remoteAddress },
      'X-Forwarded-* headers came from a peer that TRUST_PROXY does not name, and are ignored: if it is your proxy, ' +
        'set TRUST_PROXY to its address, or all visitors share one address and one rate limit',
    );
  };
}

function sentByUntrustedPeer(request: FastifyRequest): boolean {
  const { headers } = request;
  const client = headers['x-forwarded-for'];
  if (client === undefined && headers['x-forwarded-proto'] === undefined) {
    if (headers['x-forwarded-host'] === undefined && headers['forwarded'] === undefined) return false;
  }
  // Without TRUST_PROXY Fastify has no such list; with it, the list goes beyond a peer only if the peer is trusted.
  const { ips } = request;
  return ips === undefined || (client !== undefined && ips.length < 2);
}

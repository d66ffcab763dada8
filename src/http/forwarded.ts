import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isLoopback } from '../config.ts';

/**
 * Headers that only proxies and CDNs send, beside those that begin with `x-`: the standard ones, those of the families of
 * Cloudflare, Fly, Fastly, CloudFront, Akamai and Vercel, and any that name the address or the TLS of a client.
 */
const PROXY_HEADER =
  /^(?:forwarded|via|cdn-|cf-|fly-|fastly-|cloudfront-|akamai-|vercel-|max-forwards|surrogate-capability|front-end-https|ssl-client|client-cert|eagleid|rndr-id)|client-?ip|real-?ip|connecting-?ip|remote-?(?:addr|ip|host)|forwarded|proxy-client/;

/**
 * Headers that browsers, page scripts, tracers and API clients send by themselves. Every other header that begins with
 * `x-` counts as a proxy's, because there are more of them than any list can name.
 */
const CLIENT_X_HEADER =
  /^x-(?:epages-|kontor-|prometheus-|requested-with$|request-id$|correlation-id$|csrf|xsrf|http-method|method-override$|api-key$|auth-token$|access-token$|idempotency-key$|client-(?:data|name|version|info)$|app-version$|moz$|purpose$|b3-|datadog-|sentry-|pjax|inertia|turbo|livewire|devtools-|postman-|insomnia-|stainless-|trace-id$|(?:hub-)?signature)/;

const PORT = /:\d{1,5}$/;

const isLoopbackHost = (host: string) => isLoopback(host.replace(PORT, ''));

/** Signs that an ordinary program on this machine did not send the request directly. */
type SignedRequest = Pick<IncomingMessage, 'headers' | 'httpVersion' | 'socket'>;

/**
 * The sign that a request came through a proxy or from outside; undefined: a program on this machine seems to have
 * sent it directly. A host that is not loopback is a foreign name for this machine (a proxy that passes it on, or DNS
 * rebinding), and so is an origin; nginx uses HTTP/1.0 by default. A page from another port of this machine, a file
 * and a browser extension count as local.
 */
export function signOfOthers({ headers, httpVersion, socket }: SignedRequest): string | undefined {
  if (!isLoopback(socket.remoteAddress ?? '')) return 'a peer that is not this machine';
  if (httpVersion === '1.0' || httpVersion === '0.9') return `HTTP/${httpVersion}`;
  if (!isLoopbackHost(headers.host ?? '')) return 'a Host header that is not localhost';
  if (headers.origin !== undefined && isForeignOrigin(headers.origin)) {
    return 'an Origin header that is not localhost';
  }
  // A browser reports its own page as same origin, although it sees the page at another address than this service
  // does.
  if (headers['sec-fetch-site'] === 'same-origin' && isForeignOrigin(headers.referer ?? '')) {
    return 'a Referer header that is not localhost';
  }
  for (const name of Object.keys(headers)) {
    if (name.startsWith('x-') ? !CLIENT_X_HEADER.test(name) : PROXY_HEADER.test(name)) {
      return `the header ${name.slice(0, 100)}`;
    }
  }
  return undefined;
}

function isForeignOrigin(origin: string): boolean {
  const [, host] = /^https?:\/\/([^/?#]+)/i.exec(origin) ?? [];
  return host !== undefined && !isLoopbackHost(host);
}

/** Whether a program on this machine sent the request directly. */
export function isFromThisMachine({ raw }: FastifyRequest): boolean {
  return signOfOthers(raw) === undefined;
}

/**
 * Whether a browser on this machine sent a form from a page of this service: it says so in headers that no page and no
 * script can set. A proxy that rewrites Host leaves them alone, and then they name its own address.
 */
export function isOwnFormOnThisMachine({ headers, raw }: FastifyRequest): boolean {
  return (
    signOfOthers(raw) === undefined &&
    headers['sec-fetch-site'] === 'same-origin' &&
    headers.origin === `http://${headers.host}` &&
    // nginx closes the connection after each request; a browser never asks for that.
    headers.connection !== 'close'
  );
}

/**
 * Logs once when a peer that is not in TRUST_PROXY sends X-Forwarded-*: either a client fakes its address, or the
 * operator has forgotten the setting, and all visitors share one address and one rate limit.
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

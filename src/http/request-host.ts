import type { IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';

/**
 * The host that a request is for, before Fastify has a request object: the later value of `request.host`. From a
 * trusted proxy that is X-Forwarded-Host (the last one, as there); from any other peer that header is ignored.
 */
export function requestHostReader(trustProxy: string | undefined): (request: IncomingMessage) => string {
  const isTrusted =
    trustProxy === undefined
      ? undefined
      : proxyAddr.compile(trustProxy.split(',').map((address) => address.trim()));
  return ({ headers, socket }) => {
    const forwarded = headers['x-forwarded-host'];
    if (isTrusted && forwarded && isTrusted(socket.remoteAddress ?? '', 0)) {
      return String(forwarded).split(',').at(-1)!.trim();
    }
    return headers.host ?? '';
  };
}

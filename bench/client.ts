import http from 'node:http';
import type { Call } from './targets.ts';

export interface Reply {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

/** Connections that are kept; what is sent while all of them are busy waits for one. */
export interface Connections {
  /** Fails only when there is no whole answer. */
  send(call: Call): Promise<Reply>;
  close(): void;
}

const ANSWERS_WITHIN = 120_000;

export function openConnections(origin: string, count: number): Connections {
  const agent = new http.Agent({ keepAlive: true, maxSockets: count });
  return {
    send: ({ method, path, body, headers }) =>
      new Promise((resolve, reject) => {
        const request = http.request(origin + path, {
          agent,
          method,
          timeout: ANSWERS_WITHIN,
          headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        });
        request.on('timeout', () => request.destroy(new Error(`${method} ${path} was not answered in time`)));
        request.on('error', reject);
        request.on('response', (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(parts).toString(),
            }),
          );
        });
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}

import http from 'node:http';
import type { Call } from './targets.ts';

/** One connection that asks one thing after the other, as one patient client would; times in ms. */
export interface Client {
  /** The time until the last byte of the answer; anything but a 2xx throws. */
  time(call: Call): Promise<number>;
  /** The parsed answer. */
  ask(call: Call): Promise<unknown>;
  close(): void;
}

export function openClient(origin: string, token: string): Client {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const send = ({ method, path, body }: Call) =>
    new Promise<string>((resolve, reject) => {
      const request = http.request(origin + path, {
        agent,
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
      });
      request.on('error', reject);
      request.on('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString();
          const { statusCode = 0 } = response;
          if (statusCode >= 200 && statusCode < 300) resolve(text);
          else reject(new Error(`${method} ${path} answers ${statusCode} ${text.slice(0, 500)}`));
        });
      });
      request.end(body);
    });
  return {
    async time(call) {
      const began = performance.now();
      await send(call);
      return performance.now() - began;
    },
    ask: async (call) => JSON.parse(await send(call)) as unknown,
    close: () => agent.destroy(),
  };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}

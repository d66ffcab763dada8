import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call that a receiver of webhooks got. */
export interface ReceivedCall {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  /** The parsed body; tests look at it as they would in a receiver, so it is not typed. */
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

export interface Receiver {
  url: string;
  calls: ReceivedCall[];
  /** Decides what it answers; 200 with `ok` unless a test says something else. */
  answer: (call: ReceivedCall, response: ServerResponse, request: IncomingMessage) => void;
  /** Returns when it has had this many calls. */
  until(count: number): Promise<ReceivedCall[]>;
  close(): Promise<void>;
}

/** A receiver of webhooks on this machine. */
export async function startReceiver(): Promise<Receiver> {
  const waiters = new Set<() => void>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const call = {
        method: request.method!,
        path: request.url!,
        headers: request.headers,
        text,
        body: JSON.parse(text),
      };
      receiver.calls.push(call);
      receiver.answer(call, response, request);
      for (const check of waiters) check();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    calls: [],
    answer: (_call, response) => response.end('ok'),
    until: (count) =>
      new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer);
          waiters.delete(check);
        };
        const check = () => {
          if (receiver.calls.length < count) return;
          end();
          resolve(receiver.calls.slice(0, count));
        };
        const timer = setTimeout(() => {
          end();
          reject(new Error(`The receiver had ${receiver.calls.length} calls instead of ${count}`));
        }, 8_000);
        waiters.add(check);
        check();
      }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

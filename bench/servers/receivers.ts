/**
 * Ten receivers of webhooks in a process of their own: `node --import tsx receivers.ts`. It sends the addresses to its
 * parent, and then what came: ids of messages with the time of their receipt.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const RECEIVERS = 10;
/** Milliseconds for which receipts are collected. */
const TOLD_EVERY = 100;

let received: [id: string, at: number][] = [];
setInterval(() => {
  process.send!({ received });
  received = [];
}, TOLD_EVERY);

const urls: string[] = [];
for (let index = 0; index < RECEIVERS; index++) {
  const server = createServer((request, response) => {
    received.push([String(request.headers['webhook-id']), Date.now()]);
    request.resume().on('end', () => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}
process.send!({ urls });

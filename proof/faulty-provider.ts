import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../bench/processes.ts';
import type { NewPayment, PaymentOutcome } from '../src/orders/payments/provider.ts';

/** A payment as the provider knows it. */
export interface ProviderPayment {
  id: string;
  amount: number;
  currency: string;
  state: PaymentOutcome['state'];
  captured: number;
  /** Amounts by the id of the refund. */
  refunds: Map<string, number>;
}

export interface FaultyProvider {
  url: string;
  payments: Map<string, ProviderPayment>;
  /** How many answers were lost, of which the service can't know whether the call was done. */
  lost: () => number;
}

/**
 * A payment provider on a port of its own, which goes on while the service is killed. It is slow at times, and loses
 * some calls before and some after it has done them.
 */
export async function startFaultyProvider(): Promise<FaultyProvider> {
  const payments = new Map<string, ProviderPayment>();
  let lost = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const body = (await json(request)) as Record<string, string | number>;
      await sleep(Math.random() * 20);
      const fault = Math.random();
      if (fault < 0.03) {
        lost += 1;
        response.destroy();
        return;
      }
      const answer = JSON.stringify(answerTo(pathOf(request), body, payments));
      if (fault < 0.08) {
        lost += 1;
        response.destroy();
        return;
      }
      response.end(answer);
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, payments, lost: () => lost };
}

const pathOf = ({ url }: IncomingMessage) => url!.slice(1);

function answerTo(
  call: string,
  body: Record<string, string | number>,
  payments: Map<string, ProviderPayment>,
): object {
  if (call === 'start') {
    const { id, amount, currency } = body as unknown as NewPayment;
    if (!payments.has(id)) {
      payments.set(id, { id, amount, currency, state: 'open', captured: 0, refunds: new Map() });
    }
    return { reference: id, redirectTo: `http://provider.example/pay/${id}` };
  }
  const payment = payments.get(String(body['reference']))!;
  if (call === 'cancel' && payment.state === 'open') payment.state = 'cancelled';
  if (call === 'refund') {
    payment.refunds.set(String(body['id']), Number(body['amount']));
    return { state: 'done', reference: String(body['id']) };
  }
  const { state, captured, currency } = payment;
  return { state, captured, currency };
}

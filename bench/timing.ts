import { openConnections } from './client.ts';
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
  const connection = openConnections(origin, 1);
  const send = async (call: Call) => {
    const headers = { authorization: `Bearer ${token}`, ...call.headers };
    const { status, text } = await connection.send({ ...call, headers });
    if (status >= 200 && status < 300) return text;
    throw new Error(`${call.method} ${call.path} answers ${status} ${text.slice(0, 500)}`);
  };
  return {
    async time(call) {
      const began = performance.now();
      await send(call);
      return performance.now() - began;
    },
    ask: async (call) => JSON.parse(await send(call)) as unknown,
    close: () => connection.close(),
  };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}

import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeFinding, fuzz } from './fuzz/run.ts';
import { SEED, halfOf } from './seed.ts';
import { startService, type Service } from './service.ts';

/** A short run; `npm run fuzz` goes on for as long as one likes. */
const REQUESTS = halfOf(1_000);

let service: Service;

beforeAll(async () => {
  // The profile of the assistant is on this machine; damage of a host ends demo access, in which every machine may be called.
  service = await startService({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0', WEBHOOK_ALLOW: '127.0.0.0/8' });
});

afterAll(() => service.close());

test(
  `damaged requests are refused in the words of the contract, seed ${SEED}`,
  { timeout: 120_000 },
  async () => {
    const { requests, findings, statuses } = await fuzz(service, { requests: REQUESTS, seed: SEED });
    expect(findings.map(describeFinding)).toEqual([]);
    expect(requests).toBe(REQUESTS);
    // It is damage that is sent, and not only what is refused at the door.
    const share = (...wanted: number[]) =>
      wanted.reduce((sum, status) => sum + (statuses.get(status) ?? 0), 0) / requests;
    expect(share(400)).toBeGreaterThan(0.15);
    expect(share(200, 201, 204)).toBeGreaterThan(0.15);
    for (const status of [401, 403, 404, 405, 406]) expect(share(status)).toBeGreaterThan(0);
  },
);

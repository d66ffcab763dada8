import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { coupon } from '../proof/coupon.ts';
import { oneOrder } from '../proof/one-order.ts';
import { opposite } from '../proof/opposite.ts';
import { oversell } from '../proof/oversell.ts';
import { race } from '../proof/race.ts';
import type { Stage } from '../proof/stage.ts';
import { startService, type Service } from './service.ts';

/** The checks of `npm run proof`, small and in this process: the same code, the same database, no network. */

vi.setConfig({ testTimeout: 120_000 });

const SCALE = 0.02;
const silent = { advance: () => {}, end: () => {} };

let service: Service;
let stage: Stage;
beforeAll(async () => {
  service = await startService({ RATE_LIMIT: '0', RATE_LIMIT_ANONYMOUS: '0' });
  stage = {
    send: async ({ method, path, body, headers = {} }) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const response = await service.app.inject({
        method,
        url: path,
        headers: { ...type, ...headers },
        ...(body === undefined ? {} : { payload: body }),
      });
      return { status: response.statusCode, headers: response.headers as never, text: response.body };
    },
    look: (work) => work(service.db),
    progress: () => silent,
    size: (full) => Math.max(1, Math.round(full * SCALE)),
  };
});
afterAll(() => service.close());

for (const { name, summary, run } of [oversell, opposite, coupon, oneOrder, race]) {
  test(`${name}: ${summary}`, async () => {
    await expect(run(stage)).resolves.toEqual(expect.any(String));
  });
}

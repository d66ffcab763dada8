import { findOrCreateUser, insertAdminSession, putRole } from '../src/admin/users/queries.ts';
import { createBareShop } from '../bench/shop.ts';
import type { Call } from '../bench/targets.ts';
import { openShop, stockUp } from './shop.ts';
import { many, must, tally, times, type Check, type Stage } from './stage.ts';

const MINUTES = 30;
const WINDOW_MS = 15_000;
const VISITORS = 4;
/** Forms that the hostile person sends at the same time. */
const FORMS_AT_ONCE = 8;
/** Nobody waits longer, whatever somebody else sends. */
const MAX_WAIT_MS = 1_000;

/** A member of staff of one shop sends the dearest forms that there are, while visitors of another shop look and buy. */
export const staff: Check = {
  name: 'staff',
  summary: `${MINUTES} minutes of visitors beside one hostile member of staff of another shop: none waits for a second`,
  endsWithin: 2 * MINUTES * 60_000,
  run: async (stage) => {
    const shop = await openShop(stage, 'Visited');
    const goods = await Promise.all(
      times(20, (index) => stockUp(shop, { number: `V-${index}`, stock: 1_000_000 })),
    );
    const forms = await hostileForms(stage, 'Hostile');
    const waits: Record<'quiet' | 'hostile', number[]> = { quiet: [], hostile: [] };
    const statuses: number[] = [];
    const windows = Math.max(2, 2 * Math.round(stage.size(MINUTES * 60_000) / WINDOW_MS / 2));
    const progress = stage.progress('windows', windows);
    for (let window = 0; window < windows; window++) {
      const kind = window % 2 === 0 ? 'quiet' : 'hostile';
      const end = performance.now() + WINDOW_MS;
      const visit = async (visitor: number) => {
        for (let turn = 0; performance.now() < end; turn++) {
          const { productId } = goods[(visitor + turn) % goods.length]!;
          const isCart = turn % 4 === 3;
          const began = performance.now();
          const { status } = isCart
            ? await shop.call('POST', '/carts', { body: { lineItems: [{ productId, quantity: 1 }] } })
            : await shop.call('GET', `/products/${productId}`);
          waits[kind].push(performance.now() - began);
          must(status === (isCart ? 201 : 200), `a visitor got ${status}`);
        }
      };
      const attack = async (place: number) => {
        for (let turn = place; performance.now() < end; turn++) {
          const { status } = await sendForm(stage, forms[turn % forms.length]!);
          must(status < 500 || status === 503, `a form got ${status}`);
          statuses.push(status);
        }
      };
      await Promise.all([
        ...times(VISITORS, visit),
        ...(kind === 'hostile' ? times(FORMS_AT_ONCE, attack) : []),
      ]);
      progress.advance(1);
    }
    progress.end();
    const longest = waits.hostile.reduce((max, ms) => Math.max(max, ms), 0);
    must(longest < MAX_WAIT_MS, `a visitor waited for ${longest.toFixed(0)} ms`);
    return `${line('quiet', waits.quiet)}; ${line('beside', waits.hostile)}; forms ${tally(statuses)}`;
  },
};

/** A file that is refused while it comes ends its connection. */
async function sendForm(stage: Stage, form: Call): Promise<{ status: number }> {
  try {
    return await stage.send(form);
  } catch (error) {
    if (!['EPIPE', 'ECONNRESET'].includes(String((error as { code?: string }).code))) throw error;
    return { status: 413 };
  }
}

function line(name: string, waits: readonly number[]): string {
  const sorted = waits.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  const [p50, p99, longest] = [at(0.5), at(0.99), sorted.at(-1)!].map((ms) => ms.toFixed(1));
  return `${name} ${many(waits.length)} requests, p50 ${p50}, p99 ${p99}, longest ${longest} ms`;
}

/** The forms of the audit, each as large as it may be or larger. */
async function hostileForms(stage: Stage, shopId: string): Promise<Call[]> {
  const cookie = await stage.look(async (db) => {
    await createBareShop(db, shopId);
    return db.transaction(async (tx) => {
      const userId = await findOrCreateUser(tx, 'staff@hostile.example');
      await putRole(tx, shopId, userId, 'owner');
      return `admin=${await insertAdminSession(tx, userId, 'Mozilla/5.0')}`;
    });
  });
  const headers = { cookie, host: 'localhost', origin: 'http://localhost' };
  const page = (path: string) => `/admin/shops/${shopId}${path}`;
  const form = (path: string, fields: Record<string, string>): Call => ({
    method: 'POST',
    path: page(path),
    body: new URLSearchParams(fields).toString(),
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
  });
  const file = (content: string): Call => ({
    method: 'POST',
    path: page('/products/import'),
    body: `--x\r\nContent-Disposition: form-data; name="file"; filename="x.csv"\r\n\r\n${content}\r\n--x--\r\n`,
    headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x' },
  });
  const entries = (count: number, name: (index: number) => string) =>
    Object.fromEntries(times(count, (index) => [name(index), 'x']));
  return [
    file(`SKU;Name\n${times(190_000, (index) => `S-${index};A thing`).join('\n')}`),
    file('a;'.repeat(4_500_000)),
    form('/products/import/paste', { rows: 'a\n'.repeat(19_000) }),
    form('/settings/file', { action: 'preview', text: times(9_900, (index) => `k${index}: 1`).join('\n') }),
    form('/settings/file', { action: 'preview', text: `a: [${'{},'.repeat(150_000)}]` }),
    form(
      '/settings/taxes',
      entries(2_900, (index) => `taxClasses.${index}.key`),
    ),
    form('/settings/domains', { domains: 'x\n'.repeat(1_000) }),
    form('/settings/emails/order/preview', { subject: 'x', text: '{lines}\n\n'.repeat(1_100) }),
    form('/settings/legal/privacy-policy/preview', { description: '<b>'.repeat(60_000) }),
    form('/products/new', { name: 'x', description: '<a "'.repeat(45_000) }),
  ];
}

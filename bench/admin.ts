import { startProgress } from '../src/commands/progress.ts';
import type { AdminShop } from './admin-shop.ts';
import { cpuTimes, cpuUsed } from './cpu-time.ts';
import type { Server } from './processes.ts';
import type { Database } from '../src/db/database.ts';
import { openConnections, type Connections, type Reply } from './client.ts';
import type { PageFigures } from './report.ts';
import { percentile } from './timing.ts';

/** Whether the pages of a merchant stay fast in a large shop: every list, sorted, filtered and searched, one after the other. */

const LIST_GOAL = 100;
const HOME_GOAL = 50;
/** In KB, with all that a browser without a cache loads for the page. */
export const WEIGHT_GOAL = 150;
const WARM_UP_CALLS = 5;
/** Of a list of the admin. */
const PER_PAGE = 50;

export async function measureAdmin(
  { origin, pid }: Pick<Server, 'origin' | 'pid'>,
  db: Database,
  shop: AdminShop,
  { calls, match = '' }: { calls: number; match?: string | undefined },
): Promise<PageFigures[]> {
  const connection = openConnections(origin, 1);
  const open = async (path: string): Promise<Reply> => {
    const reply = await connection.send({ method: 'GET', path, headers: { cookie: shop.cookie } });
    if (reply.status !== 200) throw new Error(`${path} answers ${reply.status} ${reply.text.slice(0, 500)}`);
    return reply;
  };
  const figures: PageFigures[] = [];
  const pages = pagesOf(shop).filter(([name]) => name.includes(match));
  const progress = startProgress('pages', pages.length);
  try {
    for (const [name, path] of pages) {
      const times: number[] = [];
      for (let index = 0; index < WARM_UP_CALLS; index++) await open(path);
      const before = await cpuTimes(pid, db);
      for (let index = 0; index < calls; index++) {
        const began = performance.now();
        await open(path);
        times.push(performance.now() - began);
      }
      const cpuMs = round(cpuUsed(before, await cpuTimes(pid, db)) / calls);
      const reply = await open(path);
      const p95Ms = round(percentile(times, 0.95));
      const firstLoadKilobytes = kilobytes(bytesOf(reply) + (await assetBytes(connection, reply)));
      const goalMs = name.startsWith('home') ? HOME_GOAL : LIST_GOAL;
      figures.push({
        name,
        p50Ms: round(percentile(times, 0.5)),
        p95Ms,
        goalMs,
        cpuMs,
        kilobytes: kilobytes(bytesOf(reply)),
        firstLoadKilobytes,
        ok: p95Ms < goalMs && firstLoadKilobytes < WEIGHT_GOAL,
      });
      progress.advance(1);
    }
    progress.end();
    return figures;
  } finally {
    connection.close();
  }
}

const round = (value: number) => Math.round(value * 10) / 10;

const bytesOf = ({ text }: Reply) => Buffer.byteLength(text);

const kilobytes = (bytes: number) => round(bytes / 1024);

/** Everything that a browser without a cache loads beside the page, pictures excepted. */
async function assetBytes(connection: Connections, { text }: Reply): Promise<number> {
  const paths = new Set(Array.from(text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g), ([, path]) => path!));
  let bytes = 0;
  for (const path of paths) bytes += bytesOf(await connection.send({ method: 'GET', path }));
  return bytes;
}

type Page = [name: string, path: string];

/** A name and an address for each list in each state that somebody can bring it into. */
function pagesOf(shop: AdminShop): Page[] {
  const { sizes, newsletterId, campaignId, webhookId, categoryId, customerGroupId } = shop;
  const lastOf = (rows: number) => String(Math.ceil(rows / PER_PAGE));
  const year = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  const list = (
    name: string,
    path: string,
    states: Record<string, Record<string, string | number>>,
  ): Page[] =>
    Object.entries(states).map(([state, query]) => {
      const search = new URLSearchParams();
      for (const [key, value] of Object.entries(query)) search.set(key, String(value));
      return [`${name}, ${state}`, `/admin/shops/${shop.shopId}${path}?${search.toString()}`];
    });
  const pages = (rows: number) => ({
    'first page': {},
    'page 20': { page: 20 },
    'page in the middle': { page: Math.ceil(rows / PER_PAGE / 2) },
    'last page': { page: lastOf(rows) },
  });
  return [
    ['home', `/admin/shops/${shop.shopId}`],
    ['home, 90 days', `/admin/shops/${shop.shopId}?days=90`],
    ...list('search', '/search', {
      'an order': { q: 'ORD/4711' },
      'all orders': { q: 'ORD' },
      'a product': { q: 'G7-000123' },
      'all products': { q: 'G7' },
      'a frequent word': { q: 'steel' },
      'two words': { q: 'steel lantern' },
      'half a name': { q: 'lind' },
      'a customer': { q: 'ada.lindqvist.112' },
      'one letter': { q: 'a' },
      'nothing found': { q: 'qqzzxx' },
      'a typing error': { q: 'lantren' },
    }),
    ...list('orders', '/orders', {
      'to do': {},
      new: { state: 'new' },
      'to pay': { state: 'toPay' },
      'to ship': { state: 'toShip' },
      'to ship, last changed first': { state: 'toShip', sort: '-changed' },
      'waiting for payment': { state: 'waitingForPayment' },
      'payment failed': { state: 'paymentFailed' },
      returns: { state: 'returns' },
      done: { state: 'done' },
      'done, last page': { state: 'done', page: lastOf(sizes.orders * 0.9) },
      returned: { state: 'returned' },
      cancelled: { state: 'cancelled' },
      all: { state: 'all' },
      'all, page in the middle': { state: 'all', page: Math.ceil(sizes.orders / PER_PAGE / 2) },
      'all, last page': { state: 'all', page: lastOf(sizes.orders) },
      'all, oldest first': { state: 'all', sort: 'date' },
      'all, last changed first': { state: 'all', sort: '-changed' },
      'all, last changed first, page in the middle': {
        state: 'all',
        sort: '-changed',
        page: Math.ceil(sizes.orders / PER_PAGE / 2),
      },
      'all, first changed first': { state: 'all', sort: 'changed' },
      'to pay, last changed first': { state: 'toPay', sort: '-changed' },
      'cancelled, first changed first': { state: 'cancelled', sort: 'changed' },
      'a year': { state: 'all', from: year(500), to: year(135) },
      'a number': { q: '4711' },
      'many numbers': { q: '1' },
      'a customer': { q: 'ada.lindqvist.112' },
      'a frequent name': { q: 'Ada' },
      'a letter': { q: 'a' },
      'a frequent name, to pay': { q: 'Ada', state: 'toPay' },
      'nothing found': { q: 'qqzzxx' },
    }),
    ...list('products', '/products', {
      ...pages(sizes.products),
      'name descending': { sort: '-name' },
      'by price': { sort: 'price' },
      'dearest first': { sort: '-price' },
      'by price, page in the middle': { sort: 'price', page: Math.ceil(sizes.products / PER_PAGE / 2) },
      hidden: { visible: 'no' },
      shown: { visible: 'yes' },
      'in stock': { stock: 'in' },
      'in stock, page in the middle': { stock: 'in', page: Math.ceil(sizes.products / PER_PAGE / 2) },
      'low stock': { stock: 'low' },
      'sold out': { stock: 'out' },
      'a category': { category: categoryId },
      'a category, last page': { category: categoryId, page: lastOf(sizes.products / 8) },
      'a number': { q: 'G7-000123' },
      'a word in all': { q: 'G7' },
      'a frequent word': { q: 'steel' },
      'a frequent word, by price': { q: 'steel', sort: 'price' },
      'a frequent word, page 20': { q: 'steel', page: 20 },
      'a word of most descriptions': { q: 'made' },
      'two frequent words': { q: 'steel lantern' },
      'three words': { q: 'steel lantern harbour' },
      'a rare word': { q: 'xylophone' },
      'a frequent word, sold out': { q: 'steel', stock: 'out' },
      'a frequent word, in stock': { q: 'steel', stock: 'in' },
      'a frequent word in a category': { q: 'steel', category: categoryId },
      'a category by its name': { q: 'lighting' },
      'one letter': { q: 'a' },
      'nothing found': { q: 'qqzzxx' },
    }),
    ...list('customers', '/customers', {
      ...pages(sizes.customers),
      'oldest first': { sort: 'since' },
      'a group': { group: customerGroupId },
      'a frequent name': { q: 'Ada' },
      'a frequent last name': { q: 'lindqvist' },
      'a rare name': { q: 'lindqvist-b' },
      'an email address': { q: 'ada.lindqvist.112' },
      'a letter': { q: 'a' },
      'a number': { q: 'C1' },
      'a name in a group': { q: 'ada', group: customerGroupId },
      'nothing found': { q: 'qqzzxx' },
    }),
    ...list('coupons', '/marketing', { 'first page': {}, 'last page': { page: 8 } }),
    ...list('coupon campaign', `/marketing/coupons/${campaignId}`, {
      codes: {},
      'one code': { code: 'CODE2' },
    }),
    ...list('newsletters', '/marketing/newsletters', { all: {} }),
    ...list('subscribers', `/marketing/newsletters/${newsletterId}`, {
      ...pages(sizes.subscribers / 3),
      'a frequent name': { q: 'ada' },
      'a rare address': { q: 'ada.112' },
      'nothing found': { q: 'aaab' },
    }),
    ...list('carts', '/marketing/carts', { ...pages(sizes.carts * 0.6) }),
    ...list('categories', '/categories', { tree: {} }),
    ...list('category', `/categories/${categoryId}`, { 'its products': {} }),
    ...list('product types', '/product-types', { all: {} }),
    ...list('stock take', '/products/stock-take', { empty: {}, 'a code': { code: 'G7-000123-1' } }),
    ...list('apps', '/apps', { all: {} }),
    ...list('webhooks', '/apps/webhooks', { all: {} }),
    ...list('deliveries', `/apps/webhooks/${webhookId}`, {
      all: {},
      failed: { status: 'failed' },
      waiting: { status: 'waiting' },
      delivered: { status: 'delivered' },
    }),
    ...list('audit log', '/apps/audit', {
      ...pages(sizes.entries),
      deletions: { method: 'DELETE' },
      'no such method': { method: 'COMMAND' },
      'of nobody': { who: '00000000-0000-7000-8000-000000000000' },
      'of a month': { from: year(90), to: year(60) },
    }),
    ['shops of the host', '/admin/host'],
    ['shops of the host, last page', '/admin/host?before=zz'],
    ['shops of the host, searched', '/admin/host?q=Empty-19'],
    ['jobs of the host', '/admin/host/jobs'],
  ];
}

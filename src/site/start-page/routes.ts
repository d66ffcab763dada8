import type { FastifyInstance } from 'fastify';
import { isDemo, isPrivate, type Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import type { ObservedDemoAccess } from '../../http/demo-access.ts';
import { isFromThisMachine } from '../../http/forwarded.ts';
import { originOf, storefrontUrl } from '../../http/links.ts';
import { assetRoutes } from '../../http/assets.ts';
import { brandOf } from '../../platform/brand.ts';
import type { ShopHosts } from '../../shops/shop/hosts.ts';
import { countShops, findShopsWithDomains } from '../../shops/shop/queries.ts';
import { sendPage } from './page.ts';
import { minutesToReset } from '../../http/demo-mode.ts';
import { demoEndedNotice, demoPage, publicPage, startingPage, startPage } from './start-view.ts';

const MAX_SHOWN = 100;

export interface StartPageDeps {
  db: Database;
  config: Config;
  hosts: ShopHosts;
  demoAccess: ObservedDemoAccess;
  isMigrated: () => boolean;
}

/** The first page of a server: its shops, if only people on this machine can see it. */
export function startPageRoutes(
  app: FastifyInstance,
  { db, config, hosts, demoAccess, isMigrated }: StartPageDeps,
): void {
  const brand = brandOf(config);
  const publicUrl = config.PUBLIC_URL?.replace(/\/$/, '');

  const { stylesheet, logo } = brand;
  assetRoutes(
    app,
    [stylesheet, logo].filter((file) => file !== undefined),
  );

  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    if (!isMigrated()) {
      return sendPage(reply.code(503).headers({ 'retry-after': '1', refresh: '1' }), startingPage(brand));
    }
    if (isDemo(config)) return sendPage(reply, demoPage(brand, minutesToReset(db.now)));
    const origin = originOf(request, publicUrl);
    const notice = demoAccess.isEnded() ? demoEndedNotice : undefined;
    if (!isPrivate(config) || !isFromThisMachine(request)) return sendPage(reply, publicPage(brand, notice));
    const [count, found] = await Promise.all([countShops(db), findShopsWithDomains(db, MAX_SHOWN)]);
    const shops = found.map(({ domain, ...shop }) => {
      const localHost = hosts.localHostOf(shop.shopId);
      const own = localHost === undefined ? undefined : localAddress(origin, localHost);
      const domainsInUse = domain === null ? [] : [domain];
      return { ...shop, storefront: own ?? storefrontUrl(origin, { shopId: shop.shopId, domainsInUse }) };
    });
    return sendPage(reply, startPage(brand, shops, count, origin, notice));
  });
}

/** Only names of this machine can be replaced by another one; undefined for a host from elsewhere. */
function localAddress(origin: string, host: string): string | undefined {
  const { hostname, port } = new URL(origin);
  if (hostname !== 'localhost' && hostname !== '127.0.0.1' && hostname !== '[::1]') return undefined;
  return `http://${host}${port === '' ? '' : `:${port}`}`;
}

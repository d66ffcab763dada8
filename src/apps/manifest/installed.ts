import type { CacheKind } from '../../db/cache.ts';
import type { Queries } from '../../db/database.ts';
import type { Scope } from '../../http/scopes.ts';
import { findAgreed } from './queries.ts';
import type {
  ActionEntry,
  AppCall,
  AppPaymentMethod,
  BlockEntry,
  ManifestEntry,
  StorefrontEntry,
} from './schema.ts';

/** An app that the merchant has agreed to, with what it adds to the admin and to the storefront. */
export interface InstalledApp {
  appId: string;
  name: string;
  /** Of all of its pages. */
  origin: string;
  /** Stands beside its name, because anybody can call an app anything. */
  host: string;
  scopes: readonly Scope[];
  pages: readonly ManifestEntry[];
  blocks: readonly BlockEntry[];
  storefrontBlocks: readonly StorefrontEntry[];
  actions: readonly ActionEntry[];
  calls: readonly AppCall[];
  paymentMethods: readonly AppPaymentMethod[];
}

interface CachedApps {
  version: number;
  apps: readonly InstalledApp[];
}

const cache: CacheKind<CachedApps> = { name: 'pages of apps', limit: { entries: 2_000 } };

/** `Labels (labels.example)`: anybody can call an app anything, but not its host. */
export const appLabel = ({ name, host }: Pick<InstalledApp, 'name' | 'host'>) => `${name} (${host})`;

/** Without a statement as long as the settings have this version, which moves when an app is installed or changed. */
export async function installedApps(
  db: Queries,
  { shopId, version }: { shopId: string; version: number },
): Promise<readonly InstalledApp[]> {
  const known = db.caches.of(cache).get(shopId);
  if (known?.version === version) return known.apps;
  const rows = await findAgreed(db, shopId);
  const apps = rows.map(({ appId, agreed }) => {
    const { name, installUrl, scopes, pages, blocks, actions, calls } = agreed;
    const { storefrontBlocks = [], paymentMethods = [] } = agreed;
    const { origin, host } = new URL(installUrl);
    const shown = { pages, blocks, storefrontBlocks, actions };
    return { appId, name, origin, host, scopes, ...shown, calls, paymentMethods };
  });
  db.caches.of(cache).set(shopId, { version, apps });
  return apps;
}

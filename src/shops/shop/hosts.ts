import { hostname, networkInterfaces } from 'node:os';
import type { FastifyBaseLogger } from 'fastify';
import { isLoopback, isPrivate, type Config } from '../../config.ts';
import type { Database, Queries } from '../../db/database.ts';
import { startPolling } from '../../db/polling.ts';
import { sql } from '../../db/sql.ts';
import { schemeOf } from '../../http/links.ts';
import { isCertifiable, mayHaveCertificate } from '../domains/certificate-host.ts';
import { hostName } from './domain-policy.ts';

declare module 'fastify' {
  interface FastifyInstance {
    shopHosts: ShopHosts;
  }
}

/**
 * Shops with a host in a private installation, a machine for trying things out. Others are reachable below /shop only.
 */
const MAX_LOCAL_HOSTS = 10_000;

/** Origins whose decision is cached: invented ones come and go. */
const MAX_DECIDED = 1_000;

const LOCAL_SUFFIX = '.localhost';

export type ShopHosts = ReturnType<typeof createShopHosts>;

export interface ShopHostsDeps {
  db: Database;
  config: Config;
  log: FastifyBaseLogger;
  isMigrated: () => boolean;
  /** The port that the service listens on; undefined while it does not listen. */
  port: () => number | undefined;
}

/**
 * Which host belongs to which shop, in memory, because every request is routed by it before anything is read. It is
 * checked every few seconds by one cheap statement, and code that changes domains or shops in this process calls
 * `refresh`. It holds as many hosts as the shops have domains (20 each at most), and 10,000 more when private.
 */
export function createShopHosts({ db, config, log, isMigrated, port }: ShopHostsDeps) {
  const hasLocalHosts = isPrivate(config);
  const publicUrl = config.PUBLIC_URL?.replace(/\/$/, '');
  const publicHost = publicUrl && normalised(new URL(publicUrl).host);
  const publicName = publicHost && hostName(publicHost);
  const machineNames = namesOfThisMachine(config);

  /** By domain. */
  let domains = new Map<string, string>();
  /** The names that a proxy may get a certificate for, without ports. */
  let certifiable = new Set<string>();
  /** By the label before `.localhost`. */
  let localShops = new Map<string, string>();
  let fingerprint: string | undefined;

  const load = async () => {
    const found = JSON.stringify(await db.one(hasLocalHosts ? privateState : domainState));
    if (found === fingerprint) return;
    const [domainRows, shopIds] = await Promise.all([
      findDomains(db),
      hasLocalHosts ? findShopIds(db, MAX_LOCAL_HOSTS) : [],
    ]);
    // The service's own hosts can't be taken over, whatever wrote such a row.
    const used = domainRows.filter(({ host }) => host !== publicHost && !isLoopback(withoutPort(host)));
    domains = new Map(used.map(({ host, shopId }) => [host, shopId]));
    certifiable = new Set(used.filter(mayHaveCertificate).map(({ host }) => hostName(host)));
    if (publicName !== undefined && isCertifiable(publicName)) certifiable.add(publicName);
    // Of two ids that differ in case only, the older shop has the host: the later entry of a map wins.
    localShops = new Map(shopIds.toReversed().map((shopId) => [shopId.toLowerCase(), shopId]));
    decidedOrigins.clear();
    fingerprint = found;
  };

  const polling = startPolling(load, {
    isMigrated,
    onFailure: (error) => log.warn({ err: error }, 'the hosts of the shops could not be read'),
  });

  const localShop = (host: string) => {
    const name = withoutPort(host);
    return name.endsWith(LOCAL_SUFFIX) ? localShops.get(name.slice(0, -LOCAL_SUFFIX.length)) : undefined;
  };

  /** Browsers leave out the usual port, so `localhost` and `localhost:80` are the same. */
  const hasKnownPort = (host: string) => {
    const [given] = /:\d+$/.exec(host) ?? [];
    return given === undefined || given === ':80' || given === `:${port()}`;
  };

  /** Called for every response with a link; the same few origins recur. */
  const decidedOrigins = new Map<string, boolean>();
  const decideOrigin = (origin: string) => {
    if (origin === publicUrl) return true;
    const [, host] = /^https?:\/\/(.+)$/.exec(origin) ?? [];
    if (host === undefined) return false;
    if (domains.has(host)) return true;
    return hasKnownPort(host) && (machineNames.has(withoutPort(host)) || localShop(host) !== undefined);
  };

  return {
    /** The shop that this host belongs to; undefined: it is the service's host, or unknown. */
    shopOf(host: string): string | undefined {
      const known = normalised(host);
      return domains.get(known) ?? localShop(known);
    },

    /** Whether a proxy may get a certificate for this name, which is in lower case and has no port. */
    mayHaveCertificate(name: string): boolean {
      return certifiable.has(name);
    },

    /** The host that a shop has without any setup; undefined: none, because other machines can call. */
    localHostOf(shopId: string): string | undefined {
      const label = shopId.toLowerCase();
      return localShops.get(label) === shopId ? label + LOCAL_SUFFIX : undefined;
    },

    /**
     * Whether an origin is one of the few that a client can't invent: only texts with such an origin are cached, or
     * every Host header would add entries.
     */
    isKnownOrigin(origin: string): boolean {
      let isKnown = decidedOrigins.get(origin);
      if (isKnown === undefined) {
        if (decidedOrigins.size >= MAX_DECIDED) decidedOrigins.clear();
        decidedOrigins.set(origin, (isKnown = decideOrigin(origin)));
      }
      return isKnown;
    },

    ...polling,
  };
}

/**
 * Scheme and host of a shop's own pages, where the service itself is at `origin`; undefined: it has none, and is below /shop of
 * the service.
 */
export function ownOrigin(
  origin: string,
  { shopId, domainsInUse: [domain] }: { shopId: string; domainsInUse: readonly string[] },
  hosts: Pick<ShopHosts, 'localHostOf'>,
): string | undefined {
  if (domain !== undefined) return `${schemeOf(origin)}//${domain}`;
  const localHost = hosts.localHostOf(shopId);
  const { hostname, port } = new URL(origin);
  if (localHost === undefined || hostname !== 'localhost') return undefined;
  return `http://${localHost}${port === '' ? '' : `:${port}`}`;
}

/** The names of this machine, its own and its network's, where no PUBLIC_URL is set. */
function namesOfThisMachine({ HOST }: Config): ReadonlySet<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((known = []) =>
    known.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)),
  );
  return new Set(['localhost', '127.0.0.1', '[::1]', HOST, hostname().toLowerCase(), ...addresses]);
}

/** As the table holds hosts. A dot at the end of a name means the same name. */
function normalised(host: string): string {
  return host
    .toLowerCase()
    .replace(/:(?:80|443)$/, '')
    .replace(/\.(?=:|$)/, '');
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}

/** Changes with every change of a domain, and with every shop that is closed by the host or opened again. */
const domainState = sql`
  select domains.*, closings.*
  from (
    select count(*) as domains, max(added_at) as newest,
      coalesce(sum(hashtextextended(host || ' ' || shop_id, 0)), 0)::text as hosts
    from shop_domain
  ) as domains
  cross join (
    select count(*) as closed, coalesce(sum(hashtextextended(shop_id, 0)), 0)::text as "closedIds"
    from shop where suspended_at is not null or deletion_at is not null
  ) as closings`;

/** Every shop has a host when private, so a new one and a deleted one count too. */
const privateState = sql`
  select shops.*, domains.*
  from (
    select count(*) as shops, max(created_at) as "newestShop",
      coalesce(sum(hashtextextended(shop_id, 0)), 0)::text as ids
    from shop
  ) as shops
  cross join (${domainState}) as domains`;

function findDomains(db: Queries) {
  return db.many<{ host: string; shopId: string; isProved: boolean; isSuspended: boolean }>(sql`
    select host, shop_domain.shop_id as "shopId", proof is not null as "isProved",
      (suspended_at is not null or deletion_at is not null) as "isSuspended"
    from shop_domain left join shop on shop.shop_id = shop_domain.shop_id`);
}

async function findShopIds(db: Queries, limit: number): Promise<string[]> {
  const rows = await db.many<{ shopId: string }>(sql`
    select shop_id as "shopId" from shop order by created_at, shop_id limit ${limit}`);
  return rows.map(({ shopId }) => shopId);
}

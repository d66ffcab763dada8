import { isLoopback, type Config } from '../../config.ts';
import type { Queries } from '../../db/database.ts';
import type { DemoAccess } from '../../http/demo-access.ts';
import { planOfShop, type HostPlan } from '../../platform/plans/plans.ts';

/** Which domains a shop may name, and whether it uses them at once. */
export interface DomainPolicy {
  /** Whether this is a host of the service itself, which no shop can have. */
  isOfService: (host: string) => boolean;
  /** false: only programs on this machine can call, so a new domain is used without a proof. */
  needsProof: boolean;
  /** The plan of a shop, which may limit what its settings can name. Absent: there is none. */
  planOf?: (db: Queries, shopId: string) => Promise<HostPlan | undefined>;
}

/** `requestHost` is the host at which the person naming the domain reached the service, if by a request. */
export function domainPolicy(config: Config, demoAccess: DemoAccess, requestHost?: string): DomainPolicy {
  const { PUBLIC_URL } = config;
  const own = new Set(
    [requestHost, PUBLIC_URL === undefined ? undefined : new URL(PUBLIC_URL).host].flatMap((host) =>
      host === undefined ? [] : [hostName(host)],
    ),
  );
  return {
    // With any port: browsers share cookies between the ports of a host.
    isOfService: (host) => own.has(hostName(host)) || isLoopback(hostName(host)),
    needsProof: !demoAccess.isOpen(),
    planOf: (db, shopId) => planOfShop(db, config, shopId),
  };
}

/** The name without its port. A dot at the end of a name means the same name. */
export function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
}

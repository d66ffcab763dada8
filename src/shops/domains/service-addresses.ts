import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Config } from '../../config.ts';
import { withNameServers } from './name-servers.ts';

/** Where the domains of shops must lead. */
export interface ServiceAddresses {
  /** The name that CNAME records lead to; undefined: PUBLIC_URL is not set, or has an address as its host. */
  name: string | undefined;
  /** The port of TLS; undefined: the service has none that is known. */
  tlsPort: number | undefined;
  /** A proxy asks which names it may get certificates for. */
  getsCertificates: boolean;
  /** The addresses for A and AAAA records; empty: they are not known. */
  find: () => Promise<readonly string[]>;
}

const MAX_ADDRESSES = 8;
const REMEMBERED = 60_000;

/**
 * PUBLIC_ADDRESSES, or what PUBLIC_URL's host resolves to, remembered for a minute. Both come from the operator, so a
 * connection to them is one to the service itself, whatever a merchant has entered.
 */
export function createServiceAddresses({
  PUBLIC_URL,
  PUBLIC_ADDRESSES,
  CERTIFICATE_ASK_PORT,
}: Config): ServiceAddresses {
  const url = PUBLIC_URL === undefined ? undefined : new URL(PUBLIC_URL);
  const host = url?.hostname.replace(/^\[|\]$/g, '');
  const given = PUBLIC_ADDRESSES?.split(',') ?? (host !== undefined && isIP(host) !== 0 ? [host] : undefined);
  const fixed = given?.map((address) => normalAddress(address.trim()));

  let found: { at: number; addresses: Promise<readonly string[]> } | undefined;
  const find = async (): Promise<readonly string[]> => {
    if (fixed) return fixed;
    if (host === undefined) return [];
    if (!found || performance.now() - found.at > REMEMBERED) {
      found = {
        at: performance.now(),
        addresses: resolveServiceAddresses(host).then((addresses) => addresses ?? []),
      };
    }
    return found.addresses;
  };
  return {
    name: host === undefined || isIP(host) !== 0 ? undefined : host,
    tlsPort: url?.protocol === 'https:' ? Number(url.port || 443) : undefined,
    getsCertificates: CERTIFICATE_ASK_PORT !== undefined,
    find,
  };
}

/** What a name resolves to; undefined: the name servers did not answer. */
export function resolveServiceAddresses(name: string): Promise<readonly string[] | undefined> {
  return withNameServers(async (ask) => {
    const [four, six] = await Promise.all([
      ask((resolver) => resolver.resolve4(name)),
      ask((resolver) => resolver.resolve6(name)),
    ]);
    const all = [...(four ?? []), ...(six ?? [])];
    if (all.length === 0 && (four === undefined || six === undefined)) return undefined;
    return all.slice(0, MAX_ADDRESSES).map(normalAddress);
  });
}

/** The spelling by which two addresses are compared. */
const normalAddress = (address: string): string => ipaddr.process(address).toString();

import type dns from 'node:dns';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isLoopback, type Config } from '../../config.ts';
import type { DemoAccess } from '../../http/demo-access.ts';
import { askNameServers, isPublicAddress, lookUp, type Resolve } from '../../http/public-address.ts';
import { FORBIDDEN_NAME } from './failure.ts';

export type { Resolve } from '../../http/public-address.ts';

/** Which receivers may be called. */
export interface ReceiverPolicy {
  /** undefined: it may be called, as far as is known without resolving its name. */
  problemOf(url: URL): string | undefined;
  /** The addresses of the host that may be connected to; throws when there are none. */
  addressesOf(url: URL): Promise<dns.LookupAddress[]>;
}

/**
 * Receivers must have a public address, so that the service cannot be made to call machines of its own network. Names
 * are resolved for each connection, and only checked addresses are connected to: a name may resolve differently than
 * when the webhook was created. While demo access is open, only programs on this machine can call us, and everything
 * may be called; after that, the networks in WEBHOOK_ALLOW beside public addresses.
 */
export function receiverPolicy(config: Config, demoAccess: DemoAccess, resolve?: Resolve): ReceiverPolicy {
  const networks = (config.WEBHOOK_ALLOW ?? '')
    .split(',')
    .filter((network) => network.trim() !== '')
    .map((network) => ipaddr.parseCIDR(network.trim()));
  const hasLocal = () => demoAccess.isOpen() || networks.length > 0;

  /** Networks that may also be called without encryption. */
  const isTrusted = (text: string): boolean => {
    if (demoAccess.isOpen()) return true;
    const address = ipaddr.process(text);
    return networks.some(
      ([network, bits]) => address.kind() === network.kind() && address.match(network, bits),
    );
  };

  const isAllowed = (text: string, { protocol }: URL): boolean =>
    isTrusted(text) || (protocol === 'https:' && isPublicAddress(text));

  // The system resolver also knows the names of this machine. It uses one of a few threads for each name, and
  // strangers must not occupy them with slow names.
  const find: Resolve = resolve ?? ((host) => (hasLocal() ? lookUp(host) : askNameServers(host)));

  return {
    problemOf: (url) => {
      const port = url.port === '' ? undefined : Number(url.port);
      const literal = literalAddress(url);
      if (url.protocol !== 'https:' && !(url.protocol === 'http:' && hasLocal())) {
        return 'must be an https address';
      }
      if (url.username !== '' || url.password !== '') return 'must not contain a user or a password';
      if (url.hash !== '') return 'must not contain a fragment';
      if (port !== undefined && port <= 1023 && port !== 443)
        return 'must have the port 443 or one above 1023';
      if (literal !== undefined ? !isAllowed(literal, url) : !hasLocal() && isLoopback(hostOf(url))) {
        return 'must be reachable at a public address';
      }
      return undefined;
    },
    addressesOf: async (url) => {
      const literal = literalAddress(url);
      const found =
        literal === undefined ? await find(hostOf(url)) : [{ address: literal, family: isIP(literal) }];
      const allowed = found.filter(({ address }) => isAllowed(address, url));
      if (allowed.length === 0) throw new ReceiverProblem(FORBIDDEN_NAME);
      return allowed;
    },
  };
}

/** Why a receiver could not be called, in a text that its owner may read. */
export class ReceiverProblem extends Error {
  override name = 'ReceiverProblem';
}

/** The host without the brackets of IPv6 and without the dot of the root. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** `URL` has turned all spellings of an IPv4 address (0x7f.1, 2130706433) into the usual one. */
function literalAddress(url: URL): string | undefined {
  const host = hostOf(url);
  return isIP(host) === 0 ? undefined : host;
}

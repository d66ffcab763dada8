import dns from 'node:dns';
import ipaddr from 'ipaddr.js';

/** The addresses of a name. */
export type Resolve = (host: string) => Promise<dns.LookupAddress[]>;

/** The only addresses of IPv6 that are routed on the internet. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an address is one of the internet, and not of this machine or its own network. */
export function isPublicAddress(text: string): boolean {
  // An IPv4 address inside an IPv6 address is checked as IPv4.
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_IPV6);
}

/** The system resolver also knows the names of this machine. */
export const lookUp: Resolve = (host) => dns.promises.lookup(host, { all: true });

const resolver = new dns.promises.Resolver({ timeout: 2_000, tries: 2 });

export const askNameServers: Resolve = async (host) => {
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
  return [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
};

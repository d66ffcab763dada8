import { createHmac, hkdfSync } from 'node:crypto';
import { withNameServers } from '../domains/name-servers.ts';
import { hostName } from './domain-policy.ts';

/** The proof that a domain belongs to the shop: either of two records of this name. */
export interface DomainChallenge {
  /** `_kontor-challenge.shop.example` */
  name: string;
  /** The text of a TXT record. */
  text: string;
  /** The first label of the name that a CNAME record leads to; the rest may be any name. */
  label: string;
}

/**
 * The challenges of an installation. A token belongs to one shop and one host and is derived from the installation
 * key, so it need not be stored, another shop can't use the record, and it stays valid for a restored shop.
 */
export function domainChallenges(installationKey: Buffer) {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'kontor domain challenges', 32));
  return (shopId: string, domain: string): DomainChallenge => {
    const host = hostName(domain);
    const token = createHmac('sha256', key).update(`${shopId} ${host}`).digest('hex').slice(0, 32);
    return { name: `_kontor-challenge.${host}`, text: `kontor-domain-verification=${token}`, label: token };
  };
}

export type DomainProof = 'TXT' | 'CNAME';

/** The record that proves the domain. Without one, `hasAnswer` says whether the name servers answered at all. */
export function findProof({ name, text, label }: DomainChallenge): Promise<{
  proof: DomainProof | undefined;
  hasAnswer: boolean;
}> {
  return withNameServers(async (ask) => {
    const [texts, names] = await Promise.all([
      ask((resolver) => resolver.resolveTxt(name)),
      ask((resolver) => resolver.resolveCname(name)),
    ]);
    const isText = texts?.some((parts) => parts.join('').trim() === text);
    const isName = names?.some((target) => target.toLowerCase().split('.', 1)[0] === label);
    return {
      proof: isText ? 'TXT' : isName ? 'CNAME' : undefined,
      hasAnswer: texts !== undefined && names !== undefined,
    };
  });
}

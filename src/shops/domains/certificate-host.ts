import { isIP } from 'node:net';

/** What decides whether a proxy may get a certificate for a domain of a shop. */
export interface CertificateFacts {
  /** A record in the DNS, or the operator, has confirmed that the domain is the shop's. */
  isProved: boolean;
  /** The operator has closed the shop, or will delete it. */
  isSuspended: boolean;
}

/**
 * A shop that has not opened yet gets one: its people try it out under its own name, and it opens with a certificate. A
 * suspended one does not: its pages are closed, and the name of a shop that deceives people is not vouched for any more.
 */
export function mayHaveCertificate({ isProved, isSuspended }: CertificateFacts): boolean {
  return isProved && !isSuspended;
}

const NAME = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** A name of the DNS in lower case, as authorities certify them: no address, no port, no wildcard, no single label. */
export function isCertifiable(name: string): boolean {
  return NAME.test(name) && isIP(name) === 0;
}

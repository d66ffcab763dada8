import { checkServerIdentity, connect, type PeerCertificate, type TLSSocket } from 'node:tls';

/** How browsers take the certificate of a name. `none`: there is no answer, or no certificate in it. */
export const CERTIFICATE_STATES = ['valid', 'expired', 'otherName', 'untrusted', 'none'] as const;
export type CertificateState = (typeof CERTIFICATE_STATES)[number];

export interface CertificateLook {
  state: CertificateState;
  issuer: string | null;
  validUntil: Date | null;
  /** The names that it is for, some of them. */
  names: string[];
}

export const NO_CERTIFICATE: CertificateLook = { state: 'none', issuer: null, validUntil: null, names: [] };

/** Milliseconds: a proxy may get the certificate while it is asked for it. */
const DEADLINE = 10_000;
const MAX_NAMES = 10;
const MAX_ISSUER = 200;

export interface LookOptions {
  /** The machine that is asked, an address or a name. */
  host: string;
  port: number;
  /** The name that the certificate is for. */
  name: string;
  /** Authorities to trust instead of the usual ones. */
  ca?: string | undefined;
}

/** Reads the certificate that a browser gets for a name; nothing is sent but the name. */
export function readCertificate({ host, port, name, ca }: LookOptions): Promise<CertificateLook> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({ host, port, servername: name, rejectUnauthorized: false, ca }, () =>
      end(lookOf(socket.getPeerCertificate(), name, socket.authorized)),
    );
    const limit = setTimeout(() => end(NO_CERTIFICATE), DEADLINE);
    const end = (look: CertificateLook) => {
      clearTimeout(limit);
      socket.destroy();
      resolve(look);
    };
    socket.once('error', () => end(NO_CERTIFICATE));
    socket.once('close', () => end(NO_CERTIFICATE));
  });
}

function lookOf(certificate: PeerCertificate, name: string, isTrusted: boolean): CertificateLook {
  if (certificate.valid_to === undefined) return NO_CERTIFICATE;
  const validUntil = new Date(certificate.valid_to);
  const state =
    validUntil.getTime() <= Date.now()
      ? 'expired'
      : checkServerIdentity(name, certificate)
        ? 'otherName'
        : isTrusted
          ? 'valid'
          : 'untrusted';
  return {
    state,
    issuer: [certificate.issuer.O ?? certificate.issuer.CN ?? ''].flat().join(', ').slice(0, MAX_ISSUER),
    validUntil,
    names: namesOf(certificate.subjectaltname ?? ''),
  };
}

/** `DNS:shop.example, IP Address:203.0.113.5` */
const namesOf = (text: string): string[] =>
  [...text.matchAll(/DNS:([^,\s"]{1,253})/g)].slice(0, MAX_NAMES).map(([, name]) => name!);

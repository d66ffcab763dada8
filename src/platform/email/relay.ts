import { isIP } from 'node:net';
import { isLoopback } from '../../config.ts';
import { askNameServers, isPublicAddress, lookUp, type Resolve } from '../../http/public-address.ts';

/** How a connection to a mail server is encrypted. */
export const TLS_MODES = ['starttls', 'implicit', 'none'] as const;
export type TlsMode = (typeof TLS_MODES)[number];

/** A mail server that a shop sends its emails by. */
export interface Relay {
  host: string;
  port: number;
  tls: TlsMode;
  user: string | null;
  password: string | null;
  /** Tells it from the one that the shop has entered after it. */
  updatedAt: Date;
}

/** The ports of mail servers: no shop can call other services by this. */
export const RELAY_PORTS: readonly number[] = [25, 465, 587, 2525];

/** Which mail servers of shops may be called. */
export interface RelayPolicy {
  /** Only programs on this machine can call the service, so shops may use a mail server on it, on any port. */
  isLocalAllowed: () => Promise<boolean>;
  /** Absent: by DNS. */
  resolve?: Resolve | undefined;
  /** The certificates of authorities that are trusted; absent: those that Node trusts. */
  authorities?: string | undefined;
}

class RelayRefused extends Error {
  override name = 'RelayRefused';
  readonly code = 'EADDRESS';
}

/** Milliseconds for a whole email, from the name to the last answer: shorter than the lease of its job. */
const DEADLINE = 30_000;
/** Characters of an answer of the server. */
const MAX_RESPONSE = 8_192;

/** An email as SMTP sends it. */
export interface RelayEmail {
  envelope: Record<'from' | 'to', { name: string; address: string }>;
  raw: Buffer;
}

/**
 * Sends one email by a connection of its own. The name of the server is resolved for each, and the connection goes to
 * an address that was checked: a name may lead elsewhere than when it was saved.
 */
export async function sendByRelay(
  relay: Relay,
  policy: RelayPolicy,
  email: RelayEmail,
  {
    deadline = DEADLINE,
    onOpen = () => {},
  }: { deadline?: number; onOpen?: (close: () => void) => void } = {},
): Promise<void> {
  const until = performance.now() + deadline;
  const address = await inTime(addressOf(relay, policy), deadline);
  const { createTransport } = await import('nodemailer');
  const { host, port, tls, user, password } = relay;
  const transport = createTransport({
    // Only a pool can end a connection that is in use.
    pool: true,
    maxConnections: 1,
    maxMessages: 1,
    maxRequeues: 0,
    host: address,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(user !== null && { auth: { user, pass: password ?? '' } }),
    tls: {
      ...(isIP(host) === 0 && { servername: host }),
      ...(policy.authorities !== undefined && { ca: policy.authorities }),
      minVersion: 'TLSv1.2',
    },
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
    dnsTimeout: 5_000,
    maxResponseSize: MAX_RESPONSE,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const close = () => transport.close({ force: true });
  onOpen(close);
  try {
    await inTime(transport.sendMail(email), Math.max(1, until - performance.now()));
  } finally {
    close();
  }
}

/** The address that is connected to. */
async function addressOf({ host, port, tls }: Relay, policy: RelayPolicy): Promise<string> {
  const isLocalAllowed = await policy.isLocalAllowed();
  const resolve = policy.resolve ?? (isLocalAllowed ? lookUp : askNameServers);
  const found = isIP(host) === 0 ? (await resolve(host)).map(({ address }) => address) : [host];
  const isAllowed = (address: string) =>
    isLocalAllowed && isLoopback(address)
      ? true
      : isPublicAddress(address) && RELAY_PORTS.includes(port) && tls !== 'none';
  const address = found.find(isAllowed);
  if (address === undefined) throw new RelayRefused(`${host} leads to no address that may be called`);
  return address;
}

/** A server that sends a byte now and then would be waited for for ever. */
async function inTime<Result>(work: Promise<Result>, milliseconds: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(Object.assign(new Error('The server did not answer in time'), { code: 'EDEADLINE' })),
      milliseconds,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // Its later answers do not matter.
    work.catch(() => {});
  }
}

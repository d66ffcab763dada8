import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import type { InternalRequest, Method } from '../http/internal-call.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { DomainPolicy } from '../shops/shop/domain-policy.ts';
import type { Device } from '../people/accounts/device-cookie.ts';
import type { Language, Words } from './messages.ts';
import type { Notice } from './page.ts';
import type { Permission, Role } from './users/permissions.ts';
import type { SignedInUser } from './users/queries.ts';

/** Who may open a page that belongs to no shop: everybody, whoever is signed in, or whoever runs the installation. */
export type Audience = 'anybody' | 'signed in' | 'host';

/** What is known of every request for a page of the admin. */
interface AnyVisit {
  db: Database;
  config: Config;
  /** The installation key, which seals secrets. */
  key: Buffer;
  /** Scheme and host of the service, which the admin is on. */
  origin: string;
  /** Whether the owner of the demo shop signs in without a password. */
  demo: {
    /** Only programs on this machine call. */
    isOpen: boolean;
    /** It was open on this machine until a request showed that others can call. */
    isEnded: boolean;
    /** A browser on this machine has sent this request from a page of this service. */
    isOwnForm: boolean;
  };
  language: Language;
  words: Words;
  /** What the last form has to say. */
  notice: Notice | undefined;
  /** Signs the browser in with the token of a new session, or out with null. */
  setToken: (token: string | null) => void;
  /** Who has signed in with this browser before; undefined: nobody. */
  device: Device | undefined;
  /** Makes the browser one that this person has used. */
  rememberUser: (userId: string) => void;
}

export type Visit<A extends Audience = Audience> = AnyVisit & {
  user: A extends 'anybody' ? SignedInUser | undefined : SignedInUser;
};

/** A request for a page of a shop, by somebody who works in it. */
export interface ShopVisit extends AnyVisit {
  user: SignedInUser;
  shopId: string;
  settings: Settings;
  role: Role;
  may: (permission: Permission) => boolean;
  /** The language of the shop's texts that is shown: that of the person where the shop has it, else its default. */
  locale: string;
  /** `/admin/shops/ID` */
  base: string;
  /** Where the shop's pages are. */
  storefront: string;
  /** Which domains the shop may name. */
  domainPolicy: DomainPolicy;
  /**
   * Calls an operation of the API in the name of the person: `call('GET', '/rs/orders', { query })`. Its refusals are
   * thrown. Reads that a page needs in another shape than the API's are queries of the modules.
   */
  call: Call;
  /**
   * Makes several calls in one transaction: `inTransaction(async (call) => ...)`. All of them are done, or none is. Inside
   * of it only `call` is used: another read or write would wait for a second connection.
   */
  inTransaction: <Result>(work: (call: Call) => Promise<Result>) => Promise<Result>;
}

export type Call = <Answer = unknown>(
  method: Method,
  path: string,
  request?: InternalRequest,
) => Promise<Answer>;

/** The path of a page of this shop: `adminPath(visit, '/orders', { page: '2' })`. Empty parameters are left out. */
export function adminPath(
  { base }: Pick<ShopVisit, 'base'>,
  path: string,
  query: Readonly<Record<string, string | readonly string[] | undefined>> = {},
): string {
  const parameters = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      [value ?? []].flat().flatMap((one): [string, string][] => (one === '' ? [] : [[name, one]])),
    ),
  ).toString();
  return base + path + (parameters === '' ? '' : `?${parameters}`);
}

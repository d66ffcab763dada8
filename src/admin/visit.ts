import type { InstalledApp } from '../apps/manifest/installed.ts';
import { isDemo, type Config } from '../config.ts';
import type { Database, Transaction } from '../db/database.ts';
import type { HostMessage } from '../host/message-queries.ts';
import { DEMO_SHOP } from '../http/demo-mode.ts';
import type { CallOperation } from '../http/internal-call.ts';
import type { Settings } from '../shops/settings/settings.ts';
import type { VatRegister } from '../shops/vat-numbers/register.ts';
import type { DomainPolicy } from '../shops/shop/domain-policy.ts';
import type { Device } from '../people/accounts/device-cookie.ts';
import type { Language, AdminMessages } from './messages.ts';
import type { Permission, Role } from './users/permissions.ts';
import type { SignedInUser } from './users/queries.ts';
import type { Notice } from '../http/page-kit.ts';

/** The audience of a page that belongs to no shop: everyone, signed-in users, or the operator of the installation. */
export type PageAudience = 'anybody' | 'signed in' | 'host';

/** The data of every request for a page of the admin. */
interface AnyVisit {
  db: Database;
  config: Config;
  /** The installation key, which seals secrets. */
  key: Buffer;
  /** Scheme and host of the service, which serves the admin. */
  origin: string;
  /** Whether the owner of the demo shop signs in without a password. */
  demo: {
    /** Only programs on this machine can call. */
    isOpen: boolean;
    /** It was open on this machine until a request showed that others can call. */
    isEnded: boolean;
    /** A browser on this machine sent this request from a page of this service. */
    isOwnForm: boolean;
  };
  language: Language;
  messages: AdminMessages;
  /** The notice of the last form. */
  notice: Notice | undefined;
  /** Signs the browser in with the token of a new session, or out with null. */
  setToken: (token: string | null) => void;
  /** The users who have signed in with this browser before; undefined: none. */
  device: Device | undefined;
  /** Records that this user has used the browser. */
  rememberUser: (userId: string) => void;
}

export type Visit<A extends PageAudience = PageAudience> = AnyVisit & {
  user: A extends 'anybody' ? SignedInUser | undefined : SignedInUser;
};

/** A request for a page of a shop, by a staff member. */
export interface ShopVisit extends AnyVisit {
  user: SignedInUser;
  shopId: string;
  settings: Settings;
  role: Role;
  may: (permission: Permission) => boolean;
  /** The language in which the shop's texts are shown: the user's where the shop has it, else its default. */
  locale: string;
  /** `/admin/shops/ID` */
  base: string;
  /** The address of the shop's pages. */
  storefront: string;
  /** The domains that the shop may name. */
  domainPolicy: DomainPolicy;
  vatRegister: VatRegister;
  /** The host's current messages to the people of the shop. */
  hostMessages: readonly HostMessage[];
  /** The installed apps whose pages this user may open. */
  apps: readonly InstalledApp[];
  /**
   * Calls an operation of the API as the user: `call(createShipment, { params: { orderId }, body })`. Refusals are
   * thrown. Reads in another shape than the API's are queries of the modules.
   */
  call: CallOperation;
  /**
   * Makes several calls in one transaction: `inTransaction(async (call) => ...)`. All of them succeed, or none does.
   * Only `call` and `tx` are used inside: any other read or write would wait for a second connection. `tx` is for
   * locks; what is written belongs to operations.
   */
  inTransaction: <Result>(work: (call: CallOperation, tx: Transaction) => Promise<Result>) => Promise<Result>;
}

/** The link to a page of the shop for its own people, who see it before it is open too. */
export function storefrontLink(visit: ShopVisit, path = ''): string {
  // The shop whose admin visitors see can't be bought in.
  if (isDemo(visit.config)) return `${visit.origin}/shop/${DEMO_SHOP}${path}`;
  if (visit.settings.isOpen) return visit.storefront + path;
  return adminPath(visit, '/preview', { to: path });
}

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

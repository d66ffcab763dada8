import { SCOPES, type Scope } from '../../http/scopes.ts';

/**
 * The permissions of a user in a shop: the scopes of tokens, for everything the API can do as well, and a few more for
 * actions that only users can do.
 */
export type Permission = Scope | (typeof ADMIN_PERMISSIONS)[number];

const ADMIN_PERMISSIONS = [
  'settings_read',
  'settings_write',
  /** Apps, their tokens and webhooks, and the audit log. */
  'apps_read',
  'apps_write',
  /** The staff of the shop, and their roles. */
  'users_write',
  /** All data of the shop in one file, and its deletion. */
  'shop_write',
] as const;

export const ROLES = ['owner', 'manager', 'catalogue', 'orders', 'marketing', 'accountant'] as const;
export type Role = (typeof ROLES)[number];

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

const ALL: readonly Permission[] = [...SCOPES, ...ADMIN_PERMISSIONS];

const PERMISSIONS: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  owner: new Set(ALL),
  manager: new Set(ALL.filter((permission) => !['users_write', 'shop_write'].includes(permission))),
  catalogue: new Set<Permission>([
    'products_read',
    'products_read_batch',
    'products_write',
    'coupons_read',
    'legal_read',
    'settings_read',
  ]),
  orders: new Set<Permission>([
    'orders_read',
    'orders_write',
    'customers_read',
    'customers_write',
    'giftcards_read',
    'carts_read',
    'carts_price_write',
    'coupons_read',
    'products_read',
    'legal_read',
  ]),
  marketing: new Set<Permission>([
    'newsletters_read',
    'coupons_read',
    'coupons_write',
    'carts_read',
    'products_read',
    'legal_read',
    'legal_write',
  ]),
  accountant: new Set(ALL.filter((permission) => permission.endsWith('_read'))),
};

/** The roles that an owner may give to people of the host, the most careful one first. */
export const SUPPORT_ROLES = ['accountant', 'catalogue', 'orders', 'marketing', 'manager'] as const;

/**
 * What stays when the support access ends, or belongs to the owner alone: people, deletion, apps with their tokens and
 * webhooks, scripts in the shop. Payouts and domains are in `requireNoOwnerSettings`.
 */
const NEVER_FOR_SUPPORT: readonly Permission[] = [
  'users_write',
  'shop_write',
  'apps_write',
  'scripttags_write',
];

/** The permissions of people of the host in a role. */
export function supportPermissionsOf(role: string): ReadonlySet<Permission> {
  if (!isRole(role) || role === 'owner') return new Set();
  return new Set([...PERMISSIONS[role]].filter((permission) => !NEVER_FOR_SUPPORT.includes(permission)));
}

export function permissionsOf(role: Role): ReadonlySet<Permission> {
  return PERMISSIONS[role];
}

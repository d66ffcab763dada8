/** The 16 scopes of the contract, and those of gift cards. A token has only the scopes it names: write does not include read. */
export const SCOPES = [
  'carts_read',
  'carts_price_write',
  'coupons_read',
  'coupons_write',
  'customers_read',
  'customers_write',
  'giftcards_read',
  'giftcards_write',
  'legal_read',
  'legal_write',
  'newsletters_read',
  'orders_read',
  'orders_write',
  'products_read',
  'products_write',
  'products_read_batch',
  'scripttags_read',
  'scripttags_write',
] as const;

export type Scope = (typeof SCOPES)[number];

/** The scopes of the tokens of the host, which open /host and nothing else; no token of a shop has one of them. */
export const HOST_SCOPES = [
  'host_shops_read',
  'host_shops_write',
  'host_usage_read',
  'host_support',
  'host_sign_in',
  'host_backups_read',
  'host_backups_write',
] as const;

export type HostScope = (typeof HOST_SCOPES)[number];

export function isHostScope(text: string): text is HostScope {
  return (HOST_SCOPES as readonly string[]).includes(text);
}

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** Scopes that shoppers have without a token, while the shop's setting `publicCatalogue` is on. */
export const ANONYMOUS_SCOPES: ReadonlySet<Scope> = new Set(['products_read', 'legal_read']);

/**
 * The access that a route requires. `public`: none. `cart token`: the header X-ePages-Cart-Token, which the carts
 * compare with the cart they have locked; some of them require a scope as well. `allOf`: each of the scopes. `any
 * token`: a token of the shop, and the handler decides by its scopes what it shows. `host`: a token of the host with
 * this scope; tokens of shops are unknown there.
 */
export type Access =
  | 'public'
  | 'cart token'
  | 'any token'
  | Scope
  | { host: HostScope }
  | { cartTokenAnd: Scope }
  | { allOf: readonly [Scope, Scope, ...Scope[]] };

export function isOfHost(access: Access): boolean {
  return typeof access === 'object' && 'host' in access;
}

export function needsCartToken(access: Access): boolean {
  return access === 'cart token' || (typeof access === 'object' && 'cartTokenAnd' in access);
}

/**
 * Whether the route checks tokens: it names scopes, or `any token`. A call without a token may still be allowed, where
 * all of its scopes are in `ANONYMOUS_SCOPES`: `checkScopes` in authentication.ts decides.
 */
export function needsToken(access: Access): boolean {
  return access === 'any token' || scopesOf(access).length > 0;
}

/** All of them are required; none for public routes. */
export function scopesOf(access: Access): readonly (Scope | HostScope)[] {
  if (access === 'public' || access === 'cart token' || access === 'any token') return [];
  if (typeof access === 'string') return [access];
  if ('host' in access) return [access.host];
  return 'allOf' in access ? access.allOf : [access.cartTokenAnd];
}

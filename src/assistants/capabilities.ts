import type { Settings } from '../shops/settings/settings.ts';

/**
 * The version of the Universal Commerce Protocol that shops speak, built from its public specification
 * (Universal-Commerce-Protocol/ucp, commit fdcf8934d1b6bfaf54d4d80e66db00f2ba67fad1).
 */
export const UCP_VERSION = '2026-08-25';

const SPECIFICATION = `https://ucp.dev/${UCP_VERSION}`;
const SERVICE = 'dev.ucp.shopping';

/** Where the operations are on the shop's own host. */
export const REST_PATH = '/ucp';
export const MCP_PATH = '/ucp/mcp';

/** What a shop may offer, and the switch of it in the settings. */
const CAPABILITIES = {
  'dev.ucp.shopping.catalog.search': {
    setting: 'catalogue',
    page: 'shopping/catalog/search',
    schema: 'catalog_search',
  },
  'dev.ucp.shopping.catalog.lookup': {
    setting: 'catalogue',
    page: 'shopping/catalog/lookup',
    schema: 'catalog_lookup',
  },
  'dev.ucp.shopping.cart': { setting: 'carts', page: 'shopping/cart', schema: 'cart' },
  'dev.ucp.shopping.checkout': { setting: 'checkout', page: 'shopping/checkout', schema: 'checkout' },
  'dev.ucp.shopping.order': { setting: 'orders', page: 'shopping/order', schema: 'order' },
} as const satisfies Record<string, { setting: keyof Settings['assistants']; page: string; schema: string }>;

export type Capability = keyof typeof CAPABILITIES;

/** The capabilities that are switched on. */
export function offeredCapabilities({ assistants }: Pick<Settings, 'assistants'>): Capability[] {
  return (Object.keys(CAPABILITIES) as Capability[]).filter((name) => assistants[CAPABILITIES[name].setting]);
}

/** A public key as the profile publishes it. */
export interface PublishedKey {
  kid: string;
  kty: string;
  crv: string;
  x: string;
  y: string;
  use: 'sig';
  alg: 'ES256';
}

/** The profile at /.well-known/ucp. `home` is the address of the shop's own host. */
export function shopProfile(
  settings: Pick<Settings, 'assistants'>,
  home: string,
  keys: readonly PublishedKey[],
) {
  const service = (transport: 'rest' | 'mcp', path: string, schema: string) => ({
    version: UCP_VERSION,
    spec: `${SPECIFICATION}/specification/overview`,
    transport,
    endpoint: home + path,
    schema: `${SPECIFICATION}/services/shopping/${schema}`,
  });
  return {
    ucp: {
      version: UCP_VERSION,
      services: {
        [SERVICE]: [
          service('rest', REST_PATH, 'rest.openapi.json'),
          service('mcp', MCP_PATH, 'mcp.openrpc.json'),
        ],
      },
      capabilities: Object.fromEntries(
        offeredCapabilities(settings).map((name) => [
          name,
          [
            {
              version: UCP_VERSION,
              spec: `${SPECIFICATION}/specification/${CAPABILITIES[name].page}`,
              schema: `${SPECIFICATION}/schemas/shopping/${CAPABILITIES[name].schema}.json`,
            },
          ],
        ]),
      ),
      payment_handlers: {},
    },
    ...(keys.length > 0 && { keys }),
  };
}

/** What both sides can do, in the same version. The versions of an assistant are by the name of the capability. */
export function sharedCapabilities(
  offered: readonly Capability[],
  versions: ReadonlyMap<string, readonly string[]>,
): Capability[] {
  return offered.filter((name) => versions.get(name)?.includes(UCP_VERSION));
}

/** The member `ucp` of an answer: the capabilities in it are those of the operation alone. */
export function envelope(capabilities: readonly Capability[], status?: 'error') {
  return {
    version: UCP_VERSION,
    ...(status && { status }),
    capabilities: Object.fromEntries(capabilities.map((name) => [name, [{ version: UCP_VERSION }]])),
  };
}

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

/** What extends the answers of capabilities. */
const EXTENSIONS = {
  'dev.ucp.shopping.fulfillment': {
    extends: ['dev.ucp.shopping.checkout'],
    page: 'fulfillment',
    schema: 'fulfillment',
  },
  'dev.ucp.shopping.discount': {
    extends: ['dev.ucp.shopping.cart', 'dev.ucp.shopping.checkout'],
    page: 'discount',
    schema: 'discount',
  },
  'dev.ucp.shopping.buyer_consent': {
    extends: ['dev.ucp.shopping.cart', 'dev.ucp.shopping.checkout'],
    page: 'buyer-consent',
    schema: 'buyer_consent',
  },
} as const satisfies Record<
  string,
  { extends: readonly (keyof typeof CAPABILITIES)[]; page: string; schema: string }
>;

type BaseCapability = keyof typeof CAPABILITIES;
export type Extension = keyof typeof EXTENSIONS;
export type Capability = BaseCapability | Extension;

export type OfferSettings = Pick<Settings, 'assistants' | 'newsletterCampaigns'>;

/** The capabilities that are switched on, and what extends them. A shop without a newsletter asks for no consent to one. */
export function offeredCapabilities({ assistants, newsletterCampaigns }: OfferSettings): Capability[] {
  const base = (Object.keys(CAPABILITIES) as BaseCapability[]).filter(
    (name) => assistants[CAPABILITIES[name].setting],
  );
  const extensions = (Object.keys(EXTENSIONS) as Extension[]).filter(
    (name) => name !== 'dev.ucp.shopping.buyer_consent' || newsletterCampaigns.length > 0,
  );
  return [...base, ...extensions.filter((name) => extendedBy(name, base).length > 0)];
}

/** Those of these capabilities that the extension extends. */
function extendedBy(extension: Extension, capabilities: readonly Capability[]): BaseCapability[] {
  return EXTENSIONS[extension].extends.filter((name) => capabilities.includes(name));
}

const isExtension = (name: Capability): name is Extension => Object.hasOwn(EXTENSIONS, name);

/** The extensions of a capability among those that both sides have. */
export function extensionsOf(capability: Capability, shared: readonly Capability[]): Extension[] {
  return shared.filter(isExtension).filter((name) => extendedBy(name, [capability]).length > 0);
}

const DEFINITIONS = { ...CAPABILITIES, ...EXTENSIONS };

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
  settings: OfferSettings,
  home: string,
  keys: readonly PublishedKey[],
  handlers: Readonly<Record<string, object[]>>,
) {
  const service = (transport: 'rest' | 'mcp', path: string, schema: string) => ({
    version: UCP_VERSION,
    spec: `${SPECIFICATION}/specification/overview`,
    transport,
    endpoint: home + path,
    schema: `${SPECIFICATION}/services/shopping/${schema}`,
  });
  const offered = offeredCapabilities(settings);
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
        offered.map((name) => [
          name,
          [
            {
              version: UCP_VERSION,
              spec: `${SPECIFICATION}/specification/${DEFINITIONS[name].page}`,
              schema: `${SPECIFICATION}/schemas/shopping/${DEFINITIONS[name].schema}.json`,
              ...(isExtension(name) && { extends: extendedBy(name, offered) }),
            },
          ],
        ]),
      ),
      payment_handlers: handlers,
    },
    ...(keys.length > 0 && { keys }),
  };
}

/** What both sides can do, in the same version. The versions of an assistant are by the name of the capability. */
export function sharedCapabilities(
  offered: readonly Capability[],
  versions: ReadonlyMap<string, readonly string[]>,
): Capability[] {
  const shared = offered.filter((name) => versions.get(name)?.includes(UCP_VERSION));
  return shared.filter((name) => !isExtension(name) || extendedBy(name, shared).length > 0);
}

/** The member `ucp` of an answer: the capabilities in it are those of the operation alone. */
export function envelope(capabilities: readonly Capability[], status?: 'error') {
  return {
    version: UCP_VERSION,
    ...(status && { status }),
    capabilities: Object.fromEntries(capabilities.map((name) => [name, [{ version: UCP_VERSION }]])),
  };
}

import { Type, type Static } from 'typebox';
import { compileBody } from '../http/validation.ts';
import { UCP_VERSION, type Capability } from './capabilities.ts';
import type { PublicKey } from './message-signature.ts';
import { ProtocolProblem } from './problem.ts';

/** The profile of an assistant, as far as a shop needs it. */
export interface PlatformProfile {
  version: string;
  /** The versions that it speaks, by the name of the capability. */
  capabilities: ReadonlyMap<string, readonly string[]>;
  keys: readonly PublicKey[];
  /** Where it wants to hear of its orders; undefined: nowhere. */
  webhookUrl?: string;
}

const Version = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' });
/** Names in reverse order of a domain, with lists of versions of what they name. */
const registry = (entry: ReturnType<typeof Type.Object>) => ({
  type: 'object' as const,
  maxProperties: 200,
  propertyNames: { pattern: '^[a-z][a-z0-9]*(?:\\.[a-z0-9_]+)+$', maxLength: 200 },
  additionalProperties: { type: 'array', items: entry, maxItems: 50 },
});

const Versioned = Type.Object({
  version: Version,
  config: Type.Optional(Type.Object({ webhook_url: Type.Optional(Type.Unknown()) })),
});

const ProfileFile = Type.Object({
  ucp: Type.Object({
    version: Version,
    services: Type.Unsafe<object>(registry(Versioned)),
    capabilities: Type.Optional(Type.Unsafe<Record<string, Static<typeof Versioned>[]>>(registry(Versioned))),
    payment_handlers: Type.Unsafe<object>(registry(Versioned)),
  }),
  keys: Type.Optional(
    Type.Array(
      Type.Object({
        kid: Type.String({ minLength: 1, maxLength: 200 }),
        kty: Type.String({ maxLength: 20 }),
        crv: Type.Optional(Type.String({ maxLength: 20 })),
        x: Type.Optional(Type.String({ maxLength: 200 })),
        y: Type.Optional(Type.String({ maxLength: 200 })),
        alg: Type.Optional(Type.String({ maxLength: 20 })),
        use: Type.Optional(Type.String({ maxLength: 20 })),
        key_ops: Type.Optional(Type.Array(Type.String({ maxLength: 20 }), { maxItems: 10 })),
      }),
      { maxItems: 50 },
    ),
  ),
});

/** Only the version: the profile of another version has a form of its own. */
const AnyProfile = Type.Object({ ucp: Type.Object({ version: Type.String({ maxLength: 40 }) }) });

const isProfile = compileBody(ProfileFile);
const isAnyProfile = compileBody(AnyProfile);

/** Members of a private key: who publishes one has no secret any more. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** The profile in the bytes that an assistant's address has answered with. */
export function parseProfile(bytes: Buffer): PlatformProfile {
  const file = parseJson(bytes);
  if (!isAnyProfile(file)) throw malformed('ucp.version is missing');
  const { version } = (file as Static<typeof AnyProfile>).ucp;
  if (version !== UCP_VERSION) return { version, capabilities: new Map(), keys: [] };
  if (!isProfile(file)) {
    const [error] = isProfile.errors ?? [];
    throw malformed(`${error?.instancePath ?? ''} ${error?.message ?? ''}`.trim());
  }
  const { ucp, keys = [] } = file as Static<typeof ProfileFile>;
  if (keys.some((key) => PRIVATE_MEMBERS.some((member) => Object.hasOwn(key, member)))) {
    throw malformed('it holds a private key');
  }
  const webhookUrl = webhookUrlIn(ucp.capabilities?.[ORDER] ?? []);
  return {
    version,
    ...(webhookUrl !== undefined && { webhookUrl }),
    capabilities: new Map(
      Object.entries(ucp.capabilities ?? {}).map(([name, entries]) => [
        name,
        entries.map((entry) => entry.version),
      ]),
    ),
    keys: keys.map(({ kid, kty, crv, x, y, alg, use, key_ops: operations }) => ({
      kid,
      kty,
      ...(crv !== undefined && { crv }),
      ...(x !== undefined && { x }),
      ...(y !== undefined && { y }),
      ...(alg !== undefined && { alg }),
      ...(use !== undefined && { use }),
      ...(operations && { key_ops: operations }),
    })),
  };
}

const ORDER = 'dev.ucp.shopping.order' satisfies Capability;
const MAX_WEBHOOK_URL = 2_000;

/** Of the version that shops speak. What is no address is as good as none: the rest of the profile is still valid. */
function webhookUrlIn(entries: readonly Static<typeof Versioned>[]): string | undefined {
  const url = entries.find(({ version }) => version === UCP_VERSION)?.config?.webhook_url;
  const isAddress = typeof url === 'string' && url.length <= MAX_WEBHOOK_URL && URL.canParse(url);
  return isAddress ? url : undefined;
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw malformed('it is not JSON');
  }
}

const malformed = (reason: string) =>
  new ProtocolProblem(
    'profile_malformed',
    `The profile of the assistant is not valid: ${reason}`.slice(0, 300),
  );

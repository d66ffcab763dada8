import { isIP, isIPv4 } from 'node:net';
import { Ajv } from 'ajv';
import ipaddr from 'ipaddr.js';

/**
 * The environment, typed; a variable without a default may be absent. The table in docs/configuration.md lists the
 * same names in the same order (a test compares the two). It is a plain JSON Schema, because loading TypeBox would
 * take a third of the time of a short command.
 */
export const Environment = {
  type: 'object',
  properties: {
    PORT: { type: 'integer', minimum: 0, maximum: 65535, default: 8080, description: 'Port to listen on.' },
    HOST: { type: 'string', minLength: 1, default: '127.0.0.1', description: 'Address to listen on.' },
    PROCESSES: {
      type: 'string',
      pattern: '^(auto|[1-9]|[1-3][0-9]|40)$',
      default: '1',
      description: 'Processes that share the port; auto: one for each core.',
    },
    KONTOR_DATA: {
      type: 'string',
      minLength: 1,
      default: './data',
      description:
        'Folder for everything embedded: the database, media, mails, the key of this installation.',
    },
    KONTOR_SECRET: {
      type: 'string',
      minLength: 32,
      expected: 'at least 32 characters',
      description:
        'Key that seals app secrets and signs the cookies of shoppers; the same in all processes. Absent: made once and kept in KONTOR_DATA.',
    },
    DATABASE_URL: {
      type: 'string',
      pattern: '^postgres(ql)?://',
      expected: 'an address such as postgres://user:password@host/database',
      description: 'A PostgreSQL 15+ server. Absent: the embedded one.',
    },
    DATABASE_POOL: {
      type: 'integer',
      minimum: 2,
      maximum: 500,
      default: 10,
      description: 'Connections to the database per process.',
    },
    DATABASE_NAMED_STATEMENTS: {
      type: 'boolean',
      default: true,
      description:
        'Set to false behind a pooler that cannot keep prepared statements: PgBouncer before 1.21.',
    },
    DATABASE_POOLER: {
      type: 'boolean',
      description:
        'Set to true behind a transaction pooler (PgBouncer). Absent: true when DATABASE_NAMED_STATEMENTS is false.',
    },
    CACHE_MB: {
      type: 'integer',
      minimum: 16,
      maximum: 65_536,
      default: 384,
      description: 'Megabytes that the caches of one process may take together.',
    },
    PUBLIC_URL: {
      type: 'string',
      pattern: '^https?://[^/?#]+/?$',
      expected: 'scheme and host such as https://shop.example',
      description: "Scheme and host of the links in answers. Absent: the request's own.",
    },
    PUBLIC_ADDRESSES: {
      type: 'string',
      pattern: '^ *[0-9A-Fa-f.:]+ *(, *[0-9A-Fa-f.:]+ *){0,7}$',
      expected: 'up to eight addresses such as 203.0.113.5, 2001:db8::5',
      description:
        "Addresses (comma-separated, IPv4 and IPv6) that the domains of shops must point to. Absent: those of PUBLIC_URL's host.",
    },
    CERTIFICATE_ASK_PORT: {
      type: 'integer',
      minimum: 0,
      maximum: 65535,
      description:
        'A port of its own where Caddy asks which names it may get certificates for. Absent: nobody can ask.',
    },
    CERTIFICATE_ASK_HOST: {
      type: 'string',
      minLength: 1,
      default: '127.0.0.1',
      description: 'Address that CERTIFICATE_ASK_PORT is on: no other machine should reach it.',
    },
    TRUST_PROXY: {
      type: 'string',
      minLength: 1,
      description:
        'Addresses of reverse proxies (comma-separated, CIDR allowed) whose X-Forwarded-* headers count.',
    },
    SMTP_URL: {
      type: 'string',
      pattern: '^smtps?://[^/?#\\s]+/?(\\?\\S*)?$',
      expected: 'an address such as smtp://user:password@host:587',
      description:
        'Server that takes mails: smtp://user:password@host:587 or smtps://. Absent: files in KONTOR_DATA/mails.',
    },
    MAIL_FROM: {
      type: 'string',
      pattern: '^[^\\s@<>]{1,64}@[^\\s@<>]{1,188}$',
      expected: 'an email address such as shop@shop.example',
      description: "Address that mails come from. Absent: the shop's own.",
    },
    MAILING_RATE: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      default: 6000,
      description: 'Newsletter emails per hour and shop.',
    },
    RATE_LIMIT: {
      type: 'integer',
      minimum: 0,
      default: 6000,
      description: 'Calls per hour and token, 0 = none.',
    },
    RATE_LIMIT_ANONYMOUS: {
      type: 'integer',
      minimum: 0,
      default: 36000,
      description: 'Calls per hour and client address without a token, 0 = none.',
    },
    EVENT_DAYS: {
      type: 'integer',
      minimum: 1,
      maximum: 400,
      default: 30,
      description: 'Days for which the event log of a shop can be read.',
    },
    CART_ABANDONED_AFTER: {
      type: 'integer',
      minimum: 0,
      maximum: 720,
      default: 4,
      description: 'Hours after which an untouched cart counts as abandoned, 0 = never.',
    },
    WEBHOOK_ALLOW: {
      type: 'string',
      pattern: '^ *[0-9A-Fa-f.:]+/[0-9]{1,3} *(, *[0-9A-Fa-f.:]+/[0-9]{1,3} *)*$',
      expected: 'networks such as 10.0.0.0/8, 192.168.0.0/16',
      description:
        'Networks (comma-separated CIDR) that webhooks may call beside public addresses, also by http. A private service may call all.',
    },
    VIES_URL: {
      type: 'string',
      pattern: '^(off|https?://[^\\s?#]+)$',
      expected: 'an address such as https://host/rest-api, or off',
      default: 'https://ec.europa.eu/taxation_customs/vies/rest-api',
      description:
        "Register that customers' VAT numbers are checked with; off: none, and VAT is charged. In a private network it must be in WEBHOOK_ALLOW.",
    },
    MEDIA_URL: {
      type: 'string',
      pattern:
        '^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9._-]+)*/?(\\?(endpoint=https?(://|%3A%2F%2F)[^\\s&]+|region=[a-z0-9-]+)(&(endpoint=https?(://|%3A%2F%2F)[^\\s&]+|region=[a-z0-9-]+))*)?$',
      expected: 'a store such as s3://bucket/prefix?endpoint=https://host&region=name',
      description:
        'S3-compatible store of images: s3://bucket/prefix?endpoint=https://host&region=name. Absent: files in KONTOR_DATA/media.',
    },
    MEDIA_QUOTA_MB: {
      type: 'integer',
      minimum: 0,
      maximum: 1_000_000_000,
      default: 2048,
      description: 'Megabytes that the images of one shop may take, all sizes together, 0 = any.',
    },
    DOWNLOAD_MAX_MB: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000,
      default: 1024,
      description:
        'Megabytes of a file that is sold as a download. Its bytes count with the images of the shop (MEDIA_QUOTA_MB).',
    },
    BACKUP_URL: {
      type: 'string',
      pattern:
        '^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9._-]+)*/?(\\?(endpoint=https?(://|%3A%2F%2F)[^\\s&]+|region=[a-z0-9-]+)(&(endpoint=https?(://|%3A%2F%2F)[^\\s&]+|region=[a-z0-9-]+))*)?|file:///[^?#\\s]+)$',
      expected: 'a store such as s3://bucket/prefix?endpoint=https://host&region=name, or file:///folder',
      description:
        'Where a backup of each shop is stored every day: an S3-compatible store, or a folder as file:///folder. Absent: there are no such backups.',
    },
    BACKUP_KEEP: {
      type: 'string',
      pattern: '^[1-9][0-9]{0,2}/[0-9]{1,3}/[0-9]{1,3}$',
      expected: 'days/weeks/months such as 7/4/12',
      default: '7/4/12',
      description: 'For how many days, weeks and months the last backup of each is kept.',
    },
    BACKUP_KEEP_DELETED: {
      type: 'integer',
      minimum: 1,
      maximum: 3_650,
      default: 30,
      description: 'Days after which the backups of a deleted shop are removed.',
    },
    PLANS_FILE: {
      type: 'string',
      minLength: 1,
      description:
        'File with the plans of shops and their limits (docs/operations/hosting.md). Absent: none.',
    },
    BRAND_FILE: {
      type: 'string',
      minLength: 1,
      description:
        'File with the brand of a host: name, logo, colours, links, sender (docs/operations/hosting.md). Absent: Kontor.',
    },
    LEGAL_NOTICE_DIR: {
      type: 'string',
      minLength: 1,
      description:
        'Folder with the official notice on the legal guarantee by language: de.svg, fr.svg. Absent: KONTOR_DATA/legal-guarantee.',
    },
    KONTOR_DEMO: {
      type: 'integer',
      minimum: 0,
      maximum: 1,
      default: 0,
      description:
        'Set to 1 for a demo that strangers may use, reset at every full hour; it needs a database of its own and no SMTP_URL.',
    },
    SECURITY_CONTACT: {
      type: 'string',
      pattern: '^(mailto:[^\\s@<>]{1,64}@[^\\s@<>]{1,188}|https://[^\\s<>]{1,500})$',
      expected: 'an address such as mailto:security@shop.example or https://shop.example/security',
      description:
        'Where to report a security problem, for /.well-known/security.txt. Absent: there is no such file.',
    },
    METRICS_PORT: {
      type: 'integer',
      minimum: 0,
      maximum: 65535,
      description: 'A port of its own for /metrics, which is then nowhere else. Absent: PORT.',
    },
    METRICS_TOKEN: {
      type: 'string',
      minLength: 16,
      pattern: '^[A-Za-z0-9._~+/=-]+$',
      expected: 'at least 16 letters, digits and signs of . _ ~ + / = -',
      description: 'Bearer token that /metrics asks for. Absent: only this machine may read it.',
    },
    OTEL_EXPORTER_OTLP_ENDPOINT: {
      type: 'string',
      pattern: '^https?://[^\\s]+$',
      expected: 'an address such as http://localhost:4318',
      description: 'Collector that takes traces over OTLP/HTTP. Absent: no traces.',
    },
    LOG_LEVEL: {
      enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      default: 'info',
      description: 'How much is logged; info is one line per request.',
    },
  },
} as const;

type Variables = typeof Environment.properties;
type Value<Schema> = Schema extends { enum: readonly (infer Choice)[] }
  ? Choice
  : Schema extends { type: 'integer' }
    ? number
    : Schema extends { type: 'boolean' }
      ? boolean
      : string;
type WithDefault = {
  [Name in keyof Variables]: Variables[Name] extends { default: unknown } ? Name : never;
}[keyof Variables];

export type Config = { [Name in WithDefault]: Value<Variables[Name]> } & {
  [Name in Exclude<keyof Variables, WithDefault>]?: Value<Variables[Name]>;
};

/** Says which variables are wrong, one line each; the service does not start with an invalid setting. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

const SECRETS: readonly string[] = ['KONTOR_SECRET', 'DATABASE_URL', 'SMTP_URL', 'METRICS_TOKEN'];

const ajv = new Ajv({
  allErrors: true,
  coerceTypes: true,
  useDefaults: true,
  strict: false,
  // The schema is our own, and every command waits for this.
  meta: false,
  validateSchema: false,
  // Shorter code runs no faster, and making it is half of the time.
  code: { optimize: false },
});

export function readConfig(environment: Record<string, string | undefined>): Config {
  const given = Object.entries(environment).filter(([, value]) => value !== undefined && value !== '');
  const known = Object.fromEntries(given.filter(([name]) => name in Environment.properties));
  const values: unknown = { ...known };
  const validate = ajv.compile<Config>(Environment);
  const isValid = validate(values);
  const wrong = isValid ? wrongAddresses(values) : [];
  if (isValid && wrong.length === 0) {
    if (isDemo(values) && values.SMTP_URL !== undefined) {
      throw new ConfigError('SMTP_URL is set, and a demo sends no emails: remove SMTP_URL or KONTOR_DEMO.');
    }
    return values;
  }

  const errors = isValid ? wrong : validate.errors!;
  const names = new Set(errors.map(({ instancePath }) => instancePath.slice(1) as keyof Config));
  const problems = [...names].map((name) => {
    const expected = expectedOf(Environment.properties[name]);
    return SECRETS.includes(name)
      ? `${name} is not as it should be, expected ${expected}`
      : `${name} is ${JSON.stringify(known[name])}, expected ${expected}`;
  });
  throw new ConfigError(problems.join('\n'));
}

interface VariableSchema {
  type?: string;
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
  /** Describes a valid text, with an example. */
  expected?: string;
}

function expectedOf({ type, enum: choices, minimum, maximum, expected }: VariableSchema): string {
  if (choices) return `one of ${choices.join(', ')}`;
  if (type === 'boolean') return 'true or false';
  if (type !== 'integer') return expected ?? 'a text';
  return maximum === undefined
    ? `a whole number of ${minimum} or more`
    : `a whole number from ${minimum} to ${maximum}`;
}

/** Checks beyond a pattern: whether the parts of a list are networks and addresses. */
function wrongAddresses({ WEBHOOK_ALLOW, PUBLIC_ADDRESSES }: Config): { instancePath: string }[] {
  const isWrong = (list: string | undefined, isValid: (part: string) => boolean) =>
    list?.split(',').some((part) => !isValid(part.trim())) ?? false;
  return [
    ...(isWrong(WEBHOOK_ALLOW, (part) => ipaddr.isValidCIDR(part))
      ? [{ instancePath: '/WEBHOOK_ALLOW' }]
      : []),
    ...(isWrong(PUBLIC_ADDRESSES, (part) => isIP(part) !== 0) ? [{ instancePath: '/PUBLIC_ADDRESSES' }] : []),
  ];
}

/** The service is a demo that strangers may use: `src/http/demo-mode.ts` says what that means. */
export function isDemo({ KONTOR_DEMO }: Pick<Config, 'KONTOR_DEMO'>): boolean {
  return KONTOR_DEMO === 1;
}

/** Only programs on this machine can call: no other address, and no proxy in front. */
export function isPrivate({ HOST, PUBLIC_URL, TRUST_PROXY }: Config): boolean {
  return isLoopback(HOST) && PUBLIC_URL === undefined && TRUST_PROXY === undefined;
}

/**
 * Whether a host name (without a port) or an address is this machine's own. Browsers and resolvers resolve every name
 * below localhost to this machine; a name such as 127.example.com can be any machine's.
 */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1' || name === '[::1]') return true;
  const address = name.startsWith('::ffff:') ? name.slice('::ffff:'.length) : name;
  return address.startsWith('127.') && isIPv4(address);
}

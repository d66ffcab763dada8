import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import type { Config } from '../config.ts';
import { toAsset, type Asset } from '../http/assets.ts';
import { contrast, mostVisible, READABLE, sixDigits, visible } from '../kernel/colour.ts';

/**
 * The brand of a host, in a file that the operator names (BRAND_FILE): what the admin, the start page and the emails of
 * the service are called and how they look. Without the file it is Kontor, and every page is as it was.
 */
export interface Brand {
  name: string;
  logo: Asset | undefined;
  /** The icon of the browser's tab. */
  icon: string;
  /** Replaces the colours of the admin; undefined: it has its own. */
  stylesheet: Asset | undefined;
  /** Colours of emails; undefined: those of the shop. */
  colours: { accent: string; onAccent: string } | undefined;
  links: readonly { name: BrandLink; href: string }[];
  /** The sender of emails that open the admin; undefined: the shop. */
  sender: { name: string; address: string } | undefined;
}

const LINKS = ['help', 'imprint', 'privacy'] as const;

export type BrandLink = (typeof LINKS)[number];

/** The file is wrong: the message names each mistake in one line. */
export class BrandProblem extends Error {
  override name = 'BrandProblem';
}

const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='%230b5d66'/></svg>";

export const KONTOR: Brand = {
  name: 'Kontor',
  logo: undefined,
  icon: ICON,
  stylesheet: undefined,
  colours: undefined,
  links: [],
  sender: undefined,
};

const line = (maxLength: number) => ({
  type: 'string',
  minLength: 1,
  maxLength,
  pattern: '^[^\\p{Cc}\\p{Zl}\\p{Zp}]*$',
});
const colour = { type: 'string', pattern: '^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$' };
const address = { type: 'string', maxLength: 500, pattern: '^(https://[^\\s<>"]+|mailto:[^\\s<>"]+)$' };

const FILE = {
  type: 'object',
  required: ['version', 'name'],
  additionalProperties: false,
  properties: {
    version: { const: 1 },
    name: line(50),
    logo: { type: 'string', minLength: 1, maxLength: 500 },
    colours: {
      type: 'object',
      required: ['accent'],
      additionalProperties: false,
      properties: { accent: colour, dark: colour },
    },
    links: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(LINKS.map((name) => [name, address])),
    },
    emails: {
      type: 'object',
      required: ['address'],
      additionalProperties: false,
      properties: {
        name: line(100),
        address: { type: 'string', pattern: '^[^\\s@<>]{1,64}@[^\\s@<>]{1,188}$' },
      },
    },
  },
} as const;

interface BrandFile {
  version: 1;
  name: string;
  logo?: string;
  colours?: { accent: string; dark?: string };
  links?: Partial<Record<BrandLink, string>>;
  emails?: { name?: string; address: string };
}

/** The backgrounds of the accent, as the stylesheets of the admin and the start page have them. */
const GROUNDS = {
  accent: ['#ffffff', '#faf9f6', '#f6f5f2', '#efede8'],
  dark: ['#12171a', '#1a2125', '#0d1113'],
} as const;

/** Text on the accent is one of these. */
const TEXTS = ['#ffffff', '#0c1a1c'];

const MAX_CHARACTERS = 10_000;
const MAX_LOGO_BYTES = 200_000;

/** Throws a BrandProblem that names every mistake. */
export function parseBrand(text: string, file: string): Brand {
  const given = checkedFile(text, file);
  const { name, logo, colours, links = {}, emails } = given;
  const shades = colours && shadesOf(colours, file);
  const image = logo === undefined ? undefined : readLogo(path.resolve(path.dirname(file), logo), file);
  return {
    name,
    logo: image,
    icon: image?.path ?? (shades ? ICON.replace('%230b5d66', shades.accent.replace('#', '%23')) : ICON),
    stylesheet: stylesheetOf(shades, image !== undefined),
    colours: shades && { accent: shades.accent, onAccent: mostVisible(TEXTS, [shades.accent]) },
    links: LINKS.flatMap((one) => (links[one] === undefined ? [] : [{ name: one, href: links[one] }])),
    sender: emails && { name: emails.name ?? name, address: emails.address },
  };
}

function checkedFile(text: string, file: string): BrandFile {
  if (text.length > MAX_CHARACTERS) throw new BrandProblem(`${file} is too long for a brand.`);
  let given: unknown;
  try {
    given = parse(text, { maxAliasCount: 100 });
  } catch (error) {
    throw new BrandProblem(`${file} is not YAML: ${(error as Error).message.split('\n', 1)[0]}`, {
      cause: error,
    });
  }
  const validate = new Ajv({ allErrors: true, strict: false }).compile<BrandFile>(FILE);
  if (validate(given)) return given;
  const lines = (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const place = instancePath.slice(1).replaceAll('/', '.') || 'the file';
    const { additionalProperty } = params as { additionalProperty?: string };
    return `${file}: ${place} ${message}${additionalProperty === undefined ? '' : ` (${additionalProperty})`}`;
  });
  throw new BrandProblem([...new Set(lines)].slice(0, 20).join('\n'));
}

interface Shades {
  accent: string;
  dark: string;
}

/** The accent in light and in dark rooms. Without one for dark rooms, the nearest shade that can be read there. */
function shadesOf({ accent, dark }: NonNullable<BrandFile['colours']>, file: string): Shades {
  const shades = {
    accent: sixDigits(accent),
    dark: dark === undefined ? visible(sixDigits(accent), GROUNDS.dark, READABLE) : sixDigits(dark),
  };
  const problems = (['accent', 'dark'] as const).flatMap((name) => {
    const shade = shades[name];
    const ratios = [
      ...GROUNDS[name].map((ground) => [ground, contrast(shade, ground)] as const),
      [mostVisible(TEXTS, [shade]), contrast(shade, mostVisible(TEXTS, [shade]))] as const,
    ];
    const [ground, ratio] = ratios.toSorted(([, one], [, other]) => one - other)[0]!;
    if (ratio >= READABLE) return [];
    // Cut off, so that 4.499 does not read as enough.
    const shown = (Math.floor(ratio * 100) / 100).toFixed(2);
    return [
      `${file}: colours.${name} is ${shade}, whose contrast with ${ground} is ${shown}:1, expected ${READABLE}:1 or more`,
    ];
  });
  if (problems.length > 0) throw new BrandProblem(problems.join('\n'));
  return shades;
}

function stylesheetOf(shades: Shades | undefined, hasLogo: boolean): Asset | undefined {
  const set = (shade: string) => `:root { --accent: ${shade}; --on-accent: ${mostVisible(TEXTS, [shade])}; }`;
  const rules = [
    ...(shades ? [set(shades.accent), `@media (prefers-color-scheme: dark) { ${set(shades.dark)} }`] : []),
    ...(hasLogo
      ? [
          '.brand::before { content: none; }',
          '.brand img { height: 1.75rem; width: auto; max-width: 10rem; vertical-align: middle; }',
        ]
      : []),
  ];
  return rules.length === 0 ? undefined : toAsset('brand', 'css', Buffer.from(`${rules.join('\n')}\n`));
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Elements that could run, or load something from elsewhere: a logo needs none of them. */
const ACTIVE =
  /<script|<foreignObject|<!ENTITY|\bon[a-z]+\s*=|javascript:|(?:href|src)\s*=\s*["']\s*(?!#|data:image\/)/i;

/** A drawing that is opened by itself runs nothing. */
const DRAWING_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

function readLogo(logo: string, file: string): Asset {
  let content: Buffer;
  try {
    content = readFileSync(logo);
  } catch (error) {
    throw new BrandProblem(`${file}: logo cannot be read (${(error as Error).message})`, { cause: error });
  }
  if (content.length > MAX_LOGO_BYTES) {
    throw new BrandProblem(`${file}: logo has ${content.length} bytes, expected ${MAX_LOGO_BYTES} or fewer`);
  }
  if (content.subarray(0, PNG.length).equals(PNG)) return toAsset('brand', 'png', content);
  const text = content.toString('utf8');
  if (!/^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^]*?-->\s*)*<svg[\s>]/.test(text)) {
    throw new BrandProblem(`${file}: logo is neither an SVG nor a PNG image`);
  }
  const active = ACTIVE.exec(text)?.[0];
  if (active !== undefined) {
    throw new BrandProblem(`${file}: logo contains ${JSON.stringify(active)}, expected a drawing alone`);
  }
  return { ...toAsset('brand', 'svg', content), policy: DRAWING_POLICY };
}

/** Each process reads the file once, when it starts. */
const readBrands = new WeakMap<object, Brand>();

/** The first call reads the file, and throws a BrandProblem when it is wrong. */
export function brandOf(config: Pick<Config, 'BRAND_FILE'>): Brand {
  const file = config.BRAND_FILE;
  if (file === undefined) return KONTOR;
  let brand = readBrands.get(config);
  if (!brand) {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      throw new BrandProblem(`BRAND_FILE cannot be read (${(error as Error).message}).`, { cause: error });
    }
    readBrands.set(config, (brand = parseBrand(text, file)));
  }
  return brand;
}

import { Type, type Static, type TObject } from 'typebox';
import { isDate } from '../../http/dates.ts';
import { invalid } from '../../http/errors.ts';
import { Given } from '../../http/request-fields.ts';
import { isCountry } from '../../shops/countries/countries.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { setFact, type DurabilityGuarantee, type ProductFacts } from './facts.ts';

/** The facts that consumer law and customs want to be known of a product: their form, and how they are shown. */

const MAX_LINE_LENGTH = 255;
const MAX_ADDRESS_LENGTH = 500;
export const MAX_CLAIM_LENGTH = 1_000;
export const MAX_WEB_ADDRESS_LENGTH = 2_000;

/** Visible text without a line break or another control character. */
const LINE = '^ *[^\\s\\u0000-\\u001f][^\\u0000-\\u001f]*$';
const WEB_ADDRESS = '^https?://[^\\s|]+$';

const line = (description: string, example: string, maxLength = MAX_LINE_LENGTH) =>
  Type.String({ description, pattern: LINE, maxLength, examples: [example] });
const webAddress = (description: string, example: string) =>
  Type.String({ description, pattern: WEB_ADDRESS, maxLength: MAX_WEB_ADDRESS_LENGTH, examples: [example] });

const years = { minimum: 2.5, maximum: 100, multipleOf: 0.5 };

export const DurabilityGuaranteeView = Type.Object(
  {
    years: Type.Number({
      ...years,
      description: 'Duration in years, in half years: more than the two of the legal guarantee.',
      examples: [5],
    }),
    brand: line('Brand.', 'Beacon'),
    model: line('Model identifier.', 'BK-17'),
    guarantor: line('The guarantor.', 'Beacon Appliances Ltd'),
    address: line(
      'Postal address of the guarantor.',
      'Kaistrasse 4, 20457 Hamburg, Germany',
      MAX_ADDRESS_LENGTH,
    ),
    termsUrl: webAddress('Where the terms can be read.', 'https://beacon.example/guarantee'),
  },
  {
    title: 'durabilityGuarantee',
    description:
      "The producer's commercial guarantee of durability: free of charge, for the whole product, for more than two years.",
  },
);

/** The facts that are a single text. */
const SINGLE = {
  repairability: {
    description: 'Repairability: a score of ten, or a class from A to E.',
    pattern: '^(?:[A-E]|10(?:[.]0)?|[0-9](?:[.][0-9])?)$',
    example: '8.2',
  },
  softwareUpdates: {
    description: 'Software updates: the last day with them, or the number of years from the purchase.',
    pattern: '^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[1-9][0-9]?)$',
    example: '2031-12-31',
  },
  eprelNumber: {
    description: 'Number in the European Product Registry for Energy Labelling (EPREL).',
    pattern: '^[0-9]{1,10}$',
    example: '1234567',
  },
  hsCode: {
    description: 'Number of the customs tariff (HS, CN or TARIC): 6, 8 or 10 digits.',
    pattern: '^[0-9]{6}(?:[0-9]{2}){0,2}$',
    example: '851610',
  },
  originCountry: {
    description: 'Country of origin for customs, ISO 3166-1 alpha-2.',
    pattern: '^[A-Z]{2}$',
    example: 'DE',
  },
  productPassport: {
    description: 'Address of the digital product passport.',
    pattern: WEB_ADDRESS,
    example: 'https://beacon.example/passport/BK-17',
  },
};
export type SingleLegalFact = keyof typeof SINGLE;
export const SINGLE_LEGAL_FACTS = Object.keys(SINGLE) as SingleLegalFact[];

const single = (key: SingleLegalFact) => {
  const { description, pattern, example } = SINGLE[key];
  return Type.String({ description, pattern, maxLength: MAX_WEB_ADDRESS_LENGTH, examples: [example] });
};

const EnvironmentalClaimView = Type.Object(
  {
    claim: line('The statement on the environment.', 'Made of 80 % recycled steel', MAX_CLAIM_LENGTH),
    source: line(
      'The evidence: a certificate, a report, or the address of either.',
      'https://beacon.example/report',
      MAX_CLAIM_LENGTH,
    ),
  },
  { title: 'environmentalClaim', description: 'A statement on the environment, with its source.' },
);

/** What the answers of the API and the pages show of a product. */
export const LegalInfo = Type.Object(
  {
    durabilityGuarantee: Type.Optional(DurabilityGuaranteeView),
    environmentalClaim: Type.Optional(EnvironmentalClaimView),
    repairability: Type.Optional(single('repairability')),
    softwareUpdates: Type.Optional(single('softwareUpdates')),
    eprelNumber: Type.Optional(single('eprelNumber')),
    eprelUrl: Type.Optional(
      Type.String({
        description: 'Page of the product in EPREL, with its label and its data sheet.',
        examples: ['https://eprel.ec.europa.eu/qr/1234567'],
      }),
    ),
    hsCode: Type.Optional(single('hsCode')),
    originCountry: Type.Optional(single('originCountry')),
    productPassport: Type.Optional(single('productPassport')),
  },
  {
    title: 'legalInfo',
    description: 'What consumer law and customs want to be known; absent when there is none.',
  },
);
export type LegalInfo = Static<typeof LegalInfo>;

/** What a merchant may set; null takes a fact away. */
export const LEGAL_REQUEST_FIELDS = {
  durabilityGuarantee: Given(DurabilityGuaranteeView),
  environmentalClaims: Given(
    Type.Array(
      Type.Object(
        {
          locale: Type.String({
            description: 'Its language.',
            pattern: '^[a-z]{2}_[A-Z]{2}$',
            examples: ['en_GB'],
          }),
          ...EnvironmentalClaimView.properties,
        },
        { title: 'environmentalClaim (request)' },
      ),
      {
        maxItems: 50,
        description: 'Statements on the environment by language, each with its source; null: none.',
      },
    ),
  ),
  repairability: Given(single('repairability')),
  softwareUpdates: Given(single('softwareUpdates')),
  eprelNumber: Given(single('eprelNumber')),
  hsCode: Given(single('hsCode')),
  originCountry: Given(single('originCountry')),
  productPassport: Given(single('productPassport')),
};
const LegalRequest = Type.Object(LEGAL_REQUEST_FIELDS);

/** Sets what the request names; the schema has checked its form. */
export function setLegalFacts(product: { facts: ProductFacts }, request: Static<typeof LegalRequest>): void {
  const { durabilityGuarantee, environmentalClaims } = request;
  if (durabilityGuarantee !== undefined)
    setFact(product, 'durabilityGuarantee', durabilityGuarantee ?? undefined);
  if (environmentalClaims !== undefined) {
    const claims = environmentalClaims ?? [];
    setFact(
      product,
      'environmentalClaims',
      claims.length === 0
        ? undefined
        : Object.fromEntries(claims.map(({ locale, claim, source }) => [locale, { claim, source }])),
    );
  }
  for (const key of SINGLE_LEGAL_FACTS) {
    const value = request[key];
    if (value === undefined) continue;
    if (value !== null && !isLegalFact(key, value)) throw invalid('UNKNOWN_VALUE', key);
    setFact(product, key, value ?? undefined);
  }
}

const PATTERNS = Object.fromEntries(
  SINGLE_LEGAL_FACTS.map((key) => [key, new RegExp(SINGLE[key].pattern, 'u')]),
) as Readonly<Record<SingleLegalFact, RegExp>>;
export const LEGAL_EXAMPLES = Object.fromEntries(
  SINGLE_LEGAL_FACTS.map((key) => [key, SINGLE[key].example]),
) as Readonly<Record<SingleLegalFact, string>>;

/** Whether this is a possible value: of the right form, a day that exists, a country that exists. */
export function isLegalFact(key: SingleLegalFact, value: string): boolean {
  if (!PATTERNS[key].test(value) || value.length > MAX_WEB_ADDRESS_LENGTH) return false;
  if (key === 'softwareUpdates') return !value.includes('-') || isDate(value);
  return key !== 'originCountry' || isCountry(value);
}

/** A value as people type it: numbers of the tariff in groups, a score with a comma. */
export function typedLegalFact(key: SingleLegalFact, typed: string): string {
  const text = typed.trim();
  if (key === 'hsCode') return text.replaceAll(/[\s.]/g, '');
  if (key === 'repairability')
    return text
      .toUpperCase()
      .replace(',', '.')
      .replace(/\s*\/\s*10$/, '');
  return key === 'originCountry' ? text.toUpperCase() : text;
}

const WEB_ADDRESS_FORM = new RegExp(WEB_ADDRESS, 'u');

/** `5 | Beacon | BK-17 | Beacon Ltd | Kai 4, Hamburg | https://...`; undefined: it is not such a text. */
export function readGuarantee(cell: string): DurabilityGuarantee | undefined {
  const parts = cell.split('|').map((part) => part.trim());
  const [duration = '', brand = '', model = '', guarantor = '', address = '', termsUrl = ''] = parts;
  const number = Number(duration.replace(',', '.'));
  const isDuration = number >= years.minimum && number <= years.maximum && Number.isInteger(number * 2);
  const isComplete = [brand, model, guarantor, address].every((part) => part !== '');
  const isBounded =
    [brand, model, guarantor].every((part) => part.length <= MAX_LINE_LENGTH) &&
    address.length <= MAX_ADDRESS_LENGTH;
  const isAddress = WEB_ADDRESS_FORM.test(termsUrl) && termsUrl.length <= MAX_WEB_ADDRESS_LENGTH;
  if (parts.length !== 6 || !isDuration || !isComplete || !isBounded || !isAddress) return undefined;
  return { years: number, brand, model, guarantor, address, termsUrl };
}

export function guaranteeText({ years: duration, ...texts }: DurabilityGuarantee): string {
  const { brand, model, guarantor, address, termsUrl } = texts;
  return [duration, brand, model, guarantor, address, termsUrl].join(' | ');
}

/** The address that the code on every energy label leads to. */
const eprelAddress = (number: string) => `https://eprel.ec.europa.eu/qr/${number}`;

/** The keys of a schema in its order: PostgreSQL stores them in another one. */
function inOrderOf<Value extends object>(schema: TObject, value: Value): Value {
  const keys = Object.keys(schema.properties) as (keyof Value)[];
  return Object.fromEntries(keys.flatMap((key) => (key in value ? [[key, value[key]]] : []))) as Value;
}

/** undefined: nothing of it is known. */
export function legalInfoOf(
  facts: ProductFacts,
  locale: string,
  { defaultLocale }: Pick<Settings, 'defaultLocale'>,
): LegalInfo | undefined {
  const { durabilityGuarantee, environmentalClaims = {}, eprelNumber: number } = facts;
  const claim = environmentalClaims[locale] ?? environmentalClaims[defaultLocale];
  const info: LegalInfo = {
    ...(durabilityGuarantee && {
      durabilityGuarantee: inOrderOf(DurabilityGuaranteeView, durabilityGuarantee),
    }),
    ...(claim && { environmentalClaim: claim }),
    ...Object.fromEntries(
      SINGLE_LEGAL_FACTS.flatMap((key) => (facts[key] === undefined ? [] : [[key, facts[key]]])),
    ),
    ...(number !== undefined && { eprelUrl: eprelAddress(number) }),
  };
  return Object.keys(info).length === 0 ? undefined : inOrderOf(LegalInfo, info);
}

import { Type, type Static } from 'typebox';
import { invalid } from '../../http/errors.ts';
import { textIn } from '../../http/locale.ts';
import { Nullable } from '../../http/schemas.ts';
import { currencyDigits, toMinor } from '../../kernel/money.ts';
import { truncatedFacet } from '../products/listing-entry.ts';
import type { Settings, TypeAttribute } from '../../shops/settings/settings.ts';
import { MAX_VALUES, type FacetedPage, type Filters } from './faceted-search.ts';

/*
 * The filters of a search. The listing stores a product's facets as `c:<category number>`, `m:<manufacturer>` and
 * `a:<attribute number>:<value>`; clients know them as fields and values.
 */

const field = {
  description: 'ListPrice, CategoryID, Manufacturer, or PreDefString_<language>_<number> for an attribute.',
  examples: ['Manufacturer'],
};
const bound = (description: string, example: string) => ({ description, examples: [example] });
const value = { description: 'The value; the number of the category for CategoryID.', examples: ['Beacon'] };

/** Numbers, and numbers as text. */
const Amount = (description: string, example: number) =>
  Type.Unsafe<number | string | null>({
    type: ['number', 'string', 'null'],
    description,
    examples: [example],
  });

export const RequestedFilter = Type.Object(
  {
    fieldName: Type.String(field),
    attributeValue: Type.Optional(
      Type.Unsafe<string | number | null>({ type: ['string', 'number', 'null'], ...value }),
    ),
    attributeRange: Type.Optional(
      Nullable(
        Type.Object(
          {
            min: Type.Optional(Amount('Lowest price; absent: any.', 1)),
            max: Type.Optional(Amount('Highest price; absent: any.', 500)),
          },
          { title: 'attributeRange (request)', description: 'For ListPrice, in the default currency.' },
        ),
      ),
    ),
  },
  { title: 'filter (request)' },
);
export type RequestedFilter = Static<typeof RequestedFilter>;

const Range = Type.Object(
  {
    min: Type.String(bound('Lowest price.', '79.00')),
    max: Type.String(bound('Highest price.', '99.00')),
  },
  { title: 'attributeRange' },
);

const FacetValue = Type.Object(
  {
    matches: Type.Integer({
      description: 'Hits with this value; -1 for the range of prices.',
      examples: [3],
    }),
    name: Type.String({ description: 'Label; the currency for the range of prices.', examples: ['Beacon'] }),
    filter: Type.Object(
      {
        fieldName: Type.String(field),
        attributeValue: Type.Optional(Type.String(value)),
        attributeRange: Type.Optional({ ...Range, description: 'Only of a range.' }),
      },
      { title: 'filter', description: 'What to send to choose it.' },
    ),
    selectedValue: Type.Optional(
      Type.String({ description: 'Only when it is chosen.', examples: ['Beacon'] }),
    ),
    selectedRange: Type.Optional({ ...Range, description: 'Only when a range is chosen.' }),
  },
  { title: 'filterValues' },
);
type FacetValue = Static<typeof FacetValue>;

export const Facet = Type.Object(
  {
    attributeName: Type.String({ description: 'Name of the filter.', examples: ['Manufacturer'] }),
    attributeType: Type.String({
      description: 'Standard, or PreDefString for an attribute of a product type.',
      enum: ['Standard', 'PreDefString'],
      examples: ['Standard'],
    }),
    values: Type.Array(FacetValue, { description: 'Choices, most hits first.' }),
  },
  { title: 'facet' },
);
export type Facet = Static<typeof Facet>;

const ATTRIBUTE_FIELD = /^PreDefString_[a-z]{2}_(-?\d{1,15})$/;

/** The requested filters as facets of the listing. All of them must hold, including two on the same field. */
export function parseFilters(requested: readonly RequestedFilter[], currency: string): Filters {
  const facets: string[] = [];
  let minimum: number | null = null;
  let maximum: number | null = null;
  requested.forEach(({ fieldName, attributeValue, attributeRange }, index) => {
    const at = `attributeFilters.${index}`;
    const requiredValue = () => {
      if (attributeValue === undefined || attributeValue === null)
        throw invalid('MISSING', `${at}.attributeValue`);
      return String(attributeValue);
    };
    const attribute = ATTRIBUTE_FIELD.exec(fieldName)?.[1];
    if (attribute !== undefined) facets.push(`a:${attribute}:${requiredValue()}`);
    else if (fieldName === 'Manufacturer') facets.push(`m:${requiredValue()}`);
    else if (fieldName === 'CategoryID') facets.push(`c:${requiredValue()}`);
    else if (fieldName === 'ListPrice') {
      if (!attributeRange) throw invalid('MISSING', `${at}.attributeRange`);
      const { min, max } = attributeRange;
      const low = amountOf(min, currency, `${at}.attributeRange.min`);
      const high = amountOf(max, currency, `${at}.attributeRange.max`);
      if (low === null && high === null) throw invalid('MISSING', `${at}.attributeRange.min`);
      if (low !== null) minimum = Math.max(minimum ?? low, low);
      if (high !== null) maximum = Math.min(maximum ?? high, high);
    } else throw invalid('UNKNOWN_VALUE', `${at}.fieldName`);
  });
  return {
    facets: facets.map(truncatedFacet),
    minimum,
    maximum,
  };
}

function amountOf(value: number | string | null | undefined, currency: string, at: string): number | null {
  if (value === undefined || value === null) return null;
  const minor = toMinor(value, currency);
  if (minor === undefined) throw invalid('WRONG_FORMAT', at);
  return minor;
}

/** The available filters: categories, manufacturers, attributes of product types, the price range. */
export function facetsOf(
  found: Pick<FacetedPage, 'facets' | 'categories' | 'lowest' | 'highest'>,
  filters: Filters,
  settings: Settings,
  locale: string,
): Facet[] {
  const chosen = new Set(filters.facets);
  const valuesOf = (prefix: string, fieldName: string, nameOf: (value: string) => string | null) =>
    found.facets
      .flatMap(({ facet, matches }): FacetValue[] => {
        if (!facet.startsWith(prefix)) return [];
        const attributeValue = facet.slice(prefix.length);
        const name = nameOf(attributeValue);
        if (name === null) return [];
        const selected = chosen.has(facet) ? { selectedValue: attributeValue } : {};
        return [{ matches, name, filter: { fieldName, attributeValue }, ...selected }];
      })
      .toSorted((left, right) => right.matches - left.matches || compare(left.name, right.name, locale))
      .slice(0, MAX_VALUES);

  const { defaultLocale } = settings;
  const categoryNames = new Map(
    found.categories.map(({ number, name, alias }) => [
      String(number),
      textIn(name, locale, defaultLocale) ?? alias,
    ]),
  );
  const attributeFacets = attributesAmong(found.facets, settings).map(({ number, key, name, values }) => {
    const labels = new Map(
      values.map((one) => [one.value, textIn(one.name, locale, defaultLocale) ?? one.value]),
    );
    return {
      attributeName: textIn(name, locale, defaultLocale) ?? key,
      attributeType: 'PreDefString',
      values: valuesOf(
        `a:${number}:`,
        `PreDefString_${locale.slice(0, 2)}_${number}`,
        (value) => labels.get(value) ?? value,
      ),
    };
  });
  return [
    {
      attributeName: 'Category',
      attributeType: 'Standard',
      values: valuesOf('c:', 'CategoryID', (value) => categoryNames.get(value) ?? null),
    },
    {
      attributeName: 'Manufacturer',
      attributeType: 'Standard',
      values: valuesOf('m:', 'Manufacturer', (value) => value),
    },
    ...attributeFacets,
    { attributeName: 'ListPrice', attributeType: 'Standard', values: priceValues(found, filters, settings) },
  ].filter(({ values }) => values.length > 0);
}

function attributesAmong(counts: FacetedPage['facets'], { productTypes }: Settings): TypeAttribute[] {
  const numbers = new Set(
    counts.flatMap(({ facet }) => (facet.startsWith('a:') ? [facet.split(':')[1]] : [])),
  );
  return productTypes.flatMap(({ attributes }) =>
    attributes.filter(({ number }) => numbers.has(String(number))),
  );
}

function priceValues(
  { lowest, highest }: Pick<FacetedPage, 'lowest' | 'highest'>,
  { minimum, maximum }: Filters,
  { defaultCurrency: currency }: Settings,
): FacetValue[] {
  if (lowest === null || highest === null) return [];
  const digits = currencyDigits(currency);
  const text = (minor: number) => (minor / 10 ** digits).toFixed(digits);
  const range = (min: number, max: number) => ({ min: text(min), max: text(max) });
  const isChosen = minimum !== null || maximum !== null;
  return [
    {
      matches: -1,
      name: currency,
      filter: { fieldName: 'ListPrice', attributeRange: range(lowest, highest) },
      ...(isChosen ? { selectedRange: range(minimum ?? lowest, maximum ?? highest) } : {}),
    },
  ];
}

function compare(left: string, right: string, locale: string): number {
  return left.localeCompare(right, locale.replace('_', '-'));
}

import { fieldFacet } from '../../catalogue/products/listing-entry.ts';
import type { ChosenField, FacetedPage, Filters } from '../../catalogue/search/faceted-search.ts';
import { facetsOf, type Facet } from '../../catalogue/search/facets.ts';
import { facetFields } from '../../fields/facets.ts';
import { fullKey } from '../../fields/value.ts';
import { formatNumber } from '../../http/amount-text.ts';
import { languageTag, textIn } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { inNaturalOrder } from '../../kernel/natural-order.ts';
import type { CustomField, Settings } from '../../shops/settings/settings.ts';

/*
 * Custom fields as filters. Addresses name a value `f:care.washing:cold`, so that people can read them; the listing has
 * the id of the field, so that a field that is deleted and defined anew does not show the values of the old one. A text
 * that is written in languages has another value in each: its address names the language, `f:care.style@de_DE:Rustikal`.
 */

/** What an address says of a value. */
const ADDRESS = /^f:([a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*)(?:@([a-z]{2}_[A-Z]{2}))?:(.+)$/s;

export const isFieldAddress = (text: string) => ADDRESS.test(text);

/** Whether a list in this language has the value: one of another language would find nothing there. */
export function isOfLanguage(address: string, locale: string): boolean {
  const [, , language = locale] = ADDRESS.exec(address) ?? [];
  return language === locale;
}

export const fieldAddress = (name: string, text: string) => `f:${name}:${text}`;

/** The chosen values by field. A field that is no filter has none, so nothing has its values. */
export function chosenFields(addresses: readonly string[], settings: Settings): ChosenField[] {
  const fields = new Map(facetFields(settings).map((field) => [fullKey(field), field]));
  const chosen = new Map<string, string[]>();
  for (const address of addresses) {
    const [, name, , text] = ADDRESS.exec(address) ?? [];
    if (name === undefined || text === undefined) continue;
    const fieldId = fields.get(name)?.fieldId ?? name;
    chosen.set(fieldId, [...(chosen.get(fieldId) ?? []), fieldFacet(fieldId, text)]);
  }
  return [...chosen].map(([fieldId, facets]) => ({ fieldId, facets }));
}

/** The filters that a list shows: those of the API, and custom fields before the price. */
export function shownFacets(
  found: Pick<FacetedPage, 'facets' | 'categories' | 'lowest' | 'highest'>,
  filters: Filters,
  settings: Settings,
  locale: string,
): Facet[] {
  const facets = facetsOf(found, filters, settings, locale);
  const isPrice = ({ attributeName, attributeType }: Facet) =>
    attributeName === 'ListPrice' && attributeType === 'Standard';
  return [
    ...facets.filter((facet) => !isPrice(facet)),
    ...fieldFacets(found, filters, settings, locale),
    ...facets.filter(isPrice),
  ];
}

/** The custom fields among the filters of a list, in their order. */
function fieldFacets(
  { facets }: Pick<FacetedPage, 'facets'>,
  { fields = [] }: Filters,
  settings: Settings,
  locale: string,
): Facet[] {
  const chosen = new Set(fields.flatMap((field) => field.facets));
  const matches = new Map(facets.map((count) => [count.facet, count.matches]));
  return facetFields(settings).flatMap((field) => {
    const prefix = fieldFacet(field.fieldId, '');
    const texts = [...new Set([...matches.keys(), ...chosen])].flatMap((facet) =>
      facet.startsWith(prefix) ? [facet.slice(prefix.length)] : [],
    );
    const fieldName = field.isLocalised ? `${fullKey(field)}@${locale}` : fullKey(field);
    const values = namedValues(field, texts, settings, locale).map(({ text, name }) => {
      const facet = fieldFacet(field.fieldId, text);
      return {
        matches: matches.get(facet) ?? 0,
        name,
        filter: { fieldName, attributeValue: text },
        ...(chosen.has(facet) && { selectedValue: text }),
      };
    });
    const attributeName = textIn(field.name, locale, settings.defaultLocale) ?? fullKey(field);
    return values.length > 0 ? [{ attributeName, attributeType: 'CustomField', values }] : [];
  });
}

interface NamedValue {
  text: string;
  name: string;
}

/**
 * The values in the order in which a shopper looks for them: choices as they are defined, numbers by their size. A value
 * that the field can no longer have is left out.
 */
function namedValues(
  { type, choices }: CustomField,
  texts: readonly string[],
  { defaultLocale }: Settings,
  locale: string,
): NamedValue[] {
  const { yes, no } = messagesIn(locale).storefront.product;
  const among = (all: readonly NamedValue[]) => all.filter(({ text }) => texts.includes(text));
  if (type === 'choice') {
    return among(
      (choices ?? []).map(({ key, label }) => ({
        text: key,
        name: textIn(label, locale, defaultLocale) ?? key,
      })),
    );
  }
  if (type === 'boolean') {
    return among([
      { text: 'true', name: yes },
      { text: 'false', name: no },
    ]);
  }
  if (type === 'number') {
    return texts
      .filter((text) => Number.isFinite(Number(text)))
      .toSorted((one, other) => Number(one) - Number(other))
      .map((text) => ({ text, name: formatNumber(Number(text), locale) }));
  }
  return inNaturalOrder(
    texts.map((text) => ({ text, name: text })),
    ({ name }) => name,
    languageTag(locale),
  );
}

import type { Queries } from '../../db/database.ts';
import { findShortValues } from '../../fields/queries.ts';
import { textIn } from '../../http/locale.ts';
import type { CustomField, FeedAttribute, Settings } from '../../shops/settings/settings.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { cut, type FeedFields } from './feed-item.ts';

/** Attributes with values of their own, which channels take in English only. */
const SUPPORTED: Partial<Record<FeedAttribute, readonly string[]>> = {
  gender: ['male', 'female', 'unisex'],
  age_group: ['newborn', 'infant', 'toddler', 'kids', 'adult'],
};

const MAX_VALUE_LENGTH = 100;
/** Channels take a few colours or materials of a product. */
const MAX_ENTRIES = 5;

type Resource = 'product' | 'variation';
type TextRow = Awaited<ReturnType<typeof findShortValues>>[number];

/**
 * Reads what the custom fields of these products fill in a feed, in a language. A variation has the fields of its master
 * where its own say nothing. Without such a definition no statement is sent.
 */
export async function findFeedFields(
  db: Queries,
  settings: Settings,
  locale: string,
  rows: readonly ProductRow[],
): Promise<(row: ProductRow) => FeedFields> {
  const fields = feedFields(settings);
  if (fields.length === 0 || rows.length === 0) return () => ({});
  const ids = [...new Set(rows.flatMap(({ productId, masterId }) => [productId, masterId ?? []].flat()))];
  const found = await findShortValues(
    db,
    settings.shopId,
    ids,
    fields.map(({ fieldId }) => fieldId),
    { entries: MAX_ENTRIES, length: MAX_VALUE_LENGTH },
  );
  const byThing = new Map<string, TextRow[]>();
  for (const row of found) {
    const others = byThing.get(row.resourceId);
    if (others) others.push(row);
    else byThing.set(row.resourceId, [row]);
  }
  const of = (id: string, resource: Resource) =>
    fieldTexts(
      fields.filter((field) => field.resource === resource),
      byThing.get(id) ?? [],
      locale,
      settings.defaultLocale,
    );
  return ({ productId, masterId }) =>
    masterId === null
      ? of(productId, 'product')
      : { ...of(masterId, 'product'), ...of(productId, 'variation') };
}

/** The definitions that fill an attribute; of several for the same one, the first. */
function feedFields({ customFields }: Pick<Settings, 'customFields'>): readonly CustomField[] {
  const taken = new Set<string>();
  return customFields.filter(({ resource, feedAttribute, readableBy }) => {
    if (feedAttribute === null || readableBy !== 'public') return false;
    const place = `${resource} ${feedAttribute}`;
    return !taken.has(place) && taken.add(place);
  });
}

/** Pure. */
function fieldTexts(
  fields: readonly CustomField[],
  rows: readonly TextRow[],
  locale: string,
  defaultLocale: string,
): FeedFields {
  const texts = fields.flatMap((field) => {
    const attribute = field.feedAttribute!;
    const own = rows.filter(({ fieldId }) => fieldId === field.fieldId);
    const inLocale = own.filter((row) => row.locale === locale || row.locale === '');
    const values = (inLocale.length > 0 ? inLocale : own.filter((row) => row.locale === defaultLocale)).map(
      ({ text }) => text,
    );
    const text = SUPPORTED[attribute]
      ? SUPPORTED[attribute].find((supported) => supported === values[0]?.trim().toLowerCase())
      : cut(values.map((value) => labelOf(field, value, locale, defaultLocale)).join('/'), MAX_VALUE_LENGTH);
    return text ? [[attribute, text] as const] : [];
  });
  return Object.fromEntries(texts);
}

function labelOf({ choices }: CustomField, value: string, locale: string, defaultLocale: string): string {
  const choice = choices?.find(({ key }) => key === value);
  return (choice && textIn(choice.label, locale, defaultLocale)) ?? value;
}

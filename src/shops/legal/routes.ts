import { isDeepStrictEqual } from 'node:util';
import { Type, type Static } from 'typebox';
import { Refusal } from '../../http/errors.ts';
import { offeredLocale, readingLocale } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { LocaleParameter } from '../../http/schemas.ts';
import { recordEvents } from '../../platform/events/log.ts';
import { moveSettingsVersion } from '../shop/queries.ts';
import { shopSettings } from '../settings/settings.ts';
import { findLegalPage, findPageNames, replaceLegalPage } from './queries.ts';
import { PAGES, Summary, WritingLocale, type LegalContent, type PageName } from './schema.ts';

export const listLegalPages = operation({
  method: 'GET',
  path: '/legal',
  name: 'listLegalPages',
  summary: 'List legal pages',
  description: 'The names of the six pages in one locale, null for those that do not exist in it.',
  tag: 'legal',
  labels: ['Base', 'Now'],
  access: 'legal_read',
  query: Type.Object({ locale: LocaleParameter }),
  answer: Summary,
});

/** One page, such as the privacy policy: how to read and how to replace it. */
function pageOperations({ page, key, labels, answer, request }: (typeof PAGES)[number]) {
  const noun = page.replaceAll('-', ' ');
  const name = key.charAt(0).toUpperCase() + key.slice(1);
  const shared = { path: `/legal/${page}`, tag: 'legal', labels, answer };
  return {
    read: operation({
      ...shared,
      method: 'GET',
      name: `get${name}`,
      summary: `Get ${noun}`,
      description: 'The texts that are set. A page that does not exist in this locale is an empty object.',
      access: 'legal_read',
      query: Type.Object({ locale: LocaleParameter }),
    }),
    update: operation({
      ...shared,
      method: 'PUT',
      name: `update${name}`,
      summary: `Update ${noun}`,
      description: 'Replaces the whole page in one locale: a text that is not sent is deleted.',
      access: 'legal_write',
      query: Type.Object({ locale: WritingLocale }),
      body: request,
    }),
  };
}

/** `getPrivacyPolicy`, `updatePrivacyPolicy` and so on, by the name of their page. */
export const LEGAL_PAGES = Object.fromEntries(PAGES.map((one) => [one.page, pageOperations(one)])) as Record<
  PageName,
  ReturnType<typeof pageOperations>
>;

export function legalOperations(api: Operations): void {
  api.read(listLegalPages, async ({ db, shopId, query, link }) => {
    const locale = readingLocale(query.locale, await shopSettings(db, shopId));
    const rows = await findPageNames(db, shopId, locale);
    const nameOf = new Map(rows.map(({ page, name }) => [page, name]));
    const items = PAGES.map(({ page, key }) => {
      const name = nameOf.get(page) ?? null;
      return [key, name === null ? null : { name }] as const;
    });
    return {
      ...(Object.fromEntries(items) as Omit<Static<typeof Summary>, 'links'>),
      links: PAGES.map(({ page, rel }) => ({ rel, href: link(`/legal/${page}`) })),
    };
  });

  for (const { page, request } of PAGES) {
    const { read, update } = LEGAL_PAGES[page];

    api.read(read, async ({ db, shopId, query }) => {
      // A legal text holds in its own language, so a page that lacks a locale does not borrow another's.
      const locale = readingLocale(query.locale, await shopSettings(db, shopId));
      return (await findLegalPage(db, shopId, page, locale)) ?? {};
    });

    api.write(update, async ({ tx, shopId, query, body }) => {
      const { locales } = await shopSettings(tx, shopId);
      const locale = offeredLocale(query.locale, locales);
      if (!locale) {
        throw new Refusal('LEGAL_LOCALE_NOT_OFFERED', { locale: query.locale, offered: locales.join(', ') });
      }
      // Every page of the storefront names the legal ones.
      await moveSettingsVersion(tx, shopId);
      const content = contentOf(body, Object.keys(request.properties));
      if (!isDeepStrictEqual(await findLegalPage(tx, shopId, page, locale), content)) {
        recordEvents(tx, shopId, [
          { type: 'SETTINGS_CHANGED', resourceId: null, data: { changed: [`legal/${page}`] } },
        ]);
      }
      return replaceLegalPage(tx, shopId, page, locale, content);
    });
  }
}

/** The texts among `keys` that were sent; everything else in the body is ignored. */
function contentOf(body: Readonly<Record<string, unknown>>, keys: readonly string[]): LegalContent {
  const set = keys.flatMap((key) => (typeof body[key] === 'string' ? [[key, body[key]] as const] : []));
  return Object.fromEntries(set);
}

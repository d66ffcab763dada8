import type { FastifyInstance } from 'fastify';
import { Type, type Static } from 'typebox';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { HttpError } from '../http/errors.ts';
import { originOf } from '../http/links.ts';
import { readingLocale } from '../http/locale.ts';
import { LocaleParameter } from '../http/schemas.ts';
import { findPage, findPageNames } from '../legal/queries.ts';
import { PAGES } from '../legal/schema.ts';
import { countShops, findShops } from '../shop/queries.ts';
import { shopSettings, type Settings } from '../shop/settings.ts';
import { sendPage } from './page.ts';
import { closedShopPage, legalPage, shopPage } from './shop-view.ts';
import { notFoundPage, startingPage, startPage } from './start-view.ts';

const MOST_SHOWN = 100;
const ShopQuery = Type.Object({ locale: LocaleParameter });

interface ShopRequest {
  Params: { shopId: string };
  Querystring: Static<typeof ShopQuery>;
}

export interface StartPageDeps {
  db: Database;
  config: Config;
  isMigrated: () => boolean;
}

/** The pages for people: the shops of this server at `/`, each of them at `/shop/ID`. */
export function startPageRoutes(app: FastifyInstance, { db, config, isMigrated }: StartPageDeps): void {
  const publicUrl = config.PUBLIC_URL?.replace(/\/$/, '');

  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    if (!isMigrated()) {
      return sendPage(reply.code(503).headers({ 'retry-after': '1', refresh: '1' }), startingPage);
    }
    const [count, shops] = await Promise.all([countShops(db), findShops(db, MOST_SHOWN)]);
    return sendPage(reply, startPage(shops, count, originOf(request, publicUrl)));
  });

  app.get<ShopRequest>(
    '/shop/:shopId',
    { schema: { hide: true, querystring: ShopQuery } },
    async (request, reply) => {
      const { shopId } = request.params;
      const settings = await settingsIfAny(db, shopId);
      if (!settings) return sendPage(reply.code(404), notFoundPage(`shop “${shopId.slice(0, 63)}”`));
      if (!settings.publicCatalogue) return sendPage(reply, closedShopPage(settings));
      const locale = readingLocale(request.query.locale, settings);
      const [contact, names] = await Promise.all([
        findPage(db, shopId, 'contact-information', locale),
        findPageNames(db, shopId, locale),
      ]);
      const nameOf = new Map(names.map(({ page, name }) => [page, name]));
      const inOrder = PAGES.map(({ page }) => ({ page, name: nameOf.get(page) ?? null }));
      return sendPage(reply, shopPage(settings, locale, { contact: contact ?? {}, names: inOrder }));
    },
  );

  app.get<ShopRequest & { Params: { page: string } }>(
    '/shop/:shopId/legal/:page',
    { schema: { hide: true, querystring: ShopQuery } },
    async (request, reply) => {
      const { shopId } = request.params;
      const settings = await settingsIfAny(db, shopId);
      const known = PAGES.find(({ page }) => page === request.params.page);
      if (!settings || !known) return sendPage(reply.code(404), notFoundPage('such page'));
      if (!settings.publicCatalogue) return sendPage(reply, closedShopPage(settings));
      const locale = readingLocale(request.query.locale, settings);
      const content = (await findPage(db, shopId, known.page, locale)) ?? {};
      return sendPage(reply, legalPage(settings, locale, known.page, content));
    },
  );
}

async function settingsIfAny(db: Database, shopId: string): Promise<Settings | undefined> {
  // What can not be an id is not asked of the database, which knows no NUL for example.
  if (!/^[\w-]+$/.test(shopId)) return undefined;
  try {
    return await shopSettings(db, shopId);
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return undefined;
    throw error;
  }
}

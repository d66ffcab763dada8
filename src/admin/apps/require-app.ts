import { notFound } from '../../http/errors.ts';
import { isId } from '../../kernel/ids.ts';
import type { ShopVisit } from '../visit.ts';
import { findListedApp, type ListedApp } from './queries.ts';
import type { PageRequest } from '../../http/page-kit.ts';

/** The app that the path names. */
export async function requireApp(
  { db, shopId }: ShopVisit,
  { params }: Pick<PageRequest, 'params'>,
): Promise<ListedApp> {
  const appId = params['appId']!;
  const app = isId(appId) ? await findListedApp(db, shopId, appId) : undefined;
  if (!app) throw notFound();
  return app;
}

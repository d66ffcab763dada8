import { timingSafeEqual } from 'node:crypto';
import { notFound } from '../http/errors.ts';
import { Redirect } from '../http/page-kit.ts';
import type { PreviewToken } from '../shops/shop/preview.ts';
import type { Pages } from './pages.ts';
import { shopPath } from './visit.ts';

/** Whether this is a path of a shop, never the start of another address: `/Products/KN-101`. */
export function isShopPath(text: string): boolean {
  return /^\/(?![/\\])[^\\\s]{0,500}$/.test(text);
}

/**
 * The preview link: its secret token is exchanged for a mark in the visitor's signed session, which belongs to this shop
 * alone. `?to=/Products/KN-101` leads on to another page than the first one.
 */
export function preview(pages: Pages, previewToken: PreviewToken): void {
  pages.get('/preview/:token', async (visit, { params, query }) => {
    const expected = Buffer.from(previewToken(visit.settings));
    const given = Buffer.from(params['token']!);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw notFound();
    // Nothing is marked where there is nothing to preview: the link then simply leads to the shop.
    if (!visit.settings.isOpen) visit.updateSession({ preview: expected.toString() });
    const target = query('to') ?? '';
    return new Redirect(shopPath(visit, isShopPath(target) ? target : ''));
  });
}

import type { PagePreviews } from '../../content/pages/preview.ts';
import { pathOfPage } from '../../content/pages/page.ts';
import { findPreview } from '../../content/pages/queries.ts';
import { notFound } from '../../http/errors.ts';
import { isId } from '../../kernel/ids.ts';
import type { Pages } from '../pages.ts';
import { renderContent } from './own-page.ts';

/** A page as it was last written in the editor, also before it is saved or public, for people who have its link. */
export function previewPages(pages: Pages, previews: PagePreviews): void {
  pages.get('/page-preview/:pageId/:token', async (visit, { params }) => {
    const { db, shopId, locale, origin } = visit;
    const pageId = params['pageId']!;
    if (!isId(pageId) || !previews.isValid(shopId, pageId, params['token']!, db.now)) throw notFound();
    const page = await findPreview(db, shopId, pageId, locale);
    if (!page) throw notFound();
    const { content } = await db.transaction((tx) => renderContent(visit, tx, page), {
      isolation: 'repeatable read',
    });
    return {
      ...content,
      path: pathOfPage(page.kind, page.text.slug) ?? '',
      isShared: false,
      isPrivate: true,
      hasSecretAddress: true,
      framedBy: origin,
    };
  });
}

import { findVersions } from '../../catalogue/products/queries.ts';
import { productValues } from '../../catalogue/products/product-cache.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import type { Block } from '../../content/blocks.ts';
import type { ShownPage } from '../../content/pages/queries.ts';
import { isPrivate } from '../../config.ts';
import type { Queries } from '../../db/database.ts';
import { html, plainText, type Markup } from '../../http/html.ts';
import { isId } from '../../kernel/ids.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { findBlockRefs, loadBlockData } from '../../content/block-data.ts';
import { noteBelow, renderBlocks } from '../content/blocks.ts';
import { defaultHome } from '../content/default-home.ts';
import { firstText, loadPlaced } from '../content/own-page.ts';
import { findOrRender, pageCache, visitorOptions, type RenderedPage } from '../page-cache.ts';
import { pageLength, type Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { siteData } from './site-data.ts';
import { productCards } from '../product/product-card.ts';
import { shopName, type Visit } from '../visit.ts';

/** As many cards as a row has on a wide screen. */
const ROW = 4;

const MAX_VIEWED = 8;

const homeCache = pageCache<Page>('front pages', 16);

export function homePages(pages: Pages): void {
  pages.get('', async (visit) => {
    const own = await loadPlaced(visit, undefined);
    const blocks = own?.text.blocks ?? defaultHome(visit.settings, visit.locale);
    const { versionStamp } = await findBlockRefs(visit, visit.db, blocks);
    // A front page of the shop's own may become public without any change.
    const name = `home ${own?.version ?? ''}`;
    const page = await findOrRender(homeCache, visit, name, versionStamp, (snapshot) =>
      renderHome(visit, snapshot, own, blocks),
    );
    return page!;
  });

  // The browser stores the viewed products, and the script puts this below the rows of the front page.
  pages.get('/viewed', async (visit, { queryList }) => {
    const { title } = messagesIn(visit.locale).storefront.front.viewed;
    const ids = queryList('id').filter(isId).slice(0, MAX_VIEWED);
    const refs = ids.length > 0 ? await findVersions(visit.db, visit.shopId, ids) : [];
    const products = await productValues(
      visit.db,
      visit.settings,
      refs.filter(({ visible }) => visible),
      visitorOptions(visit, 'list'),
    );
    return { title, path: '/viewed', isPrivate: true, main: html`${row(visit, title, products)}` };
  });
}

async function renderHome(
  visit: Visit,
  db: Queries,
  own: ShownPage | undefined,
  blocks: readonly Block[],
): Promise<RenderedPage<Page>> {
  const refs = await findBlockRefs(visit, db, blocks);
  const data = await loadBlockData(visit, db, blocks, refs, visitorOptions(visit, 'list'));
  const name = shopName(visit);
  const hasHero = blocks[0]?.type === 'hero';
  const title = own?.text.title ?? name;
  const rendered = await renderBlocks(visit, blocks, data, { title, isMainHero: hasHero });
  const description = own?.text.description ?? plainText(firstText(blocks), 300);
  const isEmpty = !own && data.topCards.length === 0 && !rendered.hasProducts;
  const content: Page = {
    isShared: true,
    takesOwnStyle: true,
    title: own?.text.pageTitle ?? name,
    ...(description !== '' && { description }),
    path: '',
    ...(own?.picture && { image: own.picture }),
    head: html`${siteData(visit)} ${rendered.head}`,
    frames: rendered.frames,
    main: html`${!hasHero && html`<h1 class="visually-hidden">${title}</h1>`} ${rendered.main}
      <div data-viewed-here></div>
      ${noteBelow(visit, rendered)} ${isEmpty && emptyShop(visit)}`,
  };
  return {
    content,
    versionStamp: refs.versionStamp,
    expires: data.expires,
    length: pageLength(content),
  };
}

/** Only a user at the machine itself is told how to fill the shop. */
function emptyShop({ shopId, locale, config, origin }: Visit): Markup {
  const messages = messagesIn(locale).storefront.front;
  return html`<section class="empty">
    <span class="no-picture" aria-hidden="true"></span>
    <h2>${messages.emptyTitle}</h2>
    <p>${messages.empty}</p>
    ${
      isPrivate(config) &&
      html`<p>${messages.owner}</p>
        <p>
          <a class="button" href="${origin}/admin/shops/${shopId}/products/new">${messages.addProduct}</a>
        </p>`
    }
  </section>`;
}

function row(visit: Visit, title: string, products: readonly Product[]): Markup | false {
  if (products.length === 0) return false;
  return html`<section>
    <h2>${title}</h2>
    ${productCards(visit, products, { heading: 'h3', isBelow: true, row: products.length < ROW ? 'few' : 'full' })}
  </section>`;
}

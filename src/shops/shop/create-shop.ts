import { createHash } from 'node:crypto';
import type { Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { OTHER_FILES, type MediaStorage } from '../../platform/media/storage.ts';
import { replaceLegalPage } from '../legal/queries.ts';
import { applySettings } from '../settings/file.ts';
import { logoOf, toPng } from './draw-logo.ts';
import { insertShop, type NewShop } from './insert-shop.ts';
import { legalDrafts } from './legal-drafts.ts';
import { renewPreview, updateOpening } from './queries.ts';
import { starterSettings } from './starter-settings.ts';

/**
 * Makes a shop with taxes, delivery and payment, drafts of its legal texts and a logo. It is not open yet: what is
 * missing is the merchant's to say. The row comes before the file of the logo, so an id that is already taken changes nothing.
 */
export async function createShop(tx: Transaction, media: MediaStorage, shop: NewShop): Promise<void> {
  const { shopId, name, locale } = shop;
  await insertShop(tx, shop);
  await updateOpening(tx, shopId, false);
  await renewPreview(tx, shopId);
  const { svg, colour } = logoOf(name, shopId);
  // Browsers cache a file forever, so another logo gets another name.
  const file = `logo-${createHash('sha256').update(svg).digest('hex').slice(0, 8)}.png`;
  await media.write(shopId, OTHER_FILES, [{ file, bytes: await toPng(svg) }]);
  await applySettings(
    tx,
    shopId,
    starterSettings(shop, { url: `/media/${shopId}/${OTHER_FILES}/${file}`, colour }),
  );
  await tx.run(sql`
    update category set name = ${{ [locale]: messagesIn(locale).newShop.homePage }}
    where shop_id = ${shopId} and parent_id is null`);
  for (const [page, content] of legalDrafts(shop)) await replaceLegalPage(tx, shopId, page, locale, content);
}

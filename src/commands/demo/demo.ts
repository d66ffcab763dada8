import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import type { Demo } from '../../main.ts';
import { findDemoAccess, hasDemoTokens } from './find-access.ts';

/** The service's handling of the demo shop at start. Only the first start loads its data and the code that inserts it. */
export const demo: Demo = {
  createShops: async (db, config) => (await import('./demo-shop.ts')).createDemoShops(db, config),
  findAccess: findDemoAccess,
  complete: completeDemoShop,
  hasTokens: hasDemoTokens,
};

/** Adds the files of a demo shop that has none, because it is new or because the first start was killed too early. */
async function completeDemoShop(db: Database, config: Config): Promise<void> {
  const incomplete = await db.one(sql`
    select from shop
    where shop_id = 'DemoShop' and settings ->> 'logoUrl' is null
      and exists (select from product where shop_id = 'DemoShop' and product_number = 'AP-110')
      and not exists (select from product_image where shop_id = 'DemoShop')`);
  if (!incomplete) return;
  const { addDemoFiles } = await import('./add-files.ts');
  await addDemoFiles(db, config, 'DemoShop');
}

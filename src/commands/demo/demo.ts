import type { Config } from '../../config.ts';
import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { DEMO_OFFICE, DEMO_SHOP, demoHour } from '../../http/demo-mode.ts';
import type { Demo } from '../../main.ts';
import { repeat, type Background } from '../../platform/background.ts';
import { findDemoAccess, hasDemoTokens } from './find-access.ts';

/** The service's handling of the demo shop at start. Only the first start loads its data and the code that inserts it. */
export const demo: Demo = {
  createShops: async (db, config) => (await import('./demo-shop.ts')).createDemoShops(db, config),
  findAccess: findDemoAccess,
  complete: completeDemoShops,
  hasTokens: hasDemoTokens,
  openPublic: async (db) => (await import('./public-demo.ts')).openPublicDemo(db),
  startResets: startDemoResets,
};

/** Adds the files of a demo shop that has none, because it is new or because the first start was killed too early. */
async function completeDemoShops(db: Database, config: Config): Promise<void> {
  for (const shopId of [DEMO_SHOP, DEMO_OFFICE]) {
    const incomplete = await db.one(sql`
      select from shop
      where shop_id = ${shopId} and settings ->> 'logoUrl' is null
        and exists (select from product where shop_id = ${shopId} and product_number = 'AP-110')
        and not exists (select from product_image where shop_id = ${shopId})`);
    if (!incomplete) continue;
    const { addDemoFiles } = await import('./add-files.ts');
    await addDemoFiles(db, config, shopId);
  }
}

const CHECK_RESET = 1_000;

/** Every process checks; the database decides which one resets. */
function startDemoResets(db: Database, log: FastifyBaseLogger): Background {
  return repeat('the reset of the demo', CHECK_RESET, log, async () => {
    const { resetDemo } = await import('./public-demo.ts');
    for (const shop of await resetDemo(db, demoHour(db.now)))
      log.info({ shop }, 'a shop of the demo is reset');
  });
}

import { applySettings } from '../src/shops/settings/file.ts';
import { ensureApp, insertToken } from '../src/apps/queries.ts';
import { sql } from '../src/db/sql.ts';
import { SCOPES, type Scope } from '../src/http/scopes.ts';
import { newId, newSecret, secretHash } from '../src/kernel/ids.ts';
import { insertShop, type NewShop } from '../src/shops/shop/insert-shop.ts';
import type { Service } from './service.ts';

/** The seller of small shops: without an address, a tax number and a bank account a shop can neither invoice nor be paid. */
export const SELLER = {
  street: 'Kai 1',
  zipCode: '20457',
  city: 'Hamburg',
  vatId: 'DE123456789',
  bank: { iban: 'DE02120300000000202051' },
};

/** A small shop that is open and can be paid; a test says only what matters to it. */
export async function givenShop(
  service: Service,
  shopId: string,
  facts: Partial<NewShop> = {},
): Promise<void> {
  const shop = { name: shopId, email: 'shop@mail.example', country: 'DE', locale: 'en_GB', currency: 'EUR' };
  await service.db.transaction(async (tx) => {
    await insertShop(tx, { ...shop, ...facts, shopId });
    await tx.run(sql`
      update shop set settings = settings || ${{ invoicing: SELLER }}::jsonb where shop_id = ${shopId}`);
  });
  await service.app.shopHosts.refresh();
}

/** Domains that the shop uses at once, as on a private installation. */
export async function givenDomains(
  { app, db }: Service,
  shopId: string,
  domains: readonly string[],
): Promise<void> {
  const policy = { isOfService: () => false, needsProof: false };
  await db.transaction((tx) =>
    applySettings(tx, shopId, { domains: [...domains] }, undefined, undefined, policy),
  );
  await app.shopHosts.refresh();
}

/** A token of an app of its own, with these scopes; all when none are named. */
export async function givenToken(
  service: Service,
  shopId: string,
  scopes: readonly Scope[] = SCOPES,
  appName = `app ${newSecret(24)}`,
): Promise<string> {
  const token = newSecret(32);
  await service.db.transaction(async (tx) => {
    const appId = await ensureApp(tx, shopId, { appId: newId(tx.now), name: appName, scopes });
    await insertToken(tx, shopId, { tokenHash: secretHash(token), appId, scopes });
  });
  return token;
}

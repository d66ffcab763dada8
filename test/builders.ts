import { applySettings } from '../src/shops/settings/file.ts';
import { ensureApp, insertToken } from '../src/apps/queries.ts';
import { SCOPES, type Scope } from '../src/http/scopes.ts';
import { newId, newSecret, secretHash } from '../src/kernel/ids.ts';
import { insertShop, type NewShop } from '../src/shops/shop/insert-shop.ts';
import type { Service } from './service.ts';

/** A small shop; a test says only what matters to it. */
export async function givenShop(
  service: Service,
  shopId: string,
  facts: Partial<NewShop> = {},
): Promise<void> {
  const shop = { name: shopId, email: 'shop@mail.example', country: 'DE', locale: 'en_GB', currency: 'EUR' };
  await service.db.transaction((tx) => insertShop(tx, { ...shop, ...facts, shopId }));
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

/** A token of an app of its own, with these scopes; all 16 when none are named. */
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

import { ensureApp, insertToken } from '../src/apps/queries.ts';
import { ADDRESS_FIELDS, AddressRequest, toAddress } from '../src/customers/address.ts';
import { insertNumberedCustomer } from '../src/customers/queries.ts';
import type { Database } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { generateProducts } from '../src/demo/generate.ts';
import { SCOPES } from '../src/http/scopes.ts';
import { newId, newSecret, secretHash } from '../src/ids.ts';
import { insertShop } from '../src/shop/queries.ts';

/** What the calls of the targets are made of. */
export interface BenchShop {
  shopId: string;
  /** Path of the shop's API. */
  root: string;
  /** Has all scopes. */
  token: string;
  customerIds: string[];
  productIds: string[];
}

const CUSTOMERS = 1_000;
const PRODUCTS = 10_000;

export async function createBenchShop(db: Database): Promise<BenchShop> {
  const shopId = 'BenchShop';
  const token = await createBareShop(db, shopId);
  const customerIds = await db.transaction(async (tx) => {
    const ids: string[] = [];
    for (let index = 0; index < CUSTOMERS; index++) {
      const row = await insertNumberedCustomer(tx, shopId, {
        customerId: newId(tx.now),
        billingAddress: fullAddress(index),
        internalNote: `pays on time, seen at fair ${index}`,
      });
      ids.push(row.customerId.toUpperCase());
    }
    return ids;
  });
  await generateProducts(db, { shopId, products: PRODUCTS, seed: 1 }, () => {});
  const products = await db.many<{ id: string }>(sql`
    select upper(product_id::text) as id from product where shop_id = ${shopId} and visible order by product_number`);
  // Now, so that PostgreSQL does not do it by itself in the middle of a round.
  await db.pool.query('vacuum analyze');
  return {
    shopId,
    root: `/rs/shops/${shopId}`,
    token,
    customerIds,
    productIds: products.map(({ id }) => id),
  };
}

/** An empty shop; returns a token with all scopes. */
export async function createBareShop(db: Database, shopId: string): Promise<string> {
  const token = newSecret(32);
  await db.transaction(async (tx) => {
    await insertShop(tx, {
      shopId,
      name: 'Bench',
      email: 'bench@mail.example',
      country: 'DE',
      locale: 'en_GB',
      currency: 'EUR',
    });
    const appId = await ensureApp(tx, shopId, { appId: newId(tx.now), name: 'bench', scopes: SCOPES });
    await insertToken(tx, shopId, { tokenHash: secretHash(token), appId, scopes: SCOPES });
  });
  return token;
}

/** All fields filled, with the examples of the API reference. */
function fullAddress(index: number) {
  const examples = ADDRESS_FIELDS.map((name) => {
    const { examples } = AddressRequest.properties[name] as unknown as { examples: string[] };
    return [name, examples[0]!];
  });
  const address = { ...Object.fromEntries(examples), emailAddress: `customer-${index}@mail.example` };
  return toAddress(address, 'billingAddress');
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { Type } from 'typebox';
import { queueAvailabilityNotifications } from '../catalogue/products/availability-notifications.ts';
import { recordStockEvents } from '../catalogue/products/product-events.ts';
import { isBackInStock } from '../catalogue/products/orderable.ts';
import { changeStock } from '../catalogue/products/stock-queries.ts';
import type { Transaction } from '../db/database.ts';
import { toMilliseconds } from '../http/dates.ts';
import { notFound, Refusal } from '../http/errors.ts';
import { operation } from '../http/operation.ts';
import type { Operations } from '../http/operations.ts';
import { paged, paging } from '../http/paging.ts';
import { Id } from '../http/schemas.ts';
import { newId } from '../kernel/ids.ts';
import { recordEvents } from '../platform/events/log.ts';
import { shopSettings } from '../shops/settings/settings.ts';
import { warnOfFewKeys } from './few-keys.ts';
import {
  countKeys,
  deleteFreeKey,
  findKey,
  findLicenceKeys,
  insertKeys,
  KEY_STATES,
  type KeyState,
  type LicenceKeyRow,
  type NewKey,
} from './key-queries.ts';
import { lastCharactersOf, licenceKeyHash, sealKey } from './licence-key.ts';
import { makeDigital } from './product-routes.ts';
import { findDigitalProduct, switchToKeys } from './queries.ts';
import { AddedKeys, LicenceKeyList, MAX_KEYS, NewKeysBody } from './schema.ts';

const { parameters, pageOf } = paging({ standard: 20, maximum: 100 });
const shared = { under: 'manage', tag: 'downloads', labels: [] } as const;
const params = Type.Object({ productId: Id });

export const listLicenceKeys = operation({
  ...shared,
  method: 'GET',
  path: '/products/:productId/keys',
  name: 'listLicenceKeys',
  summary: 'List licence keys',
  description:
    'The keys of a product, in the order in which they are given to customers. Only the end of each is shown.',
  access: 'products_read',
  params,
  query: Type.Object({
    ...parameters,
    state: Type.Optional(
      Type.Unsafe<KeyState>({
        type: 'string',
        enum: [...KEY_STATES],
        description: 'Only those in this state; absent: all.',
        examples: ['free'],
      }),
    ),
  }),
  answer: LicenceKeyList,
});

export const addLicenceKeys = operation({
  ...shared,
  method: 'POST',
  path: '/products/:productId/keys',
  name: 'addLicenceKeys',
  summary: 'Add licence keys',
  description:
    'Adds keys to the pool of a product, which becomes one with keys. Keys that it had already are left out, so a request can be repeated. Orders that wait for keys get theirs, first come, first served. The stock rises with them where the product counts it. An app refills a pool when it reads the event KEYS_LOW.',
  access: 'products_write',
  params,
  body: NewKeysBody,
  status: 201,
  answer: AddedKeys,
});

export const deleteLicenceKey = operation({
  ...shared,
  method: 'DELETE',
  path: '/products/:productId/keys/:keyId',
  name: 'deleteLicenceKey',
  summary: 'Delete licence key',
  description: 'Takes a key that nobody has got out of the pool. 409: a customer has got it.',
  access: 'products_write',
  params: Type.Object({ productId: Id, keyId: Id }),
  status: 204,
});

/** The licence keys of products. `loadKey`: the key of the installation, which seals them. */
export function licenceKeys(api: Operations, { loadKey }: { loadKey: () => Promise<Buffer> }): void {
  api.read(listLicenceKeys, async ({ db, shopId, params: { productId }, query }) => {
    const page = pageOf(query);
    const state = query.state ?? null;
    const [product, counts, rows] = await Promise.all([
      findDigitalProduct(db, shopId, productId),
      countKeys(db, shopId, productId),
      findLicenceKeys(db, shopId, productId, { state, limit: page.resultsPerPage, offset: page.offset }),
    ]);
    if (!product) throw notFound();
    const results = state === null ? counts.free + counts.given + counts.revoked : counts[state];
    return paged(page, results, rows.map(toKey));
  });

  api.write(addLicenceKeys, async ({ tx, shopId, params: { productId }, body }) => {
    await makeDigital(tx, shopId, productId);
    await switchToKeys(tx, shopId, productId);
    const before = await countKeys(tx, shopId, productId);
    const keys = await sealKeys(await loadKey(), shopId, body.keys, tx.now);
    if (before.free + before.given + before.revoked + keys.length > MAX_KEYS)
      throw new Refusal('KEYS_FULL', { limit: MAX_KEYS });
    const added = await insertKeys(tx, shopId, productId, keys);
    const free = before.free + added;
    if (added > 0) {
      await moveKeyStock(tx, shopId, productId, added);
      await warnOfFewKeys(tx, shopId, productId);
      recordEvents(tx, shopId, [{ type: 'KEYS_ADDED', resourceId: productId, data: { added, free } }]);
    }
    return { added, known: body.keys.length - added, free };
  });

  api.write(deleteLicenceKey, async ({ tx, shopId, params: { productId, keyId } }) => {
    if ((await deleteFreeKey(tx, shopId, productId, keyId)) === 0) {
      if (!(await findKey(tx, shopId, productId, keyId))) throw notFound();
      throw new Refusal('KEY_GIVEN');
    }
    await moveKeyStock(tx, shopId, productId, -1);
    await warnOfFewKeys(tx, shopId, productId);
  });
}

const SEALED_AT_ONCE = 100;

/** Each once, without blanks around it. Between some of them, other requests have their turn. */
async function sealKeys(key: Buffer, shopId: string, texts: readonly string[], now: Date): Promise<NewKey[]> {
  const keys: NewKey[] = [];
  for (const [index, text] of [...new Set(texts.map((one) => one.trim()))].entries()) {
    if (index % SEALED_AT_ONCE === SEALED_AT_ONCE - 1) await nextTurn();
    keys.push({
      keyId: newId(now),
      sealed: sealKey(key, text),
      hash: licenceKeyHash(key, shopId, text),
      lastCharacters: lastCharactersOf(text),
    });
  }
  return keys;
}

/** As many pieces can be sold as there are keys, where the product counts its stock. */
async function moveKeyStock(
  tx: Transaction,
  shopId: string,
  productId: string,
  quantity: number,
): Promise<void> {
  const settings = await shopSettings(tx, shopId);
  for (const stock of await changeStock(tx, shopId, [{ productId, quantity }])) {
    recordStockEvents(tx, settings, stock, stock.before, stock.after);
    if (isBackInStock(stock.before, stock.after))
      await queueAvailabilityNotifications(tx, shopId, [productId]);
  }
}

function toKey({ keyId, lastCharacters, orderId, orderNumber, givenAt, revokedAt }: LicenceKeyRow) {
  const state: KeyState = orderId === null ? 'free' : revokedAt ? 'revoked' : 'given';
  return { keyId, lastCharacters, state, orderId, orderNumber, givenOn: givenAt && toMilliseconds(givenAt) };
}

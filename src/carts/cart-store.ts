import { isDeepStrictEqual } from 'node:util';
import type { CartProduct } from '../pricing/cart-product.ts';
import { seenCartProducts } from '../pricing/cart-product-cache.ts';
import { createBatcher, type BatchWork } from '../db/batcher.ts';
import { isTransient, type Database, type Queries, type Transaction } from '../db/database.ts';
import { recordEntry, type AuditEntry } from '../http/audit-entry.ts';
import type { Caller } from '../http/callers.ts';
import { newCartToken, requireCartToken } from '../http/cart-token.ts';
import { invalid, isRefusal, notFound, Refusal } from '../http/errors.ts';
import { newId } from '../kernel/ids.ts';
import { findOrderOfCart } from '../orders/queries.ts';
import { hasLimit } from '../pricing/cart-promotions.ts';
import { contentOf } from '../pricing/content.ts';
import type { Address } from '../shops/countries/address.ts';
import {
  cachedSettings,
  shopSettings,
  withCachedSettings,
  type Settings,
} from '../shops/settings/settings.ts';
import type { VatCheck } from '../shops/vat-numbers/buyer.ts';
import {
  isCheckOf,
  isFresh,
  laterCheck,
  numberToCheck,
  requesterOf,
  type VatRegister,
} from '../shops/vat-numbers/register.ts';
import type { AppTerms } from './app-terms.ts';
import {
  isExpired,
  priceCart,
  type CartChange,
  type CartRow,
  type Prefetch,
  type PricedCart,
} from './cart.ts';
import { cacheCart, cachedCart, dropCachedCart } from './cart-cache.ts';
import { setVatCheck } from './changes.ts';
import { namedProducts } from './lines.ts';
import { newCart, type CartIngredients, type CreatedCart, type NewCartRequest } from './new-cart.ts';
import { insertUnchangedCarts, updateUnchangedCarts, type CartUpdate } from './optimistic-queries.ts';
import {
  copyCart,
  endCartToken,
  findCart,
  findIngredients,
  insertCart,
  lockCart,
  updateCart,
  updateAppTerms,
} from './queries.ts';

/** Both only improve speed: without them the answers are the same. */
export interface CartStoreOptions {
  /** Begins with the cart as this process last saw it. */
  cache: boolean;
  /** Batches concurrent changes of a shop's carts into one statement. */
  batch: boolean;
}

/** The cart of a request, and the right to access it. The call of an API operation is one. */
export interface CartRequest {
  shopId: string;
  params: { cartId: string };
  cartToken: string | undefined;
  /** No token is needed, because the visitor's signed cookie names this cart. */
  isAdmitted?: true;
}

export interface PricedCartRequest extends CartRequest {
  /** Scheme and host of the service, for apps that are asked. */
  origin: string;
}

export interface CartWriteRequest extends PricedCartRequest {
  /** undefined: a visitor of the storefront. */
  caller: Caller | undefined;
  /** Set with an Idempotency-Key, and where several calls are one write: this transaction commits it. */
  transaction: Transaction | undefined;
  /** Written together with the change; undefined: the change leaves no audit entry. */
  entry: AuditEntry | undefined;
}

/** The cart does not exist, or no longer: it has become an order or has expired. */
export class CartGone extends Refusal<'CART_ORDERED' | 'CART_CURRENCY_ENDED' | 'NOT_FOUND'> {}

export interface OpenCart {
  cart: CartRow;
  settings: Settings;
}

/** A cart to compute a change from. */
export interface CartAttempt extends OpenCart {
  /** It may be stale, so the change is saved only if all of its inputs are unchanged. */
  isCached: boolean;
  /** Set: this transaction has locked the cart, so no other request can change it. */
  tx?: Transaction;
}

export type CartStore = ReturnType<typeof createCartStore>;

/**
 * Carts in PostgreSQL. Callers describe a change as a pure function; this file decides from which copy of the cart it
 * is computed, and makes sure that nothing is lost when several requests change the same cart.
 */
export function createCartStore(
  service: Database,
  options: CartStoreOptions,
  { vatRegister, appTerms }: { vatRegister: VatRegister; appTerms: AppTerms },
) {
  const batched = <Item, Result>(work: BatchWork<Item, Result>) =>
    options.batch
      ? createBatcher(service, work)
      : (shopId: string, item: Item) => work.runOne(service.atClockOf(shopId), shopId, item);
  const insertUnchanged = batched<CartRow, boolean>({
    runMany: insertUnchangedCarts,
    runOne: async (queries, shopId, cart) => (await insertUnchangedCarts(queries, shopId, [cart]))[0]!,
  });
  const updateUnchanged = batched<CartUpdate, boolean>({
    runMany: updateUnchangedCarts,
    runOne: async (queries, shopId, change) => (await updateUnchangedCarts(queries, shopId, [change]))[0]!,
  });

  /** undefined: the cart or its settings are not cached, or one of its products does not exist. */
  const openCached = async (request: CartRequest, prefetch: Prefetch): Promise<OpenCart | undefined> => {
    if (!options.cache) return undefined;
    const { shopId, params } = request;
    const db = service.atClockOf(shopId);
    const cart = await cachedCart(db, shopId, params.cartId, prefetch);
    const settings = cachedSettings(db, shopId);
    // A promotion may be used up without a trace in the cart.
    if (!cart || !settings || settings.promotions.some(hasLimit) || isExpired(cart, db.now)) return undefined;
    requireAccess(request, cart);
    return { cart: { ...cart, settingsVersion: settings.version }, settings };
  };

  /**
   * Computes and saves a change, from cheap to certain: with the cached cart, the stored one, the cart under a row
   * lock. `save` returns undefined when the cart, or another input, has changed since it was read. With an
   * Idempotency-Key it locks at once, because everything has to be in the key's own transaction.
   */
  const saveCart = async <Saved>(
    request: CartWriteRequest,
    prefetch: Prefetch,
    save: (attempt: CartAttempt) => Promise<Saved | undefined>,
  ): Promise<Saved> => {
    const db = service.atClockOf(request.shopId);
    const wanted = await withParts(request.transaction ?? db, request.shopId, prefetch);
    const loadStored = async () => {
      const stored = await load(db, findCart, request, wanted);
      // Now its products are known as they are stored: a bundle may consist of something else since it was last seen.
      const wantedNow = await withParts(db, request.shopId, prefetch);
      return isDeepStrictEqual(wantedNow, wanted) ? stored : load(db, findCart, request, wantedNow);
    };
    const saveLocked = async (tx: Transaction) => {
      const locked = await load(tx, lockCart, request, wanted);
      const saved = await save({ ...locked, isCached: false, tx });
      if (saved === undefined) throw new Error('a locked cart was changed by somebody else');
      return saved;
    };
    if (request.transaction) return saveLocked(request.transaction);
    return withTransactionFallback(db, saveLocked, async () => {
      const cached = await openCached(request, wanted);
      const first = cached && (await catchRefusal(() => save({ ...cached, isCached: true })));
      if (first?.saved !== undefined) return first.saved;
      if (cached) dropCachedCart(db, request.shopId, request.params.cartId);
      const stored = await loadStored();
      if (first?.refusal && isSame(basisOf(stored), basisOf(cached!))) throw first.refusal;
      return save({ ...stored, isCached: false });
    });
  };

  /**
   * Asks apps for prices and taxes, unless the cart knows them, and saves what they have said: also when the cart
   * is only read, so that it is asked for once and not by each reader. When another request has changed the cart
   * meanwhile, that one asks.
   */
  const withAppTerms = async (
    { shopId, params, origin }: Pick<PricedCartRequest, 'shopId' | 'params' | 'origin'>,
    known: PricedCart,
  ): Promise<PricedCart> => {
    if (await appTerms.areCurrent(known)) return known;
    const db = service.atClockOf(shopId);
    const { linePrices, appTaxes } = known.cart;
    const given = await appTerms.ask(known, origin);
    if (isDeepStrictEqual(given, { linePrices, appTaxes })) return known;
    const cart = { ...known.cart, ...given };
    if ((await updateAppTerms(db, shopId, cart)) === 0) {
      dropCachedCart(db, shopId, params.cartId);
      return known;
    }
    const saved = { ...cart, version: cart.version + 1 };
    cacheCart(db, shopId, saved);
    return { ...known, cart: saved, priced: contentOf(saved, known.settings, db.now) };
  };

  return {
    /** The cart without its sums, for callers with access to it. */
    async find(request: CartRequest): Promise<CartRow> {
      return (await load(service.atClockOf(request.shopId), findCart, request, {})).cart;
    },

    /** The cart with its sums, for callers with access to it. Call it outside of transactions: apps may be asked. */
    async open(request: PricedCartRequest): Promise<PricedCart> {
      const db = service.atClockOf(request.shopId);
      const { cart, settings } = await load(db, findCart, request, {});
      return withAppTerms(request, { cart, settings, priced: contentOf(cart, settings, db.now) });
    },

    /** The cart, locked against changes and against being ordered until the transaction ends. */
    async lock(tx: Transaction, request: CartRequest): Promise<CartRow> {
      return (await load(tx, lockCart, request, {})).cart;
    },

    /**
     * Asks the register about the VAT number of a new billing address. undefined: there is none that has to be
     * checked, or the cart has a fresh check of it. Call it outside of transactions: it may take two seconds.
     */
    async checkVatNumber(
      request: CartRequest,
      address: Pick<Address, 'vatId' | 'country'>,
    ): Promise<VatCheck | undefined> {
      const db = service.atClockOf(request.shopId);
      const { cart, settings } = await load(db, findCart, request, {});
      const number = numberToCheck(address, settings);
      const before = cart.buyer?.vatCheck;
      const isAnswered =
        before && before.result !== 'unavailable' && isCheckOf(before, address) && isFresh(before, db.now);
      if (!number || isAnswered) return undefined;
      return vatRegister.check(request.shopId, number, requesterOf(settings));
    },

    /** The register's new answer about the number of an address, for a write inside of a transaction. */
    lastVatCheck(
      address: Pick<Address, 'vatId' | 'country'>,
      settings: Pick<Settings, 'country' | 'invoicing'>,
    ): VatCheck | undefined {
      const number = numberToCheck(address, settings);
      return number && vatRegister.lastAnswer(number, requesterOf(settings));
    },

    /** The same for the address of a cart that is about to be made. */
    async checkNewVatNumber(
      shopId: string,
      address: Pick<Address, 'vatId' | 'country'>,
    ): Promise<VatCheck | undefined> {
      const settings = await shopSettings(service, shopId);
      const number = numberToCheck(address, settings);
      return number && vatRegister.check(shopId, number, requesterOf(settings));
    },

    /**
     * Asks the register again when the check in the cart is no longer fresh, before the cart is ordered. Call it
     * outside of transactions. Returns the cart as it was.
     */
    async refreshVatCheck(request: PricedCartRequest): Promise<OpenCart> {
      const db = service.atClockOf(request.shopId);
      const open = await load(db, findCart, request, {});
      const { cart, settings } = open;
      const before = cart.buyer?.vatCheck;
      const number = cart.billingAddress ? numberToCheck(cart.billingAddress, settings) : undefined;
      if (!before || isFresh(before, db.now) || !number) return open;
      const again = await vatRegister.check(request.shopId, number, requesterOf(settings));
      const check = laterCheck(before, again, db.now);
      if (check === before) return open;
      const unaudited = { ...request, caller: undefined, transaction: undefined, entry: undefined };
      await this.update(unaudited, (now) =>
        now.billingAddress && isCheckOf(check, now.billingAddress) ? setVatCheck(now.buyer, check) : {},
      );
      return open;
    },

    /** One statement when the cart is cached, and one more for products that are not; else two or three. Throws refusals of `change`. */
    async update(
      request: CartWriteRequest,
      change: CartChange,
      prefetch: Prefetch = {},
    ): Promise<PricedCart> {
      const { shopId, caller, entry, transaction } = request;
      const db = service.atClockOf(shopId);
      const updateStored = async (
        next: CartRow,
        entry: AuditEntry | undefined,
        tx: Transaction | undefined,
      ) => {
        if (!tx && entry) return db.transaction((opened) => updateWithEntry(opened, shopId, next, entry));
        return updateWithEntry(tx ?? db, shopId, next, entry);
      };
      const changed = await saveCart(request, prefetch, async ({ cart, settings, isCached, tx }) => {
        const { now } = tx ?? db;
        const patch = change(cart, { settings, now, caller });
        const next: CartRow = { ...cart, ...patch, changedAt: now };
        const priced = priceCart(next, settings, now);
        const isSaved = isCached
          ? await updateUnchanged(shopId, { cart: next, patch, entry })
          : await updateStored(next, entry, tx);
        return isSaved ? { cart: { ...next, version: next.version + 1 }, settings, priced } : undefined;
      });
      cacheCart(transaction ?? db, shopId, changed.cart);
      // Within a transaction no app is asked: the cart has the shop's own prices and taxes until it is read.
      return transaction ? changed : withAppTerms(request, changed);
    },

    /** One statement when the settings are cached, and one more for products that are not; else two or three. */
    async create(request: NewCartRequest): Promise<CreatedCart> {
      const { shopId, transaction } = request;
      const db = service.atClockOf(shopId);
      const createStored = async (queries: Queries, ingredients: CartIngredients) => {
        const made = newCart(request, ingredients, queries.now);
        await insertCart(queries, shopId, made.cart);
        return made;
      };
      const createLocked = async (tx: Transaction) => createStored(tx, await loadIngredients(tx, request));
      if (transaction) return createLocked(transaction);
      const made: CreatedCart = await withTransactionFallback(db, createLocked, async () => {
        const cached = options.cache ? await cachedIngredients(db, request) : undefined;
        const first =
          cached &&
          (await catchRefusal(async () => {
            const made = newCart(request, cached, db.now);
            return (await insertUnchanged(shopId, made.cart)) ? made : undefined;
          }));
        if (first?.saved) return first.saved;
        const stored = await loadIngredients(db, request);
        if (first?.refusal && isSame(stored, cached!)) throw first.refusal;
        return createStored(db, stored);
      });
      cacheCart(db, shopId, made.cart);
      const { cartId } = made.cart;
      return { ...made, ...(await withAppTerms({ ...request, params: { cartId } }, made)) };
    },

    /** Turns a cart into something else, in the same steps as `update`; the cart is gone from then on. */
    async close<Saved>(
      request: CartWriteRequest,
      save: (attempt: CartAttempt) => Promise<Saved | undefined>,
    ): Promise<Saved> {
      try {
        return await saveCart(request, {}, save);
      } finally {
        dropCachedCart(service, request.shopId, request.params.cartId);
      }
    },

    /**
     * Copies a cart made by an untrusted client for a visitor, with everything chosen in it: its maker knows the old
     * token, and can neither read nor change the copy. The token of the original ends. Returns the id of the copy;
     * undefined: the cart is gone.
     */
    async pickUp(shopId: string, cartId: string): Promise<string | undefined> {
      const db = service.atClockOf(shopId);
      const copy = { cartId: newId(db.now), tokenHash: newCartToken().hash };
      const isCopied = await db.transaction(async (tx) => {
        if ((await endCartToken(tx, shopId, cartId)) === 0) return false;
        return (await copyCart(tx, shopId, cartId, copy)) === 1;
      });
      dropCachedCart(db, shopId, cartId);
      return isCopied ? copy.cartId : undefined;
    },
  };
}

/** With its audit entry, if there is one: then the connection is that of a transaction. */
async function updateWithEntry(
  queries: Queries,
  shopId: string,
  cart: CartRow,
  entry: AuditEntry | undefined,
): Promise<boolean> {
  const isUpdated = (await updateCart(queries, shopId, cart)) === 1;
  if (isUpdated && entry) await recordEntry(queries, entry);
  return isUpdated;
}

/** The visitor who picked up the cart has a copy, so its maker no longer needs the token of the original. */
function requireAccess(
  { cartToken, isAdmitted }: CartRequest,
  { tokenHash, pickedUpAt }: { tokenHash: Buffer; pickedUpAt?: Date | null },
): void {
  if (isAdmitted) return;
  requireCartToken(cartToken, tokenHash);
  if (pickedUpAt) throw new Refusal('CART_TOKEN_ENDED');
}

async function load<Source extends Queries>(
  queries: Source,
  read: (queries: Source, shopId: string, cartId: string, prefetch: Prefetch) => Promise<CartRow | undefined>,
  request: CartRequest,
  prefetch: Prefetch,
): Promise<OpenCart> {
  const { shopId, params } = request;
  const open = await withCachedSettings(queries, shopId, async (settings, verify) => {
    const cart = await read(queries, shopId, params.cartId, prefetch);
    verify(cart?.settingsVersion);
    // The version of the settings that the cart is priced with: a save under other settings must fail.
    return cart && { cart: { ...cart, settingsVersion: settings.version }, settings };
  });
  if (!open) {
    const order = await findOrderOfCart(queries, shopId, params.cartId);
    if (!order) throw new CartGone('NOT_FOUND', {}, { field: 'cartId' });
    requireAccess(request, order);
    throw new CartGone('CART_ORDERED');
  }
  requireAccess(request, open.cart);
  if (isExpired(open.cart, queries.now)) throw new CartGone('NOT_FOUND', {}, { field: 'cartId' });
  return open;
}

/**
 * undefined: the settings are not cached, one of the products does not exist, or the cart names a customer, which is
 * always read.
 */
async function cachedIngredients(
  db: Database,
  { shopId, body }: NewCartRequest,
): Promise<CartIngredients | undefined> {
  const settings = cachedSettings(db, shopId);
  if (body.customerId || !settings || settings.promotions.some(hasLimit)) return undefined;
  const productIds = await idsWithParts(db, shopId, namedProducts(body.lineItems ?? []));
  const products = await seenCartProducts(db, shopId, productIds);
  return products && { settings, products, customerId: null, customerGroupId: null, promotionUses: null };
}

async function loadIngredients(queries: Queries, { shopId, body }: NewCartRequest): Promise<CartIngredients> {
  const customerId = body.customerId ?? null;
  return withCachedSettings(queries, shopId, async (settings, verify) => {
    const productIds = await idsWithParts(queries, shopId, namedProducts(body.lineItems ?? []));
    const found = await findIngredients(queries, shopId, productIds, customerId);
    if (!found) throw notFound();
    verify(found.settingsVersion);
    if (customerId !== null && !found.customer) throw invalid('UNKNOWN_VALUE', 'customerId');
    return {
      settings,
      products: found.products,
      customerId,
      customerGroupId: found.customer?.customerGroupId?.toUpperCase() ?? null,
      promotionUses: found.promotionUses,
    };
  });
}

/** A bundle is added with the products that it consists of. */
async function withParts(queries: Queries, shopId: string, prefetch: Prefetch): Promise<Prefetch> {
  const { productIds } = prefetch;
  if (!productIds?.length) return prefetch;
  return { ...prefetch, productIds: await idsWithParts(queries, shopId, productIds) };
}

async function idsWithParts(
  queries: Queries,
  shopId: string,
  productIds: readonly string[],
): Promise<string[]> {
  const ids = new Set(productIds.map((id) => id.toUpperCase()));
  // Unknown products are refused where they are added.
  const products = (await seenCartProducts(queries, shopId, [...ids])) ?? [];
  for (const { facts } of products) for (const { productId } of facts.parts ?? []) ids.add(productId);
  return [...ids];
}

/** Opens a transaction only when saving without one fails, or ends in a deadlock. */
async function withTransactionFallback<Saved>(
  db: Database,
  inTransaction: (tx: Transaction) => Promise<Saved>,
  optimistic: () => Promise<Saved | undefined>,
): Promise<Saved> {
  let saved: Saved | undefined;
  try {
    saved = await optimistic();
  } catch (error) {
    if (!isTransient(error)) throw error;
  }
  return saved ?? db.transaction(inTransaction);
}

/** A cached copy may be stale, so a refusal based on one counts only if the stored data is the same. */
async function catchRefusal<Saved>(
  save: () => Promise<Saved | undefined>,
): Promise<{ saved?: Saved | undefined; refusal?: Error }> {
  try {
    return { saved: await save() };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { refusal: error };
  }
}

/** The inputs of the decision about a cart. */
interface Basis {
  /** Version of the cart; a new one has none yet. */
  version?: number;
  settings: Settings;
  products: readonly CartProduct[];
}

const basisOf = ({ cart, settings }: OpenCart): Basis => ({ ...cart, settings });

/** Whether both give the same result. */
function isSame(left: Basis, right: Basis): boolean {
  const versionsOf = ({ version, settings, products }: Basis) => [
    version,
    settings.version,
    ...products.map(({ versionStamp }) => versionStamp).toSorted(),
  ];
  return isDeepStrictEqual(versionsOf(left), versionsOf(right));
}

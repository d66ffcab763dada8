import { sql } from '../src/db/sql.ts';
import { checkAttempt, makeRefund, type PaymentDeps } from '../src/orders/payments/calls.ts';
import { createProviders, type Providers } from '../src/orders/payments/providers.ts';
import {
  findDueAttempts,
  findDueRefunds,
  takeDueAttempt,
  type Attempt,
} from '../src/orders/payments/queries.ts';
import { installationKey } from '../src/platform/sealing.ts';
import pino from 'pino';
import { shippingId, paymentId, type Shop } from './carts.ts';
import type { Service } from './service.ts';
import { givenVisitor, type Visitor } from './visitor.ts';

export const BUYER = {
  'billing.emailAddress': 'ada.lindqvist@mail.example',
  'billing.country': 'DE',
  'billing.firstName': 'Ada',
  'billing.lastName': 'Lindqvist',
  'billing.street': 'Kai 7',
  'billing.zipCode': '20457',
  'billing.city': 'Hamburg',
};

/** What the worker of payments works with. */
export function paymentDeps(service: Service, providers: Partial<Providers> = {}): PaymentDeps {
  const { app, db, config } = service;
  return {
    db,
    providers: createProviders(db, app.demoAccess, { calls: app.appCalls, ...providers }),
    loadKey: () => installationKey(config),
    log: pino({ level: 'silent' }),
  };
}

/** One round of the worker, to its end: what is due now is asked about and refunded. */
export async function workOff(deps: PaymentDeps): Promise<void> {
  const { db } = deps;
  for (const key of await findDueAttempts(db, { afterShop: '', limit: 1_000 })) {
    if (await takeDueAttempt(db, key)) await checkAttempt(deps, key.shopId, key.id);
  }
  for (const key of await findDueRefunds(db, { afterShop: '', limit: 1_000 })) await makeRefund(deps, key);
}

export interface Purchase {
  visitor: Visitor;
  orderId: string;
  /** The path of the page that leads to the provider. */
  payPath: string;
}

/** Buys a product in a shop and chooses a payment method by its key, by forms alone. */
export async function buy(
  shop: Shop,
  productId: string,
  method: string,
  { coupon, visitor = givenVisitor(shop.service, shop.shopId) }: { coupon?: string; visitor?: Visitor } = {},
): Promise<Purchase> {
  await visitor.submit('/cart/add', { productId, quantity: '1' });
  if (coupon !== undefined) await visitor.submit('/cart/coupon', { code: coupon });
  await visitor.submit('/checkout', BUYER);
  const review = await visitor.submit('/checkout/delivery', {
    shippingMethod: await firstShipping(shop),
    paymentMethod: await paymentId(shop, method),
  });
  const [, reviewed] = /name="reviewed" value="([^"]*)"/.exec(review.text)!;
  const done = await visitor.post('/checkout/order', { reviewed: reviewed! });
  return {
    visitor,
    orderId: String(visitor.session()['order']),
    payPath: String(done.headers.location),
  };
}

async function firstShipping(shop: Shop): Promise<string> {
  const row = await shop.service.db.one<{ key: string }>(sql`
    select key from shipping_method where shop_id = ${shop.shopId} order by position limit 1`);
  return row ? shippingId(shop, row.key) : '';
}

export function attemptsOf({ service, shopId }: Shop, orderId: string) {
  return service.db.many<Pick<Attempt, 'attemptId' | 'state' | 'amount' | 'reference' | 'captured'>>(sql`
    select upper(attempt_id::text) as "attemptId", state, amount, reference, captured from payment_attempt
    where shop_id = ${shopId} and order_id = ${orderId} order by created_at, attempt_id`);
}

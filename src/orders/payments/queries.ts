import type { Queries, Transaction } from '../../db/database.ts';
import { leaseEnd } from '../../db/lease.ts';
import { sql } from '../../db/sql.ts';
import type { OutcomeState } from './provider.ts';

/** One attempt to pay an order through a provider. */
export interface Attempt {
  attemptId: string;
  orderId: string;
  provider: string;
  paymentMethodId: string;
  /** Minor units. */
  amount: number;
  currency: string;
  /** `starting`: the provider may know of it, and no shopper was sent there yet. */
  state: 'starting' | OutcomeState;
  captured: number;
  reference: string | null;
  redirectTo: string | null;
  /** It is made with a token: there is no page on which a shopper pays. */
  isCharge: boolean;
  wish: 'cancel' | 'capture' | null;
  createdAt: Date;
  updatedAt: Date;
  /** How often the provider was asked without news. */
  checks: number;
  error: string | null;
  /** When its order is cancelled unless it is paid; null: never. */
  releaseAt: Date | null;
}

const columnsOf = (shopId: string) => sql`
  upper(attempt_id::text) as "attemptId", upper(order_id::text) as "orderId", provider,
  upper(payment_method_id::text) as "paymentMethodId", amount, currency, state, captured, reference,
  redirect_to as "redirectTo", is_charge as "isCharge", wish, created_at as "createdAt", updated_at as "updatedAt", checks, error, (
    select release_at from customer_order
    where customer_order.shop_id = ${shopId} and customer_order.order_id = payment_attempt.order_id
      and paid_amount = gift_card_amount and cancelled_at is null
  ) as "releaseAt"`;

/** It can still bring money: the condition of `payment_attempt_live`. */
const isLive = sql`state in ('starting', 'open', 'processing', 'authorized')`;

export function findAttempt(db: Queries, shopId: string, attemptId: string) {
  return db.one<Attempt>(sql`
    select ${columnsOf(shopId)} from payment_attempt where shop_id = ${shopId} and attempt_id = ${attemptId}`);
}

/** Always after the lock of its order. */
export function lockAttempt(tx: Transaction, shopId: string, attemptId: string) {
  return tx.one<Attempt>(sql`
    select ${columnsOf(shopId)} from payment_attempt where shop_id = ${shopId} and attempt_id = ${attemptId} for update`);
}

export function lockLiveAttempt(tx: Transaction, shopId: string, orderId: string) {
  return tx.one<Attempt>(sql`
    select ${columnsOf(shopId)} from payment_attempt
    where shop_id = ${shopId} and order_id = ${orderId} and ${isLive} for update`);
}

/** Oldest first. */
export function findAttempts(db: Queries, shopId: string, orderId: string) {
  return db.many<Attempt>(sql`
    select ${columnsOf(shopId)} from payment_attempt
    where shop_id = ${shopId} and order_id = ${orderId} order by created_at, attempt_id`);
}

export function insertAttempt(
  tx: Transaction,
  shopId: string,
  attempt: Pick<Attempt, 'attemptId' | 'orderId' | 'provider' | 'paymentMethodId' | 'amount' | 'currency'>,
  checkAt: Date,
) {
  const { attemptId, orderId, provider, paymentMethodId, amount, currency } = attempt;
  return tx.run(sql`
    insert into payment_attempt (shop_id, attempt_id, order_id, provider, payment_method_id, amount, currency, state,
      created_at, updated_at, check_at)
    values (${shopId}, ${attemptId}, ${orderId}, ${provider}, ${paymentMethodId}, ${amount}, ${currency}, 'starting',
      ${tx.now}, ${tx.now}, ${checkAt})`);
}

/** An attempt that is made with a token. Its maker has until `check_at` to charge it. */
export function insertCharge(
  tx: Transaction,
  shopId: string,
  attempt: Pick<Attempt, 'attemptId' | 'orderId' | 'provider' | 'paymentMethodId' | 'amount' | 'currency'>,
  tokenSealed: Buffer,
) {
  const { attemptId, orderId, provider, paymentMethodId, amount, currency } = attempt;
  return tx.run(sql`
    insert into payment_attempt (shop_id, attempt_id, order_id, provider, payment_method_id, amount, currency, state,
      is_charge, token_sealed, created_at, updated_at, check_at)
    values (${shopId}, ${attemptId}, ${orderId}, ${provider}, ${paymentMethodId}, ${amount}, ${currency}, 'starting',
      true, ${tokenSealed}, ${tx.now}, ${tx.now}, ${leaseEnd(tx.now)})`);
}

/** undefined: its outcome is known. */
export async function findChargeToken(
  db: Queries,
  shopId: string,
  attemptId: string,
): Promise<Buffer | undefined> {
  const row = await db.one<{ tokenSealed: Buffer | null }>(sql`
    select token_sealed as "tokenSealed" from payment_attempt
    where shop_id = ${shopId} and attempt_id = ${attemptId}`);
  return row?.tokenSealed ?? undefined;
}

/** The outcome of a charge is known, so its token has done its work. `reference`: null if there is no payment. */
export function endCharge(tx: Transaction, shopId: string, attemptId: string, reference: string | null) {
  return tx.run(sql`
    update payment_attempt set token_sealed = null, reference = coalesce(reference, ${reference}::text)
    where shop_id = ${shopId} and attempt_id = ${attemptId}`);
}

/** The provider has made the payment. Of two clicks at once the first one records it. */
export function recordStart(
  db: Queries,
  shopId: string,
  attemptId: string,
  { reference, redirectTo, checkAt }: { reference: string; redirectTo: string; checkAt: Date },
) {
  return db.run(sql`
    update payment_attempt
    set state = 'open', reference = ${reference}, redirect_to = ${redirectTo}, updated_at = ${db.now},
      check_at = ${checkAt}, error = null
    where shop_id = ${shopId} and attempt_id = ${attemptId} and state = 'starting'`);
}

/** An app reports a payment whose beginning was not recorded: its later calls name it. */
export function nameAttempt(tx: Transaction, shopId: string, attemptId: string, reference: string) {
  return tx.run(sql`
    update payment_attempt set reference = ${reference}
    where shop_id = ${shopId} and attempt_id = ${attemptId} and reference is null`);
}

/** The news of an attempt that this transaction has locked. */
export function updateAttempt(
  tx: Transaction,
  shopId: string,
  { attemptId, state, captured, wish, checks, error, updatedAt }: Attempt,
  checkAt: Date | null,
) {
  return tx.run(sql`
    update payment_attempt
    set state = ${state}, captured = ${captured}, wish = ${wish}, checks = ${checks}, error = ${error},
      updated_at = ${updatedAt}, checked_at = ${tx.now}, check_at = ${checkAt}
    where shop_id = ${shopId} and attempt_id = ${attemptId}`);
}

/** The provider did not answer, or not in a known form. */
export function recordFailedCheck(
  db: Queries,
  shopId: string,
  attemptId: string,
  { error, checkAt }: { error: string; checkAt: Date | null },
) {
  return db.run(sql`
    update payment_attempt
    set checks = checks + 1, error = ${error}, checked_at = ${db.now}, check_at = ${checkAt}
    where shop_id = ${shopId} and attempt_id = ${attemptId} and check_at is not null`);
}

/** Lets the worker end the live attempt of an order after the commit. */
export function requestCancel(tx: Transaction, shopId: string, orderId: string) {
  return tx.run(sql`
    update payment_attempt set wish = 'cancel', check_at = ${tx.now}
    where shop_id = ${shopId} and order_id = ${orderId} and ${isLive}`);
}

/** Lets the worker capture the money reserved for an order. Returns the number of payments: one or none. */
export function requestCapture(tx: Transaction, shopId: string, orderId: string) {
  return tx.run(sql`
    update payment_attempt set wish = 'capture', check_at = ${tx.now}, checks = 0
    where shop_id = ${shopId} and order_id = ${orderId} and state = 'authorized'`);
}

/** The order is not sent after all: money that was not captured yet stays reserved. */
export function withdrawCapture(tx: Transaction, shopId: string, orderId: string) {
  return tx.run(sql`
    update payment_attempt set wish = null
    where shop_id = ${shopId} and order_id = ${orderId} and state = 'authorized' and wish = 'capture'`);
}

/** A webhook has named these payments. Returns how many are known. */
export function requestChecks(
  db: Queries,
  shopId: string,
  paymentMethodId: string,
  references: readonly string[],
) {
  return db.run(sql`
    update payment_attempt set check_at = ${db.now}
    where shop_id = ${shopId} and payment_method_id = ${paymentMethodId} and reference = any (${references}::text[])`);
}

/**
 * The shopper is back: checks at once, unless a check was made just now. false: no check is needed. Repeated reloads
 * of an open page do not become as many calls to the provider.
 */
export async function takeAttempt(db: Queries, shopId: string, attemptId: string): Promise<boolean> {
  const taken = await db.run(sql`
    update payment_attempt set check_at = ${leaseEnd(db.now)}, checked_at = ${db.now}
    where shop_id = ${shopId} and attempt_id = ${attemptId} and ${isLive}
      and (checked_at is null or checked_at <= ${new Date(db.now.getTime() - 1_000)})`);
  return taken === 1;
}

export interface DueKey {
  shopId: string;
  orderId: string;
  /** Id of the attempt or the refund. */
  id: string;
}

/** The due items of all shops, in the order of the shops, beginning after one: so they take turns. */
export interface DuePage {
  afterShop: string;
  limit: number;
}

export function findDueAttempts(db: Queries, { afterShop, limit }: DuePage) {
  return db.many<DueKey>(sql`
    select shop_id as "shopId", upper(order_id::text) as "orderId", upper(attempt_id::text) as id from payment_attempt
    where shop_id > ${afterShop} and check_at <= ${db.now} order by shop_id, check_at limit ${limit}`);
}

/** The same of one shop, by its own clock. */
export function findDueAttemptsOf(db: Queries, shopId: string, limit: number) {
  return db.many<DueKey>(sql`
    select shop_id as "shopId", upper(order_id::text) as "orderId", upper(attempt_id::text) as id from payment_attempt
    where shop_id = ${shopId} and check_at <= ${db.now} order by check_at limit ${limit}`);
}

/** Of two processes one gets it: the other finds the new `check_at`. */
export async function takeDueAttempt(db: Queries, { shopId, id }: DueKey): Promise<boolean> {
  const taken = await db.run(sql`
    update payment_attempt set check_at = ${leaseEnd(db.now)}
    where shop_id = ${shopId} and attempt_id = ${id} and check_at <= ${db.now}`);
  return taken === 1;
}

export function findDueRefunds(db: Queries, { afterShop, limit }: DuePage) {
  return db.many<DueKey>(sql`
    select shop_id as "shopId", upper(order_id::text) as "orderId", upper(payment_id::text) as id from order_payment
    where shop_id > ${afterShop} and check_at <= ${db.now} order by shop_id, check_at limit ${limit}`);
}

/** The same of one shop, by its own clock. */
export function findDueRefundsOf(db: Queries, shopId: string, limit: number) {
  return db.many<DueKey>(sql`
    select shop_id as "shopId", upper(order_id::text) as "orderId", upper(payment_id::text) as id from order_payment
    where shop_id = ${shopId} and check_at <= ${db.now} order by check_at limit ${limit}`);
}

/** A refund that a provider makes. */
export interface ProviderRefund {
  paymentId: string;
  orderId: string;
  attemptId: string;
  amount: number;
  /** The provider's id of the refund; null: not known yet. */
  reference: string | null;
  returnId: string | null;
  requestedAt: Date;
  checks: number;
}

const refundColumns = sql`
  upper(payment_id::text) as "paymentId", upper(order_id::text) as "orderId", upper(attempt_id::text) as "attemptId",
  amount, reference, upper(return_id::text) as "returnId", at as "requestedAt", checks`;

/** undefined: another process has it. */
export function takeDueRefund(db: Queries, { shopId, orderId, id }: DueKey) {
  return db.one<ProviderRefund>(sql`
    update order_payment set check_at = ${leaseEnd(db.now)}
    where shop_id = ${shopId} and order_id = ${orderId} and payment_id = ${id} and check_at <= ${db.now}
    returning ${refundColumns}`);
}

/** After the lock of its order. undefined: it is done or has failed. */
export function lockRequestedRefund(tx: Transaction, shopId: string, orderId: string, paymentId: string) {
  return tx.one<ProviderRefund>(sql`
    select ${refundColumns} from order_payment
    where shop_id = ${shopId} and order_id = ${orderId} and payment_id = ${paymentId} and state = 'requested'
    for update`);
}

export function updateRefund(
  tx: Transaction,
  shopId: string,
  { orderId, paymentId, reference, checks }: ProviderRefund,
  {
    state,
    error,
    checkAt,
  }: { state: 'requested' | 'done' | 'failed'; error: string | null; checkAt: Date | null },
) {
  return tx.run(sql`
    update order_payment
    set state = ${state}, reference = ${reference}, checks = ${checks}, error = ${error}, check_at = ${checkAt}
    where shop_id = ${shopId} and order_id = ${orderId} and payment_id = ${paymentId}`);
}

/** An app has reported refunds: those that were requested are looked at, at once. */
export function requestRefundChecks(tx: Transaction, shopId: string, orderId: string, attemptId: string) {
  return tx.run(sql`
    update order_payment set check_at = ${tx.now}
    where shop_id = ${shopId} and order_id = ${orderId} and attempt_id = ${attemptId} and state = 'requested'`);
}

/** Asks the provider again about a completed refund, on an order that is locked. */
export function reopenRefund(tx: Transaction, shopId: string, orderId: string, paymentId: string) {
  return tx.run(sql`
    update order_payment set state = 'requested', check_at = ${tx.now}
    where shop_id = ${shopId} and order_id = ${orderId} and payment_id = ${paymentId} and state = 'done'`);
}

/** The refundable amount of each payment through a provider, the newest first. */
export function findRefundable(tx: Transaction, shopId: string, orderId: string) {
  return tx.many<{ attemptId: string; left: number }>(sql`
    select upper(attempt_id::text) as "attemptId", captured - coalesce((
        select sum(amount) from order_payment
        where shop_id = ${shopId} and order_id = ${orderId} and order_payment.attempt_id = payment_attempt.attempt_id
          and kind = 'refund' and state <> 'failed'
      ), 0)::bigint as left
    from payment_attempt
    where shop_id = ${shopId} and order_id = ${orderId} and state = 'paid'
    order by created_at desc, attempt_id desc`);
}

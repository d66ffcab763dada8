import type { Queries, Transaction } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import type { Localised } from '../../http/locale.ts';
import type { PaymentOutcome, OutcomeState, ReportedRefund } from './provider.ts';

/** The report of an app about one of its payments. */
export interface AppPayment {
  /** That of the attempt. */
  paymentId: string;
  orderId: string;
  appId: string;
  /** Its name in the app. */
  method: string;
  /** Scheme and host of the service. */
  issuer: string;
  /** Minor units, of the attempt. */
  amount: number;
  currency: string;
  state: OutcomeState;
  captured: number;
  refunds: ReportedRefund[];
}

export const appPaymentOutcome = ({ state, captured, currency, refunds }: AppPayment): PaymentOutcome => ({
  state,
  captured,
  currency,
  ...(refunds.length > 0 && { refunds }),
});

const select = (shopId: string): Sql => sql`
  select upper(payment_id::text) as "paymentId", upper(app_payment.order_id::text) as "orderId",
    upper(app_id::text) as "appId", method, issuer, amount, currency, app_payment.state, app_payment.captured, refunds
  from app_payment join payment_attempt
    on payment_attempt.shop_id = ${shopId} and attempt_id = payment_id
  where app_payment.shop_id = ${shopId}`;

export function findAppPayment(db: Queries, shopId: string, paymentId: string) {
  return db.one<AppPayment>(sql`${select(shopId)} and payment_id = ${paymentId}`);
}

/** Always after the lock of its order. */
export function lockAppPayment(tx: Transaction, shopId: string, paymentId: string) {
  return tx.one<AppPayment>(sql`${select(shopId)} and payment_id = ${paymentId} for update of app_payment`);
}

/** Before the app is asked, so that it may report the payment as soon as it knows of it. */
export function insertAppPayment(
  db: Queries,
  shopId: string,
  payment: Pick<AppPayment, 'paymentId' | 'orderId' | 'appId' | 'method' | 'issuer'>,
) {
  const { paymentId, orderId, appId, method, issuer } = payment;
  return db.run(sql`
    insert into app_payment (shop_id, payment_id, order_id, app_id, method, issuer, state)
    values (${shopId}, ${paymentId}, ${orderId}, ${appId}, ${method}, ${issuer}, 'open')
    on conflict (shop_id, payment_id) do nothing`);
}

export function updateInstructions(
  db: Queries,
  shopId: string,
  paymentId: string,
  instructions: Localised | null,
) {
  return db.run(sql`
    update app_payment set instructions = ${instructions}
    where shop_id = ${shopId} and payment_id = ${paymentId}`);
}

/** The steps that the customer has to take; undefined: the app has a page for that. */
export async function findInstructions(
  db: Queries,
  shopId: string,
  paymentId: string,
): Promise<Localised | undefined> {
  const row = await db.one<{ instructions: Localised | null }>(sql`
    select instructions from app_payment where shop_id = ${shopId} and payment_id = ${paymentId}`);
  return row?.instructions ?? undefined;
}

/** The answer of an app to a call. What it has reported of the end of the payment meanwhile stays. */
export function updateLivePayment(
  db: Queries,
  shopId: string,
  paymentId: string,
  { state, captured }: Pick<AppPayment, 'state' | 'captured'>,
) {
  return db.run(sql`
    update app_payment set state = ${state}, captured = ${captured}
    where shop_id = ${shopId} and payment_id = ${paymentId} and state in ('open', 'processing', 'authorized')`);
}

/** The report of an app, on a payment that is locked. */
export function updateReported(
  tx: Transaction,
  shopId: string,
  { paymentId, state, captured, refunds }: Pick<AppPayment, 'paymentId' | 'state' | 'captured' | 'refunds'>,
) {
  return tx.run(sql`
    update app_payment set state = ${state}, captured = ${captured}, refunds = ${JSON.stringify(refunds)}::jsonb
    where shop_id = ${shopId} and payment_id = ${paymentId}`);
}

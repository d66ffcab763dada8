import type { Database, Queries } from '../../db/database.ts';
import { sql, type Sql } from '../../db/sql.ts';
import type { DemoAccess } from '../../http/demo-access.ts';
import { isId } from '../../kernel/ids.ts';
import { PaymentRefused, type Account, type PaymentOutcome, type PaymentProvider } from './provider.ts';

/**
 * A provider without a bank: its payment page is a storefront page on which the shopper chooses the outcome. Its
 * payments are in a separate table, of which orders know as little as of a real provider's.
 */
export function createDemoProvider(db: Database, demoAccess: DemoAccess): PaymentProvider {
  const outcomeOf = async (reference: string, { shopId }: Account): Promise<PaymentOutcome> => {
    const payment = await findDemoPayment(db.atClockOf(shopId), shopId, reference);
    if (!payment) throw new PaymentRefused(`There is no demo payment ${reference}`);
    const { state, amount, currency } = payment;
    return { state, captured: state === 'paid' ? amount : 0, currency };
  };

  return {
    fields: {},
    get isAvailable() {
      return demoAccess.isOpen();
    },

    async start({ id, amount, currency, orderNumber, returnUrl }, { shopId, capture, isSandbox }) {
      if (!demoAccess.isOpen() && !isSandbox)
        throw new PaymentRefused('The demo payment is for private installations and sandboxes only');
      await db.run(sql`
        insert into demo_payment (shop_id, payment_id, amount, currency, state, is_captured_by_hand, return_url,
          order_number, created_at)
        values (${shopId}, ${id}, ${amount}, ${currency}, 'open', ${capture === 'manual'}, ${returnUrl},
          ${orderNumber}, ${db.atClockOf(shopId).now})
        on conflict (shop_id, payment_id) do nothing`);
      // The page speaks the language of the order page that leads to it.
      const { search } = new URL(returnUrl);
      return { reference: id, redirectTo: new URL(`../../demo-payment/${id}${search}`, returnUrl).href };
    },

    confirm: outcomeOf,

    async capture(reference, account) {
      await moveDemoPayment(db, account.shopId, reference, { from: ['authorized'], to: 'paid' });
      return outcomeOf(reference, account);
    },

    async cancel(reference, account) {
      await moveDemoPayment(db, account.shopId, reference, { from: ['open', 'authorized'], to: 'cancelled' });
      return outcomeOf(reference, account);
    },

    async refund(reference, { id, amount }, { shopId }) {
      const refunded = await db.run(sql`
        update demo_payment set refunds = refunds || jsonb_build_object(${id}::text, ${amount}::bigint)
        where shop_id = ${shopId} and payment_id = ${reference} and ${STATE(db.atClockOf(shopId).now)} = 'paid'
          and amount >= ${amount}::bigint + (
            select coalesce(sum(value::bigint), 0) from jsonb_each_text(refunds) where key <> ${id})`);
      return { state: refunded === 1 ? 'done' : 'failed', reference: id };
    },

    // Its page sends no webhooks: the return of the shopper and the poll find out.
    webhook: async () => undefined,
  };
}

export interface DemoPayment {
  amount: number;
  currency: string;
  state: PaymentOutcome['state'];
  isCapturedByHand: boolean;
  returnUrl: string;
  orderNumber: string;
}

/** Money on its way arrives after a while. */
const STATE = (now: Date): Sql =>
  sql`case when state = 'processing' and paid_at <= ${now} then 'paid' else state end`;

export async function findDemoPayment(
  db: Queries,
  shopId: string,
  paymentId: string,
): Promise<DemoPayment | undefined> {
  if (!isId(paymentId)) return undefined;
  return db.one<DemoPayment>(sql`
    select amount, currency, ${STATE(db.now)} as state, is_captured_by_hand as "isCapturedByHand",
      return_url as "returnUrl", order_number as "orderNumber"
    from demo_payment where shop_id = ${shopId} and payment_id = ${paymentId}`);
}

/** Updates a payment that is still in one of these states. `paidAt`: when money on its way will arrive. */
export function moveDemoPayment(
  db: Queries,
  shopId: string,
  paymentId: string,
  {
    from,
    to,
    paidAt = null,
  }: { from: PaymentOutcome['state'][]; to: PaymentOutcome['state']; paidAt?: Date | null },
) {
  return db.run(sql`
    update demo_payment set state = ${to}, paid_at = ${paidAt}
    where shop_id = ${shopId} and payment_id = ${paymentId} and state = any (${from}::text[])`);
}

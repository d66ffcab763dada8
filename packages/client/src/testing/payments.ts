import type { PaymentStart } from '../calls.ts';
import type { AppPayment, PaymentReport } from '../schema.ts';

/** What a payment report can do to a payment, as far as it has come: it never goes back. */
const PROGRESS: Readonly<Record<string, number>> = {
  open: 1,
  processing: 2,
  authorized: 2,
  failed: 3,
  cancelled: 3,
  paid: 4,
};

/** A payment that the app was asked to begin. */
export function newPayment({ paymentId, orderId, method, amount, currency }: PaymentStart): AppPayment {
  const digits = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  const decimal = amount / 10 ** digits.maximumFractionDigits!;
  const nothing = { state: 'open', captured: 0, refunded: 0 };
  return { paymentId, orderId, method, amount: decimal, currencyId: currency, ...nothing };
}

/** The payment after a report of the app; the code of the refusal where a shop would take none. */
export function reportedPayment(
  payment: AppPayment,
  { state, amount, currencyId, refunds = [] }: PaymentReport,
): AppPayment | 'PAYMENT_REPORT_DIFFERS' | 'PAYMENT_REPORT_OUTDATED' | 'REFUND_TOO_HIGH' {
  const given = Number(amount);
  const isWhole = given === payment.amount;
  if (currencyId !== payment.currencyId || given > payment.amount || (state !== 'paid' && !isWhole)) {
    return 'PAYMENT_REPORT_DIFFERS';
  }
  const captured = state === 'paid' ? given : 0;
  const [before, after] = [PROGRESS[payment.state]!, PROGRESS[state]!];
  const isRepeated = state === payment.state && captured === payment.captured;
  if (!isRepeated && after <= before && !(before === 2 && after === 2)) return 'PAYMENT_REPORT_OUTDATED';
  const refunded = refunds.reduce((sum, one) => (one.state === 'failed' ? sum : sum + Number(one.amount)), 0);
  if (refunded > captured) return 'REFUND_TOO_HIGH';
  return { ...payment, state, captured, refunded: refunds.length > 0 ? refunded : payment.refunded };
}

import { Type, type Static } from 'typebox';
import { Refusal } from '../../http/errors.ts';
import { Decimal } from '../../http/request-fields.ts';
import { MANIFEST_LINE } from '../../apps/manifest/schema.ts';
import { exactAmount } from '../manage-change.ts';
import type { AppPayment } from './app-payments.ts';
import { isNewState } from './progress.ts';
import type { OutcomeState, ReportedRefund } from './provider.ts';

const MAX_REFUNDS = 50;

const REPORTED = [
  'processing',
  'authorized',
  'paid',
  'failed',
  'cancelled',
] as const satisfies OutcomeState[];

export const PaymentReport = Type.Object(
  {
    state: Type.Enum([...REPORTED], {
      description:
        'processing: the money is on its way. authorized: it is reserved, and waits for the call that captures it. paid: it is there. failed and cancelled: the payment has ended without money.',
      examples: ['paid'],
    }),
    amount: Decimal(
      'What the payment is about, as a decimal. Of a paid one what was captured, which may be less.',
      46.33,
    ),
    currencyId: Type.String({
      pattern: '^[A-Z]{3}$',
      description: 'That of the payment.',
      examples: ['EUR'],
    }),
    message: Type.Optional(
      Type.String({
        maxLength: 300,
        pattern: MANIFEST_LINE,
        description: 'For the merchant, in the history of the order.',
        examples: ['Settled with batch 4711.'],
      }),
    ),
    refunds: Type.Optional(
      Type.Array(
        Type.Object({
          reference: Type.String({
            maxLength: 200,
            pattern: MANIFEST_LINE,
            description: "The app's own id of it, always the same.",
            examples: ['R-4711'],
          }),
          refundId: Type.Optional(
            Type.String({
              pattern: '^[0-9A-Fa-f-]{36}$',
              description: 'Of a refund that the shop has asked for. Absent: it was made at the app.',
              examples: ['01981F6B-4C5E-7A8D-9B2F-3C4D5E6F7A8B'],
            }),
          ),
          amount: Decimal('How much.', 10),
          state: Type.Enum(['processing', 'done', 'failed'], {
            description: 'Whether the money is back.',
            examples: ['done'],
          }),
        }),
        {
          maxItems: MAX_REFUNDS,
          description: 'Refunds of a paid payment that are new or have another state. Those left out stay.',
        },
      ),
    ),
  },
  { title: 'payment report' },
);
export type PaymentReport = Static<typeof PaymentReport>;

export type ReportedPayment = Pick<AppPayment, 'state' | 'captured' | 'refunds'>;

/** A payment after a report of its app; the same report again changes nothing. Refuses what can't be. Pure. */
export function reportedPayment(payment: AppPayment, report: PaymentReport): ReportedPayment {
  const { state, currencyId, refunds = [] } = report;
  const amount = exactAmount(report.amount, payment, 'amount', { min: 1 });
  const isWhole = amount === payment.amount;
  if (currencyId !== payment.currency || amount > payment.amount || (state !== 'paid' && !isWhole)) {
    throw new Refusal('PAYMENT_REPORT_DIFFERS', {
      amount: { minor: payment.amount, currency: payment.currency },
    });
  }
  const captured = state === 'paid' ? amount : 0;
  const isRepeated = state === payment.state && captured === payment.captured;
  if (!isRepeated && !isNewState(payment.state, state)) {
    throw new Refusal('PAYMENT_REPORT_OUTDATED', { state: payment.state });
  }
  return { state, captured, refunds: refundsAfter({ ...payment, captured }, refunds) };
}

function refundsAfter(
  { refunds: known, captured, currency }: Pick<AppPayment, 'refunds' | 'captured' | 'currency'>,
  reported: NonNullable<PaymentReport['refunds']>,
): ReportedRefund[] {
  const after = new Map(known.map((refund) => [refund.reference, refund]));
  for (const { reference, refundId, amount: decimal, state } of reported) {
    const before = after.get(reference);
    const amount = exactAmount(decimal, { currency }, 'refunds', { min: 1 });
    const refund = { reference, id: refundId?.toUpperCase() ?? null, amount, state };
    // A failed refund is over, and one that was paid back is not under way again.
    const isOver = before?.state === 'failed' || (before?.state === 'done' && state === 'processing');
    if (
      before &&
      (before.amount !== amount || before.id !== refund.id || (isOver && before.state !== state))
    ) {
      throw new Refusal('PAYMENT_REPORT_OUTDATED', { state: before.state });
    }
    after.set(reference, refund);
  }
  const refunds = [...after.values()];
  const sum = refunds.reduce((total, { amount, state }) => (state === 'failed' ? total : total + amount), 0);
  if (sum > captured || refunds.length > MAX_REFUNDS) {
    throw new Refusal('REFUND_TOO_HIGH', { amount: { minor: captured, currency } });
  }
  return refunds;
}

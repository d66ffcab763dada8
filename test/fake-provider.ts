import {
  PaymentRefused,
  type NewPayment,
  type PaymentOutcome,
  type PaymentProvider,
} from '../src/orders/payments/provider.ts';

/** A payment as the fake provider knows it. */
interface FakePayment extends NewPayment {
  state: PaymentOutcome['state'];
  captured: number;
  refunds: Map<string, number>;
}

/**
 * A payment provider in memory, which a test makes pay, refuse and fail. It keeps to the interface: it is called with
 * the same id again and does a thing once.
 */
export function createFakeProvider() {
  const payments = new Map<string, FakePayment>();
  const calls: string[] = [];
  /** By the name of the call: what it throws. */
  const failures: Partial<Record<'start' | 'confirm' | 'capture' | 'cancel' | 'refund', Error>> = {};
  const paymentOf = (reference: string) => {
    const payment = payments.get(reference);
    if (!payment) throw new PaymentRefused(`There is no payment ${reference}`);
    return payment;
  };
  const outcomeOf = (reference: string): PaymentOutcome => {
    const { state, captured, currency } = paymentOf(reference);
    return { state, captured, currency };
  };
  const called = (name: keyof typeof failures) => {
    calls.push(name);
    if (failures[name]) throw failures[name];
  };

  const provider: PaymentProvider = {
    fields: { secretKey: { description: 'Found under Keys.', isSecret: true } },
    async start(payment) {
      called('start');
      const reference = `fake_${payment.id}`;
      if (!payments.has(reference)) {
        payments.set(reference, { ...payment, state: 'open', captured: 0, refunds: new Map() });
      }
      return { reference, redirectTo: `https://pay.example/${payment.id}` };
    },
    async confirm(reference) {
      called('confirm');
      return outcomeOf(reference);
    },
    async capture(reference) {
      called('capture');
      const payment = paymentOf(reference);
      if (payment.state === 'authorized') Object.assign(payment, { state: 'paid', captured: payment.amount });
      return outcomeOf(reference);
    },
    async cancel(reference) {
      called('cancel');
      const payment = paymentOf(reference);
      if (payment.state === 'open' || payment.state === 'authorized') payment.state = 'cancelled';
      return outcomeOf(reference);
    },
    async refund(reference, { id, amount }) {
      called('refund');
      const payment = paymentOf(reference);
      const before = [...payment.refunds].reduce((sum, [other, one]) => (other === id ? sum : sum + one), 0);
      if (before + amount > payment.captured) throw new PaymentRefused('More than was paid');
      payment.refunds.set(id, amount);
      return { state: 'done', reference: `refund_${id}` };
    },
    async webhook({ headers, body }, { fields }) {
      if (headers['x-signature'] !== fields['secretKey']) return undefined;
      return JSON.parse(body.toString()) as string[];
    },
  };

  return {
    provider,
    calls,
    failures,
    payments,
    /** What happens at the provider, without a word to the shop. */
    pay: (reference: string) => {
      const payment = paymentOf(reference);
      Object.assign(payment, { state: 'paid', captured: payment.amount });
    },
    move: (reference: string, state: PaymentOutcome['state']) => {
      paymentOf(reference).state = state;
    },
    refundsOf: (reference: string) => [...paymentOf(reference).refunds.values()],
  };
}

export type FakeProvider = ReturnType<typeof createFakeProvider>;

import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import type { Queries } from '../../db/database.ts';
import type { Caller } from '../../http/callers.ts';
import { notFound } from '../../http/errors.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { Id } from '../../http/schemas.ts';
import { isId } from '../../kernel/ids.ts';
import { toDecimal } from '../../kernel/money.ts';
import { recordHistory } from '../history.ts';
import { lockOrder } from '../change.ts';
import {
  findAppPayment,
  lockAppPayment,
  appPaymentOutcome,
  updateReported,
  type AppPayment,
} from './app-payments.ts';
import { PaymentReport, reportedPayment } from './app-reports.ts';
import { nameAttempt, requestRefundChecks } from './queries.ts';
import { settle } from './settle.ts';

const AnsweredPayment = Type.Object(
  {
    paymentId: { ...Id, description: 'The id of the payment.' },
    orderId: { ...Id, description: 'The order that it pays.' },
    method: Type.String({
      description: 'The payment method, by its name in the manifest.',
      examples: ['later'],
    }),
    amount: Type.Number({ description: 'What it is about.', examples: [46.33] }),
    currencyId: Type.String({ description: 'Its currency.', examples: ['EUR'] }),
    state: Type.String({
      description: 'What the app has said last: open, processing, authorized, paid, failed or cancelled.',
      examples: ['paid'],
    }),
    captured: Type.Number({ description: 'What was paid.', examples: [46.33] }),
    refunded: Type.Number({
      description: 'What the app has reported as refunded, or on its way back.',
      examples: [0],
    }),
  },
  { title: 'app payment' },
);

const paymentOperation = {
  under: 'manage',
  path: '/app/payments/:paymentId',
  tag: 'app-payments',
  labels: [],
  access: 'any token',
  params: Type.Object({ paymentId: Id }),
  answer: AnsweredPayment,
} as const;

export const getAppPayment = operation({
  ...paymentOperation,
  method: 'GET',
  name: 'getAppPayment',
  summary: 'Get payment of the app',
  description: 'One that the calling app was asked to begin. Others do not exist.',
});

export const reportAppPayment = operation({
  ...paymentOperation,
  method: 'PUT',
  name: 'reportAppPayment',
  summary: 'Report payment of the app',
  description:
    'What became of a payment that the calling app was asked to begin: its order is updated. The same report again changes nothing. Money of an order that is cancelled or paid already is refunded: the app is asked for it. 409: another amount or currency than that of the payment, a state that is over, or more refunds than were paid.',
  body: PaymentReport,
});

export function appPayments(api: Operations): void {
  api.read(getAppPayment, async ({ db, shopId, caller, params }) =>
    toAnswer(await findOwn(db, shopId, caller, params.paymentId)),
  );

  api.write(reportAppPayment, async ({ tx, shopId, caller, params, body }) => {
    const { paymentId, orderId, appId } = await findOwn(tx, shopId, caller, params.paymentId);
    const order = await lockOrder(tx, shopId, orderId);
    const before = order && (await lockAppPayment(tx, shopId, paymentId));
    if (!before) throw notFound();
    const after = { ...before, ...reportedPayment(before, body) };
    if (isDeepStrictEqual(after, before)) return toAnswer(after);
    await updateReported(tx, shopId, after);
    await nameAttempt(tx, shopId, paymentId, paymentId);
    await settle(
      tx,
      shopId,
      { orderId, attemptId: paymentId },
      appPaymentOutcome(after),
      body.message ?? null,
    );
    if (body.refunds) await requestRefundChecks(tx, shopId, orderId, paymentId);
    if (after.state !== before.state) {
      const { state, currency } = after;
      const amount = toDecimal(state === 'paid' ? after.captured : after.amount, currency);
      const details = { attemptId: paymentId, state, amount, ...(body.message && { reason: body.message }) };
      await recordHistory(tx, shopId, orderId, { appId, kind: 'payment reported', details });
    }
    return toAnswer(after);
  });
}

/** A payment of the calling app: what was begun at another one does not exist for it. */
async function findOwn(db: Queries, shopId: string, { app }: Caller, paymentId: string): Promise<AppPayment> {
  const payment = isId(paymentId) ? await findAppPayment(db, shopId, paymentId) : undefined;
  if (!payment || payment.appId !== app?.appId.toUpperCase()) throw notFound();
  return payment;
}

function toAnswer({ paymentId, orderId, method, amount, currency, state, captured, refunds }: AppPayment) {
  const refunded = refunds.reduce((sum, one) => (one.state === 'failed' ? sum : sum + one.amount), 0);
  return {
    paymentId,
    orderId,
    method,
    amount: toDecimal(amount, currency),
    currencyId: currency,
    state,
    captured: toDecimal(captured, currency),
    refunded: toDecimal(refunded, currency),
  };
}

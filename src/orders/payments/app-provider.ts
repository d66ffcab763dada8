import { Type, type Static } from 'typebox';
import { AnswerProblem } from '../../apps/calls/answer.ts';
import { answerOf, appText, inLocales } from '../../apps/calls/app-answer.ts';
import type { AppCalls } from '../../apps/calls/calls.ts';
import { MANIFEST_LINE } from '../../apps/manifest/schema.ts';
import type { Database } from '../../db/database.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { findAppMethods, isPayable, type AppMethod } from './app-methods.ts';
import {
  findAppPayment,
  insertAppPayment,
  appPaymentOutcome,
  updateInstructions,
  updateLivePayment,
  type AppPayment,
} from './app-payments.ts';
import {
  PaymentRefused,
  type Account,
  type NewPayment,
  type PaymentOutcome,
  type PaymentProvider,
} from './provider.ts';

/**
 * An installed app as a provider. It is asked to begin, capture, cancel and refund a payment; what becomes of it the app
 * reports (app-reports.ts), so its state is read from our own table.
 */
export function createAppProvider(db: Database, calls: AppCalls | undefined): PaymentProvider {
  const paymentOf = async (reference: string, { shopId }: Account): Promise<AppPayment> => {
    const payment = await findAppPayment(db, shopId, reference);
    if (!payment) throw new PaymentRefused(`No app has a payment ${reference}`);
    return payment;
  };

  const ask = async <Answer extends object>(
    { shopId, version }: Settings,
    { app, call }: Pick<AppMethod, 'app' | 'call'>,
    { issuer, ...about }: { issuer: string; action: string } & Record<string, unknown>,
    read: (answer: unknown) => Answer | Refused,
  ): Promise<Answer> => {
    if (!calls) throw new Error('Apps are not asked from here');
    const shop = { shopId, version, origin: issuer };
    const answer = await calls.askApp(shop, { app, call }, { kind: 'payment', about, read });
    if (!answer) throw new Error(`${app.name} gave no answer that can be used: see the calls of the app`);
    if ('refused' in answer) throw new PaymentRefused(`${app.name}: ${answer.refused}`);
    return answer;
  };

  /** The app of a payment, with what it is asked; undefined: it was uninstalled. */
  const appOf = async (settings: Settings, { appId }: AppPayment): Promise<AppMethod | undefined> =>
    (await findAppMethods(db, settings)).find(({ app }) => app.appId === appId);

  /** Has the app change a live payment, and returns its state after that. */
  const change = async (action: 'capture' | 'cancel', reference: string, account: Account) => {
    const { shopId } = account;
    const payment = await paymentOf(reference, account);
    if (!isLive(payment)) return appPaymentOutcome(payment);
    const settings = await shopSettings(db, shopId);
    const app = await appOf(settings, payment);
    if (!app && action === 'capture') throw new PaymentRefused(UNINSTALLED);
    const { paymentId, amount, currency, issuer } = payment;
    // The report of an app that is gone can't come any more.
    const next = app
      ? await ask(settings, app, { action, paymentId, amount, currency, issuer }, readState(payment))
      : ({ state: 'cancelled', amount } as const);
    const captured = next.state === 'paid' ? next.amount : 0;
    await updateLivePayment(db, shopId, paymentId, { state: next.state, captured });
    return appPaymentOutcome(await paymentOf(reference, account));
  };

  return {
    fields: {},

    async start(attempt, account) {
      const { shopId, appMethod } = account;
      const settings = await shopSettings(db, shopId);
      const methods = await findAppMethods(db, settings);
      const method = methods.find(({ name }) => name === appMethod);
      if (!method) throw new PaymentRefused(UNINSTALLED);
      const { id: paymentId, orderId, amount, currency, webhookUrl } = attempt;
      if (!isPayable(method.method, { amount, currency, country: undefined })) {
        throw new PaymentRefused(`${method.app.name} takes no payment of this amount and currency`);
      }
      const issuer = new URL(webhookUrl).origin;
      const { appId } = method.app;
      const { name } = method.method;
      await insertAppPayment(db, shopId, { paymentId, orderId, appId, method: name, issuer });
      const question = { ...startQuestion(attempt, account), method: name, issuer };
      const answer = await ask(
        settings,
        method,
        question,
        readStart(attempt, (url) => calls?.addressProblem(url)),
      );
      const instructions = 'instructions' in answer ? inLocales(answer.instructions, settings) : null;
      await updateInstructions(db, shopId, paymentId, instructions);
      // The way back leads to the order, which shows the instructions.
      return {
        reference: paymentId,
        redirectTo: 'redirectUrl' in answer ? answer.redirectUrl : attempt.returnUrl,
      };
    },

    async confirm(reference, account): Promise<PaymentOutcome> {
      const payment = await paymentOf(reference, account);
      const settings = await shopSettings(db, account.shopId);
      if (isLive(payment) && !(await appOf(settings, payment))) throw new Error(UNINSTALLED);
      return appPaymentOutcome(payment);
    },

    capture: (reference, account) => change('capture', reference, account),

    cancel: (reference, account) => change('cancel', reference, account),

    async refund(reference, { id, amount, currency, orderNumber, reference: refundReference }, account) {
      const payment = await paymentOf(reference, account);
      const reported = payment.refunds.find((one) => one.id === id || one.reference === refundReference);
      // The app is not asked for a refund that it has made by itself: that would be another one.
      if (reported && (reported.state !== 'processing' || reported.id !== id)) {
        return { state: reported.state, reference: reported.reference };
      }
      const settings = await shopSettings(db, account.shopId);
      const app = await appOf(settings, payment);
      if (!app) throw new PaymentRefused(UNINSTALLED);
      const { paymentId, issuer } = payment;
      const question = { action: 'refund', paymentId, refundId: id, amount, currency, orderNumber, issuer };
      const answer = await ask(settings, app, question, readRefund({ id, amount, currency }));
      return { state: answer.state, reference: answer.reference ?? id };
    },

    // An app reports with its token instead.
    webhook: async () => undefined,
  };
}

const UNINSTALLED =
  'The app of this payment is not installed any more. See in your account at its provider what became of the payment, and record here what was paid or paid back.';

export const isLive = ({ state }: Pick<AppPayment, 'state'>) =>
  state === 'open' || state === 'processing' || state === 'authorized';

const startQuestion = (
  { id, amount, currency, orderId, orderNumber, shopName, locale, returnUrl }: NewPayment,
  { capture }: Account,
) => ({
  action: 'start',
  paymentId: id,
  orderId,
  orderNumber,
  shopName,
  amount,
  currency,
  capture,
  locale,
  returnUrl,
});

const MAX_REASON = 300;
const MAX_INSTRUCTIONS = 1_000;
const MAX_ADDRESS = 2_000;
/** Lines of a text, not all of them blank. */
const LINES = '^(?=[\\s\\S]*\\S)(?:\\n|[^\\p{C}\\p{Zl}\\p{Zp}])+$';

const Refused = Type.Object({ refused: Type.String({ maxLength: MAX_REASON, pattern: MANIFEST_LINE }) });
type Refused = Static<typeof Refused>;

const money = { amount: Type.Integer({ minimum: 1 }), currency: Type.String({ maxLength: 3 }) };
const payment = { paymentId: Type.String({ maxLength: 36 }), ...money };

const Redirect = Type.Object({ ...payment, redirectUrl: Type.String({ maxLength: MAX_ADDRESS }) });
const Pending = Type.Object({ ...payment, instructions: appText(MAX_INSTRUCTIONS, LINES) });
const StartAnswer = Type.Union([Refused, Redirect, Pending]);

const StateAnswer = Type.Union([
  Refused,
  Type.Object({
    ...payment,
    state: Type.Enum(['open', 'processing', 'authorized', 'paid', 'failed', 'cancelled']),
  }),
]);

const RefundAnswer = Type.Union([
  Refused,
  Type.Object({
    refundId: Type.String({ maxLength: 36 }),
    ...money,
    state: Type.Enum(['processing', 'done', 'failed']),
    reference: Type.Optional(Type.String({ maxLength: 200, pattern: MANIFEST_LINE })),
  }),
]);

/** Throws unless the answer names the payment that was asked about, in any case of its id. */
function requireSame(name: string, answered: string | number, asked: string | number): void {
  if (String(answered).toUpperCase() !== String(asked)) {
    throw new AnswerProblem(`The answer is about another payment: /${name}`);
  }
}

type Money = Pick<AppPayment, 'amount' | 'currency'>;

function readStart({ id, ...asked }: Money & { id: string }, problemOf: (url: URL) => string | undefined) {
  return (answer: unknown) => {
    const read = answerOf(StartAnswer, answer);
    if ('refused' in read) return read;
    requireSame('paymentId', read.paymentId, id);
    requireSame('amount', read.amount, asked.amount);
    requireSame('currency', read.currency, asked.currency);
    if ('instructions' in read) return read;
    const url = URL.canParse(read.redirectUrl) ? new URL(read.redirectUrl) : undefined;
    const problem = url ? problemOf(url) : 'must be an address';
    if (!url || problem !== undefined)
      throw new AnswerProblem(`The answer is not valid: /redirectUrl ${problem}`);
    return { ...read, redirectUrl: url.href };
  };
}

function readState({ paymentId, amount, currency }: AppPayment) {
  return (answer: unknown) => {
    const read = answerOf(StateAnswer, answer);
    if ('refused' in read) return read;
    requireSame('paymentId', read.paymentId, paymentId);
    requireSame('currency', read.currency, currency);
    // Less than was asked for may have been captured, never more.
    if (read.state !== 'paid' || read.amount > amount) requireSame('amount', read.amount, amount);
    return read;
  };
}

function readRefund({ id, amount, currency }: Money & { id: string }) {
  return (answer: unknown) => {
    const read = answerOf(RefundAnswer, answer);
    if ('refused' in read) return read;
    requireSame('refundId', read.refundId, id);
    requireSame('amount', read.amount, amount);
    requireSame('currency', read.currency, currency);
    return read;
  };
}

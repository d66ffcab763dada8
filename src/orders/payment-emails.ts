import { moneyText } from '../http/price-text.ts';
import type { Transaction } from '../db/database.ts';
import type { Messages } from '../kernel/messages.ts';
import type { EmailKind, EmailMessages } from '../platform/email/kind.ts';
import { queueEmails } from '../platform/email/queue.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { outstandingOf } from './manage-change.ts';
import {
  emailAddressOf,
  ORDER_EMAIL,
  orderInAdmin,
  SAMPLE_ORDER,
  sampleMoney,
  unbroken,
} from './order-email.ts';
import type { ManagedOrder } from './queries.ts';

/** A payment of the customer arrived. */
export interface PaymentReceived {
  orderId: string;
  orderNumber: string;
  amount: string;
  /** The amount left to pay; null: none. */
  outstanding: string | null;
}

/** A payment attempt of the customer failed. */
export interface PaymentFailed {
  orderId: string;
  orderNumber: string;
  /** The amount to pay. */
  amount: string;
}

/** The words of a problem are `email.paymentProblem.problems` of the message catalogue. */
export type PaymentProblem = keyof Messages['email']['paymentProblem']['problems'];

/** A payment problem that the merchant should know, or must solve. */
export interface PaymentProblemFacts {
  orderId: string;
  orderNumber: string;
  amount: string;
  problem: PaymentProblem;
}

export const paymentReceivedEmail: EmailKind<PaymentReceived> = {
  ...ORDER_EMAIL,
  name: 'paymentReceived',
  occasion: 'To the customer, when money came in.',
  example: { en_GB: { text: 'We have received {amount}. Thank you!' } },
  isLimited: false,
  sample: (locale) => ({
    ...SAMPLE_ORDER,
    amount: sampleMoney(3_000, locale),
    outstanding: sampleMoney(990, locale),
  }),
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    amount: { meaning: 'What was paid, with its currency.', value: ({ amount }) => unbroken(amount) },
    outstanding: {
      meaning: 'What is left to be paid; nothing if the order is paid in full.',
      value: ({ outstanding }) => outstanding && unbroken(outstanding),
    },
  },
  messages: (email) => ({ ...email.aboutOrder, ...email.paymentReceived }),
};

export const paymentFailedEmail: EmailKind<PaymentFailed> = {
  ...ORDER_EMAIL,
  name: 'paymentFailed',
  occasion: 'To the customer, when a payment did not succeed; the link leads to where it can be tried again.',
  example: { en_GB: { text: 'Your payment of {amount} did not arrive. Please try again.' } },
  // A stranger can order with another person's address and let payments fail.
  isLimited: true,
  sample: (locale) => ({ ...SAMPLE_ORDER, amount: sampleMoney(3_990, locale) }),
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    amount: { meaning: 'What is to be paid, with its currency.', value: ({ amount }) => unbroken(amount) },
  },
  messages: (email) => ({ ...email.aboutOrder, ...email.paymentFailed }),
};

type ProblemWords = EmailMessages & Messages['email']['paymentProblem'];

export const paymentProblemEmail: EmailKind<PaymentProblemFacts, ProblemWords> = {
  ...ORDER_EMAIL,
  name: 'paymentProblem',
  occasion:
    'To the shop, when a payment, a refund or a capture failed, when money came for an order that needs none, when money of a cancelled order is to be paid back by hand, or when a customer has money charged back.',
  example: { en_GB: { subject: 'Look at the payment of {orderNumber}' } },
  // Any visitor can let payments fail, as often as they like.
  isLimited: true,
  isAlwaysSent: ({ problem }) => problem !== 'failed',
  sample: (locale) => ({ ...SAMPLE_ORDER, amount: sampleMoney(3_990, locale), problem: 'refundFailed' }),
  placeholders: {
    ...ORDER_EMAIL.placeholders,
    amount: { meaning: 'The amount, with its currency.', value: ({ amount }) => unbroken(amount) },
    problem: {
      meaning: 'What has happened and what to do, as sentences.',
      value: ({ problem }, _, { problems }) => problems[problem],
    },
  },
  link: orderInAdmin,
  messages: (email) => ({ ...email.aboutShop, ...email.paymentProblem }),
};

/** Tells the customer that `amount` (minor units) arrived; `order` includes the payment. */
export async function queuePaymentReceived(
  tx: Transaction,
  shopId: string,
  order: ManagedOrder,
  amount: number,
): Promise<void> {
  const to = emailAddressOf(order);
  if (to === undefined) return;
  const { orderId, orderNumber, currency, locale } = order;
  const outstanding = outstandingOf(order);
  const facts = {
    orderId,
    orderNumber,
    amount: moneyText(amount, currency, locale),
    outstanding: outstanding === 0 ? null : moneyText(outstanding, currency, locale),
  };
  await queueEmails(tx, shopId, paymentReceivedEmail, [{ to, locale, facts }]);
}

/** Tells the customer that paying the outstanding amount failed, with the link to pay again. */
export async function queuePaymentFailed(
  tx: Transaction,
  shopId: string,
  order: ManagedOrder,
): Promise<void> {
  const to = emailAddressOf(order);
  if (to === undefined) return;
  const { orderId, orderNumber, currency, locale } = order;
  const facts = { orderId, orderNumber, amount: moneyText(outstandingOf(order), currency, locale) };
  await queueEmails(tx, shopId, paymentFailedEmail, [{ to, locale, facts }]);
}

/** Tells the merchant of a problem with `amount` (minor units) of an order. */
export async function queuePaymentProblem(
  tx: Transaction,
  shopId: string,
  { email: to, defaultLocale: locale }: Pick<Settings, 'email' | 'defaultLocale'>,
  { orderId, orderNumber, currency }: ManagedOrder,
  { problem, amount }: { problem: PaymentProblem; amount: number },
): Promise<void> {
  const facts = { orderId, orderNumber, problem, amount: moneyText(amount, currency, locale) };
  await queueEmails(tx, shopId, paymentProblemEmail, [{ to, locale, facts }]);
}

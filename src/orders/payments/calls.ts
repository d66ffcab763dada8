import { textIn } from '../../http/locale.ts';
import { newId } from '../../kernel/ids.ts';
import { shopSettings, type Settings } from '../../shops/settings/settings.ts';
import { payableOf } from '../manage-change.ts';
import { emailAddressOf } from '../order-email.ts';
import { lockOrder } from '../change.ts';
import { findManagedOrder } from '../queries.ts';
import { loadAccount } from './accounts.ts';
import { recordFailedCapture } from './capture.ts';
import { makeCharge } from './charge.ts';
import { delayAfter, givesUpAfter, nextCheck, STARTS_WITHIN } from './checks.ts';
import { PROGRESS } from './progress.ts';
import { accountOf, atClockOf, errorText, inTime, settleAs, type PaymentDeps } from './provider-calls.ts';
import { PaymentRefused, type PaymentOutcome } from './provider.ts';
import {
  findAttempt,
  insertAttempt,
  lockLiveAttempt,
  recordFailedCheck,
  recordStart,
  takeDueRefund,
  type Attempt,
  type DueKey,
  type ProviderRefund,
} from './queries.ts';
import { providerMethodOf, providerOf, type ProviderMethod } from './providers.ts';
import { settleRefund } from './settle-refund.ts';
import { settle } from './settle.ts';

export type { PaymentDeps };

export interface PaymentLinks {
  /** Where the shopper goes after the payment. */
  returnUrl: string;
  /** Where the provider sends webhooks; by the key of the method. */
  webhookUrl: (methodKey: string) => string;
}

/**
 * Begins the payment of an order, or continues one: an order has one attempt at a time that can bring money. Returns
 * the address of the page on which the shopper pays; undefined: there is nothing to pay there. Throws when the provider
 * refuses or does not answer: the order stays, and the shopper can retry.
 */
export async function startPayment(
  service: PaymentDeps,
  shopId: string,
  orderId: string,
  links: PaymentLinks,
): Promise<string | undefined> {
  const deps = atClockOf(service, shopId);
  // An earlier attempt may turn out to have ended; then a new one takes its place.
  for (let round = 0; round < 3; round++) {
    const settings = await shopSettings(deps.db, shopId);
    const found = await openAttempt(deps, shopId, orderId, settings);
    if (!found) return undefined;
    const { attempt, method } = found;
    if (attempt.state === 'starting') return startAttempt(deps, shopId, attempt, { method, settings, links });
    const wanted = found.isCurrent ? 'confirm' : 'cancel';
    const { state } = await ask(deps, shopId, attempt, settings, wanted);
    if (state === 'open' && found.isCurrent) return attempt.redirectTo!;
  }
  throw new Error('The payments of this order keep changing');
}

interface OpenAttempt {
  attempt: Attempt;
  method: ProviderMethod;
  /** false: the order now has another amount or method. */
  isCurrent: boolean;
}

/** The live attempt of an order that can be paid, or a new one; undefined: there is nothing to pay. */
function openAttempt(
  { db }: PaymentDeps,
  shopId: string,
  orderId: string,
  settings: Settings,
): Promise<OpenAttempt | undefined> {
  return db.transaction(async (tx) => {
    const order = await lockOrder(tx, shopId, orderId);
    const method = order && providerMethodOf(order.content, settings);
    const amount = order ? payableOf(order) : 0;
    if (!method || amount === 0) return undefined;
    const { paymentMethodId, providerName: provider } = method;
    const live = await lockLiveAttempt(tx, shopId, orderId);
    // A charge whose outcome is unknown may have brought the money already.
    if (live?.state === 'processing' || live?.state === 'authorized' || live?.isCharge) return undefined;
    if (live) {
      const isCurrent = live.paymentMethodId === paymentMethodId && live.amount === amount;
      // No shopper was sent to a payment that is still starting: it is begun with the order's current values.
      if (isCurrent || live.state === 'open') return { attempt: live, method, isCurrent };
      throw new Error('A payment of another amount is being started');
    }
    const attemptId = newId(tx.now);
    const { currency } = order;
    const attempt = { attemptId, orderId, provider, paymentMethodId, amount, currency };
    await insertAttempt(tx, shopId, attempt, new Date(tx.now.getTime() + STARTS_WITHIN));
    const made = await findAttempt(tx, shopId, attemptId);
    return { attempt: made!, method, isCurrent: true };
  });
}

async function startAttempt(
  deps: PaymentDeps,
  shopId: string,
  attempt: Attempt,
  { method, settings, links }: { method: ProviderMethod; settings: Settings; links: PaymentLinks },
): Promise<string | undefined> {
  const { db, providers } = deps;
  const { attemptId, orderId, amount, currency } = attempt;
  const provider = providerOf(providers, method.providerName, settings);
  try {
    const order = (await findManagedOrder(db, shopId, orderId))!;
    const account = {
      ...(await loadAccount(db, await deps.loadKey(), shopId, method, provider)),
      isSandbox: settings.sandbox !== null,
    };
    const { locale } = order;
    const started = await inTime(
      provider.start(
        {
          id: attemptId,
          amount,
          currency,
          orderId,
          orderNumber: order.orderNumber,
          shopName: textIn(settings.name, locale, settings.defaultLocale) ?? shopId,
          email: emailAddressOf(order),
          locale,
          returnUrl: links.returnUrl,
          webhookUrl: links.webhookUrl(method.key),
        },
        account,
      ),
    );
    const checkAt = nextCheck({ ...attempt, state: 'open' }, db.now)!;
    await recordStart(db, shopId, attemptId, { ...started, checkAt });
  } catch (error) {
    await endUnstarted(deps, shopId, attempt, error);
    throw error;
  }
  // Another click may have recorded it first; or it took so long that it counts as failed and must not be paid.
  const now = await findAttempt(db, shopId, attemptId);
  if (now?.state === 'open') return now.redirectTo!;
  // An app may report a payment before it answers.
  if (now && PROGRESS[now.state] !== PROGRESS.failed && now.state !== 'starting') return undefined;
  throw new Error('The payment took too long to start');
}

/** A refusal ends the attempt; otherwise it is retried for a minute, with the same id. */
async function endUnstarted(
  { db }: PaymentDeps,
  shopId: string,
  attempt: Attempt,
  error: unknown,
): Promise<void> {
  const text = errorText(error);
  if (error instanceof PaymentRefused) await settleAs(db, shopId, attempt, 'failed', text);
  else await recordFailedCheck(db, shopId, attempt.attemptId, { error: text, checkAt: startEnd(attempt) });
}

const MAX_TRIES = 10;

const startEnd = ({ createdAt }: Attempt) => new Date(createdAt.getTime() + STARTS_WITHIN);

/** Asks the provider for the state of an attempt, and updates the order. For polls, webhooks and returns. */
export async function checkAttempt(service: PaymentDeps, shopId: string, attemptId: string): Promise<void> {
  const deps = atClockOf(service, shopId);
  const { db } = deps;
  const attempt = await findAttempt(db, shopId, attemptId);
  if (!attempt) return;
  if (attempt.state === 'starting' && attempt.isCharge) {
    await makeCharge(deps, shopId, attempt, await shopSettings(db, shopId));
    return;
  }
  if (attempt.state === 'starting') {
    // No shopper was or will be sent to its page.
    if (startEnd(attempt) <= db.now) await settleAs(db, shopId, attempt, 'failed', attempt.error);
    return;
  }
  const settings = await shopSettings(db, shopId);
  const wish = wishOf(attempt, db.now);
  try {
    await ask(deps, shopId, attempt, settings, wish);
  } catch (error) {
    const text = errorText(error);
    deps.log.warn({ shop: shopId, attempt: attemptId, err: error }, 'a payment could not be checked');
    const isLive = nextCheck(attempt, db.now) !== null;
    if (isLive && db.now.getTime() - attempt.updatedAt.getTime() > givesUpAfter(attempt.state)) {
      await settleAs(db, shopId, attempt, 'failed', text);
    } else if (wish === 'capture') {
      const isRefused = error instanceof PaymentRefused;
      const failure = { error: text, isRefused };
      await db.transaction((tx) => recordFailedCapture(tx, shopId, attempt, failure));
    } else {
      // A webhook announced news of a payment that has ended: the provider is asked for some hours.
      const isAskedAgain = isLive || attempt.checks < MAX_TRIES;
      const checkAt = isAskedAgain ? new Date(db.now.getTime() + delayAfter(attempt.checks)) : null;
      await recordFailedCheck(db, shopId, attemptId, { error: text, checkAt });
    }
  }
}

/** The next call. A page that is still open when the order is to be cancelled is closed first. */
function wishOf({ state, wish, releaseAt }: Attempt, now: Date): 'confirm' | 'cancel' | 'capture' {
  if (wish === 'cancel') return 'cancel';
  if (wish === 'capture' && state === 'authorized') return 'capture';
  return state === 'open' && releaseAt !== null && releaseAt <= now ? 'cancel' : 'confirm';
}

async function ask(
  deps: PaymentDeps,
  shopId: string,
  attempt: Attempt,
  settings: Settings,
  call: 'confirm' | 'cancel' | 'capture',
): Promise<PaymentOutcome> {
  const { provider, account } = await accountOf(deps, shopId, attempt, settings);
  const outcome = await inTime(provider[call](attempt.reference!, account));
  await deps.db.transaction((tx) => settle(tx, shopId, attempt, outcome));
  return outcome;
}

/** Makes a due refund, unless another process does. */
export async function makeRefund(service: PaymentDeps, key: DueKey): Promise<void> {
  const { shopId } = key;
  const deps = atClockOf(service, shopId);
  const { db } = deps;
  const refund = await takeDueRefund(db, key);
  if (!refund) return;
  try {
    const outcome = await callRefund(deps, shopId, refund);
    await db.transaction((tx) => settleRefund(tx, shopId, refund, outcome));
  } catch (error) {
    deps.log.warn({ shop: shopId, refund: refund.paymentId, err: error }, 'a refund could not be made');
    const isFinal =
      error instanceof PaymentRefused ||
      db.now.getTime() - refund.requestedAt.getTime() > givesUpAfter('processing');
    const state = isFinal ? 'failed' : 'processing';
    const { reference } = refund;
    await db.transaction((tx) => settleRefund(tx, shopId, refund, { state, reference }, errorText(error)));
  }
}

async function callRefund(deps: PaymentDeps, shopId: string, refund: ProviderRefund) {
  const { db } = deps;
  const { orderId, attemptId, paymentId, amount, reference } = refund;
  const [attempt, order, settings] = await Promise.all([
    findAttempt(db, shopId, attemptId),
    findManagedOrder(db, shopId, orderId),
    shopSettings(db, shopId),
  ]);
  if (!attempt || !order) throw new PaymentRefused('The payment is not known here');
  const { provider, account } = await accountOf(deps, shopId, attempt, settings);
  const { orderNumber, currency } = order;
  const wanted = { id: paymentId, amount, currency, orderNumber, reference };
  return inTime(provider.refund(attempt.reference!, wanted, account));
}
